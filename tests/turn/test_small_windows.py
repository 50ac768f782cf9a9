"""A model whose window is smaller than it was taken for: what it refuses is shortened once, then a person is told."""

from collections.abc import Callable

import pytest

from acta.engine.errors import ContextTooLong
from acta.engine.models.model import ModelReply, ModelRequest
from acta.engine.turn.compaction import TIME_SHARE
from tests.in_process.house import TENANT, House
from tests.sessions.reader import Reading, compactions, house_of, script

ASSUMED = 32_000
"""Tokens; with three bytes each nothing of the run below comes near."""
NARROW = 20_000
"""Bytes."""


class Narrow(Reading):
    """Refuses, unread, what is longer than its window, and after so many turns everything."""

    def __init__(self, turns: int) -> None:
        super().__init__(script())
        self._until = turns
        self.refused = 0

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        window = NARROW if len(self.requests) < self._until else 0
        if sum(entry.content.bytes for entry in request.entries) > window:
            self.refused += 1
            raise ContextTooLong("narrow answered 400 (context_length_exceeded)")
        return super().complete(request, timeout=timeout)


def run(turns: int = 1_000) -> tuple[House, str, Narrow]:
    model = Narrow(turns)
    house = house_of(model, window=ASSUMED)
    session = house.start("Read every file").session_id
    house.run()
    return house, session, model


def test_what_the_model_refuses_as_too_long_is_shortened_and_the_run_completes() -> None:
    house, session, model = run()
    assert house.head(session).state == "completed"
    assert model.refused == len(compactions(house, session)) > 0
    usage, rows = house.head(session).usage, list(house.history(session).steps())
    assert usage.llm_calls == sum(row.kind in ("plan", "llm") and row.error is None for row in rows)
    assert house.head(session).budget.vanished_tokens == 0, "a refusal costs nothing"
    assert [row.error for row in rows if row.error] == ["CONTEXT_TOO_LONG"] * model.refused


@pytest.mark.parametrize(("turns", "refused", "shortened"), [(0, 1, 0), (6, 3, 1)])
def test_what_is_refused_again_fails_the_run_and_says_what_to_do(
    turns: int, refused: int, shortened: int
) -> None:
    """The first request of all holds nothing that could be left out; later a summary is refused as well."""
    house, session, model = run(turns)
    failure = house.head(session).error
    assert failure is not None
    assert failure.code == "CONTEXT_TOO_LONG"
    assert "larger window" in failure.message
    assert (model.refused, len(compactions(house, session))) == (refused, shortened)


class Slow(Narrow):
    """Takes its time to refuse, and notes what its summariser is given."""

    def __init__(self) -> None:
        super().__init__(1_000)
        self.takes: Callable[[], object] = lambda: None
        self.given: list[float] = []

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        if not request.tools:
            self.given.append(timeout)
        try:
            return super().complete(request, timeout=timeout)
        except ContextTooLong:
            self.takes()
            raise


def test_a_summary_after_a_slow_refusal_has_what_is_left_of_the_turns_time() -> None:
    """The house gives a turn 60 seconds."""
    model = Slow()
    house = house_of(model, window=ASSUMED)
    model.takes = lambda: house.clock.advance(40)
    house.start("Read every file")
    house.run()
    assert model.given
    assert max(model.given) <= 20 * TIME_SHARE


def test_no_turn_is_shortened_twice() -> None:
    house, session, _ = run()
    keys = [commit.key for commit in house.log.read(TENANT, session, 1).commits if "compact" in commit.key]
    assert len(keys) == len(set(keys)) > 0
