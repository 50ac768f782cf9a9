"""The text of a running turn beside the log, for whoever watches (docs/design/api.md 27)."""

from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from acta.engine.errors import SchemaUnknown, StoreUnavailable
from acta.engine.log.beside import MAX_PARTIAL_BYTES, PartialReply, Partials
from acta.engine.models.model import ModelReply, ModelRequest
from acta.engine.turn.running_text import RunningText, running_text
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, completes, plans, says, step

TICK = 0.3
SCRIPT = [plans("tell"), says("One two three", step(1, "completed", "ok")), completes("Told.")]


class Speaking(ScriptedModel):
    """Says its text word by word, a tick apart; a test looks after each."""

    house: House

    def __init__(self, turns: list[ModelReply]) -> None:
        super().__init__(turns)
        self.look: Callable[[], object] = lambda: None

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        reply = super().complete(request, timeout=timeout)
        for word in reply.text.split(" "):
            if request.stream_options.on_text is not None:
                request.stream_options.on_text(f"{word} ")
            self.look()
            self.house.clock.advance(TICK)
        return reply


class Kept:
    """Remembers all that was ever put."""

    def __init__(self) -> None:
        self.put_so_far: list[PartialReply] = []

    def put(self, tenant: str, session_id: str, partial: PartialReply) -> None:
        self.put_so_far.append(partial)

    def get(self, tenant: str, session_id: str) -> PartialReply | None:
        return self.put_so_far[-1] if self.put_so_far else None


class Away:
    """A store that does not answer, or has what another release wrote."""

    def __init__(self) -> None:
        self.tried = 0

    def put(self, tenant: str, session_id: str, partial: PartialReply) -> None:
        self.tried += 1
        raise StoreUnavailable("away")

    def get(self, tenant: str, session_id: str) -> PartialReply | None:
        raise SchemaUnknown("another release's")


def house_of(model: Speaking, partials: Partials | None = None, **settings: Any) -> tuple[House, str]:
    house = model.house = House(model, **{"partial_text_ms": 500, **settings})
    house.partials = partials or house.partials
    return house, house.start("Tell me").session_id


def talkative(words: int) -> Speaking:
    return Speaking(
        [plans("tell"), says(" ".join(["word"] * words), step(1, "completed", "ok")), completes("Told.")]
    )


def test_what_the_running_turn_says_is_shown_while_it_says_it_and_not_behind_its_commit() -> None:
    seen: list[PartialReply | None] = []
    model = Speaking(SCRIPT)
    house, session = house_of(model)
    model.look = lambda: seen.append(running_text(house.partials, house.head(session)))
    house.run()
    assert [one.text for one in seen if one is not None] == ["One two three "]
    assert seen[-1] is None, "the last turn was over before it was time"
    assert running_text(house.partials, house.head(session)) is None
    assert house.head(session).state == "completed"


def test_it_is_written_at_most_once_in_the_time_the_setting_names() -> None:
    kept = Kept()
    house, _ = house_of(talkative(20), kept)
    house.run()
    times = [one.at for one in kept.put_so_far]
    assert len(times) == 9
    assert min(b - a for a, b in pairwise(times)) >= timedelta(milliseconds=500)


def test_only_the_end_of_a_long_text_is_kept() -> None:
    kept = Kept()
    house, _ = house_of(talkative(3_000), kept)
    house.run()
    assert max(len(one.text.encode()) for one in kept.put_so_far) == MAX_PARTIAL_BYTES


def test_without_the_setting_nobody_listens_and_nothing_is_written() -> None:
    kept, model = Kept(), Speaking(SCRIPT)
    house, _ = house_of(model, kept, partial_text_ms=0)
    house.run()
    assert [request.stream_options.on_text for request in model.requests] == [None] * 3
    assert kept.put_so_far == []


def test_a_store_that_is_away_leaves_the_turn_alone_and_is_not_tried_again_in_it() -> None:
    away = Away()
    house, session = house_of(talkative(20), away)
    house.run()
    assert (house.head(session).state, away.tried) == ("completed", 1)
    assert running_text(away, house.head(session)) is None


def test_a_store_that_cannot_be_read_hides_the_text_and_nothing_else() -> None:
    seen: list[PartialReply | None] = []
    model = talkative(3)
    house, session = house_of(model, Away())
    model.look = lambda: seen.append(running_text(Away(), house.head(session)))
    house.run()
    assert set(seen) == {None}


@pytest.mark.parametrize("left", ["run_2/1/1/think", "another"])
def test_the_text_of_another_turn_is_not_shown(left: str) -> None:
    seen: list[PartialReply | None] = []
    model = Speaking(SCRIPT)
    house, session = house_of(model, partial_text_ms=0)
    house.partials.put(TENANT, session, PartialReply(key=left, text="Old.", at=house.clock.now()))
    model.look = lambda: seen.append(running_text(house.partials, house.head(session)))
    house.run()
    assert set(seen) == {None}


def test_where_no_thread_is_to_be_had_the_turn_goes_on_without() -> None:
    def refuses(work: Callable[[], None]) -> None:
        raise RuntimeError("can't start new thread")

    kept, model = Kept(), Speaking(SCRIPT)
    house, _ = house_of(model)
    at = house.workflow.take()
    assert at is not None
    listener = RunningText(kept, house.clock, timedelta(0), refuses).listener(at.at, at.at.key("plan"))
    for _ in range(3):
        listener("word")
    assert kept.put_so_far == []


def test_a_slow_write_is_not_overtaken_by_the_next() -> None:
    kept, model, held = Kept(), Speaking(SCRIPT), list[Callable[[], None]]()
    house, _ = house_of(model)
    at = house.workflow.take()
    assert at is not None
    listener = RunningText(kept, house.clock, timedelta(0), held.append).listener(at.at, at.at.key("plan"))
    for word in ("one ", "two ", "three "):
        listener(word)
    assert len(held) == 1
    held.pop()()
    listener("four ")
    held.pop()()
    assert [one.text for one in kept.put_so_far] == ["one ", "one two three four "]


def test_a_deleted_session_keeps_no_text_not_even_what_comes_late() -> None:
    house, session = house_of(Speaking(SCRIPT))
    said = PartialReply(key="k", text="Said.", at=house.clock.now())
    house.partials.put(TENANT, session, said)
    house.delete(session)
    assert house.partials.get(TENANT, session) is None
    house.partials.put(TENANT, session, said)
    assert house.partials.get(TENANT, session) is None
