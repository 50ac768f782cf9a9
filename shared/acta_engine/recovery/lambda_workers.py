"""Invocations of `recover` that nobody waits for: further ones that one of them starts, and one that looks after the
line of a provider at once, and not at the next minute (ADR 106).

Source: Lambda API Reference, Invoke: an event of an asynchronous invocation has at most 256 KB.
"""

import json
from contextlib import suppress
from typing import Any

from acta_engine.aws.clients import Service
from acta_engine.aws.errors import AwsRefused
from acta_engine.errors import AwsDenied, TransientError
from acta_engine.recovery.workers import SHARE, LostSessions, PaidPlaces

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
