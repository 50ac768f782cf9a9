"""Calls that are refused before they run, and what the model reads then: a tool that does not exist, a bad input, a
plan update that the rules do not allow.
"""

from collections.abc import Mapping

from shared.domain.definitions.builtins import UPDATE_PLAN
from shared.domain.definitions.tool import ToolSpec
from shared.domain.errors import ModelFeedback, PlanRefused
from shared.domain.plan.update import MAX_NAME_CHARS
from shared.domain.session.change import Change
from shared.domain.session.conversation import Content, ToolCall, ToolEntry
from shared.domain.validation_messages import did_you_mean

MAX_UNKNOWN_NAME_CHARS = 64
"""The refusal repeats so much of a name that the model made up: as much as a tool's name may have."""


def requested_tool(call: ToolCall, specs: Mapping[str, ToolSpec]) -> ToolSpec:
    """The tool that the call names. Raises ModelFeedback, with near names, where the agent has none of that name."""
    spec = specs.get(call.name)
    if spec is not None:
        return spec
    name = call.name[:MAX_UNKNOWN_NAME_CHARS]
    raise ModelFeedback(f"There is no tool {name!r}. {did_you_mean(name, specs)}")


def own_result(call: ToolCall, text: str, ok: bool = True) -> ToolEntry:
    """The result of a call that needs no tool: an update of the plan, a note, a refusal."""
    return ToolEntry(call_id=call.call_id, name=call.name, content=Content.of(text), ok=ok)


def refuse(change: Change, call: ToolCall, refusal: ModelFeedback) -> None:
    """Makes the refusal the call's result, which the model reads. A refused plan update is an event as well."""
    change.entry(own_result(call, f"Error: {refusal}", ok=False))
    if call.name == UPDATE_PLAN:
        action = call.input.get("action") if isinstance(call.input, dict) else None
        code = refusal.code if isinstance(refusal, PlanRefused) else "SCHEMA"
        change.event("plan.rejected", {"action": _shown(action), "code": code, "message": str(refusal)})


def _shown(action: object) -> str | None:
    """The action for the event. A model can make one up of any length."""
    return action[:MAX_NAME_CHARS] if isinstance(action, str) else None
