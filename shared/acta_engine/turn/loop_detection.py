"""Detects that a run goes in circles (docs/design/turn.md 24). Pure functions; the counters are in `Progress`.

The first time, the model gets a hint. The second time, a person is asked (`error_recovery`). The third time, the run
fails. After progress it starts again with the hint. Progress is a change of the plan, or a successful call that is not
among the last 32.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from acta_engine.log.conversation import ToolCall, ToolEntry
from acta_engine.log.head import Progress
from acta_engine.plans.plan import UPDATE_PLAN
from acta_engine.tools.tool import ToolSpec
from acta_engine.untrusted.exact_json import canonical_json
from acta_engine.untrusted.visible import visible

SAME_REPLIES = 3
"""Identical replies in a row."""
IDLE_TURNS = 5
"""Turns in a row without progress."""
SAME_SUCCESSES = 3
"""Identical successful calls since the last plan change. Two may be a check, three are a loop."""
REMEMBERED = 32
"""Calls whose fingerprints are kept."""
WINDOW = 8
"""The newest successful calls that are searched for repetitions."""
MAX_NAME_CHARS = 64

CallAndResult = tuple[ToolCall, ToolEntry | None]
"""A call of the turn before and its result. None: it has none."""

Kind = Literal["same_reply", "no_progress", "failing_call", "repeated_call", "ping_pong"]
Reaction = Literal["hint", "ask", "fail"]

HINTS: dict[Kind, str] = {
    "same_reply": "You have given the same reply several times. Do something else: another tool, another step, or ask.",
    "no_progress": "Nothing has moved for several turns. Mark what is done in the plan, try another way, or ask.",
    "failing_call": "This call was tried before and failed the same way. Try another tool or another input, or ask.",
    "repeated_call": "You have made the same call several times; its result is above. Use it and go on, or ask.",
    "ping_pong": "You alternate between the same two calls. Their results are above. Use them and go on, or ask.",
}


DESCRIPTIONS: dict[Kind, str] = {
    "same_reply": "it gave the same reply {times} times{calling}",
    "no_progress": "in {times} turns it changed nothing in its plan and made no new call that succeeded",
    "failing_call": "{call}, with the same input, {failed} {times} times",
    "repeated_call": "it made the same call of {call} {times} times, although each succeeded",
    "ping_pong": "it goes to and fro between the same two calls{calling}, although each succeeds",
}
"""What happened, for a person. `calling` and `call` stand for names of tools."""
OPTIONS = (
    "retry lets it go on, with what you tell it as a hint, if you give one; if it then goes in circles again "
    "without any progress, the run fails. cancel ends the run now."
)


class FinishedCall(NamedTuple):
    """A call of the previous turn. `repeatable`: identical calls of this tool are normal."""

    fingerprint: str
    ok: bool
    repeatable: bool


class Stuck(NamedTuple):
    """The run goes in circles. `times`: how often the same thing happened. `calls`: fingerprints of the calls that
    repeat. `tools`: the names of their tools, if the caller has filled them in.
    """

    kind: Kind
    reaction: Reaction
    times: int = 0
    calls: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()

    @property
    def hint(self) -> str:
        """A text for the model."""
        return HINTS[self.kind]

    @property
    def was_told(self) -> bool:
        """Whether the reply's own request had the hint: see `hint_before_reply`."""
        return self.kind == "failing_call"

    @property
    def description(self) -> str:
        """A sentence for a person about what happened."""
        named = " and ".join(dict.fromkeys(self.tools))
        calling = f" ({named})" if named else ""
        failed = "was refused" if named.startswith(UPDATE_PLAN) else "failed"
        what = DESCRIPTIONS[self.kind].format(
            times=self.times, call=named or "a call", calling=calling, failed=failed
        )
        return f"The agent goes in circles: {what}."

    @property
    def question(self) -> str:
        """The question that a person is asked."""
        return f"{self.description} A hint to it did not help. {OPTIONS[0].upper()}{OPTIONS[1:]}"


def detect_loop(
    specs: Mapping[str, ToolSpec],
    progress: Progress,
    previous: Sequence[CallAndResult],
    text: str,
    calls: Sequence[ToolCall],
    *,
    plan_changed: bool,
) -> tuple[Progress, Stuck | None]:
    """The counters after a reply, and whether the run is stuck. None: it is not.

    `specs`: the agent's tools by name. `previous`: the calls before the reply and how they went. `text`, `calls`: of
    the reply. An `update_plan` counts only where it was refused: a change of the plan is progress by itself.
    """
    said = fingerprint(text, [[call.name, call.input] for call in calls])
    counts = not calls or not all(_is_repeatable(specs, call.name) for call in calls)
    finished = _finished(specs, previous)
    progress, stuck = observe(progress, finished, said, reply_counts=counts, plan_changed=plan_changed)
    if stuck is None:
        return progress, None
    if stuck.kind == "same_reply":
        return progress, stuck._replace(tools=tuple(_shown_name(call) for call in calls))
    # Of the two calls of a ping-pong one was made before, the other is made now.
    made = [*(call for call, _ in previous), *calls]
    names = {fingerprint(call.name, call.input): _shown_name(call) for call in made}
    return progress, stuck._replace(tools=tuple(names[call] for call in stuck.calls if call in names))


def repeated_failure(
    specs: Mapping[str, ToolSpec], progress: Progress, previous: Sequence[CallAndResult]
) -> str:
    """What the turn right after a call that failed again tells the model. Empty: no call did, or the model was told
    before.
    """
    return hint_before_reply(progress, _finished(specs, previous))


def _finished(specs: Mapping[str, ToolSpec], previous: Sequence[CallAndResult]) -> list[FinishedCall]:
    return [
        FinishedCall(
            fingerprint(call.name, call.input),
            result is not None and result.ok,
            _is_repeatable(specs, call.name),
        )
        for call, result in previous
        if call.name != UPDATE_PLAN or result is None or not result.ok
    ]


def _is_repeatable(specs: Mapping[str, ToolSpec], name: str) -> bool:
    return name in specs and specs[name].repeatable


def _shown_name(call: ToolCall) -> str:
    """The tool's name for people. Where there is no such tool, the name is the model's own: it may be anything."""
    action = str((call.input or {}).get("action", "")) if call.name == UPDATE_PLAN else ""
    return visible(f"{call.name} {action}".strip()[:MAX_NAME_CHARS], keep_newlines=False)


def fingerprint(name: str, arguments: Any) -> str:
    """Eight hex digits that stand for a tool and its input: enough to tell 32 calls apart, and short, as every head has
    them.
    """
    text = canonical_json([name, arguments])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def observe(
    progress: Progress, calls: Sequence[FinishedCall], reply: str, *, reply_counts: bool, plan_changed: bool
) -> tuple[Progress, Stuck | None]:
    """The counters after a turn, and whether the run is stuck; None: it is not.

    `calls`: the calls of the previous turn. `reply`: the fingerprint of the new reply. `reply_counts`: False where the
    reply only calls repeatable tools, so that the same reply again is normal.
    """
    is_new = any(call.ok and call.fingerprint not in progress.succeeded for call in calls)
    moved = is_new or plan_changed
    same = progress.same_replies + 1 if reply_counts and reply == progress.last_reply else 1
    unrepeatable = [call.fingerprint for call in calls if call.ok and not call.repeatable]
    window = () if plan_changed else (*progress.window, *unrepeatable)[-WINDOW:]
    failed = _failures(calls)
    idle = 0 if moved else progress.idle_turns + 1
    kind = _kind(progress, failed, window, same, idle)
    succeeded = list(dict.fromkeys(call.fingerprint for call in calls if call.ok))
    before = [one for one in progress.succeeded if one not in succeeded]
    after = progress.model_copy(
        update={
            "succeeded": tuple([*before, *succeeded][-REMEMBERED:]),  # newest last, each once
            "failed": _with_failures(progress.failed, failed),
            "window": window,
            "last_reply": reply,
            "same_replies": same,
            "idle_turns": idle,
            "rung": 0 if moved and kind is None else progress.rung,
        }
    )
    if kind is None:
        return after, None
    reactions: tuple[Reaction, ...] = ("hint", "ask", "fail")
    reaction = reactions[min(progress.rung, 2)]
    # The counters start at 0 again: the next reaction comes only if the run goes in circles once more.
    cleared = {"window": (), "same_replies": 0, "idle_turns": 0, "rung": progress.rung + 1}
    stuck = _stuck(kind, reaction, (*progress.failed, *failed), window, same, idle)
    return after.model_copy(update=cleared), stuck


def hint_before_reply(progress: Progress, calls: Sequence[FinishedCall]) -> str:
    """What the model has to read right after `calls`; empty: nothing. That a call failed again is known before the next
    reply, and after that reply the model may have turned elsewhere already. Everything else only the reply shows.
    """
    first_time = progress.rung == 0
    return HINTS["failing_call"] if first_time and _fails_again(progress, _failures(calls)) else ""


def _failures(calls: Sequence[FinishedCall]) -> list[str]:
    return [call.fingerprint for call in calls if not call.ok]


def _fails_again(progress: Progress, failed: list[str]) -> bool:
    return any(one in progress.failed for one in failed) or len(failed) > len(set(failed))


def _kind(
    progress: Progress, failed: list[str], window: tuple[str, ...], same: int, idle: int
) -> Kind | None:
    if _fails_again(progress, failed):
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
    kind: Kind, reaction: Reaction, failed: Sequence[str], window: Sequence[str], same: int, idle: int
) -> Stuck:
    match kind:
        case "failing_call":
            newest = next(one for one in reversed(failed) if failed.count(one) > 1)
            return Stuck(kind, reaction, failed.count(newest), (newest,))
        case "repeated_call":
            call, times = Counter(window).most_common(1)[0]
            return Stuck(kind, reaction, times, (call,))
        case "ping_pong":
            return Stuck(kind, reaction, 2, tuple(window[-2:]))
        case "same_reply":
            return Stuck(kind, reaction, same)
        case "no_progress":
            return Stuck(kind, reaction, idle)


def _with_failures(known: tuple[str, ...], new: list[str]) -> tuple[str, ...]:
    """Fingerprints, newest last. One that failed several times is in it several times. At most `WINDOW`
    different ones.
    """
    kept = (*known, *new)[-REMEMBERED:]
    while len(set(kept)) > WINDOW:
        kept = kept[1:]
    return kept
