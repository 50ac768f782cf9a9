"""The event by which AWS tells that an execution has ended ("Step Functions Execution Status Change").

Source of its form: Step Functions developer guide, "Automating Step Functions event delivery with EventBridge".
"""

import json
from collections.abc import Mapping
from typing import Any

from acta_engine.aws.step_functions import named
from acta_engine.errors import Refused
from acta_engine.turn.workflow import EndedExecution

SOURCE = "aws.states"
DETAIL_TYPE = "Step Functions Execution Status Change"
ENDED = ("ABORTED", "FAILED", "TIMED_OUT")
"""What an execution ends as that has not come to its end. `PENDING_REDRIVE` is not one of them: nobody redrives."""


class StatusChanges:
    """ExecutionEvents of Step Functions, by way of EventBridge."""

    def is_one(self, event: Mapping[str, Any]) -> bool:
        return event.get("detail-type") == DETAIL_TYPE

    def ended(self, event: Mapping[str, Any]) -> EndedExecution | None:
        """What the execution's input says, else what its name says. AWS may add fields."""
        match event:
            case {
                "source": "aws.states",
                "detail-type": "Step Functions Execution Status Change",
                "detail": {"name": str(name), "status": str(status), **more},
            } if status in ENDED and isinstance(more.get("input"), str | None):
                by_name, at = named(name), _at(str(more.get("input") or ""))
            case _:
                raise Refused("not an event about an execution that has ended")
        if at is None:
            return by_name
        if by_name is None or by_name.session_id != at.session_id:  # a person has started it
            return at
        return by_name._replace(tenant=at.tenant)


def _at(text: str) -> EndedExecution | None:
    """From the execution's input, as text; None where it is too long for an event, or says no session."""
    try:
        given = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return None
    match given:
        case {"at": {"tenant": str(tenant), "session_id": str(session_id)}} if tenant and session_id:
            return EndedExecution(session_id, tenant)
    return None
