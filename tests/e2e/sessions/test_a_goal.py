"""A goal, from the request that states it to the file that reaches it."""

import pytest

from acta.engine.log.head import TRANSITIONS, SessionState
from tests.e2e.conftest import Admit
from tests.e2e.support.person import Person, Seen, carries_the_headers
from tests.e2e.support.samples import FILES, GOAL, give_files


@pytest.fixture
def done(ann: Person) -> Seen:
    give_files(ann)
    return ann.finished(ann.start(GOAL))


def path_of(seen: Seen, *rest: str) -> str:
    return "/".join(["/v1/sessions", seen.session["session_id"], *rest])


def test_a_goal_is_accepted_with_its_location_worked_on_and_reached(ann: Person) -> None:
    give_files(ann)

    accepted = ann.post("/v1/sessions", {"content": GOAL, "metadata": {"ticket": "A-7"}})

    assert accepted.status_code == 202
    carries_the_headers(accepted)
    session = accepted.json()["data"]
    assert accepted.headers["location"] == f"/v1/sessions/{session['session_id']}"
    assert (session["state"], session["goal"]) == ("planning", GOAL)
    seen = ann.finished(session["session_id"])
    assert seen.session["state"] == "completed"
    assert seen.session["result"]["goal_met"] is True
    assert seen.session["error"] is None
    assert seen.session["metadata"] == {"ticket": "A-7"}
    assert seen.session["interventions"] == []
    summary = ann.file("summary.md")
    assert all(path.rsplit("/", 1)[-1] in summary for path in FILES)
    assert "four percent" in summary
    assert ann.files() == {*FILES, "summary.md"}


def test_events_are_dense_from_one_without_gap_or_repetition_across_pages(ann: Person, done: Seen) -> None:
    assert [event["seq"] for event in done.events] == list(range(1, done.session["last_seq"] + 1))
    again: list[object] = []
    cursors = {}
    for event in ann.get(path_of(done, "events")).text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in event.splitlines() if ": " in line)
        if "id" in fields:
            cursors[len(again) + 1] = fields["id"]
            again.append(fields["event"])
    assert again == [event["type"] for event in done.events]
    for seq, cursor in cursors.items():
        page = ann.data(path_of(done), after=cursor)
        assert [event["seq"] for event in page["events"]] == list(range(seq + 1, len(again) + 1))


def test_events_show_the_run_from_its_start_to_its_end(done: Seen) -> None:
    assert {event["type"] for event in done.events[:3]} == {"state.changed", "run.started", "message.user"}
    assert done.events[-1]["type"] == "run.finished"
    assert done.events[-1]["data"]["goal_met"] is True
    (said,) = done.of("message.user")
    assert said["data"]["content"] == GOAL
    requested = {event["data"]["call_id"] for event in done.of("tool.requested")}
    for type in ("tool.started", "tool.finished"):
        calls = [event["data"]["call_id"] for event in done.of(type)]
        assert len(calls) == len(set(calls))
        assert set(calls) == requested
    hashes = {event["data"]["call_id"]: event["data"]["input_hash"] for event in done.of("tool.requested")}
    for event in done.of("tool.started", "tool.finished"):
        assert hashes[event["data"]["call_id"]] == event["data"]["input_hash"]
    for event in done.of("tool.finished"):
        assert event["data"]["ok"] is True
        assert event["data"]["duration_ms"] >= 0
        assert event["data"]["bytes"] > 0


def test_states_change_as_the_events_say_and_only_in_legal_steps(done: Seen) -> None:
    states: list[SessionState | None] = [None]
    for event in done.of("state.changed"):
        assert event["data"]["from"] == states[-1]
        assert event["data"]["to"] == states[-1] or event["data"]["to"] in TRANSITIONS[states[-1]]
        states.append(event["data"]["to"])
    assert states[1] == "planning"
    assert "waiting_for_tool" in states
    assert states[-1] == "completed" == done.session["state"]


def test_the_plan_is_whole_and_every_version_stays_readable(ann: Person, done: Seen) -> None:
    told = ann.data(path_of(done, "plan"))
    plan = told["plan"]
    assert plan == done.session["plan"]
    assert plan["status"] == "completed"
    assert 1 <= len(plan["steps"]) <= 10
    assert [step["step_number"] for step in plan["steps"]] == list(range(1, len(plan["steps"]) + 1))
    for step in plan["steps"]:
        assert step["status"] in ("completed", "skipped")
        assert step["status"] == "skipped" or step["result"] or step["evidence"]
    assert [version["version"] for version in told["versions"]] == list(range(1, plan["version"] + 1))
    evidence = {call for step in plan["steps"] for call in step["evidence"]}
    assert evidence <= {event["data"]["call_id"] for event in done.of("tool.finished")}


def test_tokens_and_calls_of_the_session_are_the_sums_of_its_step_log(ann: Person, done: Seen) -> None:
    steps = ann.items(path_of(done, "steps"), limit=3)
    usage = done.session["usage"]
    for name in ("input_tokens", "output_tokens", "cached_input_tokens"):
        assert usage[name] == sum(step[name] for step in steps)
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"] > 0
    assert usage["llm_calls"] == sum(step["kind"] in ("plan", "llm") for step in steps)
    assert usage["tool_calls"] == sum(step["kind"] == "tool" for step in steps)
    assert [step["step_number"] for step in steps] == list(range(1, len(steps) + 1))
    budget = done.session["budget"]
    assert budget["tokens_left"] == budget["token_budget"] - budget["tokens_used"]
    assert 0 < budget["tokens_used"] <= usage["total_tokens"] + budget["vanished_tokens"]
    assert all(event["step_number"] in {None, *range(1, len(steps) + 1)} for event in done.events)


def test_every_call_of_the_conversation_has_exactly_one_result_before_the_next_reply(
    ann: Person, done: Seen
) -> None:
    messages = ann.items(path_of(done, "messages"), limit=2)
    assert messages == ann.items(path_of(done, "messages"))
    assert (messages[0]["role"], messages[0]["content"]) == ("user", GOAL)
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            waiting.remove(message["call_id"])
        else:
            assert waiting == []
            waiting = [call["call_id"] for call in message.get("tool_calls", ())]
    assert waiting == []
    assert messages[-1]["role"] in ("assistant", "tool")
    assert len({message["message_id"] for message in messages}) == len(messages)


def test_the_trace_has_every_call_in_the_order_of_the_conversation(ann: Person, done: Seen) -> None:
    trace = ann.items(path_of(done, "trace"), limit=2)
    messages = ann.items(path_of(done, "messages"))
    results = {message["call_id"]: message["content"] for message in messages if message["role"] == "tool"}
    told = [
        (call["name"], call["input"], results[call["call_id"]])
        for message in messages
        for call in message.get("tool_calls", ())
    ]
    acted = [row for row in trace if row.get("action")]
    assert [(row["action"], row["action_input"], row["observation"]) for row in acted] == told
    numbers = [row["step_number"] for row in trace]
    assert numbers == sorted(numbers)
    written = [row for row in acted if row["action"] == "create_file"]
    assert [row["action_input"]["path"] for row in written] == ["summary.md"]


def test_the_session_is_the_first_of_its_tenant_s_list(ann: Person, admit: Admit, done: Seen) -> None:
    later = ann.start("List my files")
    assert [session["session_id"] for session in ann.items("/v1/sessions", limit=1)] == [
        later,
        done.session["session_id"],
    ]
    ann.finished(later)
    assert len(ann.items("/v1/sessions", state="completed")) == 2
    assert ann.items("/v1/sessions", state="failed") == []
    assert ann.items("/v1/sessions", agent_id="nobody") == []
    colleague = admit(ann.tenant, "ben")
    assert len(colleague.items("/v1/sessions")) == 2
    assert colleague.snapshot(later)["state"] == "completed"
