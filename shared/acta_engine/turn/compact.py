"""Makes room in a conversation that nears the model's window, in a commit of its own before the turn's (design §9).

The cheapest measure comes first: old results become handles. Then older turns become a summary. If that is not enough,
new results become handles too. It happens at most once a turn, so it cannot loop. The result is stored whole, so a cold
process begins reading there, and after a crash nothing is paid for twice.
"""

from typing import NamedTuple

from acta_engine.log.change import Change
from acta_engine.log.commit import Decision
from acta_engine.log.conversation import Content, Entry, ToolEntry
from acta_engine.log.events import ContextCompacted
from acta_engine.log.repository import Build, CommitDraft
from acta_engine.log.session import Recorded, Session
from acta_engine.turn.budget import calibrated
from acta_engine.turn.compaction import (
    Compacted,
    elided,
    large_old_results,
    large_results,
    request_limits,
    total_bytes,
    with_elided,
)
from acta_engine.turn.engine_decision import check_turn
from acta_engine.turn.kept_replies import SUMMARY, KeptReply, place_of
from acta_engine.turn.marked_call import commit_reply
from acta_engine.turn.session_budget import SizedRequest, charge_attempts, settle_call
from acta_engine.turn.summarise import NotSummarised, Spent, Summarised, summarise
from acta_engine.turn.turn_context import Turn


class Shorter(NamedTuple):
    """`entries`: what the conversation becomes. `results`: results of the last reply that become handles. `elided`: how
    many handles were made. `turns`, `summarised`: see `Summarised`.
    """

    entries: tuple[Entry, ...]
    results: dict[str, ToolEntry]
    elided: int
    turns: int
    summarised: bool
    spent: Spent | None


def make_room(turn: Turn, asked: SizedRequest, *, refused: bool = False) -> Decision | NotSummarised | None:
    """Commits a shorter conversation where the request does not fit.

    `asked`: the turn's request. `refused`: the model said that it is longer than its window. Returns a decision where
    the tenant's hour has to be waited for, and NotSummarised where the summariser's provider asks for time or refuses
    the key. Raises Fenced and what the engine retries.
    """
    context, session, key = turn.context, turn.session, turn.at.key("compact")
    if not context.context_window or session.recorded(key) is not None:
        return None
    budget = session.head.budget
    per_token = budget.bytes_per_token
    if refused:  # so it had more tokens than the window, whatever was estimated
        per_token = min(per_token, calibrated(budget, asked.bytes, context.context_window).bytes_per_token)
    limit, target = (
        int(tokens * per_token) for tokens in request_limits(context.context_window, asked.request.max_tokens)
    )
    if asked.bytes <= limit:
        return None
    shorter = _shorten(turn, asked.bytes, limit, target)
    if not isinstance(shorter, Shorter):
        return shorter
    repository = turn.deps.repository
    entries = repository.as_stored(session.head, shorter.entries)
    shortened = ContextCompacted(
        turns=shorter.turns,
        summarised=shorter.summarised,
        results_elided=shorter.elided,
        entries=len(entries),
        tokens_before=int(asked.bytes / per_token),
        tokens_after=int((asked.bytes - _freed(session, shorter)) / per_token),
    )

    def build(now: Session, change: Change) -> CommitDraft | None:
        check_turn(change.head, turn.at)
        if shorter.spent is not None:
            _settle(change, shorter.spent)
        if change.head.is_over:
            if shorter.spent is None:
                return None
            return CommitDraft(change)
        change.compact(
            Compacted(
                entries=entries,
                waiting=repository.as_stored(now.head, now.waiting.values()),
                results=repository.as_stored(now.head, (now.results | shorter.results).values()),
            )
        )
        change.event(shortened)
        return CommitDraft(change)

    if _committed(turn, key, build, shorter.spent) is not None:
        repository.load(session)
    return None


def _committed(turn: Turn, key: str, build: Build, spent: Spent | None) -> Recorded | None:
    """A summary that was paid for is kept for the next attempt where the store does not take it."""
    if spent is None or spent.reply is None:
        return turn.deps.repository.commit(turn.session, key, build)
    open_ones, ended = spent.bill.as_begun, spent.bill.own.ended or turn.deps.clock.now()
    place = place_of(turn.session.head, SUMMARY)
    reply = KeptReply(place=place, attempt=open_ones[-1], ended=ended, delivered=(), reply=spent.reply)
    return commit_reply(turn, key, build, reply, open_ones)


def _shorten(turn: Turn, size: int, limit: int, target: int) -> Shorter | Decision | NotSummarised | None:
    """A shorter conversation; None: nothing is worth doing. `size`: bytes of the request, which may have `limit`, and
    has `target` once its turns are summarised.
    """
    session = turn.session
    old = large_old_results(session.entries)
    entries = with_elided(session.entries, {result.call_id: _whole(turn, result) for result in old})
    fixed = size - total_bytes(session.entries)
    turns, summarised, spent = 0, False, None
    if fixed + total_bytes(entries) > target:
        made = summarise(turn, entries, target - fixed, limit)
        if not isinstance(made, Summarised):
            return made
        entries, turns, summarised, spent = made
    results: dict[str, ToolEntry] = {}
    over = fixed + total_bytes(entries) - limit
    for result in large_results(list(session.results.values())):
        if over <= 0:
            break
        results[result.call_id] = handle = elided(result, _whole(turn, result))
        over -= result.content.bytes - handle.content.bytes
    count = len(old) + len(results)
    return Shorter(entries, results, count, turns, summarised, spent) if count or turns else None


def _whole(turn: Turn, result: ToolEntry) -> Content:
    """Where all of the result is stored. It is stored now if it was not."""
    return result.whole or turn.deps.repository.keep(turn.session.head, result.content)


def _freed(session: Session, shorter: Shorter) -> int:
    replaced = [session.results[call_id] for call_id in shorter.results]
    before = total_bytes([*session.entries, *replaced])
    return before - total_bytes([*shorter.entries, *shorter.results.values()])


def _settle(change: Change, spent: Spent) -> None:
    """Adds the summariser's call to the step log and to the bill, like any other call."""
    if spent.reply is None:
        charge_attempts(change, spent.bill.attempts, spent.bill.window)
    else:
        settle_call(change, spent.bill, spent.context.first_model, spent.reply)
