"""What holds of any session's log, commit by commit and as it is told (docs/design/api.md, log.md)."""

from typing import Any

from acta.engine.api.envelope import to_json
from acta.engine.log.commit import Commit
from acta.engine.log.conversation import AssistantEntry, ToolEntry, UserEntry
from acta.engine.log.head import TRANSITIONS, Head
from acta.engine.people.intervention import Intervention
from acta.engine.sessions.answers import step_view
from acta.engine.sessions.history import PositionedEntry
from acta.engine.sessions.routes import message_view
from tests.in_process.whole import WholeHistory


def fitting(one: Intervention, option: str, text: str) -> dict[str, Any]:
    match one.type, option:
        case "clarification_needed", "answer":
            return {"text": text}
        case "approval_required", "modify":
            return {"path": "b.txt"}
        case "error_recovery", "record":
            return {"result": "It happened."}
        case "budget_exceeded", "raise":
            return {"token_budget": 1_000_000}
        case _:
            return {}


def check(before: Commit | None, commit: Commit) -> None:
    """One commit after the one before it."""
    head = commit.head
    assert commit.number == (before.number if before is not None else 0) + 1
    first = before.head.last_seq if before is not None else 0
    assert [event.seq for event in commit.events] == list(range(first + 1, head.last_seq + 1))
    state = before.head.state if before is not None else None
    for event in commit.events:
        if event.type == "state.changed":
            assert event.data["from"] == state
            assert event.data["to"] == state or event.data["to"] in TRANSITIONS[state]
            state = event.data["to"]
    assert head.state == state
    assert (head.state == "waiting_for_user") <= bool(head.interventions)
    assert bool(head.interventions) <= (head.state == "waiting_for_user")
    if head.plan is not None and head.is_over:
        assert head.plan_status in ("completed", "failed")
    if before is None or before.head.run is None or head.run is None:
        return
    then, now = before.head.run, head.run
    if then.run_id == now.run_id:
        assert (now.generation, now.turn) >= (then.generation, then.turn)
        assert now.iteration <= now.max_steps


def check_results(placed: list[PositionedEntry], head: Head) -> None:
    """Each call of a reply has one result before the next reply; of the last one, those that are finished
    (a run that is ended at a limit or by a person leaves the others as they were asked for)."""
    asked: set[str] = set()
    got: list[str] = []
    for one in placed:
        match one.entry:
            case AssistantEntry(calls=calls):
                assert sorted(got) == sorted(asked)
                asked, got = {each.call_id for each in calls}, []
            case ToolEntry(call_id=call_id):
                got.append(call_id)
            case _:
                pass
    assert len(got) == len(set(got))
    assert set(got) <= asked
    if head.state == "completed" and head.result is not None and head.result.goal_met:
        assert set(got) == asked


def check_told(history: WholeHistory, head: Head, accepted: list[str]) -> None:
    """What the API tells of the session is JSON, whole, and adds up."""
    placed, _ = history.messages(0, 100_000)
    assert to_json([message_view(one) for one in placed])
    said = [one.entry.content.loaded for one in placed if isinstance(one.entry, UserEntry)]
    assert sorted(said) == sorted(accepted)
    check_results(placed, head)
    steps = history.steps()
    assert to_json([step_view(one) for one in steps])
    assert [one.step_number for one in steps] == list(range(1, head.last_step + 1))
    assert sum(one.input_tokens for one in steps) == head.usage.input_tokens
    assert sum(one.output_tokens for one in steps) == head.usage.output_tokens
    rows, _ = history.trace(0, 100_000)
    assert to_json(rows)
