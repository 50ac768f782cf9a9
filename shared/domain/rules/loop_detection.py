"""Sees when a run goes in circles (design §5). Pure; its memory is `Progress`, which lives in the head, so that a
crash cannot reset it.

Being stuck climbs a ladder: a hint to the model, then a person (`error_recovery`), then the run fails. Progress,
a plan change or a successful call not seen among the last 32, leads back to its foot.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from shared.domain.definitions.builtins import UPDATE_PLAN
from shared.domain.session.head import Progress

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


SEEN: dict[Kind, str] = {
    "same_reply": "it gave the same reply {times} times{calling}",
    "no_progress": "in {times} turns it changed nothing in its plan and made no new call that succeeded",
    "failing_call": "{call}, with the same input, {failed} {times} times",
    "repeated_call": "it made the same call of {call} {times} times, although each succeeded",
    "ping_pong": "it goes to and fro between the same two calls{calling}, although each succeeds",
}
"""The same, for a person. `calling` and `call` name tools."""
CHOICES = (
    "retry lets it go on, with what you tell it as a hint, if you give one; if it then goes in circles again "
    "without any progress, the run fails. cancel ends the run now."
)


class Attempt(NamedTuple):
    """A call of the last turn and how it went."""

    fingerprint: str
    ok: bool
    repeatable: bool


class Stuck(NamedTuple):
    """`times`: how often it was seen; `calls`: fingerprints of those that it is about; `tools`: the names that
    whoever knows the calls gives them.
    """

    kind: Kind
    rung: Rung
    times: int = 0
    calls: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()

    @property
    def hint(self) -> str:
        return HINTS[self.kind]

    @property
    def seen(self) -> str:
        """For a person: what happened, as a sentence."""
        named = " and ".join(dict.fromkeys(self.tools))
        calling = f" ({named})" if named else ""
        failed = "was refused" if named.startswith(UPDATE_PLAN) else "failed"
        what = SEEN[self.kind].format(
            times=self.times, call=named or "a call", calling=calling, failed=failed
        )
        return f"The agent goes in circles: {what}."

    @property
    def question(self) -> str:
        return f"{self.seen} A hint to it did not help. {CHOICES[0].upper()}{CHOICES[1:]}"


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
    idle = 0 if moved else progress.idle_turns + 1
    kind = _kind(progress, failed, window, same, idle)
    after = progress.model_copy(
        update={
            "succeeded": _remember(progress.succeeded, [a.fingerprint for a in attempts if a.ok]),
            "failed": _recent(progress.failed, failed),
            "window": window,
            "last_reply": reply,
            "same_replies": same,
            "idle_turns": idle,
            "rung": 0 if moved and kind is None else progress.rung,
        }
    )
    if kind is None:
        return after, None
    rungs: tuple[Rung, ...] = ("hint", "ask", "fail")
    rung = rungs[min(progress.rung, 2)]
    # What was seen is dealt with; the next rung needs it to be seen anew.
    cleared = {"window": (), "same_replies": 0, "idle_turns": 0, "rung": progress.rung + 1}
    return after.model_copy(update=cleared), _stuck(
        kind, rung, (*progress.failed, *failed), window, same, idle
    )


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


def _stuck(
    kind: Kind, rung: Rung, failed: Sequence[str], window: Sequence[str], same: int, idle: int
) -> Stuck:
    match kind:
        case "failing_call":
            newest = next(one for one in reversed(failed) if failed.count(one) > 1)
            return Stuck(kind, rung, failed.count(newest), (newest,))
        case "repeated_call":
            call, times = Counter(window).most_common(1)[0]
            return Stuck(kind, rung, times, (call,))
        case "ping_pong":
            return Stuck(kind, rung, 2, tuple(window[-2:]))
        case "same_reply":
            return Stuck(kind, rung, same)
        case "no_progress":
            return Stuck(kind, rung, idle)


def _recent(known: tuple[str, ...], new: list[str]) -> tuple[str, ...]:
    """The newest last, each as often as it was seen, at most `WINDOW` different ones."""
    kept = (*known, *new)[-REMEMBERED:]
    while len(set(kept)) > WINDOW:
        kept = kept[1:]
    return kept


def _remember(known: tuple[str, ...], new: list[str]) -> tuple[str, ...]:
    """The newest last, each once."""
    kept = [one for one in known if one not in new]
    return tuple([*kept, *dict.fromkeys(new)][-REMEMBERED:])
