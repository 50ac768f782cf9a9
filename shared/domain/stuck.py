"""Sees when a run goes in circles (design §5). Pure; its memory is `Progress`, which lives in the head, so that a
crash cannot reset it.

Being stuck climbs a ladder: a hint to the model, then a person (`error_recovery`), then the run fails. Progress,
a plan change or a successful call not seen among the last 32, leads back to its foot.
"""

import hashlib
import json
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from shared.domain.session import Progress

SAME_REPLIES = 3
IDLE_TURNS = 5
SAME_SUCCESSES = 3
"""Identical successful calls since the last plan change; twice may be a check, three times is a circle."""
REMEMBERED = 32
WINDOW = 8

Kind = Literal["same_reply", "no_progress", "failing_call", "repeated_call", "ping_pong"]
Rung = Literal["hint", "ask", "fail"]

HINTS: dict[Kind, str] = {
    "same_reply": "You have given the same reply several times. Do something else: another tool, another step, or ask.",
    "no_progress": "Nothing has moved for several turns. Mark what is done in the plan, try another way, or ask.",
    "failing_call": "This call was tried before and failed the same way. Try another tool or another input, or ask.",
    "repeated_call": "You have made the same call several times; its result is above. Use it and go on, or ask.",
    "ping_pong": "You alternate between the same two calls. Their results are above. Use them and go on, or ask.",
}


class Attempt(NamedTuple):
    """A call of the last turn and how it went."""

    fingerprint: str
    ok: bool
    repeatable: bool


class Stuck(NamedTuple):
    kind: Kind
    rung: Rung

    @property
    def hint(self) -> str:
        return HINTS[self.kind]


def fingerprint(name: str, arguments: Any) -> str:
    """Eight hex digits of name and input: enough to tell 32 calls apart, small enough for every head."""
    text = json.dumps([name, arguments], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def observe(
    progress: Progress, attempts: Sequence[Attempt], reply: str, *, reply_counts: bool, plan_changed: bool
) -> tuple[Progress, Stuck | None]:
    """The counters after a turn, and what they show.

    `attempts`: the previous turn's calls with their results; `reply`: the new reply's fingerprint; `reply_counts`
    False where it only calls repeatable tools.
    """
    fresh = any(attempt.ok and attempt.fingerprint not in progress.succeeded for attempt in attempts)
    moved = fresh or plan_changed
    same = progress.same_replies + 1 if reply_counts and reply == progress.last_reply else 1
    circling = [attempt.fingerprint for attempt in attempts if attempt.ok and not attempt.repeatable]
    window = () if plan_changed else (*progress.window, *circling)[-WINDOW:]
    failed = [attempt.fingerprint for attempt in attempts if not attempt.ok]
    kind = _kind(progress, failed, window, same, 0 if moved else progress.idle_turns + 1)
    after = progress.model_copy(
        update={
            "succeeded": _remember(progress.succeeded, [a.fingerprint for a in attempts if a.ok]),
            "failed": _remember(progress.failed, failed)[-WINDOW:],
            "window": window,
            "last_reply": reply,
            "same_replies": same,
            "idle_turns": 0 if moved else progress.idle_turns + 1,
            "rung": 0 if moved and kind is None else progress.rung,
        }
    )
    if kind is None:
        return after, None
    rungs: tuple[Rung, ...] = ("hint", "ask", "fail")
    rung = rungs[min(progress.rung, 2)]
    # What was seen is dealt with; the next rung needs it to be seen anew.
    cleared = {"window": (), "same_replies": 0, "idle_turns": 0, "rung": progress.rung + 1}
    return after.model_copy(update=cleared), Stuck(kind, rung)


def _kind(
    progress: Progress, failed: list[str], window: tuple[str, ...], same: int, idle: int
) -> Kind | None:
    if any(one in progress.failed for one in failed) or len(failed) > len(set(failed)):
        return "failing_call"
    if any(window.count(one) >= SAME_SUCCESSES for one in window):
        return "repeated_call"
    if len(window) >= 4 and window[-4:-2] == window[-2:] and window[-1] != window[-2]:
        return "ping_pong"
    if same >= SAME_REPLIES:
        return "same_reply"
    if idle >= IDLE_TURNS:
        return "no_progress"
    return None


def _remember(known: tuple[str, ...], new: list[str]) -> tuple[str, ...]:
    """The newest last, each once."""
    kept = [one for one in known if one not in new]
    return tuple([*kept, *dict.fromkeys(new)][-REMEMBERED:])
