"""The token budget renews; a run without tokens waits for that, visibly, or asks, as its agent says
(docs/design/budgets.md 17)."""

from datetime import timedelta
from typing import Any

import pytest

from acta.engine.agents.agent import DEFAULT_AGENT, AgentDefinition, Limits, built_in
from acta.engine.errors import ProviderTimeout
from acta.engine.models.model import ModelReply, TokenUsage
from acta.engine.sessions.answers import session_view
from acta.engine.settings import Settings
from acta.engine.turn.budget import tokens_left, tokens_used
from tests.in_process.house import TENANT, House
from tests.in_process.lossy import OvertakenLog
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step

DEAR = TokenUsage(input=4_000, output=100)
HOUR = 3_600


def script(usage: TokenUsage, looks: int = 6) -> list[ModelReply]:
    turns = [says("", call("list_files", path=f"folder{n}")) for n in range(looks)]
    whole = [plans("look"), *turns, says("", step(1, "completed", "ok")), completes("Done.")]
    return [turn._replace(usage=usage) for turn in whole]


def house_with(usage: TokenUsage = DEAR, looks: int = 6, **limits: Any) -> House:
    house = House(ScriptedModel(script(usage, looks)))
    agent = AgentDefinition(agent_id=DEFAULT_AGENT, name="A", version=1, limits=Limits(**limits))
    house.definitions.replace_agent(TENANT, built_in(), agent)
    return house


def events(house: House, session: str) -> list[tuple[str, Any]]:
    return [(one.event.type, one.event.data.get("reason")) for one in house.poll(session).events]


def test_a_run_without_tokens_waits_for_the_next_window_and_ends_without_a_question() -> None:
    house = house_with()
    session = house.start("Look", token_budget=20_000).session_id
    waited = []

    def before(decision: Any) -> None:
        if decision.next == "wait":
            head = house.head(session)
            waited.append((head.state, head.state_reason, decision.wait_seconds))
            assert head.delay is not None
            assert head.delay.until == head.budget.window_ends
            told = session_view(head, now=house.clock.now())["cause"]
            assert told is not None
            assert told["token_budget_needed"] > head.budget.token_budget
            house.clock.advance(decision.wait_seconds)

    house.run(before)

    head = house.head(session)
    assert (head.state, head.delay) == ("completed", None)
    assert [(state, reason) for state, reason, _ in waited] == [("executing", "waiting_for_tokens")] * len(
        waited
    )
    assert waited
    assert all(0 < seconds <= HOUR for _, _, seconds in waited)
    told = events(house, session)
    assert "intervention.opened" not in [kind for kind, _ in told]
    first_wait = told.index(("state.changed", "waiting_for_tokens"))
    assert "budget.warning" in [kind for kind, _ in told[:first_wait]], "the warning comes first"
    assert [row.error for row in house.history(session).steps() if row.error] == []


def test_an_agent_may_have_a_person_asked_instead() -> None:
    house = house_with(at_token_limit="ask")
    session = house.start("Look", token_budget=20_000).session_id
    house.run()
    head = house.head(session)
    assert (head.state, [one.type for one in head.interventions]) == ("waiting_for_user", ["budget_exceeded"])


def test_a_call_that_no_window_carries_is_asked_about() -> None:
    house = house_with()
    session = house.start("Look", token_budget=300).session_id
    house.run()
    head = house.head(session)
    assert [one.type for one in head.interventions] == ["budget_exceeded"]
    kinds = [kind for kind, _ in events(house, session)]
    assert kinds.index("budget.warning") < kinds.index("intervention.opened")


@pytest.mark.parametrize("waits", [True, False])
def test_the_warning_comes_before_the_limit_even_where_one_call_jumps_over_it(waits: bool) -> None:
    jumps = TokenUsage(input=900, output=19_000)
    house = house_with(jumps, at_token_limit="wait" if waits else "ask")
    session = house.start("Look", token_budget=20_000).session_id
    house.run(lambda decision: house.clock.advance(decision.wait_seconds or 0))
    told = events(house, session)
    kinds = [kind for kind, _ in told]
    limit = (
        told.index(("state.changed", "waiting_for_tokens")) if waits else kinds.index("intervention.opened")
    )
    assert "budget.warning" in kinds[:limit]


def test_dollars_do_not_renew() -> None:
    model = ScriptedModel(script(DEAR))
    model.provider = "anthropic"
    house = House(model)
    agent = AgentDefinition(agent_id=DEFAULT_AGENT, name="A", version=1, model="claude-sonnet-5-5")
    house.definitions.replace_agent(TENANT, built_in(), agent)
    session = house.start("Look", cost_budget_usd=0.03).session_id
    house.run()
    assert [one.type for one in house.head(session).interventions] == ["budget_exceeded"]


def test_a_window_that_ends_while_the_wait_is_committed_is_not_waited_for_once_more() -> None:
    house = house_with()
    session = house.start("Look", token_budget=20_000).session_id
    decision = house.workflow.take()
    while decision is not None and (decision.next == "act" or tokens_left(house.head(session)) > 4_000):
        decision = house._state(decision)
    assert decision is not None
    ends = house.head(session).budget.window_ends
    assert ends is not None
    house.clock.set(ends - timedelta(milliseconds=20))
    house.log = OvertakenLog(house)  # type: ignore[assignment]
    house.repository = house.fresh_repository()

    following = house._state(decision)

    assert following is not None
    assert following.next == "think"
    head = house.head(session)
    assert (head.delay, tokens_used(head)) == (None, 0)


def test_what_is_left_is_what_is_left_of_the_window() -> None:
    house = house_with()
    session = house.start("Look", token_budget=1_000_000).session_id
    first = house.workflow.take()
    assert first is not None
    following = house._state(first)
    assert following is not None
    before = house.head(session)
    assert tokens_used(before) == 4_100
    house.clock.advance(HOUR + 1)
    house._state(following)
    after = house.head(session)
    assert (tokens_used(after), after.usage.total_tokens) == (4_100, 8_200)
    assert tokens_left(after) == 1_000_000 - 4_100
    assert after.budget.window_ends is not None
    assert before.budget.window_ends is not None
    assert after.budget.window_ends > before.budget.window_ends


def test_an_ordinary_run_of_fifty_turns_fits_into_one_window_of_the_default_budget() -> None:
    """The figures are those of `make bench`, section prefix: 50 turns of one read of 2 KB each, with the published
    rules of prompt caching. The last request has 46,000 tokens, of which all but 1,200 are read from the cache.
    """
    default = Settings(env="test", table="t", bucket="b").token_budget
    looks = 47
    replies = script(DEAR, looks)
    sent = [1_400 + 900 * turn for turn in range(len(replies))]
    used = [TokenUsage(size, 45, max(0, size - 1_200)) for size in sent]
    assert sum(one.input for one in used) > 1_100_000
    model = ScriptedModel([turn._replace(usage=one) for turn, one in zip(replies, used, strict=True)])
    model.provider = "anthropic"
    house = House(model)
    agent = AgentDefinition(agent_id=DEFAULT_AGENT, name="A", version=1, model="claude-opus-4-8")
    house.definitions.replace_agent(TENANT, built_in(), agent)
    session = house.start("Look", token_budget=default, max_steps=60).session_id
    house.run()
    head = house.head(session)
    assert (head.state, head.usage.llm_calls, house.waits) == ("completed", 50, [])
    assert tokens_used(head) < default * 0.8, "and without a warning"


class Over(Exception):
    """So much time has passed."""


@pytest.mark.parametrize("late", [False, True])
def test_calls_that_get_no_answer_are_held_to_the_tokens_of_each_hour(late: bool) -> None:
    """Each is charged as the provider may charge it. `late`: they begin when the window of the last answer is over."""
    silent = ProviderTimeout("the stream fell silent", True)
    house = House(ScriptedModel([plans("look"), silent], forever=True), tenant_tokens_per_hour=0)
    session = house.start("Look " * 24_000, token_budget=100_000).session_id
    began, reasons = house.clock.now(), set[str | None]()

    def before(decision: Any) -> None:
        if late and decision.next == "think" and house.head(session).outage is None:
            house.clock.advance(2 * HOUR)
        if decision.next == "wait":
            reasons.add(house.head(session).state_reason)
        if house.clock.now() - began > timedelta(hours=8):
            raise Over

    with pytest.raises(Over):
        house.run(before)

    assert reasons == {"waiting_for_provider", "waiting_for_tokens"}
    assert 200_000 < house.head(session).budget.vanished_tokens <= 8 * 100_000


def test_an_attempt_counts_in_the_window_in_which_it_was_made() -> None:
    house = House(ScriptedModel([plans("look"), ProviderTimeout("silent", True)], forever=True))
    session = house.start("Look", token_budget=100_000).session_id
    seen: list[tuple[Any, int]] = []

    def before(decision: Any) -> None:
        if decision.next == "think" and not seen:
            house.clock.advance(2 * HOUR)
            seen.append((house.clock.now(), house.head(session).usage.total_tokens))
        elif seen:
            raise Over

    with pytest.raises(Over):
        house.run(before)

    made, used_before = seen[0]
    budget = house.head(session).budget
    assert budget.window_ends == made + timedelta(hours=1)
    assert budget.window_base == used_before
    assert tokens_used(house.head(session)) == budget.vanished_tokens > 0
