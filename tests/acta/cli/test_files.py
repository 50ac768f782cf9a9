"""`acta files`."""

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from acta.cli.exit_codes import CliError
from acta.cli.files import put_directory
from acta.client.api import Client
from acta.client.flows import file_path
from tests.acta.conftest import Acta
from tests.acta.fake_deployment import FakeDeployment, Reply, failure, success


def test_files_go_up_and_come_down_byte_by_byte(
    acta: Acta, deployment: FakeDeployment, tmp_path: Path
) -> None:
    content = bytes(range(256))
    (tmp_path / "in.bin").write_bytes(content)
    deployment.on("PUT", "/v1/files/a/b.bin", success({}, 201))
    deployment.on("GET", "/v1/files/a/b.bin", Reply(200, content))
    assert acta("files", "put", str(tmp_path / "in.bin"), "a/b.bin") == 0
    assert deployment.requests[0].body == content
    assert acta("files", "get", "a/b.bin", "-o", str(tmp_path / "out.bin")) == 0
    assert (tmp_path / "out.bin").read_bytes() == content


def test_every_page_of_the_files_is_listed(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    first = {"items": [{"path": "a.md", "bytes": 3}], "next_cursor": "2"}
    deployment.on(
        "GET", "/v1/files", success(first), success({"items": [{"path": "b\x1b.md"}], "next_cursor": None})
    )
    assert acta("files", "ls") == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["3", "a.md"],
        ["0", "b\\x1b.md"],
    ]


def test_a_listing_can_be_of_one_s_private_files(acta: Acta, deployment: FakeDeployment) -> None:
    deployment.on("GET", "/v1/files", success({"items": [], "next_cursor": None}))
    assert acta("files", "ls", "~/") == 0
    assert deployment.requests[0].path == "/v1/files?prefix=~%2F"


def version(**fields: object) -> dict[str, object]:
    plain = {"version_id": "v1", "bytes": 7, "modified_at": "2026-11-22T09:00:01.5Z", "current": False}
    return {**plain, "deletion": False, **fields}


def test_versions_are_listed_with_their_ids_and_what_is_there_now(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    newest = version(version_id="v2\x1b", bytes=0, current=True, deletion=True)
    deployment.on("GET", "/v1/files/a/b.md", success({"items": [newest, version()], "next_cursor": None}))
    assert acta("files", "versions", "a/b.md") == 0
    assert deployment.requests[0].path == "/v1/files/a/b.md?versions=1"
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["2026-11-22", "09:00:01", "deleted", "v2\\x1b", "now"],
        ["2026-11-22", "09:00:01", "7", "v1"],
    ]


def test_an_earlier_version_is_restored_by_its_id(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("POST", "/v1/files/a/b.md", success({"path": "a/b.md", "bytes": 7}))
    assert acta("files", "restore", "a/b.md", "v+1/&") == 0
    assert deployment.requests[0].path == "/v1/files/a/b.md?restore=v%2B1%2F%26"
    assert "a/b.md" in capsys.readouterr().out


def test_a_version_that_is_not_there_is_said_in_one_line(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("POST", "/v1/files/a.md", failure(404, "NOT_FOUND", "There is no such version."))
    deployment.on("GET", "/v1/files/a.md", failure(404, "NOT_FOUND", "There is no file at this path."))
    assert acta("files", "restore", "a.md", "nothing") == 2
    assert acta("files", "versions", "a.md") == 2
    shown = capsys.readouterr()
    assert (shown.out, len(shown.err.splitlines())) == ("", 2)
    assert "There is no such version." in shown.err


def test_a_directory_goes_up_with_its_paths_and_without_what_is_hidden(
    acta: Acta, deployment: FakeDeployment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "b.md").write_text("b")
    (tmp_path / "a.md").write_text("a")
    (tmp_path / ".env").write_text("secret")
    for path in ("x/a.md", "x/in/b.md"):
        deployment.on("PUT", f"/v1/files/{path}", success({}, 201))
    assert acta("files", "put", str(tmp_path), "x/") == 0
    assert capsys.readouterr().out.split() == ["x/a.md", "x/in/b.md"]
    assert [request.path for request in deployment.requests] == ["/v1/files/x/a.md", "/v1/files/x/in/b.md"]


def test_a_directory_without_files_is_refused_before_anything_is_sent(
    acta: Acta, deployment: FakeDeployment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert acta("files", "put", str(tmp_path)) == 2
    assert acta("run", "goal", "--files", str(tmp_path / "none")) == 2
    assert acta("files", "put", str(tmp_path / "{a}.md")) == 2
    assert deployment.requests == []
    *others, last = capsys.readouterr().err.splitlines()
    assert (len(others), last) == (2, f"acta: {tmp_path}/{{a}}.md: No such file or directory")


def test_a_file_goes_up_only_under_the_condition_that_was_named(
    acta: Acta, deployment: FakeDeployment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.md").write_text("a")
    deployment.on(
        "PUT", "/v1/files/a.md", success({}, 201), failure(412, "PRECONDITION_FAILED", "It is there.")
    )
    assert acta("files", "put", str(tmp_path), "--new") == 0
    assert deployment.requests[0].headers["If-None-Match"] == "*"
    for given, sent in (('"e1"', '"e1"'), ("e1", '"e1"'), ("*", "*"), ('W/"e1"', 'W/"e1"'), ("", "")):
        assert acta("files", "put", str(tmp_path / "a.md"), "--if-etag", given) != 0
        assert deployment.requests[-1].headers["If-Match"] == sent
        assert "It is there." in capsys.readouterr().err
    assert acta("files", "put", str(tmp_path), "--if-etag", '"e1"') == 2
    assert len(deployment.requests) == 6


def test_deleted_files_are_listed_with_when_they_were_deleted(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = {"path": "old.md", "deleted_at": "2026-11-22T09:00:01.5Z"}
    deployment.on("GET", "/v1/files", success({"items": [gone], "next_cursor": None}))
    assert acta("files", "ls", "--deleted") == 0
    assert "deleted=1" in deployment.requests[0].path
    assert capsys.readouterr().out == "2026-11-22 09:00:01  old.md\n"


def test_a_directory_with_a_name_that_cannot_be_stored_sends_nothing_and_names_each_such_file(
    acta: Acta, deployment: FakeDeployment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = tmp_path / "secret"
    outside.write_text("x")
    top = tmp_path / "in"
    (top / "deep").mkdir(parents=True)
    for name in ("a.txt", "b%41.txt", "deep/pay\u200broll.csv", "é.txt", "e\u0301.txt", "z.txt"):
        (top / name).write_text("x")
    Path(os.fsdecode(os.fsencode(top) + b"/caf\xe9.txt")).write_text("x")
    (top / "gone").symlink_to(top / "nothing")
    (top / "out").symlink_to(outside)
    (top / "in").symlink_to(top / "a.txt")
    (top / "loop").symlink_to(top / "loop")
    os.mkfifo(top / "pipe")
    for command in (("files", "put", str(top), "x"), ("run", "goal", "--files", str(top))):
        assert acta(*command) == 2
        shown = capsys.readouterr()
        assert (shown.out, deployment.requests) == ("", [])
        assert "nothing was sent" in shown.err
        assert "is stored as" not in shown.err
        named = {
            line.strip().split(": ")[0].removeprefix(f"{top}/"): line for line in shown.err.splitlines()[1:]
        }
        assert {*named} == {
            "b%41.txt",
            "deep/pay\\u200broll.csv",
            "é.txt",
            "caf\\udce9.txt",
            "gone",
            "out",
            "pipe",
            "loop",
        }
        assert "(%41)" in named["b%41.txt"]
        assert "ZERO WIDTH SPACE" in named["deep/pay\\u200broll.csv"]
        assert "same name as" in named["é.txt"]
        assert "half a character" in named["caf\\udce9.txt"]
        assert "out of the directory" in named["out"]


NAMES = {
    "Screenshot 4.42.48\u202fPM.png": "Screenshot 4.42.48 PM.png",
    "Re\u0301sume\u0301.txt": "Résumé.txt",
    "heart ❤\ufe0f.txt": "heart ❤\ufe0f.txt",
    "می\u200cخواهم.txt": "می\u200cخواهم.txt",
    "100% sure?#.txt": "100% sure?#.txt",
    "~$a.docx": "_$a.docx",
    " led.txt ": "led.txt",
}


def test_files_go_up_under_the_names_that_people_gave_them_and_another_one_is_said(
    acta: Acta, deployment: FakeDeployment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, path in NAMES.items():
        (tmp_path / name).write_text("x")
        deployment.on("PUT", file_path(path), success({}, 201), success({}, 201))
    (tmp_path / "empty").mkdir()
    assert acta("files", "put", str(tmp_path), "--json") == 0
    shown = capsys.readouterr()
    assert sorted(json.loads(shown.out)) == sorted(NAMES.values())
    assert [line for line in shown.err.splitlines() if "Résumé" in line or "heart" in line] == []
    assert "Screenshot 4.42.48\\u202fPM.png is stored as Screenshot 4.42.48 PM.png" in shown.err
    for name, path in NAMES.items():
        assert acta("files", "put", str(tmp_path / name)) == 0
        assert capsys.readouterr().out == f"{path}\n"
    assert acta("files", "put", str(tmp_path / "led.txt"), "a\u202eb") == 2
    assert "a\\u202eb: the path has the hidden character" in capsys.readouterr().err
    assert acta("files", "get", "caf\udce9.txt") == 2
    assert "half a character" in capsys.readouterr().err


def test_a_file_that_the_deployment_refuses_keeps_no_other_from_being_stored(
    acta: Acta, deployment: FakeDeployment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a.md", "b.md", "c.md"):
        (tmp_path / name).write_text(name)
    deployment.on("PUT", "/v1/files/a.md", success({}, 201))
    deployment.on("PUT", "/v1/files/b.md", failure(413, "PAYLOAD_TOO_LARGE", "The file is too large."))
    deployment.on("PUT", "/v1/files/c.md", success({}, 201), failure(401, "UNAUTHENTICATED", "Sign in."))
    assert acta("files", "put", str(tmp_path)) == 2
    assert "1 of 3 files are not stored" in (said := capsys.readouterr().err)
    assert f"{tmp_path}/b.md: The file is too large." in said
    assert [request.path[-4:] for request in deployment.requests] == ["a.md", "b.md", "c.md"]
    assert acta("files", "put", str(tmp_path)) == 2
    assert "1 of 3 files are stored" in capsys.readouterr().err


def test_a_file_that_is_gone_by_its_turn_is_named_and_the_others_are_stored(tmp_path: Path) -> None:
    for name in ("a.md", "b.md", "c.md"):
        (tmp_path / name).write_text(name)
    stored: list[str] = []

    class Storage:
        def write(self, path: str, content: bytes, *, new: bool) -> None:
            stored.append(path)
            (tmp_path / "b.md").unlink(missing_ok=True)

    client = cast("Client", SimpleNamespace(files=Storage()))
    with pytest.raises(CliError, match=r"1 of 3 files are not stored:\n.*b\.md: .*No such file"):
        put_directory(client, str(tmp_path))
    assert stored == ["a.md", "c.md"]
