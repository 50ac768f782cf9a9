"""Older turns become a summary: chosen, told to the summariser, and what it says put in their place (design §9)."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from shared.agent import summary
from shared.agent.query import waited_out
from shared.agent.spending import Bill, affordable, lost, sized
from shared.agent.thread import Thread
from shared.agent.worker import Mind
from shared.domain.commit import Decision, Position
from shared.domain.compaction import choose, total_bytes
from shared.domain.conversation import Entry, ToolEntry
from shared.domain.errors import ProviderOverloaded, SessionError, TransientError
from shared.domain.ids import MESSAGE
from shared.ports.model import ModelReply, ModelRequest

TIME_SHARE = 0.4
"""Of the turn's time, what the summariser may take."""
SUMMARY_SHARE = 8
"""A summary has one part in so many of what the conversation is compacted to."""
SHORTEST_SUMMARY = 600
"""Bytes; in a window so small that even this is a lot, the summary is not what fills it."""
WORTH = 10
"""Turns that would free less than one part in so many of the limit are left, else every turn would summarise."""
GIVEN_UP_AFTER = 2
"""Attempts of the engine after which a summariser that does not answer is done without."""
WAITED_FOR = 5
"""Times in a row that a summariser gets the time it asks for, before it is done without."""


class Turn(NamedTuple):
    """The turn that needs the room. `key`: its own commit's; `attempt`: the engine's retry count; `timeout`: seconds
    there are for models.
    """

    mind: Mind
    thread: Thread
    at: Position
    key: str
    attempt: int
    timeout: float


class Spent(NamedTuple):
    """A summariser's reply, who gave it, when it was asked, and what others before it may have cost."""

    mind: Mind
    reply: ModelReply
    started: datetime
    bill: Bill


class Summarised(NamedTuple):
    """`entries`: what the conversation becomes; `turns`: how many the summary stands for, or, where there is no `text`
    of one, the note that they are missing; 0: nothing was worth summarising.
    """

    entries: tuple[Entry, ...]
    turns: int = 0
    worked: bool = False
    spent: Spent | None = None


def summarise(
    turn: Turn, entries: tuple[Entry, ...], room: int, most: int
) -> Summarised | Decision | ProviderOverloaded:
    """`entries`: the conversation so far; `room`: bytes it should have; `most`: bytes a whole request may have.

    A decision comes back where the tenant's hour has to be waited for, an error where the summariser's provider names a
    time to wait. Raises what the engine retries.
    """
    mind, thread = turn.mind, turn.thread
    head = thread.head
    allowance = max(SHORTEST_SUMMARY, room // SUMMARY_SHARE)
    choice = choose(entries, head.run.goal_id if head.run is not None else "", room - allowance)
    if not choice.turns or total_bytes(choice.older) - allowance < most // WORTH:
        return Summarised(entries)
    model, name = mind.worker.choose_model(mind.agent, "summary")
    shown = _in_full(choice.older, thread.entries)
    afforded = affordable(head, sized(summary.request_for(shown, head.goal, name, allowance, most // 2)))
    if afforded is None:  # nor is the turn's own call; a person is asked for more before anything is lost
        return Summarised(entries)
    request, reservation = afforded
    waits = mind.worker.hourly.ensure(thread, turn.at, reservation.tokens)
    if waits is not None:
        return waits
    cheap, started = mind._replace(model=model, model_name=name), mind.clock.now()
    reply = _ask(turn, cheap, request)
    if isinstance(reply, ProviderOverloaded):
        return reply
    spent = Spent(cheap, reply, started, Bill(reservation, 0, lost(reply))) if reply is not None else None
    text = summary.usable(reply, allowance) if reply is not None else None
    told = text or summary.left_out(choice.older, choice.turns, allowance)
    entry = summary.as_entry(mind.clock.new_id(MESSAGE), told)
    return Summarised(
        entries=(*choice.goal, entry, *choice.said, *choice.recent),
        turns=choice.turns,
        worked=text is not None,
        spent=spent,
    )


def _in_full(older: Sequence[Entry], entries: Sequence[Entry]) -> list[Entry]:
    """The summariser sees what stands in the results, not that they became handles a moment ago."""
    full = {entry.call_id: entry.content for entry in entries if isinstance(entry, ToolEntry)}
    return [
        entry.model_copy(update={"content": full[entry.call_id]}) if isinstance(entry, ToolEntry) else entry
        for entry in older
    ]


def _ask(turn: Turn, cheap: Mind, request: ModelRequest) -> ModelReply | ProviderOverloaded | None:
    """None: there will be no summary. What may pass is waited for first, as long as its provider says or the engine
    does.
    """
    try:
        return cheap.model.complete(request, timeout=turn.timeout * TIME_SHARE)
    except SessionError:
        return None
    except TransientError as error:
        if turn.attempt >= GIVEN_UP_AFTER:
            return None
        busy = waited_out(cheap, turn.key, error)
        return busy if turn.thread.head.progress.provider_waits < WAITED_FOR else None
