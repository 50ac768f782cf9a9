"""The input a person gives a call in the place of the agent's (design §8: `modify`)."""

import json
from typing import Any

from shared.domain.errors import ToolInputInvalid, ValidationFailed
from shared.domain.intervention import Intervention
from shared.domain.session import Head
from shared.domain.tool import ToolSpec
from shared.ports.tools import Registry

MAX_AMENDED_BYTES = 65_536
"""A person's input rides in the head until its call has run."""
MAX_TOGETHER_BYTES = 131_072
"""Those of one reply's calls, so that the head stays within what one item holds (design §6.1)."""
INSTEAD = (
    "Reject the call instead, with a comment that says what to change: "
    "the agent reads it and can make the call anew."
)


def amended(registry: Registry, head: Head, one: Intervention, given: dict[str, Any]) -> dict[str, Any]:
    """The tool's whole input: `{"input": {…}}` as §8 has it, or bare. Raises ValidationFailed."""
    assert one.tool_call is not None
    spec = registry.specs(head.tenant, head.agent_id).get(one.tool_call.name)
    wanted = _reading(registry, spec, given)
    if not wanted:
        raise ValidationFailed("modify needs the new input.", {"input": ["the tool's whole input"]})
    size = len(json.dumps(wanted))
    if size > MAX_AMENDED_BYTES:
        told = {"input": [f"at most {MAX_AMENDED_BYTES} bytes as JSON"]}
        raise ValidationFailed(f"The input is too long. {INSTEAD}", told)
    left = MAX_TOGETHER_BYTES - sum(len(json.dumps(call.amended)) for call in head.calls if call.amended)
    if size > left:
        told = {"input": [f"at most {max(0, left)} bytes as JSON, beside what the other calls were given"]}
        raise ValidationFailed(f"The inputs changed in this turn are too long together. {INSTEAD}", told)
    wrong = spec and _misfit(registry, spec, wanted)
    if wrong:
        raise ValidationFailed("The input does not fit the tool.", {"input": [wrong]})
    return wanted


def _reading(registry: Registry, spec: ToolSpec | None, given: dict[str, Any]) -> dict[str, Any]:
    """Which of the two forms was given. For a tool that has a field `input` itself its schema tells; one `input`
    within another is the nested form, so that there always is a clear way to say either.
    """
    nested = given.get("input")
    if len(given) != 1 or not isinstance(nested, dict):
        return given
    if spec is None or "input" not in spec.input_schema.get("properties", {}):
        return nested
    fits_nested = bool(nested) and _misfit(registry, spec, nested) is None
    if _misfit(registry, spec, given) is not None or (fits_nested and "input" in nested):
        return nested
    if not fits_nested:
        return given
    raise ValidationFailed(
        "The input can be read in two ways, because the tool has a field `input` itself.",
        {
            "input": [
                "If `input` is the tool's field: send the tool's whole input as the value of one more `input`.",
                "If its value is the tool's whole input: send its fields without `input` around them.",
            ]
        },
    )


def _misfit(registry: Registry, spec: ToolSpec, wanted: dict[str, Any]) -> str | None:
    """What does not fit the tool's schema; None: nothing."""
    try:
        registry.check(spec, wanted)
    except ToolInputInvalid as wrong:
        return str(wrong)
    return None
