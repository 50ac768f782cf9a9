"""The event by which AWS tells that an execution has ended ("Step Functions Execution Status Change").

Source of its form: Step Functions developer guide, "Automating Step Functions event delivery with EventBridge".
"""

import json
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from shared.adapters.aws.step_functions import named
from shared.domain.errors import Refused
from shared.ports.workflow import EndedExecution

SOURCE = "aws.states"
DETAIL_TYPE = "Step Functions Execution Status Change"
ENDED = ("ABORTED", "FAILED", "TIMED_OUT")
"""What an execution ends as that has not come to its end. `PENDING_REDRIVE` is not one of them: nobody redrives."""


class _Part(BaseModel):
    """AWS may add fields."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class _Detail(_Part):
    """`input`: JSON as text; None where it is too long for an event."""

    name: str
    status: Literal["ABORTED", "FAILED", "TIMED_OUT"]
    input: str | None = None


class _Event(_Part):
    source: Literal["aws.states"]
    detail_type: Literal["Step Functions Execution Status Change"] = Field(alias="detail-type")
    detail: _Detail


class _At(_Part):
    tenant: str = Field(min_length=1)
    session_id: str = Field(min_length=1)


class _Input(_Part):
    at: _At


class StatusChanges:
    """ExecutionEvents of Step Functions, by way of EventBridge."""

    def is_one(self, event: Mapping[str, Any]) -> bool:
        return event.get("detail-type") == DETAIL_TYPE

    def ended(self, event: Mapping[str, Any]) -> EndedExecution | None:
        """What the execution's input says, else what its name says."""
        try:
            detail = _Event.model_validate(event).detail
        except ValidationError as error:
            raise Refused(
                f"not an event about an execution: {error.error_count()} fields are wrong"
            ) from None
        by_name, at = named(detail.name), _at(detail.input)
        if at is None:
            return by_name
        if by_name is None or by_name.session_id != at.session_id:  # a person has started it
            return EndedExecution(at.session_id, at.tenant)
        return by_name._replace(tenant=at.tenant)


def _at(text: str | None) -> _At | None:
    try:
        return _Input.model_validate(json.loads(text or "{}")).at
    except (ValueError, RecursionError):
        return None
