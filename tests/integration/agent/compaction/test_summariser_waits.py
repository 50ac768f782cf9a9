"""A summariser that has no time now: waited for as long as its provider says, or the engine, and then done without."""

import pytest

from shared.agent.compaction.summarise import WAITED_FOR
from shared.agent.turn.turn import take_turn
from shared.domain.errors import ProviderOverloaded, ProviderTimeout
from shared.ports.model import ModelReply, ModelRequest
from tests.integration.agent.queries.reader import (
    Reading,
    compactions,
    house_of,
    script,
    stops,
    summarises,
    until_the_first_summary,
)


def is_busy(request: ModelRequest) -> ModelReply:
    raise ProviderOverloaded("429", 30.0)


def test_a_summariser_that_does_not_answer_is_waited_for_by_the_engine_and_then_done_without() -> None:
    model = Reading(script(), stops)
    house = house_of(model)
    session = house.start("Read every file").session_id
    at = until_the_first_summary(house).at

    def is_slow(request: ModelRequest) -> ModelReply:
        raise ProviderTimeout("slow")

    model.summariser = is_slow
    for attempt in range(2):
        with pytest.raises(ProviderTimeout):
            take_turn(house.worker, "think", at, attempt, 60)
        assert compactions(house, session) == []
    take_turn(house.worker, "think", at, 2, 60)

    assert [one.data["summarised"] for one in compactions(house, session)] == [False]
    assert house.head(session).budget.vanished_tokens > 0, "a model that is silent may have to be paid for"


def test_a_summariser_whose_provider_names_a_time_is_asked_again_then_and_nothing_is_left_out() -> None:
    model = Reading(script(), stops)
    house = house_of(model)
    session = house.start("Read every file").session_id
    at = until_the_first_summary(house).at
    model.summariser = is_busy

    waits = take_turn(house.worker, "think", at, 0, 60)
    assert (waits.next, waits.then) == ("wait", "think")
    assert 30 <= (waits.wait_seconds or 0) <= 33
    assert take_turn(house.worker, "think", at, 1, 60) == waits, "a repeated step finds what it decided"
    model.summariser = summarises
    house.clock.advance(waits.wait_seconds or 0)
    take_turn(house.worker, "think", waits.at, 0, 60)

    assert [one.data["summarised"] for one in compactions(house, session)] == [True]
    failed = [row for row in house.history(session).steps() if row.error is not None]
    assert [row.error for row in failed] == ["VANISHED", "PROVIDER_OVERLOADED"]
    assert failed[1].estimated_tokens == 0, "what was turned away costs nothing"
    assert house.head(session).budget.vanished_tokens == failed[0].estimated_tokens


def test_a_summariser_that_only_ever_asks_for_time_is_done_without_after_a_while() -> None:
    model = Reading(script(), stops)
    house = house_of(model)
    session = house.start("Read every file").session_id
    decision = until_the_first_summary(house)
    model.summariser = is_busy

    for _ in range(WAITED_FOR):
        decision = take_turn(house.worker, "think", decision.at, 0, 60)
        assert decision.next == "wait"
        house.clock.advance(decision.wait_seconds or 0)
    decision = take_turn(house.worker, "think", decision.at, 0, 60)

    assert decision.next != "wait"
    assert [one.data["summarised"] for one in compactions(house, session)] == [False]
