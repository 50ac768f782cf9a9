"""Unpacked code is shared by all runs: unpacked once, never half done, and removed only when nobody uses it."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from acta.local_aws.lambdas.code import KEPT, UnpackedCode, forget_old
from acta.local_aws.testing import zipped
from tests.local_aws.emulators import ROOT

USER = """
import sys
from pathlib import Path
from acta.local_aws.lambdas.code import UnpackedCode
print(UnpackedCode(Path(sys.argv[1])).folder("step", Path(sys.argv[2]).read_bytes()), flush=True)
sys.stdin.read()
"""


def of(version: int) -> bytes:
    return zipped({"main.py": f"VERSION = {version}", "folder/more.py": ""})


@contextmanager
def used_by_another_process(root: Path, code: bytes, scratch: Path) -> Iterator[Path]:
    """The folder that an emulator of its own has unpacked or found, and uses."""
    packed = scratch / "code.zip"
    packed.write_bytes(code)
    command = [sys.executable, "-c", USER, str(root), str(packed)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as user:
        assert user.stdout is not None
        yield Path(user.stdout.readline().strip())
        user.kill()


def versions(root: Path, function: str) -> set[Path]:
    return set((root / function).iterdir())


def test_the_next_run_finds_what_the_run_before_unpacked_and_its_byte_code(tmp_path: Path) -> None:
    with used_by_another_process(tmp_path / "code", of(1), tmp_path) as before:
        (before / "compiled").write_text("")
    assert UnpackedCode(tmp_path / "code").folder("step", of(1)) == before
    assert sorted(path.name for path in before.iterdir()) == ["compiled", "folder", "main.py"]


def test_another_zip_has_a_folder_of_its_own(tmp_path: Path) -> None:
    code = UnpackedCode(tmp_path)
    one, two = code.folder("step", of(1)), code.folder("step", of(2))
    assert [(each / "main.py").read_text() for each in (one, two)] == ["VERSION = 1", "VERSION = 2"]


def test_a_name_leads_nowhere_else(tmp_path: Path) -> None:
    folder = UnpackedCode(tmp_path / "code").folder("../../step", of(1))
    assert folder.resolve().is_relative_to(tmp_path / "code")


def test_old_versions_go_the_last_used_stay(tmp_path: Path) -> None:
    made = []
    for number in range(KEPT + 2):
        with used_by_another_process(tmp_path / "code", of(number), tmp_path) as folder:
            made.append(folder)
    with used_by_another_process(tmp_path / "code", of(0), tmp_path):  # used again: no longer the oldest
        pass
    forget_old(tmp_path / "code" / "step")
    assert versions(tmp_path / "code", "step") == {made[0], *made[-KEPT + 1 :]}


def test_an_old_version_stays_while_somebody_uses_it(tmp_path: Path) -> None:
    root = tmp_path / "code"
    with used_by_another_process(root, of(0), tmp_path) as oldest:
        mine = [UnpackedCode(root).folder("step", of(number)) for number in range(1, KEPT + 2)]
        forget_old(root / "step")
        assert versions(root, "step") == {oldest, *mine}
        assert (oldest / "folder" / "more.py").exists()


def test_what_an_ended_run_left_half_unpacked_is_not_used_and_goes(tmp_path: Path) -> None:
    half = tmp_path / "code" / "step" / ".half"
    half.mkdir(parents=True)
    (half / "main.py").write_text("")
    with used_by_another_process(tmp_path / "code", of(1), tmp_path) as folder:
        assert folder != half
    forget_old(tmp_path / "code" / "step")
    assert versions(tmp_path / "code", "step") == {folder}


def test_code_is_unpacked_while_another_run_removes_what_is_half_done(tmp_path: Path) -> None:
    (tmp_path / "step").mkdir()
    done = threading.Event()

    def remove() -> None:
        while not done.is_set():
            forget_old(tmp_path / "step")

    remover = threading.Thread(target=remove)
    remover.start()
    try:
        code = UnpackedCode(tmp_path)
        folders = [code.folder("step", of(number)) for number in range(50)]
    finally:
        done.set()
        remover.join()
    assert all((each / "folder" / "more.py").exists() for each in folders)


def test_a_broken_zip_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="not a zip file"):
        UnpackedCode(tmp_path).folder("step", b"no zip")
    assert versions(tmp_path, "step") == set()
