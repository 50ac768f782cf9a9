"""`acta apply` and `acta export` as somebody types them, against the real API."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

import pytest

from acta.cli.main import main
from acta.client.api import Client
from acta.client.deployment import Deployment
from tests.acta.real_api import FOR_ADMINS, RealApi


class Shown(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Shown]


@pytest.fixture
def run(real_api: RealApi, capfd: pytest.CaptureFixture[str]) -> Run:
    """`acta` as an admin; what the API itself logs is not shown."""

    def typed(*words: str) -> Shown:
        capfd.readouterr()
        code = main([*words, "--api-url", real_api.url, "--token", FOR_ADMINS])
        out, err = capfd.readouterr()
        kept = [line for line in out.splitlines() if not line.startswith(('{"level"', '{"_aws"'))]
        return Shown(code, "\n".join(kept), err)

    return typed


@pytest.fixture
def api(real_api: RealApi) -> Iterator[Client]:
    """By hand: an admin who uses no files."""
    with Client(Deployment(real_api.url, FOR_ADMINS), pause=lambda _: None) as client:
        yield client


class Files:
    """A folder of definitions."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __str__(self) -> str:
        return str(self.folder)

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")

    def remove(self, name: str) -> None:
        (self.folder / name).unlink()

    def all(self) -> dict[str, bytes]:
        found = (path for path in self.folder.rglob("*") if path.is_file())
        return {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in found}


@pytest.fixture
def files(tmp_path: Path) -> Files:
    (tmp_path / "support").mkdir()
    return Files(tmp_path / "support")
