"""The files of a call: which paths, with which keys, and what a repeated call does. S3 is moto's."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import boto3
import pytest
from moto import mock_aws

from acta.engine.untrusted import path as product
from acta.tools import path as tools
from acta.tools.call import File, FileRefused
from acta.tools.files import S3Files, files_of

PLACES = {
    "bucket": "files",
    "max_bytes": 100,
    "shared": {"prefix": "files/acme/", "keys": {}},
    "private": {"prefix": "files/acme/~%aa/", "keys": {}},
}
PATHS = (
    "", "a", "a.md", "reports/may.md", "/a", "a/", "a//b", "./a", "a/../b", "..", "a\\b", "a%2Fb", " a", "a /b", "a\nb",
    "a\u202eb", "a\u3164", "~/a", "~", "~a", "~/", "~/~/a", "cafe\u0301.md", "café.md", "x" * 1_024, "x" * 1_025,
    "\ud800", "日本/語.md", "a\u00a0b", "\u00ada", "a\u202fb.png", "~$a.docx", "می\u200cخواهم", "100% sure",
    ".hidden", "a b/c d", "/", ".",
)  # fmt: skip


def taken(check: Callable[[str], str], path: str) -> str | None:
    try:
        return check(path)
    except (FileRefused, product.PathRefused):
        return None


@pytest.mark.parametrize("path", PATHS)
def test_paths_are_those_that_the_built_in_file_tools_take(path: str) -> None:
    assert taken(tools.check_shown_path, path) == taken(product.check_shown_path, path)
    assert taken(tools.check_new_path, path) == taken(product.check_new_path, path)


@pytest.mark.parametrize("folder", ["", ".", "/", "./", "reports", "reports/", "~/", "~", "a//", "..", "%"])
def test_folders_are_those_that_the_built_in_file_tools_take(folder: str) -> None:
    assert taken(tools.check_folder, folder) == taken(product.check_folder, folder)


@pytest.fixture
def s3() -> Iterator[Any]:
    with mock_aws():
        client = boto3.client("s3", region_name="us-east-1", aws_access_key_id="k", aws_secret_access_key="s")
        client.create_bucket(Bucket="files")
        yield client


def files(s3: Any, access: str = "write", effect_id: str = "e-1", **but: Any) -> S3Files:
    def client(keys: Mapping[str, str]) -> Any:
        return s3

    return S3Files({**PLACES, "access": access, **but}, effect_id, client)


def test_what_is_written_is_read_and_listed_and_stands_under_the_tenants_prefix(s3: Any) -> None:
    mine = files(s3)
    mine.write_text("reports/may.md", "May")
    mine.write_bytes("top.bin", b"\xff")
    mine.write_text("~/secret.md", "mine")
    s3.put_object(Bucket="files", Key="files/acme/~%bb/of-another.md", Body=b"")
    s3.put_object(Bucket="files", Key="files/acme/reports/", Body=b"")
    s3.put_object(Bucket="files", Key="files/other/reports/x.md", Body=b"")

    assert mine.read_text("reports/may.md") == "May"
    mine.write_bytes("reports/may.md", b"\xef\xbb\xbfMay", replace=True)
    assert mine.read_text("reports/may.md") == "May", "the byte order mark is no part of the text"
    mine.write_text("reports/may.md", "May", replace=True)
    assert mine.list() == [File("reports/may.md", 3), File("top.bin", 1)]
    assert mine.list("reports") == [File("reports/may.md", 3)]
    assert mine.list("~/") == [File("~/secret.md", 4)]
    assert s3.get_object(Bucket="files", Key="files/acme/~%aa/secret.md")["Body"].read() == b"mine"
    with pytest.raises(FileRefused, match=r"top\.bin is not text"):
        mine.read_text("top.bin")
    with pytest.raises(FileRefused, match=r"there is no file gone\.md"):
        mine.read_text("gone.md")


def test_a_file_that_is_there_is_replaced_only_when_the_tool_says_so(s3: Any) -> None:
    files(s3).write_text("a.md", "first")

    with pytest.raises(FileRefused, match=r"there is a file a\.md already"):
        files(s3, effect_id="e-2").write_text("a.md", "second")
    files(s3, effect_id="e-2").write_text("a.md", "third", replace=True)

    assert files(s3).read_text("a.md") == "third"


def test_a_repeated_call_finds_its_own_file_and_goes_on(s3: Any) -> None:
    files(s3).write_text("a.md", "first")

    files(s3).write_text("a.md", "first")

    with pytest.raises(FileRefused):
        files(s3).write_text("a.md", "another")


def test_what_a_tool_has_not_declared_or_may_not_do_is_told(s3: Any) -> None:
    assert files_of({"effect_id": "e"}) is None
    with pytest.raises(FileRefused, match=r'files="write"'):
        files(s3, access="read").write_text("a.md", "")
    with pytest.raises(FileRefused, match="half of a surrogate pair"):
        files(s3).write_text("a.md", "ok \ud83d")
    with pytest.raises(FileRefused, match="at most 100"):
        files(s3).write_text("a.md", "x" * 101)
    shared_alone = {name: value for name, value in PLACES.items() if name != "private"}
    session_of_the_tenant = S3Files({**shared_alone, "access": "read"}, "e", lambda keys: s3)
    with pytest.raises(FileRefused, match="visibility private"):
        session_of_the_tenant.read_text("~/a.md")


class Refusing:
    """S3, where whoever may not list the bucket is told 403 of a key that is missing."""

    class exceptions:  # noqa: N801
        class ClientError(Exception):
            response: Mapping[str, Any] = {"Error": {"Code": "AccessDenied"}}

    def __init__(self, *keys: str) -> None:
        self.keys = keys

    def get_object(self, **_: str) -> Any:
        raise self.exceptions.ClientError

    def list_objects_v2(self, **_: Any) -> Any:
        return {"Contents": [{"Key": key} for key in self.keys]}


def test_a_missing_file_is_told_from_a_forbidden_one() -> None:
    with pytest.raises(FileRefused, match=r"there is no file a\.md"):
        files(Refusing("files/acme/a.md.old")).read_text("a.md")
    with pytest.raises(Refusing.exceptions.ClientError):
        files(Refusing("files/acme/a.md")).read_text("a.md")
