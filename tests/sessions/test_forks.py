"""A fork goes on from the end of a turn with a copy of the conversation, and nothing else of its parent (ADR 70)."""

from typing import Any

import pytest

from acta.engine.agents.agent import DEFAULT_AGENT
from acta.engine.errors import Conflict, SessionNotFound, ValidationFailed
from acta.engine.log.conversation import AssistantEntry, Entry, ToolEntry, UserEntry
from acta.engine.log.head import Head, SessionSettings
from acta.engine.models.model import ModelReply, ModelRequest
from acta.engine.people.requester import Requester
from acta.engine.sessions.fork import NOTE, fork, parent_at
from acta.engine.sessions.history import History, HistoryCursor
from acta.engine.sessions.routes import message_view
from acta.engine.sessions.start import NewSession
from tests.in_process.house import TENANT, USER, House
from tests.in_process.scripted import ScriptedModel, Turn, call, completes, plans, says, step

DONE = says("", step(1, "completed", "done"))
LOOK = says("Looking.", call("list_files"))
LONG = "x" * 6_000


def house_with(*turns: Turn, **settings: Any) -> House:
    return House(ScriptedModel(turns), **settings)


def forked(
    house: House, session: str, at: int | None = None, message: str | None = None, **more: Any
) -> Head:
    requester = Requester(TENANT, more.pop("user", USER), frozenset({"member"}))
    new = NewSession(
        agent_id=DEFAULT_AGENT,
        message=message,
        max_steps=more.pop("max_steps", 9),
        token_budget=more.pop("token_budget", 50_000),
        cost_budget_usd=None,
        review_every=0,
        settings=SessionSettings(visibility=more.pop("visibility", "tenant")),
        **more,
    )
    repository = house.fresh_repository()
    return fork(repository, house.workflow, requester, parent_at(repository, requester, session, at), new)


def shown(request: ModelRequest) -> list[str]:
    return [_text(entry) for entry in request.entries]


def _text(entry: Entry) -> str:
    match entry:
        case UserEntry():
            return f"user: {entry.content.loaded}"
        case AssistantEntry():
            return f"model: {entry.content.loaded}{' '.join(call.name for call in entry.calls)}"
        case ToolEntry():
            return f"tool: {entry.name} {entry.ok}"


def requests(house: House) -> list[ModelRequest]:
    assert isinstance(house.model, ScriptedModel)
    return house.model.requests


def seq_of(house: House, session: str, type: str, place: int = -1) -> int:
    return [one.event.seq for one in house.poll(session).events if one.event.type == type][place]


def test_a_fork_goes_on_with_the_run_from_the_end_of_a_turn() -> None:
    house = house_with(plans("look"), LOOK, DONE, completes("One."), DONE, completes("Another."))
    session = house.start("Go").session_id
    house.run()
    before = requests(house)[2]
    head = forked(house, session, seq_of(house, session, "tool.finished"))
    house.run()
    own = requests(house)[4]
    assert shown(own) == shown(before), "the conversation is not the one that stood there"
    assert own.system == before.system
    assert NOTE in own.suffix
    assert NOTE not in requests(house)[5].suffix
    ended = house.head(head.session_id)
    assert (ended.state, ended.result and ended.result.answer, ended.goal) == ("completed", "Another.", "Go")
    assert house.head(session).result != ended.result


def test_every_event_of_a_turn_names_its_end() -> None:
    house = house_with(plans("look"), LOOK, DONE, completes("One."))
    session = house.start("Go").session_id
    house.run()
    first, last = seq_of(house, session, "thought", 0), seq_of(house, session, "tool.finished")
    ends = {forked(house, session, at).forked_from for at in range(first, last + 1)}
    assert len(ends) == 1
    assert all(one is not None and one.seq >= last for one in ends)


def test_without_a_place_a_fork_begins_at_the_newest_turn_that_has_ended() -> None:
    house = house_with(plans("delete"), says("", call("delete_file", path="a.txt")), DONE, completes("Kept."))
    session = house.start("Go").session_id
    house.run()
    assert house.head(session).interventions, "nobody is asked about the call"
    head = forked(house, session)
    house.run()
    assert [name.partition(":")[0] for name in shown(requests(house)[2])] == ["user", "model", "tool"]
    fork_ended = house.head(head.session_id)
    assert (fork_ended.state, fork_ended.interventions) == ("completed", ())
    assert house.head(session).state == "waiting_for_user"


def test_a_turn_whose_calls_are_open_cannot_be_forked() -> None:
    house = house_with(plans("delete"), says("Deleting.", call("delete_file", path="a.txt")))
    session = house.start("Go").session_id
    house.run()
    with pytest.raises(Conflict, match="not ended"):
        forked(house, session, seq_of(house, session, "tool.requested"))


def test_a_session_without_a_turn_and_an_event_that_is_not_there_are_refused() -> None:
    house = house_with()
    session = house.start("Go").session_id
    with pytest.raises(Conflict, match="No turn"):
        forked(house, session)
    with pytest.raises(ValidationFailed):
        forked(house, session, 99)
    with pytest.raises(SessionNotFound):
        forked(house, "ses_none")


def test_what_was_approved_there_has_to_be_approved_here() -> None:
    deletes = says("", call("delete_file", path="a.txt"))
    house = house_with(
        plans("delete", goal="g"), deletes, LOOK, completes("x"), deletes, DONE, completes("Not deleted.")
    )
    house.files.write(TENANT, "a.txt", b"text")
    session = house.start("Go").session_id
    house.run()
    house.resolve(session, house.head(session).interventions[0], "approve")
    house.run()
    parent = house.head(session)
    head = forked(house, session, seq_of(house, session, "tool.finished", 0))
    assert head.plan is not None
    assert not any(each.permitted for each in head.plan.steps)
    assert (head.calls, head.interventions, head.lease, head.wait, head.usage.llm_calls) == (
        (),
        (),
        None,
        None,
        0,
    )
    assert head.budget.token_budget == 50_000
    assert parent.usage.llm_calls > 0


def test_what_a_replaced_plan_asked_for_and_was_approved_there_has_to_be_approved_here() -> None:
    asks = [{"description": "write", "tool": "create_file", "requires_permission": True}]
    asking = says("", call("update_plan", action="create", goal="g", steps=asks))
    writes = says("", call("create_file", path="a.txt", content="a"))
    again = says("", call("create_file", path="b.txt", content="b"))
    house = house_with(asking, plans("write at once"), writes, again, DONE, completes("Two."), again)
    session = house.start("Go").session_id
    house.run()
    house.resolve(session, house.head(session).interventions[0], "approve")
    house.run()
    assert house.head(session).state == "completed", "a permission that was given is asked for again"
    head = forked(house, session, seq_of(house, session, "tool.finished", 0))
    house.run()
    assert [one.context["reason"] for one in house.head(head.session_id).interventions] == ["plan_step"]


def test_no_id_of_an_effect_travels_and_every_call_keeps_its_result() -> None:
    house = house_with(plans("look"), LOOK, DONE, completes("One."), DONE, completes("Two."))
    session = house.start("Go").session_id
    house.run()
    forked(house, session, seq_of(house, session, "tool.finished"))
    house.run()
    replies = [entry for entry in requests(house)[4].entries if isinstance(entry, AssistantEntry)]
    results = {entry.call_id for entry in requests(house)[4].entries if isinstance(entry, ToolEntry)}
    calls = [call for reply in replies for call in reply.calls]
    assert {call.effect_id for call in calls} == {""}
    assert {call.call_id for call in calls} == results


def test_a_fork_outlives_its_parent_with_every_text() -> None:
    wrote = says(LONG, call("create_file", path="a.txt", content=LONG))
    house = house_with(plans("write"), wrote, DONE, completes("One."), DONE, completes("Two."))
    session = house.start("Go " + LONG).session_id
    house.run()
    head = forked(house, session, seq_of(house, session, "tool.finished"))
    house.delete(session)
    house.run()
    assert shown(requests(house)[4]) == shown(requests(house)[2])
    assert house.head(head.session_id).state == "completed"
    assert next(row["content"] for row in messages(house, head.session_id)) == "Go " + LONG


def test_a_stored_result_is_read_on_in_the_fork() -> None:
    reads = says("", call("read_file", path="big.txt"))
    seen: list[str] = []

    def pages_on(request: ModelRequest) -> ModelReply:
        result = next(entry for entry in reversed(request.entries) if isinstance(entry, ToolEntry))
        assert result.whole is not None
        return says("", call("read_result", handle=result.whole.blob, offset=70_000))

    def notes(request: ModelRequest) -> ModelReply:
        seen.append(request.entries[-1].content.loaded)
        return DONE

    house = house_with(plans("read"), reads, DONE, completes("One."), pages_on, notes, completes("Two."))
    house.files.write(TENANT, "big.txt", ("0123456789" * 9_000).encode())
    session = house.start("Go").session_id
    house.run()
    forked(house, session, seq_of(house, session, "tool.finished"))
    house.delete(session)
    house.run()
    assert "0123456789" in seen[0]
    assert "Error" not in seen[0]


@pytest.mark.parametrize("is_deleted", [True, False])
def test_stored_results_that_are_gone_stop_a_fork_only_where_its_parent_is_gone(is_deleted: bool) -> None:
    house = house_with(plans("read"), says("", call("read_file", path="big.txt")), DONE, completes("One."))
    house.files.write(TENANT, "big.txt", ("0123456789" * 9_000).encode())
    session = house.start("Go").session_id
    house.run()
    repository, requester = house.fresh_repository(), Requester(TENANT, USER, frozenset({"member"}))
    parent = parent_at(repository, requester, session, None)
    new = NewSession(DEFAULT_AGENT, None, 9, 50_000, None, 0)
    if is_deleted:
        house.delete(session)
        with pytest.raises(SessionNotFound):
            fork(repository, house.workflow, requester, parent, new)
    else:
        house.blobs.delete_all(TENANT, session)
        assert fork(repository, house.workflow, requester, parent, new).state == "idle"


def messages(house: House, session: str) -> list[dict[str, Any]]:
    found = History(house.log, house.blobs, TENANT, session).messages(HistoryCursor())
    return [dict(message_view(row.item)) for row in found if row.item is not None]


def test_the_conversation_before_the_fork_is_shown_as_inherited_page_by_page() -> None:
    house = house_with(plans("look"), LOOK, DONE, completes("One."), DONE, completes("Two."))
    session = house.start("Go").session_id
    house.run()
    head = forked(house, session, seq_of(house, session, "tool.finished"), "Now in French")
    house.model = ScriptedModel([plans("again"), DONE, completes("Deux.")])
    house.run()
    whole = messages(house, head.session_id)
    inherited = [one.get("inherited", False) for one in whole]
    assert inherited == sorted(inherited, reverse=True)
    assert sum(inherited) == 5, "the goal, two replies and their results"
    assert next(one["content"] for one in whole if not one.get("inherited")) == "Now in French"
    history, cursor, ids = History(house.log, house.blobs, TENANT, head.session_id), HistoryCursor(), []
    while row := next(history.messages(cursor), None):
        assert row.item is not None
        ids.append(message_id(row.item.entry))
        cursor = HistoryCursor.parse(str(row.cursor_after))
    assert ids == [one["message_id"] for one in whole]


def message_id(entry: Entry) -> str:
    return entry.call_id if isinstance(entry, ToolEntry) else entry.message_id


def test_a_fork_at_the_end_of_a_run_is_idle_until_somebody_writes() -> None:
    house = house_with(plans("look"), DONE, completes("One."), plans("more"), DONE, completes("Two."))
    session = house.start("Go").session_id
    house.run()
    head = forked(house, session)
    assert (head.state, house.workflow.take()) == ("idle", None)
    house.say(head.session_id, "And now in French")
    house.run()
    asked = requests(house)[3]
    assert shown(asked)[0] == "user: Go"
    assert shown(asked)[-1] == "user: And now in French"
    assert NOTE in asked.suffix
    assert house.head(head.session_id).result != house.head(session).result


def test_the_plan_of_an_idle_fork_has_failed_like_the_run_that_it_was_made_in() -> None:
    house = house_with(plans("delete"), says("", call("delete_file", path="a.txt")))
    session = house.start("Go").session_id
    house.run()
    house.cancel(session)
    head = forked(house, session)
    assert (head.state, head.plan_status, house.head(session).plan_status) == ("idle", "failed", "failed")


def test_a_run_that_no_turn_has_begun_is_not_where_a_fork_begins() -> None:
    house = house_with(plans("look"), DONE, completes("One."))
    session = house.start("Go").session_id
    house.run()
    house.say(session, "Now in French")
    head = forked(house, session)
    assert (head.state, head.goal, house.workflow.take() is not None) == ("idle", "Go", True)
    with pytest.raises(Conflict, match="not ended"):
        forked(house, session, seq_of(house, session, "run.started"))


def test_the_first_event_of_a_later_run_names_the_end_of_the_turn_that_read_its_message() -> None:
    replies = plans("look"), DONE, completes("One."), plans("more"), DONE, completes("Two.")
    house = house_with(*replies, DONE, completes("Deux."))
    session = house.start("Go").session_id
    house.run()
    house.say(session, "Now in French")
    house.run()
    forked(house, session, seq_of(house, session, "run.started"))
    house.run()
    assert "user: Now in French" in shown(requests(house)[6])


def test_a_message_begins_a_run_of_its_own_with_what_was_said_before() -> None:
    house = house_with(plans("look"), LOOK, DONE, completes("One."), plans("again"), DONE, completes("Two."))
    session = house.start("Go").session_id
    house.run()
    head = forked(house, session, seq_of(house, session, "tool.finished"), "Another way")
    assert (head.state, head.goal) == ("executing", "Another way"), "with the parent's plan"
    house.run()
    assert shown(requests(house)[4])[-1] == "user: Another way"
    assert house.head(head.session_id).state == "completed"


def test_those_whose_words_the_agent_was_given_have_asked_in_the_fork_too() -> None:
    house = house_with(plans("look"), DONE, completes("One."), plans("more"), DONE, completes("Two."))
    session = house.start("Go").session_id
    house.run()
    house.user = "bob"
    house.say(session, "More")
    house.run()
    head = forked(house, session, user="eve")
    assert head.created_by == "eve"
    assert head.askers == {"eve", USER, "bob"}
    assert head.read_outside == house.head(session).read_outside


def test_the_fork_of_a_private_session_is_private() -> None:
    house = house_with(plans("look"), DONE, completes("One."))
    session = house.start("Go", visibility="private").session_id
    house.run()
    with pytest.raises(ValidationFailed, match="private"):
        forked(house, session)
    assert forked(house, session, visibility="private").private_to == USER


def test_a_cancelled_run_is_forked_with_its_calls_answered() -> None:
    house = house_with(
        plans("delete"), says("", call("delete_file", path="a.txt")), plans("b"), DONE, completes("2")
    )
    session = house.start("Go").session_id
    house.run()
    house.cancel(session)
    head = forked(house, session, message="Another way")
    house.run()
    assert house.head(head.session_id).state == "completed"
    assert [one.partition(":")[0] for one in shown(requests(house)[2])] == [
        "user", "model", "tool", "model", "tool", "user",
    ]  # fmt: skip


def test_a_fork_works_with_cold_workers() -> None:
    house = house_with(
        plans("look"),
        LOOK,
        DONE,
        completes("One."),
        LOOK,
        DONE,
        completes("Two."),
    )
    session = house.start("Go").session_id
    house.run()
    head = forked(house, session, seq_of(house, session, "tool.finished"))

    def cold(_: object) -> None:
        house.repository = house.fresh_repository()

    house.run(cold)
    assert house.head(head.session_id).state == "completed"
    assert len(requests(house)[-1].entries) == len(requests(house)[3].entries) + 2
