"""What recovery has to do with AWS: it invokes itself, and AWS tells it of executions that have ended.

An invocation that nobody waits for goes on with a part of what another one has found, or looks after a provider's line
at once and not at the next minute (ADR 106). Source: Lambda API Reference, Invoke: an event of an asynchronous
invocation has at most 256 KB.

The event about an execution is "Step Functions Execution Status Change". Source of its form: Step Functions developer
guide, "Automating Step Functions event delivery with EventBridge".
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from acta_engine.aws.clients import Service
from acta_engine.aws.errors import AwsRefused
from acta_engine.aws.step_functions import named
from acta_engine.errors import AwsDenied, Refused, TransientError
from acta_engine.recovery.store import SHARE, LostSessions, PaidPlaces
from acta_engine.turn.engine import EndedExecution

MOST_BYTES = 240_000


class InvokedWorkers:
    """RecoveryWorkers. `function`: `recover` and its alias. `client`: a botocore Lambda client instead of the
    process's.
    """

    share = SHARE

    def __init__(self, function: str, most: int, client: Any = None) -> None:
        self._function = function
        self.most = most
        self._lambda = Service("lambda", client)

    def hand_over(self, lost: LostSessions) -> None:
        payload = json.dumps(to_event(lost), separators=(",", ":")).encode()
        if len(payload) > MOST_BYTES and len(lost.sessions) > 1:  # long names of tenants
            half = len(lost.sessions) // 2
            self.hand_over(lost._replace(sessions=lost.sessions[:half]))
            self.hand_over(lost._replace(sessions=lost.sessions[half:]))
            return
        self._invoke(payload)

    def admit(self, paid: PaidPlaces) -> None:
        self._invoke(json.dumps(paid_event(paid), separators=(",", ":")).encode())

    def _invoke(self, payload: bytes) -> None:
        try:
            self._lambda.call("invoke", FunctionName=self._function, InvocationType="Event", Payload=payload)
        except AwsRefused as refused:
            raise AwsDenied(f"invoke: {refused.code}") from refused


def to_event(lost: LostSessions) -> dict[str, Any]:
    return {
        "lost": [list(name) for name in lost.sessions],
        "listed_at": lost.listed_at.isoformat(),
        "until": lost.until.isoformat(),
    }


def paid_event(paid: PaidPlaces) -> dict[str, Any]:
    return {
        "paid": [
            [one.provider, one.tenant, one.session_id, one.since.isoformat(), one.tokens]
            for one in paid.places
        ],
        "until": paid.until.isoformat(),
    }


ADMIT = {"admit": True}


def call_dispatcher(function: str, client: Any = None) -> None:
    """Does not wait for what comes of it: what fails, the next minute's call makes good. `function`: with its alias;
    empty: nobody is called. `client`: a botocore Lambda client, where it is not this process's own.
    """
    if not function:
        return
    with suppress(TransientError, AwsRefused):
        Service("lambda", client).call(
            "invoke", FunctionName=function, InvocationType="Event", Payload=json.dumps(ADMIT).encode()
        )


SOURCE = "aws.states"
DETAIL_TYPE = "Step Functions Execution Status Change"
ENDED = ("ABORTED", "FAILED", "TIMED_OUT")
"""The states of an execution that ended before its run did. `PENDING_REDRIVE` is none of them, because nobody redrives
an execution here.
"""


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
