"""An agent's fallback models over whole runs: who answered is who is named and paid for
(docs/design/providers.md 10)."""

from collections.abc import Sequence
from typing import Any

import pytest

from acta.engine.agents.agent import Limits
from acta.engine.errors import (
    ProviderKeyRefused,
    ProviderOverloaded,
    ProviderQuotaExceeded,
    ProviderTimeout,
    ProviderUnavailable,
    StreamBroken,
)
from acta.engine.log.commit import StepRecord
from acta.engine.log.conversation import AssistantEntry
from acta.engine.log.head import Head
from acta.engine.models.fallback import with_fallbacks
from acta.engine.models.model import ModelReply, ModelRequest
from acta.engine.models.providers import ModelParameters, cost_usd
from acta.engine.turn.turn import take_turn
from tests.in_process.house import House
from tests.in_process.scripted import USAGE, ScriptedModel, Turn, completes, plans, says, step
from tests.sessions.reader import WINDOW, Reading, compactions, script, text_of
from tests.turn.test_cost_budgets import house_with

FIRST, SECOND, THIRD = "claude-sonnet-5-5", "gpt-6-sol", "claude-haiku-4-5"
BUSY = ProviderOverloaded("busy")
SCRIPT: list[Turn] = [plans("do it"), says("", step(1, "completed", "ok")), completes("Done.")]


class Speaking(ScriptedModel):
    """Scripted, in the name of a provider that has prices."""

    def __init__(self, provider: str, turns: Sequence[Turn]) -> None:
        super().__init__(turns, forever=True)
        self.provider = provider


def run(*turns: Sequence[Turn], **limits: Any) -> tuple[House, str, list[Speaking]]:
    """Anthropic's model, then OpenAI's, then another of Anthropic's; each repeats its last turn."""
    asked = [
        Speaking(provider, said)
        for provider, said in zip(("anthropic", "openai", "anthropic"), turns, strict=False)
    ]
    named = list(zip(asked, (FIRST, SECOND, THIRD), strict=False))
    house = House(with_fallbacks(named[0], named[1:])[0])
    session = house.start("Do it", **limits).session_id
    house.run()
    return house, session, asked


def names(house: House, session: str) -> list[str | None]:
    return [row.name for row in answered(house, session)]


def answered(house: House, session: str) -> list[StepRecord]:
    """The rows of the calls that were answered."""
    rows = house.history(session).steps()
    return [row for row in rows if row.kind in ("plan", "llm") and row.error is None]


def sums_are_those_of_the_steps(house: House, session: str) -> None:
    usage, rows = house.head(session).usage, list(house.history(session).steps())
    assert usage.input_tokens == sum(row.input_tokens for row in rows)
    assert usage.output_tokens == sum(row.output_tokens for row in rows)
    assert usage.cached_input_tokens == sum(row.cached_input_tokens for row in rows)
    assert usage.cost_usd == pytest.approx(sum(row.cost_usd or 0 for row in rows), abs=1e-9)
    assert usage.llm_calls == len(answered(house, session))
    assert house.head(session).budget.vanished_tokens == sum(row.estimated_tokens for row in rows)


@pytest.mark.parametrize("error", [BUSY, ProviderUnavailable("away"), ProviderTimeout("silent")])
def test_a_model_that_is_away_is_passed_over_in_the_same_turn(error: Exception) -> None:
    house, session, (first, second) = run([SCRIPT[0], error, SCRIPT[2]], [SCRIPT[1]])
    head = house.head(session)
    assert (head.state, house.waits, head.usage.llm_calls) == ("completed", [], 3)
    assert names(house, session) == [FIRST, SECOND, FIRST]
    assert [request.model for request in second.requests] == [SECOND]
    assert second.requests[0].entries == first.requests[1].entries


def test_usage_and_cost_are_those_of_the_models_that_answered() -> None:
    house, session, _ = run([SCRIPT[0], BUSY, SCRIPT[2]], [SCRIPT[1]])
    mine, others = cost_usd("anthropic", FIRST, USAGE), cost_usd("openai", SECOND, USAGE)
    rows = [row for row in house.history(session).steps() if row.kind in ("plan", "llm")]
    assert mine != others
    assert [row.cost_usd for row in rows] == [mine, others, mine]
    sums_are_those_of_the_steps(house, session)


def test_the_events_say_which_model_was_passed_over_and_which_answered() -> None:
    house, session, _ = run([SCRIPT[0], BUSY, SCRIPT[2]], [ProviderTimeout("silent")], [SCRIPT[1]])
    retried = [one.event for one in house.poll(session).events if one.event.type == "llm.retried"]
    assert [(e.data["code"], e.data["model"], e.data["answered_by"]) for e in retried] == [
        ("PROVIDER_OVERLOADED", FIRST, THIRD),
        ("PROVIDER_TIMEOUT", SECOND, THIRD),
    ]
    (row,) = [row for row in house.history(session).steps() if row.name == THIRD]
    assert {event.step_number for event in retried} == {row.step_number}


def test_a_providers_own_parts_are_kept_under_the_provider_that_wrote_them() -> None:
    house, _, _ = run(
        [SCRIPT[0], BUSY, SCRIPT[2]], [says("", step(1, "completed", "ok"))._replace(raw=["x"])]
    )
    stored = house.repository.conversation(house.decisions[-1].at)
    entries = [entry for entry in stored.entries if isinstance(entry, AssistantEntry)]
    assert [(entry.provider, entry.raw) for entry in entries] == [
        ("anthropic", None), ("openai", ["x"]), ("anthropic", None),
    ]  # fmt: skip


def test_where_all_are_overloaded_the_engine_waits_the_shortest_time_any_named() -> None:
    busy = [ProviderOverloaded("busy", 40), ProviderOverloaded("busy", 7), ProviderOverloaded("busy", 20)]
    house, session, asked = run([busy[0], *SCRIPT], [busy[1]], [busy[2]])
    assert house.waits == [7]
    assert [len(one.requests) for one in asked] == [4, 1, 1]
    assert house.head(session).state == "completed"


def test_an_answer_that_has_begun_and_breaks_is_retried_not_passed_over() -> None:
    for error in (StreamBroken("half"), ProviderTimeout("half", began=True)):
        house, session, (_, second) = run([error, *SCRIPT], [SCRIPT[0]])
        assert second.requests == []
        assert (house.head(session).state, len(house.waits)) == ("completed", 1)


@pytest.mark.parametrize("error", [ProviderKeyRefused("401"), ProviderQuotaExceeded("402")])
def test_a_first_model_that_a_person_has_to_see_to_fails_the_run_at_once(error: Exception) -> None:
    house, session, (first, second) = run([error], [SCRIPT[0]])
    failure = house.head(session).error
    assert failure is not None
    assert failure.code == getattr(error, "code", None)
    assert (len(first.requests), len(second.requests)) == (1, 0)


def test_a_fallback_that_cannot_be_used_does_not_end_a_run_whose_own_model_is_only_busy() -> None:
    house, session, (_, second, third) = run(
        [ProviderOverloaded("busy", 1), *SCRIPT],
        [ProviderKeyRefused("401")],
        [ProviderOverloaded("busy", 5)],
    )
    assert house.head(session).state == "completed"
    assert (house.waits, len(second.requests), len(third.requests)) == ([1], 1, 1)


def test_a_fallback_that_cannot_be_used_is_passed_over_for_the_next() -> None:
    house, session, _ = run([BUSY], [ProviderKeyRefused("401")], SCRIPT)
    assert set(names(house, session)) == {THIRD}
    assert house.head(session).state == "completed"


def vanished(head: Head) -> int:
    return head.budget.vanished_tokens


def test_a_silent_model_stays_charged_at_its_reservation_and_one_that_turned_it_away_does_not() -> None:
    house, session, _ = run([ProviderTimeout("silent"), *SCRIPT[1:]], [SCRIPT[0]])
    silent = vanished(house.head(session))
    assert silent > house.settings.max_output_tokens
    sums_are_those_of_the_steps(house, session)
    house, session, _ = run([BUSY, *SCRIPT[1:]], [SCRIPT[0]])
    assert vanished(house.head(session)) == 0


@pytest.mark.parametrize(("other", "charged"), [("away", False), ("silent", True)])
def test_a_wait_is_left_to_the_engine_where_one_named_none_and_silence_stays_charged(
    other: str, charged: bool
) -> None:
    error = ProviderTimeout(other) if charged else ProviderUnavailable(other)
    first = ScriptedModel([ProviderOverloaded("busy", 3600), SCRIPT[0]])
    house = House(with_fallbacks((first, FIRST), [(Speaking("openai", [error]), SECOND)])[0])
    session = house.start("Do it").session_id
    begun = house.workflow.take()
    assert begun is not None
    with pytest.raises(ProviderOverloaded):
        take_turn(house.worker, "plan", begun.at, 0, 60)
    take_turn(house.worker, "plan", begun.at, 1, 60)
    assert house.waits == []
    assert (vanished(house.head(session)) > house.settings.max_output_tokens) is charged


def test_an_attempt_whose_answer_broke_off_is_charged_when_the_next_one_commits() -> None:
    house = House(ScriptedModel([StreamBroken("half"), SCRIPT[0]]))
    session = house.start("Do it").session_id
    first = house.workflow.take()
    assert first is not None
    with pytest.raises(StreamBroken):
        take_turn(house.worker, "plan", first.at, 0, 60)
    take_turn(house.worker, "plan", first.at, 1, 60)
    assert vanished(house.head(session)) > house.settings.max_output_tokens


class BusySummariser(Reading):
    """Answers turns; has no time for summaries."""

    provider = "anthropic"

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        if not request.tools:
            raise BUSY
        return super().complete(request, timeout=timeout)


def test_a_summary_may_come_from_a_fallback_and_is_counted_in_its_name() -> None:
    first, second = BusySummariser(script()), Reading([])
    second.provider = "openai"
    house = House(with_fallbacks((first, FIRST), [(second, SECOND)])[0], context_tokens=WINDOW)
    for number in range(20):
        house.files.write("acme", f"f{number}.txt", text_of(number).encode())
    session = house.start("Read every file").session_id
    house.run()
    assert house.head(session).state == "completed"
    summaries = [event for event in compactions(house, session) if event.data["summarised"]]
    assert len(summaries) == len(second.summaries) == names(house, session).count(SECOND) > 0
    sums_are_those_of_the_steps(house, session)


def test_an_agent_s_effort_is_asked_for_in_its_turns_and_not_in_summaries() -> None:
    model = Reading(script())
    limits = Limits(context_tokens=WINDOW)
    house = house_with(model, effort="high", temperature=0.5, limits=limits)
    for number in range(20):
        house.files.write("acme", f"f{number}.txt", text_of(number).encode())
    session = house.start("Read every file").session_id
    house.run()
    assert house.head(session).state == "completed"
    assert compactions(house, session), "the agent says from how many tokens on"
    asked = {request.parameters for request in model.requests}
    summaries = {request.parameters for request in model.summaries}
    assert (asked, summaries) == ({ModelParameters("high", 0.5)}, {ModelParameters()})
