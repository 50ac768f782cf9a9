"""The Wait state: seconds or a timestamp, fixed, by path or by expression; it ends with its scope."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from infra.local.emulator.states.scope import Scope
from infra.local.emulator.upstream import module

_states: Any = module("services.stepfunctions")


def perform(
    scope: Scope, state: Mapping[str, Any], data: Any, context: dict[str, Any]
) -> tuple[Any, str | None]:
    jsonata = _states._state_query_language(state, context) == "JSONata"
    effective = data if jsonata else _states._apply_input_path(state, data, context)
    scope.sleep(_seconds(state, effective, context, jsonata))
    if jsonata:
        output = _states._apply_jsonata_output(state, data, context, default=data)
        _states._apply_state_assign(state, data, context)
    else:
        output = _states._apply_output_path(state, effective, context)
    return output, _states._next_or_end(state)


def _seconds(state: Mapping[str, Any], data: Any, context: dict[str, Any], jsonata: bool) -> float:
    if "Seconds" in state:
        return float(_states._jsonata_wait_seconds(state, data, context) if jsonata else state["Seconds"])
    if "SecondsPath" in state:
        return float(_states._resolve_path_or_ctx(state["SecondsPath"], data, context))
    if jsonata:
        stamp = _states._jsonata_wait_timestamp(state, data, context)
    else:
        stamp = state.get("Timestamp") or _states._resolve_path_or_ctx(state["TimestampPath"], data, context)
    moment = datetime.fromisoformat(str(stamp).replace("Z", "+00:00"))
    return (moment - datetime.now(UTC)).total_seconds()
