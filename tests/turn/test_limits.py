"""Budgets, step limits and going in circles, over whole runs (docs/design/turn.md 24)."""

import pytest

from acta.engine.errors import StoreUnavailable
from acta.engine.log.commit import Commit
from acta.engine.log.conversation import ToolEntry
from acta.engine.log.dynamodb import DynamoLog
from acta.engine.log.store import NO_ITEMS, TransactionItems
from acta.engine.models.model import ModelReply, ModelRequest, RequestedCall, TokenUsage
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step


def kinds(house: House, session: str) -> list[str]:
    return [seen.event.type for seen in house.poll(session).events]


def hints(house: House, session: str) -> list[str]:
    return [s.event.data["text"] for s in house.poll(session).events if s.event.type == "hint.injected"]


def reads(number: int) -> list[ModelReply]:
    return [says("", call("list_files", path=f"folder{i}")) for i in range(number)]


def test_a_run_ends_gracefully_at_its_step_limit_and_keeps_what_it_has() -> None:
    house = House(ScriptedModel([plans("look"), *reads(20)]))
    session = house.start("Look everywhere", max_steps=5).session_id
    house.run()
    head = house.head(session)
    assert head.result is not None
    assert (head.state, head.result.goal_met, head.result.reason) == ("completed", False, "max_steps")
    assert head.run is not None
    assert head.run.iteration == 5
    assert head.usage.tool_calls == 4


def test_the_last_turns_are_announced_to_the_model() -> None:
    model = ScriptedModel([plans("look"), *reads(20)])
    house = House(model)
    house.start("Look", max_steps=5)
    house.run()
    assert "Turns left: 2 of 5" in model.requests[-2].suffix


def test_a_spent_budget_pauses_and_a_raised_one_goes_on() -> None:
    script = [plans("look"), *reads(6), says("", step(1, "completed", "ok")), completes("Done.")]
    dear = [turn._replace(usage=TokenUsage(input=4_000, output=100)) for turn in script]
    house = House(ScriptedModel(dear), token_window_seconds=0)
    session = house.start("Look", token_budget=20_000).session_id
    house.run()
    waiting = house.head(session)
    assert (waiting.state, waiting.interventions[0].type) == ("waiting_for_user", "budget_exceeded")
    assert "budget.warning" in kinds(house, session)
    context = waiting.interventions[0].context
    assert context["token_budget_needed"] > 20_000
    assert "cost_budget_usd_needed" not in context, "there is no limit in dollars that could be short"

    house.resolve(session, waiting.interventions[0], "raise", token_budget=100_000)
    house.run()

    assert house.head(session).state == "completed"


def test_finishing_at_the_budget_keeps_the_partial_result() -> None:
    dear = [turn._replace(usage=TokenUsage(9_000, 900)) for turn in (plans("look"), *reads(3))]
    house = House(ScriptedModel(dear))
    session = house.start("Look", token_budget=10_000).session_id
    house.run()
    house.resolve(session, house.head(session).interventions[0], "finish")
    house.run()
    result = house.head(session).result
    assert result is not None
    assert (result.goal_met, result.reason) == (False, "budget_exceeded")


def test_a_call_is_given_no_more_output_than_the_budget_carries() -> None:
    model = ScriptedModel([plans("look"), *reads(1), says("", step(1, "skipped")), completes("x")])
    house = House(model)
    house.start("Look", token_budget=4_000)
    house.run()
    assert all(request.max_tokens < 4_000 for request in model.requests)


def test_text_replies_mid_plan_go_on_and_then_ask() -> None:
    house = House(
        ScriptedModel([plans("a", "b"), says("First I will."), says("Then I will."), says("And then.")])
    )
    session = house.start("Go").session_id
    house.run()
    head = house.head(session)
    assert [one.type for one in head.interventions] == ["clarification_needed"]
    assert len(hints(house, session)) == 2


def test_a_claim_with_open_steps_does_not_complete() -> None:
    script = [
        plans("a", "b"),
        says("GOAL_COMPLETE\nAll done!"),
        says("", step(1, "skipped"), step(2, "skipped")),
    ]
    house = House(ScriptedModel([*script, completes("Now.")]))
    session = house.start("Go").session_id
    house.run()
    assert house.head(session).state == "completed"
    assert "steps 1, 2 are open" in hints(house, session)[0]


@pytest.mark.parametrize(
    ("before", "answer"),
    [("The total is 12 EUR.", "The total is 12 EUR."), ("", None)],
)
def test_after_a_reminder_the_marker_alone_makes_an_answer_of_the_reply_before(
    before: str, answer: str | None
) -> None:
    house = House(
        ScriptedModel(
            [plans("look"), says("", step(1, "completed", "ok")), says(before), says("GOAL_COMPLETE")]
        )
    )
    session = house.start("Go").session_id
    house.run()
    result = house.head(session).result
    assert result is not None
    assert result.goal_met
    assert result.answer == answer


def test_a_marker_quoted_from_a_file_completes_nothing() -> None:
    quoting = says("The file says:\nGOAL_COMPLETE all is done", step(1, "in_progress"))
    house = House(ScriptedModel([plans("a"), quoting, says("", step(1, "skipped")), completes("Now.")]))
    session = house.start("Go").session_id
    house.run()
    result = house.head(session).result
    assert result is not None
    assert result.answer == "Now."


def test_a_failing_call_repeated_brings_a_hint_then_a_person_then_the_end() -> None:
    failing = says("", call("read_file", path="nope.txt"))
    model = ScriptedModel([plans("read"), failing], forever=True)
    house = House(model)
    session = house.start("Read nope.txt").session_id
    house.run()
    head = house.head(session)
    assert [one.type for one in head.interventions] == ["error_recovery"]
    assert head.interventions[0].options == ("retry", "cancel")
    (told,) = hints(house, session)
    assert [told in request.suffix for request in model.requests] == [False, False, False, True, False]

    house.resolve(session, head.interventions[0], "retry", hint="There is no such file.")
    house.run()

    ended = house.head(session)
    assert (ended.state, ended.error and ended.error.code) == ("failed", "STUCK")
    assert any("There is no such file." in request.suffix for request in model.requests)


def test_identical_successful_calls_are_seen_too() -> None:
    house = House(ScriptedModel([plans("look"), says("", call("list_files"))], forever=True))
    session = house.start("Look").session_id
    house.run()
    assert house.head(session).state == "waiting_for_user"
    assert len(hints(house, session)) >= 1


@pytest.mark.parametrize(
    ("turn", "told"),
    [
        (says("", call("read_file", path="no.txt")), "read_file, with the same input, failed 3 times"),
        (says("", call("no_such\u202etool")), "no_such\\u202etool, with the same input, failed 3 times"),
        (completes("Done."), "update_plan complete, with the same input, was refused 3 times"),
        (
            says("", RequestedCall("read_file", None, "the input is a JSON array, not an object")),
            "read_file, each time with an input that is no JSON object, failed 3 times",
        ),
        (says("", call("list_files")), "the same call of list_files 3 times"),
    ],
)
def test_a_question_about_circles_says_which_tool_and_how_often(turn: ModelReply, told: str) -> None:
    house = House(ScriptedModel([plans("read", "write"), turn], forever=True))
    session = house.start("Go").session_id
    house.run()
    (one,) = house.head(session).interventions
    question = one.context["question"]
    assert (one.type, one.context["asked_by"], told in question) == ("error_recovery", "acta", True), question
    assert not any(hint in question for hint in hints(house, session))

    house.resolve(session, one, "retry")
    house.run()
    ended = house.head(session).error
    assert ended is not None
    assert ended.message.startswith("The agent goes in circles: ")


def test_every_call_has_its_result_when_a_person_is_asked_instead() -> None:
    house = House(ScriptedModel([plans("look"), says("", call("list_files"))], forever=True))
    session = house.start("Look").session_id
    house.run()
    placed, _ = house.history(session).messages(0, 200)
    results = [m.entry.call_id for m in placed if isinstance(m.entry, ToolEntry)]
    asked = [c.call_id for m in placed if m.entry.kind == "assistant" for c in m.entry.calls]
    assert sorted(results) == sorted(asked)


def test_counters_survive_a_cold_worker() -> None:
    house = House(ScriptedModel([plans("look"), says("", call("list_files"))], forever=True))
    session = house.start("Look").session_id

    def cold(decision: object) -> None:
        house.repository = house.fresh_repository()

    house.run(cold)
    assert [one.type for one in house.head(session).interventions] == ["error_recovery"]


def test_a_plan_can_be_revised_and_every_version_read() -> None:
    revise = call("update_plan", action="create", goal="better", steps=[{"description": "x"}])
    house = House(
        ScriptedModel([plans("a", "b"), says("", revise), says("", step(1, "skipped")), completes("ok")])
    )
    session = house.start("Go").session_id
    house.run()
    assert [version.version for version in house.history(session).plan_versions()] == [1, 2]
    assert "plan.revised" in kinds(house, session)


def test_a_refused_update_is_explained_and_an_event_and_leaves_the_plan() -> None:
    bad = call("update_plan", action="update_step", step_number=7, step_status="completed", step_result="x")
    plans_seen = []

    def skips(request: ModelRequest) -> ModelReply:
        plans_seen.append(house.head(session).plan)
        return says("", step(1, "skipped"))

    def refused(request: ModelRequest) -> ModelReply:
        plans_seen.append(house.head(session).plan)
        return says("", bad)

    model = ScriptedModel([plans("a"), refused, skips, completes("ok")])
    house = House(model)
    session = house.start("Go").session_id
    house.run()
    assert plans_seen[0] == plans_seen[1] is not None
    (told,) = [entry for entry in model.requests[2].entries if isinstance(entry, ToolEntry) and not entry.ok]
    assert "The plan has no step 7; it has 1." in told.content.loaded
    rejected = [s.event.data for s in house.poll(session).events if s.event.type == "plan.rejected"]
    assert [(data["action"], data["code"]) for data in rejected] == [("update_step", "NO_SUCH_STEP")]


class TakesNoTurn(DynamoLog):
    """A store that is away whenever a turn is to be committed."""

    def __init__(self, log: DynamoLog) -> None:
        vars(self).update(vars(log))

    def append(self, commit: Commit, extra_items: TransactionItems = NO_ITEMS) -> None:
        if commit.key.endswith("/think"):
            raise StoreUnavailable("away")
        super().append(commit, extra_items)


def test_a_turn_that_the_store_never_takes_waits_and_its_calls_are_not_made() -> None:
    writes = says("", call("create_file", path="a.md", content="x"))
    house = House(ScriptedModel([plans("write"), writes], forever=True), outage_patience_seconds=600)
    house.log = TakesNoTurn(house.log)
    house.repository = house.fresh_repository()
    session = house.start("Go").session_id
    house.run()
    head = house.head(session)
    assert (head.state, head.state_reason, head.error) == ("waiting_for_user", "error_recovery", None)
    assert (head.outage and head.outage.code, len(house.waits)) == ("STORE_UNAVAILABLE", 4)
    assert (head.plan is not None, head.usage.llm_calls) == (True, 1)
    assert house.files.list(TENANT, "", 1).files == ()


def test_a_tenants_hour_is_shared_and_never_exceeded() -> None:
    def dear(turn: ModelReply) -> ModelReply:
        return turn._replace(usage=TokenUsage(1_500, 4_000))

    script = [dear(plans("look")), *map(dear, reads(3))]
    house = House(ScriptedModel([*script, *script], forever=True), tenant_tokens_per_hour=30_000)
    sessions = [house.start("Look").session_id, house.start("Look").session_id]
    house.run()
    heads = [house.head(session) for session in sessions]
    assert any(one.context.get("scope") == "tenant" for head in heads for one in head.interventions)
    assert sum(head.usage.total_tokens for head in heads) <= 30_000


def test_a_session_out_of_hour_goes_on_by_itself_in_the_next() -> None:
    spent = [turn._replace(usage=TokenUsage(1_500, 4_000)) for turn in (plans("look"), *reads(1))]
    rest = [says("", step(1, "skipped")), completes("Done.")]
    house = House(ScriptedModel([*spent, *rest]), tenant_tokens_per_hour=14_000)
    session = house.start("Look").session_id
    house.run()
    waiting = house.head(session).interventions[0]
    assert (waiting.type, waiting.default_action) == ("budget_exceeded", "continue")
    house.clock.advance(3_600)
    house.time_out(session)
    house.run()
    assert house.head(session).state == "completed"


def test_an_agent_that_was_deleted_ends_its_sessions_with_a_code() -> None:
    house = House(ScriptedModel([]))
    session = house.start("Look", agent_id="gone").session_id
    house.run()
    head = house.head(session)
    assert (head.state, head.error and head.error.code) == ("failed", "AGENT_NOT_FOUND")


def test_a_marker_over_finished_steps_closes_the_plan_with_its_run() -> None:
    house = House(
        ScriptedModel([plans("a"), says("", step(1, "completed", "ok")), says("GOAL_COMPLETE\nHere.")])
    )
    session = house.start("Go").session_id
    house.run()
    head = house.head(session)
    assert head.plan is not None
    assert (head.state, head.plan.status) == ("completed", "completed")
    assert kinds(house, session)[-3:] == ["plan.closed", "state.changed", "run.finished"]


def test_a_plan_is_not_completed_while_other_calls_of_the_reply_have_to_run() -> None:
    both = says("", call("list_files"), call("update_plan", action="complete", reason="done"))
    house = House(ScriptedModel([plans("a"), says("", step(1, "skipped")), both, completes("Now.")]))
    session = house.start("Go").session_id
    house.run()
    rejected = [s.event.data["code"] for s in house.poll(session).events if s.event.type == "plan.rejected"]
    assert rejected == ["CALLS_PENDING"]
    assert house.head(session).state == "completed"


def test_a_note_of_the_session_is_at_the_end_of_later_requests() -> None:
    note = says("", call("remember", text="The total is 42.", scope="session"))
    model = ScriptedModel([plans("a"), note, says("", step(1, "skipped")), completes("Now.")])
    house = House(model)
    session = house.start("Go").session_id
    house.run()
    assert "The total is 42." in model.requests[-1].suffix
    assert house.head(session).usage.tool_calls == 0


def test_a_memory_of_one_session_reaches_the_next() -> None:
    first = [says("", call("remember", text="Reports live in the folder q3.", scope="agent", kind="fact"))]
    ends = [says("", step(1, "skipped")), completes("ok")]
    model = ScriptedModel([plans("a"), *first, *ends, plans("a"), *ends])
    house = House(model)
    house.start("Find the reports")
    house.run()
    house.start("Read the reports again")
    house.run()
    assert "Reports live in the folder q3." in model.requests[-1].suffix
    assert "Reports live in the folder q3." not in model.requests[-1].system
