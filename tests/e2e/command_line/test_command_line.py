"""The `acta` command against a deployment: what it prints, asks and exits with."""

import json
from collections.abc import Callable
from pathlib import Path

import jwt
import pytest

from tests.conftest import Deployed
from tests.e2e.support.command import Ended, acta, started
from tests.e2e.support.person import Person
from tests.e2e.support.samples import DELETION, GOAL, OLD, give_files

Run = Callable[..., Ended]


@pytest.fixture
def run(deployed: Deployed, ann: Person) -> Run:
    """`acta` as Ann, by environment."""
    return lambda *arguments: acta(*arguments, environ=as_ann(deployed, ann))


def as_ann(deployed: Deployed, ann: Person) -> dict[str, str]:
    return {"ACTA_API_URL": deployed.url, "ACTA_TOKEN": ann.token}


def test_a_goal_is_followed_to_its_end_and_the_exit_code_says_it_was_met(run: Run, ann: Person) -> None:
    give_files(ann)
    ended = run("run", GOAL)
    assert ended.code == 0, ended.err
    (session,) = ann.items("/v1/sessions")
    assert session["session_id"] in ended.out.splitlines()[0]
    assert session["plan"]["steps"][0]["description"] in ended.out
    assert session["result"]["answer"].splitlines()[0] in ended.out
    assert "completed" in ended.out.splitlines()[-1]
    assert "\x1b" not in ended.out + ended.err, "no terminal, no control sequence"
    assert "summary.md" in ann.files()


@pytest.mark.thorough
def test_a_goal_that_was_not_met_has_an_exit_code_of_its_own(run: Run, ann: Person) -> None:
    give_files(ann)
    ended = run("run", GOAL, "--max-steps", "1", "--json")
    assert ended.code == 3
    assert json.loads(ended.out)["result"]["goal_met"] is False


@pytest.mark.thorough
def test_without_a_terminal_a_question_is_shown_once_and_waits_for_a_decision_from_elsewhere(
    deployed: Deployed, run: Run, ann: Person
) -> None:
    ann.put_file(OLD, "old")
    with started("run", DELETION, environ=as_ann(deployed, ann)) as command:
        assert command.stdout is not None
        shown: list[str] = []
        for line in command.stdout:
            shown.append(line)
            if "acta approve" in line:
                break
        text = "".join(shown)
        (session,) = ann.items("/v1/sessions")
        assert "delete_file" in text
        assert OLD in text
        assert ann.file(OLD) == "old"

        approved = run("approve", session["session_id"], "--comment", "fine")

        assert approved.code == 0, approved.err
        rest = command.stdout.read()
        assert command.wait(60) == 0
        assert "acta approve" not in rest
    assert ann.files() == set()


@pytest.mark.thorough
def test_rejecting_and_cancelling_and_answering_do_what_they_say(run: Run, ann: Person) -> None:
    ann.put_file(OLD, "old")
    first = ann.asked(ann.start(DELETION)).session["session_id"]
    assert run("reject", first).code == 0
    assert ann.finished(first).session["state"] == "completed"
    second = ann.asked(ann.start(DELETION)).session["session_id"]
    assert run("cancel", second).code == 0
    assert ann.snapshot(second)["state"] == "cancelled"
    assert run("watch", second).code == 4
    third = ann.asked(ann.start("Create the file made.txt")).session["session_id"]
    assert run("answer", third, "the text").code == 0
    ann.finished(third)
    assert ann.file("made.txt") == "the text"
    assert ann.file(OLD) == "old"


@pytest.mark.thorough
def test_a_budget_that_ran_out_is_raised_with_the_command_that_was_shown(run: Run, ann: Person) -> None:
    give_files(ann)
    left = run("run", GOAL, "--token-budget", "500", "--no-wait")
    assert left.code == 5, left.err
    (session,) = ann.items("/v1/sessions")
    session_id = session["session_id"]
    assert f"acta raise {session_id} " in left.out
    assert f"acta finish {session_id} " in left.out
    refused = run("answer", session_id, "go on")
    assert (refused.code, refused.out) == (2, "")
    assert f"acta raise {session_id} " in refused.err, "what can be done is said, a line for each"
    raised = run("raise", session_id, "--token-budget", "400000")
    assert raised.code == 0, raised.err
    assert run("watch", session_id).code == 0


def test_a_session_is_started_watched_listed_and_read_by_separate_commands(run: Run, ann: Person) -> None:
    give_files(ann)
    detached = run("run", GOAL, "--detach")
    session_id = detached.out.strip()
    assert detached.code == 0
    watched = run("watch", session_id)
    assert watched.code == 0
    assert "completed" in watched.out.splitlines()[-1]
    listed = run("sessions")
    assert (listed.code, len(listed.out.splitlines())) == (0, 1)
    assert session_id in listed.out
    assert [one["session_id"] for one in json.loads(run("sessions", "--json").out)] == [session_id]
    plan = ann.data(f"/v1/sessions/{session_id}/plan")["plan"]
    shown = run("plan", session_id)
    assert (shown.code, shown.out.splitlines()[0].endswith(" 100 %)")) == (0, True)
    assert all(step["description"][:40] in shown.out for step in plan["steps"])
    assert json.loads(run("plan", session_id, "--json").out)["plan"] == plan
    trace = run("trace", session_id)
    assert trace.code == 0
    assert "create_file" in trace.out
    assert json.loads(run("trace", session_id, "--json").out) == ann.items(f"/v1/sessions/{session_id}/trace")


def test_a_directory_is_sent_completely_or_not_at_all_under_the_names_that_people_gave(
    run: Run, ann: Person, tmp_path: Path
) -> None:
    names = ("Screenshot 4.42\u202fPM.png", "e\u0301 100%.txt", "می\u200cخواهم.txt", "b%41.txt")
    for name in names:
        (tmp_path / name).write_text(name, encoding="utf-8")
    for command in (("files", "put", str(tmp_path)), ("run", GOAL, "--files", str(tmp_path))):
        refused = run(*command)
        assert (refused.code, refused.out) == (2, "")
        assert "nothing was sent" in refused.err
        assert "b%41.txt" in refused.err
    assert (ann.files(), ann.items("/v1/sessions")) == (set(), [])
    (tmp_path / "b%41.txt").unlink()
    assert run("files", "put", str(tmp_path), "in").code == 0
    assert ann.files() == {"in/Screenshot 4.42 PM.png", "in/é 100%.txt", "in/می\u200cخواهم.txt"}
    assert run("files", "get", "in/é 100%.txt").out == names[1]
    assert "in/می\u200cخواهم.txt" in run("files", "ls", "in/").out


def test_a_file_that_was_deleted_is_written_again_by_the_id_that_was_shown(run: Run, ann: Person) -> None:
    ann.put_file(OLD, "old")
    assert run("files", "rm", OLD).code == 0
    shown = run("files", "versions", OLD)
    deletion, written = (line.split() for line in shown.out.splitlines())
    assert (deletion[2], deletion[-1], written[2]) == ("deleted", "now", "3")
    gone = run("files", "restore", OLD, deletion[3])
    assert (gone.code, gone.out, len(gone.err.splitlines())) == (2, "", 1)
    assert run("files", "restore", OLD, written[3]).code == 0
    assert ann.file(OLD) == "old"


def test_a_token_is_printed_bare_and_opens_the_stack_for_its_tenant(deployed: Deployed) -> None:
    state = str(deployed.state)
    for role in ("member", "approver", "admin"):
        ended = acta("token", "--tenant", "t-1", "--user", "ben", "--role", role, "--state", state)
        token = ended.out.strip()
        assert (ended.code, ended.err, ended.out) == (0, "", token + "\n")
        claims = jwt.decode(token, options={"verify_signature": False})
        assert (claims["tenant"], claims["sub"], role in claims["roles"]) == ("t-1", "ben", True)
        assert Person(deployed.url, token).get("/v1/sessions").status_code == 200


def test_without_url_and_token_the_command_finds_the_stack_of_its_state_directory(deployed: Deployed) -> None:
    ended = acta("sessions", "--state", str(deployed.state), "--json")
    assert (ended.code, ended.err) == (0, "")
    assert isinstance(json.loads(ended.out), list)


@pytest.mark.parametrize(
    "arguments",
    [
        ("run",), ("nonsense",), ("watch", "ses_unknown"), ("plan", "ses_unknown"), ("cancel", "ses_unknown"),
        ("approve", "ses_unknown"), ("run", "x", "--max-steps", "0"), ("run", "x", "--max-steps", "many"),
        ("run", "   "), ("run", "x" * 10_001), ("sessions", "--state-is", "nonsense"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said_in_one_line_with_exit_2(
    run: Run, ann: Person, arguments: tuple[str, ...]
) -> None:
    ended = run(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert len(ended.err.splitlines()) == 1
    assert "Traceback" not in ended.err
    assert ann.items("/v1/sessions") == []


@pytest.mark.parametrize("token", ["nonsense", "a.b.c"])
def test_a_token_that_is_refused_is_said_in_one_line_with_exit_2(deployed: Deployed, token: str) -> None:
    ended = acta("sessions", environ={"ACTA_API_URL": deployed.url, "ACTA_TOKEN": token})
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)
    assert "token" in ended.err


def test_an_expired_token_is_refused_with_a_word_on_where_to_get_a_new_one(deployed: Deployed) -> None:
    token = deployed.issuer.issue_token("t", "u", "member", ttl=-60)
    ended = acta("run", "x", environ={"ACTA_API_URL": deployed.url, "ACTA_TOKEN": token})
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)
    assert "expired" in ended.err


def test_nobody_at_the_url_is_said_in_one_line_with_exit_2() -> None:
    ended = acta("sessions", environ={"ACTA_API_URL": "http://127.0.0.1:9", "ACTA_TOKEN": "x.y.z"})
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)
    assert "Traceback" not in ended.err
