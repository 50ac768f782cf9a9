"""`Assign` evaluates all its expressions before it sets any variable, within the size limits.

Source: developer guide, "Passing data between states with variables": all expressions see the values from
before; one Assign holds at most 256 KiB. Patches: `services.stepfunctions._apply_state_assign`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from infra.local.emulator.settings import Settings
from infra.local.emulator.states import payload
from infra.local.emulator.upstream import module


def apply(settings: Settings) -> None:
    states = module("services.stepfunctions")

    def assign(
        state: Mapping[str, Any],
        data: Any,
        context: dict[str, Any] | None,
        result: Any = None,
        error_output: Any = None,
    ) -> None:
        expressions = state.get("Assign")
        if context is None or not isinstance(expressions, dict):
            return
        if states._state_query_language(state, context) != "JSONata":
            return
        values = states._apply_jsonata_template(
            expressions, data, context, result=result, error_output=error_output
        )
        payload.serialised(values, "The variables assigned by the state")
        context.setdefault("variables", {}).update(values)

    states._apply_state_assign = assign
