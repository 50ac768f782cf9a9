"""What a Python tool reaches of the tenant's files is the same in a test's memory and in S3 (moto's here)."""

from collections.abc import Callable, Iterator

import boto3
import pytest
from moto import mock_aws

from acta.testing.python_tools import ToolFiles
from acta.tools.call import File, FileRefused, Files
from acta.tools.files import S3Files
from tests.stores import in_memory

Open = Callable[..., Files]
"""The files of one call: `access`, `effect_id`, and whether its session is `private`."""


def in_sqlite() -> Open:
    store = in_memory.files()

    def opened(access: str = "write", effect_id: str = "e-1", *, private: bool = True) -> Files:
        return ToolFiles(store, "acme", "ann" if private else None, effect_id, writes=access == "write")

    return opened


def in_s3() -> Open:
    s3 = boto3.client("s3", region_name="us-east-1", aws_access_key_id="k", aws_secret_access_key="s")
    s3.create_bucket(Bucket="files")

    def opened(access: str = "write", effect_id: str = "e-1", *, private: bool = True) -> Files:
        given = {"bucket": "files", "access": access, "max_bytes": 4_194_304}
        given["shared"] = {"prefix": "files/acme/", "keys": {}}
        if private:
            given["private"] = {"prefix": "files/acme/~%ann/", "keys": {}}
        return S3Files(given, effect_id, lambda keys: s3)

    return opened


@pytest.fixture(params=[in_sqlite, in_s3], ids=["sqlite", "s3"])
def opened(request: pytest.FixtureRequest) -> Iterator[Open]:
    with mock_aws():
        yield request.param()


def refusal(act: Callable[[], object]) -> str:
    with pytest.raises(FileRefused) as refused:
        act()
    return str(refused.value)


def test_what_is_written_is_read_and_listed(opened: Open) -> None:
    files = opened()
    files.write_text("reports/may.md", "May")
    files.write_bytes("top.bin", b"\xff")
    files.write_text("~/secret.md", "mine")

    assert (files.read_text("reports/may.md"), files.read_bytes("top.bin")) == ("May", b"\xff")
    assert files.list() == [File("reports/may.md", 3), File("top.bin", 1)]
    assert files.list("reports") == files.list("reports/") == [File("reports/may.md", 3)]
    assert files.list("~/") == [File("~/secret.md", 4)]


def test_a_file_is_replaced_only_when_the_tool_says_so_and_a_repeated_call_goes_on(opened: Open) -> None:
    opened().write_text("a.md", "first")
    opened().write_text("a.md", "first")
    assert refusal(lambda: opened().write_text("a.md", "another")) == "there is a file a.md already."
    assert (
        refusal(lambda: opened(effect_id="e-2").write_text("a.md", "first"))
        == "there is a file a.md already."
    )
    opened(effect_id="e-2").write_text("a.md", "third", replace=True)
    assert opened().read_text("a.md") == "third"


def test_what_a_call_may_not_do_is_told_in_the_same_words(opened: Open) -> None:
    opened().write_bytes("top.bin", b"\xff")
    told = [
        refusal(lambda: opened().read_text("top.bin")),
        refusal(lambda: opened().read_text("gone.md")),
        refusal(lambda: opened().read_text("../gone.md")),
        refusal(lambda: opened().write_bytes("a.bin", bytes(4_194_305))),
        refusal(lambda: opened("read").write_text("a.md", "")),
        refusal(lambda: opened(private=False).read_text("~/a.md")),
        refusal(lambda: opened(private=False).list("~/")),
    ]
    assert told == [
        "top.bin is not text in UTF-8.",
        "there is no file gone.md.",
        "the path has a . or .. part; write it from the top, such as reports/may.md",
        "a.bin would have 4,194,305 bytes, a file at most 4,194,304.",
        'this tool only reads files. Its writer has to say @tool(files="write").',
        *[
            "~/ holds one person's private files, which only a session of theirs with visibility private reaches."
        ]
        * 2,
    ]
