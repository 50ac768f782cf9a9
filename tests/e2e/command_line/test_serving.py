"""`acta up`: what it prints, what it keeps, and what it leaves behind, which is nothing."""

import json
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.conftest import Deployed
from tests.e2e.conftest import Admit
from tests.e2e.support.command import Up, acta
from tests.e2e.support.deployments import neutral_environ, prepare
from tests.e2e.support.document import checked
from tests.e2e.support.person import Person
from tests.e2e.support.processes import alive, family, linux_only, open_to_others
from tests.e2e.support.samples import GOAL, give_files

pytestmark = [linux_only, pytest.mark.thorough]


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("serving") / "state"
    prepare(path, neutral_environ())
    return path


@pytest.fixture(scope="module")
def up(state: Path) -> Iterator[Up]:
    with Up(state) as running:
        yield running


def person(running: Up) -> Person:
    return Person(running.ready["api_url"], running.ready["token"])


def test_one_line_of_json_says_all_that_a_script_needs(up: Up, state: Path) -> None:
    assert set(up.ready) >= {"api_url", "token", "admin_token", "aws_endpoint_url"}
    assert up.ready["provider"] == "offline"
    assert up.ready["api_url"].startswith("http://127.0.0.1:")
    assert checked(httpx.get(up.ready["api_url"] + "/healthz", trust_env=False)).status_code == 200
    for token in (up.ready["token"], up.ready["admin_token"]):
        answer = Person(up.ready["api_url"], token).get("/v1/sessions")
        assert answer.status_code == 200
    assert "Traceback" not in up.errors


def test_two_stacks_side_by_side_know_nothing_of_each_other(up: Up, deployed: Deployed, admit: Admit) -> None:
    here, there = person(up), admit("demo", "you")
    session_id = here.start()
    assert there.get(f"/v1/sessions/{session_id}").status_code == 404
    foreign = Person(deployed.url, up.ready["token"])
    assert foreign.get("/v1/sessions").status_code == 401
    assert here.delete(f"/v1/sessions/{session_id}").status_code == 204


def test_a_directory_that_is_served_already_is_refused_in_one_line(up: Up, state: Path) -> None:
    second = acta("up", "--state", str(state), "--json")
    assert (second.code, second.out) == (2, "")
    assert len(second.err.splitlines()) == 1
    assert up.ready["api_url"] in second.err
    assert up.process.poll() is None


def test_a_stack_that_was_deployed_once_has_one_release_and_none_to_go_back_to(up: Up, state: Path) -> None:
    here = ("--state", str(state))
    (release,) = json.loads(acta("releases", *here, "--json").out)
    assert release["live"]
    assert set(release["versions"].values()) == {"$LATEST"}
    ended = acta("rollback", *here, "--yes")
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)
    assert "no earlier release" in ended.err


def test_the_posture_of_a_stack_is_seen_from_outside(up: Up, state: Path) -> None:
    ended = acta("posture", "--state", str(state), "--json")
    told = json.loads(ended.out)
    assert (ended.code, told["environment"], told["posture"]) == (0, "local", "open")
    assert {each["option"]: each["seen"] for each in told["points"] if each["state"] != "has it"} == {}
    assert "default_visibility" in [each["option"] for each in told["points"]]


@pytest.mark.thorough
def test_a_stack_goes_back_to_what_was_there_before_it_was_deployed_anew(tmp_path: Path) -> None:
    """Another retry base is another release, deployed over the first one."""
    state = tmp_path / "state"
    prepare(state, neutral_environ())
    here = ("--state", str(state))
    with Up(state) as before:
        you = person(before)
        give_files(you)
        done = you.finished(you.start(GOAL))
        (first,) = json.loads(acta("releases", *here, "--json").out)
    with Up(state, environ={"ACTA_RETRY_BASE_SECONDS": "3"}) as after:
        second, former = json.loads(acta("releases", *here, "--json").out)
        assert (second["live"], former["live"], former["release"]) == (True, False, first["release"])
        for to, live in (((), former), (("--to", second["release"]), second)):
            ended = acta("rollback", *here, "--yes", *to)
            assert ended.code == 0, ended.err
            assert f"{live['release']} is live" in ended.out
            listed = json.loads(acta("releases", *here, "--json").out)
            assert [each["release"] for each in listed if each["live"]] == [live["release"]]
            me = person(after)
            assert me.data(f"/v1/sessions/{done.session['session_id']}")["session"] == done.session
            assert me.finished(me.start("List my files")).session["state"] == "completed"


def test_a_taken_port_is_one_line_and_exit_2_and_nothing_is_left(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = acta("up", "--port", port, "--state", str(tmp_path / "new"))
    assert (ended.code, ended.out) == (2, "")
    assert len(ended.err.splitlines()) == 1
    assert port in ended.err
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "arguments", [("--port", "0"), ("--port", "x"), ("--port", "70000"), ("--nonsense",)]
)
def test_a_wrong_argument_is_one_line_and_exit_2(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    ended = acta("up", "--state", str(tmp_path / "new"), *arguments)
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)
    assert not (tmp_path / "new").exists()


def test_a_wrong_setting_is_one_line_that_names_the_variable(tmp_path: Path) -> None:
    ended = acta("up", "--state", str(tmp_path / "new"), environ={"ACTA_TOKEN_BUDGET": "many"})
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)
    assert "ACTA_TOKEN_BUDGET" in ended.err


def test_nothing_listens_outside_loopback_and_a_signal_ends_every_process_and_keeps_every_session(
    up: Up, state: Path
) -> None:
    you = person(up)
    give_files(you)
    done = you.finished(you.start(GOAL))
    session_id = done.session["session_id"]
    told = {
        rest: you.data(f"/v1/sessions/{session_id}/{rest}") for rest in ("messages", "plan", "steps", "trace")
    }
    processes = family(up.process.pid)
    assert len(processes) > 5, "the emulator and the functions"
    assert [each for pid in processes for each in open_to_others(pid)] == []

    assert up.stop(signal.SIGTERM) == 0

    assert [pid for pid in processes if alive(pid)] == []
    with Up(state) as again:
        assert again.ready["api_url"] == up.ready["api_url"]
        me = person(again)
        page = me.data(f"/v1/sessions/{session_id}")
        assert page["session"] == done.session
        assert page["events"] == done.events
        assert {rest: me.data(f"/v1/sessions/{session_id}/{rest}") for rest in told} == told
        assert me.file("summary.md") == you_file(told)
        assert [one["session_id"] for one in me.items("/v1/sessions")] == [session_id]
        me.post(f"/v1/sessions/{session_id}/messages", {"content": "List my files"})
        later = me.finished(session_id, done.cursor)
        assert later.session["state"] == "completed"
        processes = family(again.process.pid)
        assert again.stop(signal.SIGINT) == 0
    assert [pid for pid in processes if alive(pid)] == []


def you_file(told: dict[str, object]) -> str:
    """The summary's text as the agent wrote it."""
    rows = json.loads(json.dumps(told["trace"]))["items"]
    (written,) = [row["action_input"]["content"] for row in rows if row.get("action") == "create_file"]
    return str(written)
