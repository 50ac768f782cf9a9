"""Sees after a turn whether the run goes in circles (design §5). Rules: `shared/acta_engine/turn/loop_detection.py`."""

from collections.abc import Mapping, Sequence
from typing import Any

from acta_engine.log.change import Change
from acta_engine.log.conversation import ToolCall, ToolEntry
from acta_engine.log.head import Progress
from acta_engine.models.model import ModelReply, RequestedCall
from acta_engine.tools.builtin.specs import UPDATE_PLAN
from acta_engine.tools.tool import ToolSpec
from acta_engine.turn.apply_reply import AppliedReply
from acta_engine.turn.loop_detection import FinishedCall, Stuck, fingerprint, hint_before_reply, observe
from acta_engine.untrusted.visible import visible

MAX_NAME_CHARS = 64

PreviousCall = tuple[ToolCall, ToolEntry | None]
"""A call of the turn before and its result, None where it has none."""


def detect_loop(
    specs: Mapping[str, ToolSpec],
    change: Change,
    applied: AppliedReply,
    reply: ModelReply,
    previous: tuple[PreviousCall, ...],
) -> Stuck | None:
    """Updates the counters in the head and returns what they show.

    `specs`: the agent's tools by name. An `update_plan` counts only where it was refused: a change of the plan is
    progress by itself.
    """

    def repeatable(name: str) -> bool:
        return _is_repeatable(specs, name)

    attempts = _finished(specs, previous)
    said = fingerprint(reply.text, [[call.name, call.input] for call in reply.calls])
    counts = not reply.calls or not all(repeatable(call.name) for call in reply.calls)
    progress, stuck = observe(
        change.head.progress, attempts, said, reply_counts=counts, plan_changed=applied.plan_changed
    )
    change.set(progress=progress)
    return stuck and _with_tool_names(stuck, [call for call, _ in previous], reply.calls)


def repeated_failure(
    specs: Mapping[str, ToolSpec], progress: Progress, previous: Sequence[PreviousCall]
) -> str:
    """What the turn right after a call that failed again tells the model; empty: none did, or it was told before."""
    return hint_before_reply(progress, _finished(specs, previous))


def _finished(specs: Mapping[str, ToolSpec], previous: Sequence[PreviousCall]) -> list[FinishedCall]:
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


def _with_tool_names(stuck: Stuck, before: Sequence[ToolCall], now: Sequence[RequestedCall]) -> Stuck:
    """Names the tools of the calls. Of the two calls of a ping-pong one was made before, the other is made now."""
    if stuck.kind == "same_reply":
        return stuck._replace(tools=tuple(_name(call.name, call.input) for call in now))
    made = [*((call.name, call.input) for call in before), *((call.name, call.input) for call in now)]
    names = {fingerprint(*call): _name(*call) for call in made}
    return stuck._replace(tools=tuple(names[call] for call in stuck.calls if call in names))


def _name(tool: str, arguments: dict[str, Any] | None) -> str:
    """A tool's name is the model's own where there is no such tool: it may be anything."""
    action = str((arguments or {}).get("action", "")) if tool == UPDATE_PLAN else ""
    return visible(f"{tool} {action}".strip()[:MAX_NAME_CHARS], keep_newlines=False)
