"""Files that Acta writes on a machine: they stay in their folder, and their owner alone reads them."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from acta.engine.untrusted.own_files import NameRefused, inside, write_own


@pytest.fixture(autouse=True)
def generous_umask() -> Iterator[None]:
    """Whatever the shell's is, nobody else reads the files."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize("name", ["agents/desk.yaml", "a", "sessions/ses_01.jsonl.gz", "%2E%2E", "CON.yaml"])
def test_a_plain_name_is_a_file_in_the_folder(name: str, tmp_path: Path) -> None:
    assert inside(tmp_path, name) == tmp_path / name


@pytest.mark.parametrize(
    "name",
    [
        "", ".", "..", "../x", "agents/../../x", "agents/..", "/etc/passwd", "agents//x", "agents/", "a\\b", "..\\x",
        "c:x", "a b", "a\0", "a\n", ".hidden", ".git/config", "\u2024\u2024/x", "x" * 256, "a/\u202e",
    ],
)  # fmt: skip
def test_a_name_that_leaves_the_folder_or_is_not_plain_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(NameRefused):
        inside(tmp_path, name)


def test_a_link_in_the_folder_is_not_followed_and_the_folder_itself_may_be_one(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    outside.mkdir()
    folder.mkdir()
    (folder / "agents").symlink_to(outside)
    (folder / "link.yaml").symlink_to(outside / "target")
    for name in ("agents/x.yaml", "link.yaml"):
        with pytest.raises(NameRefused, match="link"):
            inside(folder, name)
    other = tmp_path / "other"
    other.symlink_to(folder)
    assert inside(other, "x.yaml") == other / "x.yaml"


def test_what_is_written_is_its_owner_s_alone_and_so_are_the_folders_that_were_missing(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a" / "b" / "file"
    write_own(path, b"x")
    assert (path.read_bytes(), mode(path), mode(path.parent), mode(tmp_path / "a")) == (
        b"x",
        0o600,
        0o700,
        0o700,
    )
    path.chmod(0o644)
    write_own(path, b"y")
    assert (path.read_bytes(), mode(path), os.listdir(path.parent)) == (b"y", 0o600, ["file"])


def test_a_link_at_its_place_is_replaced_and_its_target_stays(tmp_path: Path) -> None:
    target, path = tmp_path / "target", tmp_path / "file"
    target.write_bytes(b"there")
    path.symlink_to(target)
    write_own(path, b"x")
    assert (path.is_symlink(), path.read_bytes(), target.read_bytes()) == (False, b"x", b"there")


def test_what_is_there_stays_where_it_may_not_be_replaced(tmp_path: Path) -> None:
    there, dangling = tmp_path / "there", tmp_path / "dangling"
    there.write_bytes(b"there")
    dangling.symlink_to(tmp_path / "elsewhere")
    for path in (there, dangling):
        with pytest.raises(FileExistsError):
            write_own(path, b"x", replace=False)
    assert (there.read_bytes(), sorted(os.listdir(tmp_path))) == (b"there", ["dangling", "there"])


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    path.mkdir()
    with pytest.raises(OSError, match="directory"):
        write_own(path, b"x")
    assert os.listdir(tmp_path) == ["folder"]
