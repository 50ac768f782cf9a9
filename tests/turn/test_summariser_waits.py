"""A summariser that cannot be had now: it is waited for as the turn's own model is, and nothing is left out."""

import pytest

from acta.engine.errors import (
    AwsDenied,
    ProviderKeyRefused,
    ProviderOverloaded,
    ProviderQuotaExceeded,
    ProviderTimeout,
    ProviderUnavailable,
    StopUnknown,
)
from acta.engine.models.model import ModelReply, ModelRequest
from acta.engine.turn.turn import take_turn
from tests.in_process.house import House
from tests.sessions.reader import (
    Reading,
    Summariser,
    compactions,
    house_of,
    script,
    stops,
    summarises,
    until_the_first_summary,
)


def is_busy(request: ModelRequest) -> ModelReply:
    raise ProviderOverloaded("429", 30.0)


def fails_with(error: Exception) -> Summariser:
    def fails(request: ModelRequest) -> ModelReply:
        raise error

    return fails


def reasons_for_waiting(house: House, session: str) -> list[tuple[str, str]]:
    """Why the session waited, and the codes, each wait once."""
    told = [one.event.data for one in house.poll(session).events if one.event.data.get("retry_at")]
    return [(data["reason"], data["code"]) for data in told]


@pytest.mark.parametrize("attempt", [0, 2, 8])
def test_a_summariser_that_does_not_answer_is_left_to_the_engine_at_each_attempt(attempt: int) -> None:
    model = Reading(script(), stops)
    house = house_of(model)
    session = house.start("Read every file").session_id
    at = until_the_first_summary(house).at
    model.summariser = fails_with(ProviderTimeout("slow"))

    with pytest.raises(ProviderTimeout):
        take_turn(house.worker, "think", at, attempt, 60)

    assert compactions(house, session) == []


@pytest.mark.parametrize(
    ("error", "reason", "code"),
    [
        (ProviderUnavailable("away"), "waiting_for_provider", "PROVIDER_UNAVAILABLE"),
        (ProviderTimeout("slow"), "waiting_for_provider", "PROVIDER_TIMEOUT"),
        (AwsDenied("no"), "waiting_for_aws", "AWS_DENIED"),
        (ProviderKeyRefused("401"), "waiting_for_key", "PROVIDER_KEY_REFUSED"),
        (ProviderQuotaExceeded("402"), "waiting_for_key", "PROVIDER_QUOTA_EXCEEDED"),
    ],
)
def test_an_outage_of_the_summariser_is_waited_for_and_nothing_is_left_out(
    error: Exception, reason: str, code: str
) -> None:
    outage = iter([fails_with(error)] * 7)
    model = Reading(script(), lambda request: next(outage, summarises)(request))
    house = house_of(model)
    session = house.start("Read every file").session_id

    house.run()

    assert reasons_for_waiting(house, session) == [(reason, code)] * 7
    head = house.head(session)
    assert (head.state, head.outage) == ("completed", None)
    assert all(one.data["summarised"] for one in compactions(house, session) if one.data["turns"])
    assert any(one.data["summarised"] for one in compactions(house, session))


def test_a_summariser_that_ends_with_a_word_that_nobody_knows_is_told_to_a_person() -> None:
    model = Reading(script(), fails_with(StopUnknown("odd", "because")))
    house = house_of(model)
    session = house.start("Read every file").session_id

    house.run()

    (asked,) = house.head(session).interventions
    assert "`because`" in asked.context["question"]
    assert reasons_for_waiting(house, session) == [("waiting_for_provider", "PROVIDER_STOP_UNKNOWN")] * 6


@pytest.mark.parametrize("error", [ProviderKeyRefused("401"), ProviderQuotaExceeded("402")])
def test_a_key_that_the_summariser_s_provider_refuses_is_told_to_an_operator(
    error: ProviderKeyRefused | ProviderQuotaExceeded,
) -> None:
    model = Reading(script(), stops)
    house = house_of(model)
    told: list[tuple[str, str]] = []
    house.on_key_refused = lambda at, code: told.append((at.session_id, code))
    session = house.start("Read every file").session_id
    at = until_the_first_summary(house).at
    model.summariser = fails_with(error)

    assert take_turn(house.worker, "think", at, 0, 60).decision.next == "wait"

    assert told == [(session, error.code)]
    failed = [row for row in house.history(session).steps() if row.error == error.code]
    assert [row.estimated_tokens for row in failed] == [0], "a key that is refused costs nothing"


def test_a_summariser_whose_provider_names_a_time_is_asked_again_then_and_nothing_is_left_out() -> None:
    model = Reading(script(), stops)
    house = house_of(model)
    session = house.start("Read every file").session_id
    at = until_the_first_summary(house).at
    model.summariser = is_busy

    waits = take_turn(house.worker, "think", at, 0, 60).decision
    assert (waits.next, waits.then) == ("wait", "think")
    assert 30 <= (waits.wait_seconds or 0) <= 33
    assert take_turn(house.worker, "think", at, 1, 60).decision == waits, (
        "a repeated step finds what it decided"
    )
    model.summariser = summarises
    house.clock.advance(waits.wait_seconds or 0)
    take_turn(house.worker, "think", waits.at, 0, 60)

    assert [one.data["summarised"] for one in compactions(house, session)] == [True]
    failed = [row for row in house.history(session).steps() if row.error is not None]
    assert [row.error for row in failed] == ["VANISHED", "PROVIDER_OVERLOADED"]
    assert failed[1].estimated_tokens == 0, "what was turned away costs nothing"
    assert house.head(session).budget.vanished_tokens == failed[0].estimated_tokens


def test_a_summariser_that_asks_for_time_again_and_again_gets_it_and_nothing_is_left_out() -> None:
    busy = iter([is_busy] * 30)
    model = Reading(script(), lambda request: next(busy, summarises)(request))
    house = house_of(model)
    session = house.start("Read every file").session_id

    house.run()

    assert len(house.waits) == 30
    assert house.head(session).state == "completed"
    assert all(one.data["summarised"] for one in compactions(house, session) if one.data["turns"])
