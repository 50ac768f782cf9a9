"""A run that reads many files with a small window, and a model that tells its summaries apart from its turns."""

from collections.abc import Callable

import pytest

from acta.engine.log.commit import Decision
from acta.engine.log.conversation import Entry
from acta.engine.log.events import Event
from acta.engine.models.model import ModelReply, ModelRequest
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, Turn, call, completes, plans, says, step

WINDOW = 8_000
FILES = 20
LINES = 160

Summariser = Callable[[ModelRequest], ModelReply]


def summarises(request: ModelRequest) -> ModelReply:
    return says("f0.txt to f3.txt hold only lines.")


class Reading(ScriptedModel):
    """Turns come from the script; a request without tools is one for a summary."""

    def __init__(self, turns: list[Turn], summariser: Summariser = summarises) -> None:
        super().__init__(turns)
        self.summariser = summariser
        self.summaries: list[ModelRequest] = []

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        if request.tools:
            return super().complete(request, timeout=timeout)
        self.summaries.append(request._replace(fallbacks=None))
        return self.summariser(request)


def script(files: int = FILES) -> list[Turn]:
    reads = [says(f"Reading {n}.", call("read_file", path=f"f{n}.txt")) for n in range(files)]
    return [plans("read all"), *reads, says("", step(1, "completed", "ok")), completes("All read.")]


def text_of(number: int) -> str:
    return f"line of file {number}\n" * LINES


def house_of(model: Reading, window: int = WINDOW, files: int = FILES) -> House:
    house = House(model, context_tokens=window)
    for number in range(files):
        house.files.write(TENANT, f"f{number}.txt", text_of(number).encode())
    return house


def compactions(house: House, session: str) -> list[Event]:
    return [one.event for one in house.poll(session).events if one.event.type == "context.compacted"]


def breaks(model: Reading) -> int:
    """How often a request did not begin with what the one before it held."""
    seen: tuple[Entry, ...] = ()
    broken = 0
    for request in model.requests:
        broken += request.entries[: len(seen)] != seen
        seen = request.entries
    return broken


class Stopped(BaseException):
    """As a worker that dies there."""


def stops(request: ModelRequest) -> ModelReply:
    raise Stopped


def until_the_first_summary(house: House) -> Decision:
    """The decision whose step asked for it; the engine stops there."""
    with pytest.raises(Stopped):
        house.run()
    return house.decisions[-1]
