import stat
from pathlib import Path

import pytest

from acta.infra.local.state_directory import LocalDeployment, NoStack, RunningStack, StateDir, StateInUse

STACK = RunningStack(7, 8080, "http://127.0.0.1:8080", "http://127.0.0.1:4566", "offline")


def test_a_directory_is_served_by_one_stack_at_a_time(tmp_path: Path) -> None:
    first, second = StateDir(tmp_path), StateDir(tmp_path)
    first.claim()
    first.write(STACK)
    with pytest.raises(StateInUse, match=r"http://127\.0\.0\.1:8080 \(process 7\)"):
        second.claim()
    first.release()
    second.claim()
    second.release()


def test_a_running_stack_is_found_and_a_stopped_one_is_not(tmp_path: Path) -> None:
    state = StateDir(tmp_path)
    state.claim()
    state.write(STACK)
    assert StateDir(tmp_path).running() == STACK
    state.release()
    with pytest.raises(NoStack, match="acta up"):
        StateDir(tmp_path).running()


def test_its_keys_are_not_taken_into_a_repository_of_the_users(tmp_path: Path) -> None:
    StateDir(tmp_path).claim()
    assert (tmp_path / ".gitignore").read_text() == "*\n"


def test_looking_does_not_take_the_directory(tmp_path: Path) -> None:
    state = StateDir(tmp_path)
    assert not state.is_served()
    state.claim()
    assert StateDir(tmp_path).is_served()
    assert StateDir(tmp_path).is_served()
    state.release()
    assert not StateDir(tmp_path).is_served()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pid": 1}'])
def test_an_unreadable_state_file_is_no_stack(tmp_path: Path, content: str) -> None:
    (tmp_path / "state.json").write_text(content)
    assert StateDir(tmp_path).read() is None


@pytest.mark.parametrize("was_there", [False, True])
def test_the_directory_is_its_owners_only(tmp_path: Path, was_there: bool) -> None:
    state = StateDir(tmp_path / "deep" / "state")
    if was_there:
        state.path.mkdir(parents=True, mode=0o755)
    state.claim()
    state.release()
    assert stat.S_IMODE(state.path.stat().st_mode) == 0o700


def test_what_was_deployed_is_remembered(tmp_path: Path) -> None:
    deployment = LocalDeployment("key", "http://127.0.0.1:8080", "abcd1234")
    deployment.to_file(tmp_path / "deployment.json")
    assert LocalDeployment.from_file(tmp_path / "deployment.json") == deployment
    assert LocalDeployment.from_file(tmp_path / "other.json") is None
