"""Brings the counters of being stuck up to date after a turn (design §5)."""

from shared.agent.reply import Absorbed
from shared.agent.worker import Mind
from shared.domain.builtins import UPDATE_PLAN
from shared.domain.change import Change
from shared.domain.conversation import ToolCall, ToolEntry
from shared.domain.stuck import Attempt, Stuck, fingerprint, observe
from shared.ports.model import ModelReply

Outcome = tuple[ToolCall, ToolEntry | None]
"""A call of the turn before and its result, None where it has none."""


def observe_turn(
    mind: Mind, change: Change, absorbed: Absorbed, reply: ModelReply, outcomes: tuple[Outcome, ...]
) -> Stuck | None:
    """An `update_plan` counts only where it was refused: a change of the plan is progress by itself."""
    specs = mind.specs

    def repeatable(name: str) -> bool:
        return name in specs and specs[name].repeatable

    attempts = [
        Attempt(fingerprint(call.name, call.input), result is not None and result.ok, repeatable(call.name))
        for call, result in outcomes
        if call.name != UPDATE_PLAN or result is None or not result.ok
    ]
    said = fingerprint(reply.text, [[call.name, call.input] for call in reply.calls])
    counts = not reply.calls or not all(repeatable(call.name) for call in reply.calls)
    progress, stuck = observe(
        change.head.progress, attempts, said, reply_counts=counts, plan_changed=absorbed.plan_changed
    )
    change.set(progress=progress)
    return stuck


def hint(change: Change, text: str) -> None:
    """Told to the model in the next turn's tail, once, and to whoever watches."""
    if not text:
        return
    known = change.head.progress.hint
    change.set(
        progress=change.head.progress.model_copy(update={"hint": f"{known}\n{text}" if known else text})
    )
    change.event("hint.injected", {"text": text})
