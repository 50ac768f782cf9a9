"""What states pass on: the size limit, variables, and the time an expression has."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from acta.local_aws.ministack import module
from acta.local_aws.settings import Settings
from acta.local_aws.step_functions import errors

MAX_BYTES = 262_144
"""UTF-8 bytes of a state's input, output and arguments, of a task's result, and of one Assign. Source: Step
Functions developer guide, "Step Functions service quotas"."""

_EVALUATION_MILLISECONDS = 10_000


def serialised(value: object, what: str) -> str:
    """The value as JSON. Raises `States.DataLimitExceeded` above MAX_BYTES; `what` names the value in its cause."""
    text = json.dumps(value, ensure_ascii=False)
    if len(text) * 4 > MAX_BYTES and len(text.encode()) > MAX_BYTES:
        raise errors.failed(
            errors.DATA_LIMIT, f"{what} has a size exceeding the maximum number of bytes service limit."
        )
    return text


def assign_at_once(settings: Settings) -> None:
    """`Assign` evaluates all its expressions before it sets any variable, within the size limit.

    Source: developer guide, "Passing data between states with variables". Patches:
    `services.stepfunctions._apply_state_assign`.
    """
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
        serialised(values, "The variables assigned by the state")
        context.setdefault("variables", {}).update(values)

    states._apply_state_assign = assign


def evaluate_patiently(settings: Settings) -> None:
    """A JSONata expression has ten seconds here; on AWS it has one.

    ministack measures the time on the clock. On a busy machine a thread may stand still for more than a second in
    an expression that takes a millisecond, and a run would fail for a reason that AWS does not have. Patches:
    `services.stepfunctions.jsonata`.
    """
    states = module("services.stepfunctions")
    package = states.jsonata
    parse = package.Jsonata.jsonata

    def parse_patiently(expression: str, timeout: int | None = None) -> Any:
        return parse(expression, timeout=_EVALUATION_MILLISECONDS)

    states.jsonata = SimpleNamespace(utils=package.utils, Jsonata=SimpleNamespace(jsonata=parse_patiently))
