"""What the state machine sees of a session: names, ids and decisions, in as few steps as there are."""

import json

import pytest

from tests.e2e.support.behind import Behind, as_text, entered, payloads
from tests.e2e.support.person import Person, Seen
from tests.e2e.support.samples import GOAL, give_files

KILOBYTE = 1_024
IN_MESSAGE, IN_FILE, IN_NAME = "marker-of-a-message", "marker-of-a-file", "marker-of-a-name"


def test_an_execution_is_named_after_its_session_run_and_generation(ann: Person, behind: Behind) -> None:
    session = ann.finished(ann.start("List my files")).session
    (execution,) = behind.ended(session["session_id"])
    assert execution["name"] == f"{session['session_id']}-{session['run']['run_id']}-1"
    assert execution["status"] == "SUCCEEDED"


def test_starting_an_execution_again_is_harmless_while_it_runs_and_after_it_ended(
    ann: Person, behind: Behind
) -> None:
    ann.put_file("old.txt", "old")
    seen = ann.asked(ann.start("Delete the file old.txt"))
    session_id = seen.session["session_id"]
    (execution,) = behind.executions(session_id)

    assert behind.start_again(execution["executionArn"]) == execution["executionArn"], "the one that runs"

    ann.resolve(session_id, seen.session["interventions"][0]["intervention_id"], "approve")
    done = ann.finished(session_id)
    behind.ended(session_id)
    assert behind.start_again(execution["executionArn"]) == "ExecutionAlreadyExists"
    assert len(behind.executions(session_id)) == 1
    assert ann.snapshot(session_id)["last_seq"] == done.session["last_seq"]
    assert len(done.of("tool.started")) == 1


def test_a_turn_with_n_calls_costs_three_transitions_and_one_for_each_call(
    ann: Person, behind: Behind
) -> None:
    """From a Think to the next: Think, Route, Act and the calls; a turn without calls is Think and Route. So is the
    Plan, which may begin with its first calls.
    """
    for number in range(7):
        ann.put_file(f"{number}.txt", f"Text number {number}.")
    seen = ann.finished(ann.start(GOAL))
    (execution,) = behind.ended(seen.session["session_id"])
    names = entered(behind.history(execution["executionArn"]))
    assert names[:2] == ["Route", "Plan"]
    assert names[-1] == "Done"
    turns: list[list[str]] = []
    for name in names[1:-1]:
        if name in ("Plan", "Think"):
            turns.append([])
        turns[-1].append("Think" if name == "Plan" else name)
    assert all(turn in (["Think", "Route"], ["Think", "Route", "Act", *turn[3:]]) for turn in turns)
    assert {name for turn in turns for name in turn[3:]} == {"Tool"}
    assert sum(len(turn[3:]) for turn in turns) == seen.session["usage"]["tool_calls"]
    assert max(len(turn[3:]) for turn in turns) > 1, "several calls in one turn"
    calls: dict[int, int] = {}
    for event in seen.of("tool.requested"):
        calls[event["step_number"]] = calls.get(event["step_number"], 0) + 1
    assert sorted(len(turn) - 3 for turn in turns if len(turn) > 2) == sorted(calls.values())


def test_the_history_has_no_message_no_plan_no_file_and_no_reply_in_it(ann: Person, behind: Behind) -> None:
    ann.put_file(f"{IN_NAME}.txt", f"{IN_FILE}. And some more text.")
    goal = f'use read_file with {{"path": "{IN_NAME}.txt"}} and write the result to {IN_MESSAGE}.txt'
    seen = ann.finished(ann.start(goal, metadata={"a": "marker-of-metadata"}))
    told = json.dumps([seen.events, ann.items(f"/v1/sessions/{seen.session['session_id']}/messages")])
    assert all(marker in told for marker in (IN_MESSAGE, IN_FILE, IN_NAME)), "the session itself has them"

    (execution,) = behind.ended(seen.session["session_id"])
    history = behind.history(execution["executionArn"])

    text = as_text(history)
    assert "marker" not in text
    assert "read_file" not in text
    assert seen.session["plan"]["steps"][0]["description"] not in text
    assert seen.session["session_id"] in text


def test_what_goes_into_and_out_of_a_state_stays_below_a_kilobyte(ann: Person, behind: Behind) -> None:
    give_files(ann)
    ann.put_file("large.txt", "A line of a large text.\n" * 2_000)
    seen = ann.finished(ann.start(GOAL, token_budget=1_000_000))
    (execution,) = behind.ended(seen.session["session_id"])
    sizes = [len(text.encode()) for text in payloads(behind.history(execution["executionArn"]))]
    assert max(sizes) <= KILOBYTE


@pytest.fixture
def rolled(ann: Person, behind: Behind) -> Seen:
    for number in range(12):
        ann.put_file(f"folder/{number}.txt", f"Text number {number}.")
    with behind.configured("step", ACTA_ROLL_OVER_EVENTS="100"):
        return ann.finished(ann.start("Count and summarize all files and write the results to out.md"))


def test_a_history_that_has_grown_rolls_over_to_further_generations_and_the_session_ends_the_same(
    ann: Person, behind: Behind, rolled: Seen
) -> None:
    session = rolled.session
    assert (session["state"], session["result"]["goal_met"]) == ("completed", True)
    executions = behind.ended(session["session_id"])
    assert len(executions) >= 3
    assert session["run"]["generation"] == len(executions)
    prefix = f"{session['session_id']}-{session['run']['run_id']}"
    assert [each["name"] for each in executions] == [f"{prefix}-{n + 1}" for n in range(len(executions))]
    assert {each["status"] for each in executions} == {"SUCCEEDED"}
    histories = [entered(behind.history(each["executionArn"])) for each in executions]
    assert all(names[-2:] == ["RollOver", "Done"] for names in histories[:-1])
    assert "RollOver" not in histories[-1]
    assert [event["seq"] for event in rolled.events] == list(range(1, session["last_seq"] + 1))
    started = [event["data"]["call_id"] for event in rolled.of("tool.started")]
    assert len(started) == len(set(started)) == session["usage"]["tool_calls"]
    assert len(rolled.of("run.started")) == len(rolled.of("plan.created")) == 1
    assert "out.md" in ann.files()
