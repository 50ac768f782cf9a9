"""Commands that run cdk: whoever is interrupted while one runs leaves nothing running."""

import os
from pathlib import Path

import pytest

from acta.infra.local.deploy import Commands


class Interrupted(BaseException):
    """As Ctrl-C is one: no `except Exception` takes it."""


def test_an_interrupted_command_is_ended_by_stop(tmp_path: Path) -> None:
    speaks = tmp_path / "speaks.py"
    speaks.write_text("import time\nprint('it runs', flush=True)\ntime.sleep(600)\n")
    commands = Commands(dict(os.environ), tmp_path / "log")

    def interrupt(line: str) -> None:
        raise Interrupted(line)

    with pytest.raises(Interrupted):
        commands.run(["python3", str(speaks)], "speaks", cwd=tmp_path, on_line=interrupt)
    (child,) = commands.running
    assert child.poll() is None
    commands.stop()
    assert child.poll() is not None


def test_a_command_that_has_ended_is_forgotten(tmp_path: Path) -> None:
    commands = Commands(dict(os.environ), tmp_path / "log")
    commands.run(["true"], "true", cwd=tmp_path)
    assert commands.running == set()
