"""`acta up` as a person and a script use it in a repository of their own, with the real deployment inside."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.local.served import Served, acta, is_alive

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("up")
    assert acta("init", str(folder / "shop")).returncode == 0
    served = Served(folder / "state", folder / "shop")
    served.state.mkdir()
    served.state.chmod(0o755)  # a directory that was there, and that everybody may read
    yield served
    if served.process is not None:
        served.stop()


@pytest.fixture
def running(stack: Served) -> Served:
    stack.start()
    return stack


def test_when_it_is_ready_one_line_says_where_everything_is(running: Served) -> None:
    assert set(running.ready) == {
        "api_url",
        "console_url",
        "token",
        "admin_token",
        "aws_endpoint_url",
        "aws_credentials_file",
        "state",
        "provider",
    }
    assert running.get("/healthz").status_code == 200
    assert running.get("/v1/sessions").status_code == 200
    assert running.get("/v1/sessions", running.ready["admin_token"]).status_code == 200
    assert running.ready["provider"] == "offline"


def test_its_owner_alone_reads_what_is_in_the_state_directory(running: Served) -> None:
    """Of a directory that everybody could read before, and each file by its own mode, too."""
    assert running.state.stat().st_mode & 0o777 == 0o700
    found = [path for path in running.state.rglob("*") if not path.is_symlink()]
    assert {"state.json", "cdk.log", "issuer-key.pem"} <= {path.name for path in found}
    open_ones = {
        str(path.relative_to(running.state))
        for path in found
        if path.is_file() and path.stat().st_mode & 0o077
    }
    assert open_ones == set()


def test_a_goal_is_run_to_its_end_and_its_session_survives_a_restart(running: Served) -> None:
    sample = running.state.with_name("notes.md")
    sample.write_text("Replaced before the restart, restored after it.")
    assert running.acta("files", "put", str(sample)).returncode == 0
    sample.write_text("# Notes\n\nThe bridge opens in May.\n")
    assert running.acta("files", "put", str(sample)).returncode == 0

    done = running.acta("run", "Summarize notes.md")
    assert done.returncode == 0, done.stderr
    assert "The bridge opens in May" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr
    session_id = done.stdout.split()[1]

    family, url = running.descendants(), running.ready["api_url"]
    assert family
    assert running.stop(signal.SIGTERM) == (0, "")
    assert [pid for pid in family if is_alive(pid)] == []

    running.start()
    assert running.ready["api_url"] == url
    assert "cdk deploy" not in running.progress
    session = running.get(f"/v1/sessions/{session_id}").json()["data"]["session"]
    assert session["state"] == "completed"
    assert running.acta("files", "get", "notes.md").stdout == sample.read_text()
    first = running.acta("files", "versions", "notes.md").stdout.splitlines()[-1].split()[3]
    assert running.acta("files", "restore", "notes.md", first).returncode == 0
    assert "restored after it" in running.acta("files", "get", "notes.md").stdout


def test_the_tool_and_the_agent_of_a_new_repository_do_their_work(running: Served) -> None:
    goal = 'use lookup_orders with {"number": "7"}'
    assert running.acta("apply", "--yes").returncode == 0
    done = running.acta("run", "--agent", "desk", goal)
    assert (done.returncode, "It was sent on Monday." in done.stdout) == (0, True), done.stdout + done.stderr
    assert running.acta("apply", "--plan").returncode == 0


def test_ctrl_c_ends_it_in_order_too(running: Served) -> None:
    family = running.descendants()
    assert running.stop(signal.SIGINT) == (0, "")
    assert [pid for pid in family if is_alive(pid)] == []


@pytest.mark.thorough
def test_a_killed_one_leaves_no_process_and_the_next_start_just_works(running: Served) -> None:
    family, url = running.descendants(), running.ready["api_url"]
    assert family
    code, _ = running.stop(signal.SIGKILL)
    assert code == -signal.SIGKILL
    running.start()
    assert [pid for pid in family if is_alive(pid)] == []
    assert running.ready["api_url"] == url
    assert "cdk deploy" not in running.progress
    assert running.get("/v1/sessions").status_code == 200


def test_a_directory_that_is_served_is_refused(running: Served) -> None:
    refused = running.acta("up")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert len(refused.stderr.splitlines()) == 1
    assert running.ready["api_url"] in refused.stderr


def test_a_taken_port_is_refused_and_nothing_is_made(running: Served, tmp_path: Path) -> None:
    port = running.ready["api_url"].rpartition(":")[2]
    refused = acta("up", "--port", port, "--state", str(tmp_path / "other"))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert len(refused.stderr.splitlines()) == 1
    assert not (tmp_path / "other").exists()


def test_another_tenant_finds_nothing(running: Served) -> None:
    stranger = running.acta("token", "--tenant", "other", "--user", "u").stdout.strip()
    mine = running.get("/v1/sessions").json()["data"]["items"]
    assert running.get("/v1/sessions", stranger).json()["data"]["items"] == []
    for session in mine:
        answer = running.get(f"/v1/sessions/{session['session_id']}", stranger)
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "SESSION_NOT_FOUND")
