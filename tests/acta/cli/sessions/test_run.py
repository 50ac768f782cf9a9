"""`acta run`, `acta watch` and the commands that control a session: what is printed where, and the exit codes."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from acta.cli.exit_codes import of_session
from acta.cli.main import main
from acta.client.following import input_hash
from acta.engine.untrusted.exact_json import canonical_json
from tests.acta.cli.interventions.waiting import waits
from tests.acta.conftest import Acta
from tests.acta.fake_deployment import (
    SESSION_ID,
    FakeDeployment,
    Reply,
    failure,
    poll,
    session,
    success,
)

ENDED = session("completed", result={"goal_met": True, "answer": "All done.", "reason": "goal_complete"})


def waiting(kind: str, *options: str) -> dict[str, Any]:
    one = {"intervention_id": "int_1", "type": kind, "options": list(options)}
    return poll(session("waiting_for_user", interventions=[one]))


def test_run_starts_a_session_and_follows_it_to_its_answer(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("POST", "/v1/sessions", success(session("planning"), 202))
    deployment.polls(
        poll(session("planning"), {"seq": 1, "type": "run.started", "text": "run started"}), poll(ENDED)
    )
    assert acta("run", "Do it", "--max-steps", "7", "--token-budget", "900") == 0
    assert deployment.requests[0].json == {"content": "Do it", "max_steps": 7, "token_budget": 900}
    shown = capsys.readouterr()
    assert "All done." in shown.out
    assert "\x1b" not in shown.out + shown.err


@pytest.mark.parametrize(
    ("there", "named"),
    [
        (["main", "packer"], "there are main, packer"),
        (["default"], "there is default"),
        ([], "there are none"),
    ],
)
def test_an_agent_that_there_is_not_is_said_once_with_those_that_there_are(
    there: list[str], named: str, acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = failure(
        400, "VALIDATION_ERROR", "No such agent.", details={"agent_id": ["There is no agent of that id."]}
    )
    deployment.on("POST", "/v1/sessions", refused)
    agents = [{"agent_id": each, "name": each} for each in there]
    deployment.on("GET", "/v1/agents", success({"items": agents, "next_cursor": None}))
    assert acta("run", "Do it", "--agent", "desk") == 2
    said = f'acta: there is no agent "desk" here: {named}; `acta apply` brings those of your files\n'
    assert capsys.readouterr().err == said


def test_a_private_session_is_asked_for_and_listed_as_such(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    own = session("idle", goal="Do it", visibility="private")
    others_see = {"questions_seen_by": [{"role": "finance", "tools": ["pay", "refund"]}]}
    deployment.on("POST", "/v1/sessions", success({**own, **others_see}, 202))
    assert acta("run", "Do it", "--private", "--detach") == 0
    told = capsys.readouterr()
    assert (
        told.err.strip()
        == "whoever has the role finance sees and decides questions about calls of: pay, refund"
    )
    assert deployment.requests[0].json == {"content": "Do it", "visibility": "private"}
    others = session("idle", goal="Do that", visibility="tenant")
    deployment.on("GET", "/v1/sessions", success({"items": [own, others], "next_cursor": None}))
    assert acta("sessions") == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.endswith("  (private) Do it")
    assert second.endswith("  Do that")
    assert "private" not in second


def test_that_no_session_is_in_a_state_is_not_that_there_are_none(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("GET", "/v1/sessions", success({"items": [], "next_cursor": None}))
    assert acta("sessions", "--state-is", "failed") == 0
    no_child = "; --children also lists those that agents have started"
    assert capsys.readouterr() == ("", f"no sessions in the state failed{no_child}\n")
    assert acta("sessions", "--state-is", "failed", "--children") == 0
    assert capsys.readouterr() == ("", "no sessions in the state failed\n")
    assert acta("sessions") == 0
    assert capsys.readouterr().err == "no sessions yet: start one with acta run\n"


def test_sessions_are_told_apart_by_whether_their_goal_was_met(
    acta: Acta, deployment: FakeDeployment
) -> None:
    deployment.on("GET", "/v1/sessions", success({"items": [], "next_cursor": None}))
    for said, asked in (("yes", "true"), ("no", "false")):
        assert acta("sessions", "--goal-met", said) == 0
        assert f"goal_met={asked}" in deployment.requests[-1].path


def test_a_queued_session_is_listed_with_its_place_in_the_line(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    queue = {"since": "2020-11-22T09:00:01.5Z", "position": 2}
    queued = session("executing", state_reason="queued", queue=queue, goal="Do it", agent_name="Desk")
    deployment.on("GET", "/v1/sessions", success({"items": [queued], "next_cursor": None}))
    assert acta("sessions") == 0
    line = "(in line since 2020-11-22 09:00:01 UTC; 2 sessions were before it of its tenant) Do it"
    assert capsys.readouterr().out.splitlines()[0].endswith(f"awaits its turn   {'Desk':<20}  {line}")


def test_a_listing_says_which_schedule_or_which_call_of_another_session_has_started_a_session(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    parent = {
        "session_id": "ses_above",
        "call_id": "call_1",
        "item": 2,
        "about": "inbox/\u202eb.pdf",
        "chain": [],
    }
    listed = [
        session("executing", goal="Read it", parent=parent),
        session("executing", goal="Read it", parent={**parent, "about": ""}),
        session(
            "executing", goal="Report", origin={"kind": "schedule", "id": "morning", "at": "", "event": ""}
        ),
    ]
    deployment.on("GET", "/v1/sessions", success({"items": listed, "next_cursor": None}))
    assert acta("sessions", "--children") == 0
    first, second, third = capsys.readouterr().out.splitlines()
    assert first.endswith("(child 2 of ses_above: inbox/\\u202eb.pdf) Read it")
    assert second.endswith("(child 2 of ses_above) Read it")
    assert third.endswith("(schedule morning) Report")


def test_versions_of_prompts_are_tried_by_a_run(acta: Acta, deployment: FakeDeployment) -> None:
    deployment.on("POST", "/v1/sessions", success(session("planning"), 202))
    assert acta("run", "Do it", "--prompt", "reflection_system=3", "--prompt", "a=2", "--detach") == 0
    assert deployment.requests[0].json["prompts"] == {"reflection_system": 3, "a": 2}
    assert acta("run", "Do it", "--prompt", "reflection_system") == 2
    assert len(deployment.requests) == 1


def test_any_field_of_the_api_can_be_set_as_json_or_as_a_text(acta: Acta, deployment: FakeDeployment) -> None:
    deployment.on("POST", "/v1/sessions", success(session("planning"), 202))
    sets = (
        "--set",
        'metadata={"ticket": "A-1"}',
        "--set",
        "notify_url=https://example.com/a=b",
        "--set",
        "of_next=3",
    )
    assert acta("run", "Do it", *sets, "--detach") == 0
    sent = deployment.requests[0].json
    assert (sent["metadata"], sent["notify_url"], sent["of_next"]) == (
        {"ticket": "A-1"},
        "https://example.com/a=b",
        3,
    )
    assert acta("run", "Do it", "--set", "metadata") == 2
    assert acta("run", "Do it", "--set", "rate=12345678901234567890.123456789") == 2
    assert len(deployment.requests) == 1


def test_a_prompt_is_stored_as_a_draft_and_said_to_be_one(
    acta: Acta, deployment: FakeDeployment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own.txt").write_text("Be brief.")
    written = {"name": "own", "version": 4, "draft": True, "warnings": []}
    deployment.on("PUT", "/v1/admin/prompts/own", success(written))
    assert acta("prompts", "put", "own", str(tmp_path / "own.txt"), "--draft") == 0
    assert deployment.requests[0].json["active"] is False
    assert capsys.readouterr().out == "own  version 4  draft\n"


def test_run_json_prints_the_session_alone_on_standard_output(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("POST", "/v1/sessions", success(session("planning"), 202))
    deployment.polls(poll(session("failed", error={"code": "X", "message": "no"})))
    assert acta("run", "Do it", "--json") == 1
    assert json.loads(capsys.readouterr().out)["state"] == "failed"


def test_run_detached_prints_the_id_and_polls_nothing(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("POST", "/v1/sessions", success(session("planning"), 202))
    assert acta("run", "Do it", "--detach") == 0
    assert capsys.readouterr().out == f"{SESSION_ID}\n"
    assert len(deployment.requests) == 1


def test_a_waiting_session_off_a_terminal_says_how_to_decide_and_is_followed_on(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    waiting = {"intervention_id": "int_1", "type": "approval_required", "options": ["approve", "reject"]}
    deployment.polls(
        poll(session("waiting_for_user", interventions=[waiting])),
        poll(session("waiting_for_user", interventions=[waiting])),
        poll(session("completed", result={"goal_met": False, "reason": "max_steps"})),
    )
    assert acta("watch", SESSION_ID) == 3
    told = capsys.readouterr()
    assert told.out.count(f"acta approve {SESSION_ID} int_1") == 1
    assert told.err.count("nobody can be asked here, because standard input is no terminal") == 1
    assert "--no-wait" in told.err


def test_where_nobody_is_waited_for_nothing_is_said_about_waiting(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.polls(waiting("approval_required", "approve", "reject"))
    assert acta("watch", SESSION_ID, "--no-wait") == 5
    assert "nobody can be asked" not in capsys.readouterr().err


ABOVE = session("waiting_for_tool", state_reason="waiting_for_agents", children={"at_work": 1})
CHAIN = [{"session_id": SESSION_ID, "agent_name": "Lead", "goal": "Clean up"}]
OF_CHILD = waits(session_id="ses_2", agent_name="Clerk", chain=CHAIN)
OF_OTHERS = waits("int_2", session_id="ses_3", chain=[{**CHAIN[0], "session_id": "ses_0"}])


def inbox(*waiting: dict[str, Any]) -> Reply:
    return success({"items": list(waiting), "next_cursor": None})


def test_where_nobody_is_waited_for_the_question_of_a_child_ends_it_with_the_commands_that_decide(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.polls(poll(ABOVE), poll(ABOVE))
    deployment.on("GET", "/v1/interventions", inbox(OF_OTHERS), inbox(OF_OTHERS, OF_CHILD))
    assert acta("watch", SESSION_ID, "--no-wait") == 5
    shown = capsys.readouterr().out
    assert "Session ses_2 (Clerk) below this one waits for a person." in shown
    assert "for Lead " in shown
    assert "delete_file" in shown
    assert "acta approve ses_2 int_1" in shown
    assert "int_2" not in shown
    deployment.on("GET", "/v1/interventions", inbox(OF_OTHERS), inbox(OF_OTHERS, OF_CHILD))
    assert acta("watch", SESSION_ID, "--no-wait", "--json") == 5
    told = capsys.readouterr()
    assert json.loads(told.out) == ABOVE
    assert "acta watch ses_2" in told.err
    assert "acta approve ses_2 int_1" in told.err


def test_off_a_terminal_each_question_of_a_child_is_shown_once_and_the_session_is_followed_on(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.polls(poll(ABOVE), poll(ABOVE), poll(ABOVE), poll(ENDED))
    busy = failure(400, "BAD_CURSOR", "Not now.")
    deployment.on("GET", "/v1/interventions", inbox(OF_CHILD), busy, inbox(OF_CHILD))
    assert acta("watch", SESSION_ID) == 0
    shown = capsys.readouterr().out
    assert shown.count("Session ses_2 (Clerk) below this one waits for a person.") == 1
    assert len(deployment.requests_to("GET", "/v1/interventions")) == 3


def test_no_question_is_looked_for_where_no_child_is_at_work(acta: Acta, deployment: FakeDeployment) -> None:
    deployment.polls(
        poll(session("executing", children={"at_work": 0})), poll(session("planning")), poll(ENDED)
    )
    assert acta("watch", SESSION_ID) == 0
    assert not deployment.requests_to("GET", "/v1/interventions")


def test_a_large_input_is_shown_whole_before_it_is_approved(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = {"path": "a.md", "content": "x" * 900 + "THE END"}
    shown = {"name": "create_file", "input": {"content": "xxx…"}, "shortened": True}
    call = {**shown, "input_hash": input_hash(canonical_json(whole))}
    waiting = {
        "intervention_id": "int_1",
        "type": "approval_required",
        "options": ["approve", "reject"],
        "context": {},
        "tool_call": call,
    }
    deployment.on(
        "GET",
        f"/v1/sessions/{SESSION_ID}/interventions/int_1/input",
        success({**call, "input_text": canonical_json(whole)}),
    )
    deployment.polls(poll(session("waiting_for_user", interventions=[waiting])), poll(session("cancelled")))
    assert acta("watch", SESSION_ID) == 4
    assert "THE END" in capsys.readouterr().out


@pytest.mark.parametrize("command", [("run", "Do it"), ("watch", SESSION_ID)])
def test_no_wait_ends_where_a_person_is_needed(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    deployment.on("POST", "/v1/sessions", success(session("planning"), 202))
    deployment.polls(waiting("budget_exceeded", "raise", "finish", "cancel"))
    assert acta(*command, "--no-wait") == 5
    assert f"acta raise {SESSION_ID} int_1 --token-budget N" in capsys.readouterr().out


def test_no_wait_with_json_keeps_standard_output_to_the_session(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("POST", "/v1/sessions", success(session("planning"), 202))
    deployment.polls(waiting("approval_required", "approve", "reject"))
    assert acta("run", "Do it", "--json", "--no-wait") == 5
    shown = capsys.readouterr()
    assert json.loads(shown.out)["state"] == "waiting_for_user"
    assert f"acta approve {SESSION_ID} int_1" in shown.err


def test_a_paused_session_is_one_that_waits_for_a_person(acta: Acta, deployment: FakeDeployment) -> None:
    deployment.polls(poll(session("waiting_for_user", state_reason="paused")))
    assert acta("watch", SESSION_ID, "--no-wait") == 5


WAIT = {
    "seq": 2,
    "type": "state.changed",
    "text": "waits for AWS until 09:30:00 UTC (AWS_DENIED)",
    "data": {
        "from": "planning", "to": "planning", "reason": "waiting_for_aws", "code": "AWS_DENIED",
        "retry_at": "2026-01-31T09:30:00+00:00", "wait_seconds": 64,
    },
}  # fmt: skip


@pytest.mark.parametrize("command", [("watch", SESSION_ID), ("run", "Do it", "--json")])
def test_a_wait_for_the_world_is_told_with_the_command_that_tries_now_and_is_no_end(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    deployment.on("POST", "/v1/sessions", success(session("planning"), 202))
    waits = session("planning", state_reason="waiting_for_aws", retry_at="2026-01-31T09:30:00.000Z")
    deployment.polls(poll(waits, WAIT), poll(ENDED))
    assert acta(*command, "--no-wait") == 0
    shown = capsys.readouterr()
    told = shown.err if "--json" in command else shown.out
    assert told.count("waits for AWS until 09:30:00 UTC (AWS_DENIED)") == 1
    assert f"to try now: acta resume {SESSION_ID}" in told


TOKENS = session(
    "executing",
    state_reason="waiting_for_tokens",
    retry_at="2026-01-31T13:03:32.000Z",
    cause={"code": "TOKEN_LIMIT", "message": "m", "token_budget_needed": 5_800},
    budget={"token_budget": 2_000, "tokens_used": 1_294, "tokens_left": 706, "cost_budget_usd": None},
    limits={"token_budget": 2_000, "max_steps": 9, "cost_budget_usd": None, "review_every": 0},
)


@pytest.mark.parametrize(
    "command", [("watch", SESSION_ID), ("run", "Do it", "--json"), ("limits", SESSION_ID)]
)
def test_a_wait_for_tokens_says_what_is_needed_and_no_wait_ends_there(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    deployment.on("POST", "/v1/sessions", success(TOKENS, 202))
    deployment.polls(poll(TOKENS), poll(ENDED))
    is_followed = command[0] != "limits"
    assert acta(*command, *(["--no-wait"] if is_followed else [])) == (5 if is_followed else 0)
    shown = capsys.readouterr()
    told = shown.err if "--json" in command else shown.out
    assert told.count("4,506 tokens, and 706 of 2,000") == 1
    assert f"acta limits {SESSION_ID} --token-budget 5800" in told


def test_a_raise_of_a_session_that_asks_nothing_says_what_changes_its_limits(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.polls(poll(TOKENS))
    assert acta("raise", SESSION_ID, "--token-budget", "9000") == 2
    assert f"acta limits {SESSION_ID} --token-budget N" in capsys.readouterr().err


def test_the_second_question_about_the_same_call_says_that_it_is_the_same(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    call = {"call_id": "c", "name": "delete_file", "input": {"path": "a"}, "input_hash": "h"}
    asked = [
        {
            "intervention_id": name,
            "type": "approval_required",
            "options": ["approve"],
            "tool_call": {**call, **of},
        }
        for name, of in (("int_1", {}), ("int_2", {}), ("int_3", {"input_hash": "other"}))
    ]
    deployment.polls(poll(session("waiting_for_user", interventions=asked)))
    assert acta("watch", SESSION_ID, "--no-wait") == 5
    out = capsys.readouterr().out
    assert out.count("the same call as in") == out.count("the same call as in int_1") == 1


def test_who_approves_reads_that_the_agent_has_messages_to_read(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    one = {"intervention_id": "int_1", "options": ["approve"]}
    deployment.polls(poll(session("waiting_for_user", interventions=[one], unread=1)))
    path = f"/v1/sessions/{SESSION_ID}/interventions/int_1/resolve"
    deployment.on("POST", path, success({}))
    assert acta("approve", SESSION_ID) == 0
    assert "1 message" in capsys.readouterr().err
    assert len(deployment.requests_to("POST", path)) == 1


def test_the_listing_says_for_what_a_session_waits_in_its_one_line(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    waits = session(
        "executing", state_reason="waiting_for_key", goal="Tidy up", created_at="2026-01-31T09:00:00Z",
        agent_name="A very long name of an agent",
    )  # fmt: skip
    deployment.on("GET", "/v1/sessions", success({"items": [waits], "next_cursor": None}))
    assert acta("sessions") == 0
    assert capsys.readouterr().out == (
        f"{SESSION_ID}  2026-01-31 09:00:00  awaits key        A very long name of…  Tidy up\n"
    )


@pytest.mark.parametrize("action", ["pause", "resume", "cancel"])
def test_control_commands_post_to_their_route(acta: Acta, deployment: FakeDeployment, action: str) -> None:
    deployment.on("POST", f"/v1/sessions/{SESSION_ID}/{action}", success(session("cancelled"), 202))
    assert acta(action, SESSION_ID) == 0


def test_what_pause_has_done_is_called_a_pause(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    paused = session("waiting_for_user", state_reason="paused")
    deployment.on("POST", f"/v1/sessions/{SESSION_ID}/pause", success(paused, 202))
    assert acta("pause", SESSION_ID) == 0
    assert capsys.readouterr().out == f"{SESSION_ID}  paused\n"


@pytest.mark.parametrize(
    ("ended", "code"),
    [
        (session("completed", result={"goal_met": True}), 0),
        (session("completed", result={"goal_met": False}), 3),
        (session("completed", result=None), 3),
        (session("failed"), 1),
        (session("cancelled"), 4),
    ],
)
def test_the_exit_code_says_how_a_session_ended(ended: dict[str, Any], code: int) -> None:
    assert of_session(ended) == code


def event(seq: int, type: str, text: str | None = None, **data: Any) -> dict[str, Any]:
    return {"seq": seq, "type": type, "text": text, "data": data}


FIRST, LAST = (
    event(1, "run.started", "run started", run_id="run_1"),
    event(3, "run.started", run_id="run_2"),
)
DONE = event(2, "message.assistant", "agent: first run")
SAID = event(4, "message.assistant", "agent: last run")


def test_a_session_of_several_runs_is_watched_from_its_last_one_on(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = {**ENDED, "run": {"run_id": "run_2"}, "last_seq": 4}
    for words, shows_first in (([], False), (["--all"], True)):
        deployment.polls(poll(ended, FIRST, DONE, has_more=True), poll(ended, LAST, SAID))
        assert acta("watch", SESSION_ID, *words) == 0
        shown = capsys.readouterr().out
        assert "agent: last run" in shown
        assert ("agent: first run" in shown) is shows_first


def test_where_the_last_run_s_start_is_not_told_nothing_of_it_is_left_out(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.polls(poll({**ENDED, "run": {"run_id": "run_9"}, "last_seq": 2}, FIRST, DONE))
    assert acta("watch", SESSION_ID) == 0
    assert "agent: first run" in capsys.readouterr().out


def test_a_completed_run_that_called_no_tool_says_so(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    called = event(4, "tool.started", input_hash="a")
    for events, is_told in (((SAID,), True), ((called, SAID), False)):
        deployment.polls(poll(ENDED, *events))
        assert acta("watch", SESSION_ID) == 0
        assert ("no tool was called" in capsys.readouterr().out) is is_told


def test_at_its_end_a_session_says_how_to_go_on_and_its_last_line_how_it_ended(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.polls(poll(ENDED))
    assert acta("watch", SESSION_ID) == 0
    *before, last = capsys.readouterr().out.splitlines()
    assert last.startswith("✔ completed · ")
    assert any(f"acta say {SESSION_ID} TEXT" in line for line in before)
    assert not deployment.requests_to("GET", f"/v1/sessions/{SESSION_ID}/receipt")


def test_the_input_that_a_person_gave_a_call_is_shown_with_the_decision(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    decided = {"intervention_id": "int_1", "input": {"input": {"path": "new.md"}}}
    told = event(2, "intervention.resolved", "decided: modify", option="modify", intervention_id="int_1")
    deployment.polls(poll(ENDED, told))
    found = success({"items": [decided], "next_cursor": None})
    deployment.on("GET", f"/v1/sessions/{SESSION_ID}/interventions", found)
    assert acta("watch", SESSION_ID) == 0
    assert 'decided: modify  {"path": "new.md"}' in capsys.readouterr().out


def test_a_message_to_a_session_that_waits_for_a_decision_says_what_stops_the_call(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    one = {"intervention_id": "int_1", "type": "approval_required", "options": ["approve", "reject"]}
    asks = session("waiting_for_user", interventions=[one])
    paused = session(
        "waiting_for_user", state_reason="paused", interventions=[{**one, "options": ["continue"]}]
    )
    for told, named in (
        (asks, ["watch", "reject", "cancel"]),
        (paused, ["resume", "cancel"]),
        (session("executing"), ["watch"]),
    ):
        deployment.on("POST", f"/v1/sessions/{SESSION_ID}/messages", success(told, 202))
        assert acta("say", SESSION_ID, "no", "wait") == 0
        shown = capsys.readouterr().out
        ways = ("watch", "reject", "resume", "cancel")
        assert [way for way in ways if f"acta {way} {SESSION_ID}" in shown] == named


def test_a_session_of_somebody_else_is_listed_with_whose_it_is(
    deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    claims = base64.urlsafe_b64encode(json.dumps({"sub": "ann"}).encode()).decode()
    both = [session("idle", created_by=by, goal=f"goal of {by}") for by in ("ann", "bob\x1b")]
    deployment.on("GET", "/v1/sessions", success({"items": both, "next_cursor": None}))
    asks = {"intervention_id": "int_1", "type": "approval_required", "agent_name": "Desk", "chain": []}
    waiting = [{**asks, "session_id": SESSION_ID}]
    deployment.on("GET", "/v1/interventions", success({"items": waiting, "next_cursor": None}))
    for command, lines in (("sessions", 2), ("interventions", 1)):
        assert main([command, "--api-url", deployment.url, "--token", f"a.{claims}.c"]) == 0
        shown = capsys.readouterr().out.splitlines()
        assert len(shown) == lines
        assert "  of bob\\x1b" in shown[-1]
        assert "of ann  " not in shown[0]
