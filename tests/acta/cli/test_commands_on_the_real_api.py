"""The commands as somebody types them, against the real API: what they print, as text."""

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pytest

from acta.cli.commands.sessions import STATES
from acta.cli.main import main
from acta.engine.log.head import SessionState
from tests.acta.real_api import FOR_ADMINS, RealApi
from tests.in_process.family import FamilyHouse
from tests.in_process.scripted import call, says

SESSION = re.compile(r"ses_[0-9A-Z]{26}")


class Shown(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


Run = Callable[..., Shown]


@pytest.fixture
def run(real_api: RealApi, capfd: pytest.CaptureFixture[str]) -> Run:
    """`acta` as an admin; what the API itself logs is not shown."""

    def typed(*words: str) -> Shown:
        capfd.readouterr()
        code = main([*words, "--api-url", real_api.url, "--token", FOR_ADMINS])
        out, err = capfd.readouterr()
        of_api = [line for line in out.splitlines() if line.startswith(('{"level"', '{"_aws"'))]
        kept = [line for line in out.splitlines() if line not in of_api]
        return Shown(code, "\n".join(kept), err)

    return typed


def detached(run: Run, *words: str) -> str:
    found = SESSION.search(run("run", *words, "--detach").out)
    assert found is not None
    return found[0]


def test_a_goal_need_not_be_quoted_and_a_directory_goes_with_it(
    run: Run, real_api: RealApi, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "notes.md").write_text("# Notes")
    (tmp_path / "in" / "may.txt").write_text("Sales grew.")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("hidden")
    shown = run("run", "List", "my", "files", "--files", str(tmp_path), "--max-steps", "9")
    assert shown.code == 0, shown.err
    assert "put 2 files into the storage" in shown.err
    assert "in/may.txt" in shown.out
    assert shown.lines[-1].startswith("✔ completed · ")
    assert [one["path"] for one in run("files", "ls", "--json").json] == ["in/may.txt", "notes.md"]


def test_the_goal_that_was_not_met_has_a_mark_and_a_reason_in_words(run: Run) -> None:
    run("files", "put", __file__, "notes.md")
    shown = run("run", "List my files and write the list to list.md", "--max-steps", "1")
    assert shown.code == 3
    assert shown.lines[-1].startswith("◐ ended, goal not met · ")
    assert "The goal was not met: its limit of 1 turn was reached." in shown.lines
    session = SESSION.search(shown.out)
    assert session is not None
    assert f"acta limits {session[0]} --max-steps N" in shown.out
    assert "goal not met" in run("sessions").lines[0]


def test_a_session_is_named_by_last_by_its_beginning_or_by_its_id(run: Run) -> None:
    first = detached(run, "List my files")
    second = detached(run, "List my files")
    assert run("watch", "last", "--json").json["session_id"] == second
    assert run("watch", first, "--json").json["session_id"] == first
    assert run("watch", second[:-1], "--json").code == 2, "both begin so"
    assert "several sessions begin with" in run("plan", "ses_0").err
    assert run("plan", second.removeprefix("ses_").lower(), "--json").code == 0
    assert "no session of the newest" in run("plan", "xyz").err


def test_last_is_nobody_else_s_session(run: Run, real_api: RealApi) -> None:
    run("files", "put", __file__, "old.txt")
    others = ("--api-url", real_api.url, "--token", "ben")
    assert main(["run", "Delete the file old.txt", "--detach", *others]) == 0
    shown = run("reject", "last")
    assert (shown.code, "acta run" in shown.err) == (2, True)
    assert run("interventions", "--json").json[0]["state"] == "pending"
    assert main(["reject", "last", *others]) == 0
    assert run("interventions", "--json").json == []


def test_a_filter_that_no_session_fits_does_not_say_that_there_is_none(run: Run) -> None:
    assert "no sessions yet" in run("sessions").err
    detached(run, "List my files")
    for words in (("--goal", "Count"), ("--user", "ben"), ("--agent", "other"), ("--goal-met", "no")):
        shown = run("sessions", *words)
        assert (shown.code, shown.out) == (0, "")
        assert "no sessions yet" not in shown.err
    assert "created_by" in run("sessions", "--user", "ben").err


def test_without_a_session_last_says_how_to_start_one(run: Run) -> None:
    shown = run("watch", "last")
    assert (shown.code, "acta run" in shown.err) == (2, True)


def test_a_plan_is_shown_with_how_far_it_is_and_what_came_of_its_steps(run: Run) -> None:
    run("files", "put", __file__, "notes.md")
    session_id = detached(run, "List my files and write the list to list.md")
    shown = run("plan", session_id)
    assert re.search(r"\(version \d+, completed, (\d+) of \1 steps, 100 %\)$", shown.lines[0])
    assert any(line.startswith("✔  1. ") for line in shown.lines)
    plan = run("plan", session_id, "--json").json["plan"]
    results = [step["result"] for step in plan["steps"] if step["result"]]
    assert all(
        any(line.startswith("       ") and result[:20] in line for line in shown.lines) for result in results
    )


def test_a_cancelled_session_s_plan_is_not_worked_on(run: Run, real_api: RealApi) -> None:
    run("files", "put", __file__, "old.txt")
    session_id = detached(run, "Delete the file old.txt")
    assert run("cancel", session_id).out == f"{session_id}  cancelled"
    shown = run("plan", session_id)
    assert ", cancelled, " in shown.lines[0]
    assert "▶" not in shown.out
    assert "(not finished)" in shown.out


def test_a_trace_has_times_tokens_decisions_and_how_it_ended(run: Run) -> None:
    run("files", "put", __file__, "old.txt")
    session_id = detached(run, "Delete the file old.txt")
    assert run("reject", "last", "--comment", "keep it").code == 0
    shown = run("trace", session_id)
    assert shown.code == 0
    assert any(re.search(r"^ +\d+  \d\d:\d\d:\d\d +[\d.]+ s  (plan|llm)", line) for line in shown.lines)
    assert any("tokens in" in line and " out" in line for line in shown.lines)
    assert any("approval required of delete_file: reject by admin: keep it" in line for line in shown.lines)


def test_what_a_session_is_told_and_answered(run: Run) -> None:
    done = detached(run, "List my files")
    refused = run("answer", done, "hello", "there")
    assert (refused.code, refused.out) == (2, "")
    assert "asks nothing" in refused.err
    assert "acta say" in refused.err
    first = run("watch", done, "--json").json["run"]["run_id"]
    said = run("say", done, "Count", "my", "files", "--json")
    assert said.json["session_id"] == done
    assert run("watch", "last", "--json").json["run"]["run_id"] != first


def test_a_paused_session_is_called_paused(run: Run) -> None:
    run("files", "put", __file__, "old.txt")
    session_id = detached(run, "Delete the file old.txt")
    run("pause", session_id)
    assert "paused" in run("sessions").lines[0] or "waiting for user" in run("sessions").lines[0]


def test_agents_are_made_listed_shown_changed_and_removed(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "clerk.json"
    file.write_text(json.dumps({"agent_id": "clerk", "name": "Clerk", "tools": ["list_files"]}))
    assert run("agents", "put", str(file)).out == "clerk  version 1"
    shown = run("agents", "get", "clerk").out
    file.write_text(shown.replace('"Clerk"', '"Clerk [bold]2"'))
    assert run("agents", "put", str(file)).out == "clerk  version 2"
    assert run("agents", "put", str(file)).code == 2, "the version it was read at is not in force any more"
    assert [line.split()[:2] for line in run("agents", "ls").lines] == [["clerk", "2"], ["default", "0"]]
    assert "Clerk [bold]2" in run("agents", "ls").out
    assert run("run", "List my files", "--agent", "clerk", "--json").json["agent_id"] == "clerk"
    assert len(run("sessions", "--agent", "clerk", "--json").json) == 1
    assert run("sessions", "--user", "nobody", "--json").json == []
    assert run("agents", "rm", "clerk").code == 0
    assert "clerk" not in run("agents", "ls").out


def test_tools_prompts_and_memories_have_commands(run: Run, tmp_path: Path) -> None:
    assert any(line.startswith("delete_file ") and " asks " in line for line in run("tools", "ls").lines)
    assert json.loads(run("tools", "get", "read_file").out)["name"] == "read_file"
    name = run("prompts", "ls", "--json").json[0]["name"]
    text = run("prompts", "get", name).out
    file = tmp_path / "prompt.txt"
    file.write_text(text + "\nBe brief.")
    assert re.fullmatch(rf"{name}  version \d+", run("prompts", "put", name, str(file), "--comment", "x").out)
    versions = run("prompts", "versions", name).lines
    assert versions[0].endswith("x")
    assert run("prompts", "restore", name, versions[1].split()[0]).code == 0
    memory = run("memories", "add", "The", "kettle", "is", "red.", "--tag", "kettle").out
    assert run("memories", "ls", "--json").json[0]["text"] == "The kettle is red."
    assert memory in run("memories", "ls").out
    assert run("memories", "rm", memory).code == 0
    assert run("memories", "ls").err.endswith("none\n")


def test_a_definition_that_cannot_be_read_is_one_line(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "clerk.json"
    for content in ("{", "[]", '{"name": "no id"}'):
        file.write_text(content)
        shown = run("agents", "put", str(file))
        assert (shown.code, shown.out, len(shown.err.splitlines())) == (2, "", 1)
    assert run("agents", "put", str(tmp_path / "none.json")).code == 2
    applied = run("agents", "put", "desk.yaml")
    assert applied.code == 2
    assert "acta apply FOLDER, with this file at FOLDER/agents/desk.yaml; put takes JSON" in applied.err


def test_a_fork_goes_on_from_a_turn_as_a_session_of_its_own(run: Run) -> None:
    run("files", "put", __file__, "notes.md")
    parent = detached(run, "List my files")
    fork = run("fork", "last", "Count", "my", "files", "--detach").out
    assert SESSION.fullmatch(fork)
    assert fork != parent
    assert run("watch", fork, "--json").json["state"] == "completed"
    assert run("fork", parent, "--at", "9999", "--detach").code == 2
    silent = run("fork", parent)
    session = SESSION.search(silent.out)
    assert session is not None
    assert f"acta say {session[0]} TEXT" in silent.out


def waiting_session(run: Run) -> str:
    """It waits for a review, and has steps that are still to be done."""
    goal = "Count and summarize my files and write the results to list.md"
    return detached(run, goal, "--review-every", "1")


def pending(run: Run, session_id: str) -> list[tuple[int, str]]:
    steps = run("plan", session_id, "--json").json["plan"]["steps"]
    return [(one["step_number"], one["description"]) for one in steps if one["status"] == "pending"]


def test_a_plan_s_pending_steps_are_added_changed_skipped_and_moved(run: Run) -> None:
    session_id = waiting_session(run)
    before = pending(run, session_id)
    (first, _), (last, _) = before[0], before[-1]
    assert first != last, before
    added = run(
        "plan", session_id, "--add", "Count the files", "--add", "Say how many", "--comment", "please"
    )
    assert added.code == 0, added.err
    assert any("Say how many" in line for line in added.lines), "the new plan is shown"
    now = pending(run, session_id)
    assert [text for _, text in now][-2:] == ["Count the files", "Say how many"]
    newest = now[-1][0]
    run("plan", session_id, "--change", str(last), "Write it briefly", "--move", str(newest), str(first))
    now = pending(run, session_id)
    assert now[0] == (newest, "Say how many")
    assert (last, "Write it briefly") in now
    edited = run("plan", session_id, "--skip", str(newest), "--json").json
    assert newest not in [number for number, _ in pending(run, session_id)]
    assert edited["plan"]["version"] == run("plan", session_id, "--json").json["plan"]["version"]


def test_operations_on_a_plan_come_from_a_file_too(run: Run, tmp_path: Path) -> None:
    session_id = waiting_session(run)
    file = tmp_path / "operations.json"
    step = {"op": "add", "description": "Look again", "tool": "list_files"}
    file.write_text(json.dumps({"operations": [step]}))
    assert run("plan", session_id, "--from", str(file)).code == 0
    assert pending(run, session_id)[-1][1] == "Look again"
    for content in ("{", "[]", '{"op": "skip"}'):
        file.write_text(content)
        shown = run("plan", session_id, "--from", str(file))
        assert (shown.code, shown.out, shown.err.count("acta: ")) == (2, "", 1)


def test_an_edit_that_cannot_be_made_is_one_line_and_changes_nothing(run: Run) -> None:
    session_id = waiting_session(run)
    before = run("plan", session_id).out
    (number, _) = pending(run, session_id)[0]
    for words in (("--skip", "99"), ("--move", "99", str(number)), ("--comment", "alone"), ("--add", "")):
        shown = run("plan", session_id, *words)
        assert (shown.code, shown.out) == (2, ""), words
    assert run("plan", session_id).out == before


def test_limits_are_shown_and_changed_and_those_that_are_not_given_stay(run: Run) -> None:
    session_id = waiting_session(run)
    before = run("limits", session_id, "--json").json["limits"]
    shown = run("limits", session_id, "--max-steps", "77", "--review-every", "5")
    assert shown.code == 0, shown.err
    assert re.match(r"turns +77 of a run, \d+ used$", shown.lines[0])
    assert re.match(r"tokens +[\d,]+, [\d,]+ used$", shown.lines[1])
    assert "before every 5 turns" in shown.out
    after = run("limits", "last", "--json").json["limits"]
    assert after == {**before, "max_steps": 77, "review_every": 5}
    assert run("limits", session_id, "--max-steps", "0").code == 2


def test_an_answer_is_rated_and_the_rating_changed(run: Run) -> None:
    session = SESSION.search(run("run", "What is 2 + 3?", "--json").out)
    assert session is not None
    assert run("rate", "last", "down", "--comment", "Too short").out == f"{session[0]}  rated down"
    assert run("rate", "last", "up", "--json").json["ratings"][0]["rating"] == "up"
    assert run("rate", "last", "fine").code == 2
    refused = run("rate", "last", "up", "--run", "run_of_nobody")
    assert refused.code == 2
    # In the same process the API may have logged before it.
    assert refused.err.endswith(
        "acta: None of the session's newest 10 completed runs has this id. (CONFLICT)\n"
    )


def test_a_tenant_s_webhook_is_set_shown_and_removed_and_its_secret_is_read_from_a_pipe(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "nobody is told" in run("notifications", "show").err
    assert run("notifications", "show", "--json").json is None
    monkeypatch.setattr("sys.stdin", io.StringIO("a-secret-of-many-characters-0123456789\n"))
    made = run("notifications", "set", "--json")
    assert made.code == 0, made.err
    assert made.json["url"] is None
    assert run("notifications", "set").code == 0, "a secret that is there stays"
    assert "only sessions with a webhook of their own" in run("notifications", "show").out
    refused = run("notifications", "set", "https://nowhere.example/hook")
    assert (refused.code, refused.out) == (2, "")
    assert run("notifications", "rm").code == 0
    assert "nobody is told" in run("notifications", "show").err


def test_the_states_that_the_command_line_knows_are_the_api_s() -> None:
    assert sorted(get_args(SessionState)) == sorted(STATES)


def test_a_schedule_is_put_listed_run_paused_and_put_again_as_it_is_shown(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "nightly.json"
    nightly = {"schedule_id": "nightly", "agent_id": "default", "goal": "List my files"}
    nightly |= {"cron": "0 8 * * *", "timezone": "Asia/Tokyo"}
    file.write_text(json.dumps(nightly))
    assert run("schedules", "put", str(file)).out == "nightly  version 1"
    assert "08:00 Asia/Tokyo" in run("schedules", "ls").out
    session_id = run("schedules", "run", "nightly").out
    assert SESSION.fullmatch(session_id)
    assert f" Asia/Tokyo  started, asked for  {session_id}" in run("schedules", "runs", "nightly").out
    assert run("schedules", "pause", "nightly").out == "nightly  paused"
    assert "paused" in run("schedules", "ls").lines[-1]
    file.write_text(run("schedules", "get", "nightly").out)
    assert run("schedules", "put", str(file)).out == "nightly  version 3"
    assert run("schedules", "resume", "nightly").out.endswith("08:00 Asia/Tokyo")
    assert run("schedules", "rm", "nightly").code == 0
    assert run("schedules", "get", "nightly").code != 0


def test_who_does_not_wait_is_told_what_a_child_s_child_asks_and_decides_it_with_the_command_shown(
    capfd: pytest.CaptureFixture[str],
) -> None:
    scripts = {
        "boss": [says("", call("lead", goal="Clean up")), says("All done.")],
        "lead": [says("", call("worker", goal="Delete the old one")), says("Led.")],
        "worker": [says("", call("delete_file", path="a.md")), says("Gone.")],
    }
    agents = {"boss": {"agents": [{"agent": "lead"}]}, "lead": {"agents": [{"agent": "worker"}]}}
    with RealApi(FamilyHouse(scripts, agents)) as running:
        where = ("--api-url", running.url, "--token", FOR_ADMINS)
        assert main(["run", "Tidy", "--agent", "boss", "--no-wait", *where]) == 5
        shown = capfd.readouterr().out
        parent = SESSION.search(shown)
        command = re.search(r"acta approve (ses_\w+) (int_\w+) ", shown)
        assert parent is not None
        assert command is not None
        assert command[1] != parent[0]
        assert f"Session {command[1]} (worker) below this one waits for a person." in shown
        assert main(["watch", parent[0], "--no-wait", "--json", *where]) == 5
        told = capfd.readouterr()
        assert f"acta approve {command[1]} {command[2]} " in told.err
        assert main(["approve", command[1], command[2], *where]) == 0
        assert main(["watch", parent[0], "--no-wait", *where]) == 0
        assert "All done." in capfd.readouterr().out
