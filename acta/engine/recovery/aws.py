"""What recovery has to do with AWS: it invokes itself, AWS tells it of executions that have
ended, and a table has its last scans.

An invocation that nobody waits for goes on with a part of what another one has found, or looks after a provider's line
at once and not at the next minute (ADR 106). Source: Lambda API Reference, Invoke: an event of an asynchronous
invocation has at most 256 KB.

The event about an execution is "Step Functions Execution Status Change". Source of its form: Step Functions developer
guide, "Automating Step Functions event delivery with EventBridge".

The last scans, and where the housekeeping goes on, are one item for the whole deployment.

pk    sk    attributes
D     R     for each round (`ROUNDS`) a map: t when it ended, and a number for each of `NUMBERS`
            p a map: e cursor of the erasures, m minute whose part of the ended sessions comes next, c cursor in it
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from types import MappingProxyType
from typing import Any

from acta.engine.aws.clients import Service
from acta.engine.aws.errors import AwsRefused
from acta.engine.aws.step_functions import named
from acta.engine.errors import AwsDenied, Refused, TransientError
from acta.engine.recovery.store import (
    SHARE,
    EndedPlace,
    HousekeepingPlace,
    LostSessions,
    PaidPlaces,
    Round,
    RoundCounts,
    RoundResult,
)
from acta.engine.store.dynamodb import DeploymentTable
from acta.engine.turn.engine import EndedExecution

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
    """Calls the dispatcher and does not wait for it: the next minute's call makes up for one that fails. `function`:
    with its alias; empty: nobody is called. `client`: a botocore Lambda client, where it is not this process's own.
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
        """The execution as its input names it, or else as its name does. AWS may add fields."""
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


_KEY = {"pk": {"S": "D"}, "sk": {"S": "R"}}
ROUNDS: Mapping[Round, str] = MappingProxyType(
    {"due": "d", "woken": "w", "events": "e", "timed": "t", "housekeeping": "h"}
)
NUMBERS = MappingProxyType(
    {
        "looked": "lo",
        "started": "st",
        "restarted": "re",
        "woken": "wo",
        "unreadable": "un",
        "put_off": "po",
        "left": "le",
        "unread": "ur",
        "unanswered": "ua",
    }
)
"""By the number's name in `RoundCounts`, its attribute."""


class DynamoRecoveryScans(DeploymentTable):
    def last(self) -> Mapping[Round, RoundResult]:
        item = self._item()
        return {round: _scan(item[short]["M"]) for round, short in ROUNDS.items() if short in item}

    def put(self, round: Round, scan: RoundResult) -> None:
        numbers = {NUMBERS[name]: {"N": str(number)} for name, number in scan.tally._asdict().items()}
        self._set(ROUNDS[round], {"t": {"S": scan.ended_at.isoformat()}, **numbers})

    def place(self) -> HousekeepingPlace:
        found = self._item().get("p", {"M": {}})["M"]
        erasures, cursor = (found[name]["S"] if name in found else None for name in ("e", "c"))
        return HousekeepingPlace(erasures, EndedPlace(int(found["m"]["N"]), cursor) if "m" in found else None)

    def put_place(self, place: HousekeepingPlace) -> None:
        stored = {} if place.ended is None else {"m": {"N": str(place.ended.minute)}}
        cursors = {"e": place.erasures, "c": place.ended.cursor if place.ended is not None else None}
        stored |= {name: {"S": cursor} for name, cursor in cursors.items() if cursor is not None}
        self._set("p", stored)

    def _item(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._dynamodb.call("get_item", TableName=self._table, Key=_KEY)
        item: Mapping[str, Any] = found.get("Item", {})
        return item

    def _set(self, name: str, value: Mapping[str, Any]) -> None:
        """Sets one attribute and leaves the others as they are, because rounds end at the same time."""
        self._dynamodb.call(
            "update_item",
            TableName=self._table,
            Key=_KEY,
            UpdateExpression="SET #name = :value",
            ExpressionAttributeNames={"#name": name},
            ExpressionAttributeValues={":value": {"M": value}},
        )


def _scan(stored: Mapping[str, Any]) -> RoundResult:
    numbers = {name: int(stored[short]["N"]) for name, short in NUMBERS.items() if short in stored}
    return RoundResult(datetime.fromisoformat(stored["t"]["S"]), RoundCounts(**numbers))
