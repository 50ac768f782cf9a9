"""`acta files`."""

from pathlib import Path

import pytest

from tests.unit.acta.conftest import Acta
from tests.unit.acta.fake_deployment import FakeDeployment, Reply, success


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
