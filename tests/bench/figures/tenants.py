"""The price of working with one tenant's credentials, and of the audit trail's records, in a worker (ADR 48, 54)."""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Any

from acta.engine.audit.record import AuditRecord
from acta.engine.audit.trail import KeyedPseudonyms, record_item
from acta.engine.aws.tenant_credentials import (
    LIFE_SECONDS,
    LONGEST_INVOCATION,
    TenantCredentials,
    data_of,
    session_policy,
)
from acta.engine.bound_tenant import bound_to
from tests.bench.growth import Figures
from tests.bench.table import heading, number

ROUNDS = 2_000
TENANTS = 200
REQUESTS_OF_A_TURN = 7
"""Six to DynamoDB and one to S3: a read of a small file (the section `turns`)."""
STS_PER_SECOND = 600
"""Of an account in a region, for AssumeRole and a few others. Source: IAM User Guide, "IAM and AWS STS quotas"."""


class Given:
    """Stands for STS."""

    def __init__(self) -> None:
        self.asked = 0

    def call(self, operation: str, **asked: Any) -> dict[str, Any]:
        self.asked += 1
        json.loads(asked["Policy"])
        keys = {"AccessKeyId": "a", "SecretAccessKey": "s", "SessionToken": "t"}
        return {"Credentials": {**keys, "Expiration": datetime.now(UTC) + timedelta(hours=1)}}


def measure() -> Figures:
    """Microseconds of CPU of each look-up; how many requests of STS `TENANTS` tenants of `ROUNDS` invocations make."""
    sts = Given()
    credentials = TenantCredentials("arn:aws:iam::1:role/r", data_of("b", "b"), None, sts)  # type: ignore[arg-type]

    def invocation(number: int) -> None:
        with bound_to(f"tenant-{number % TENANTS}"):
            credentials.get_frozen_credentials()

    invocation(0)
    kept = [_cpu_us(lambda: invocation(0)) for _ in range(ROUNDS)]
    for each in range(ROUNDS):
        invocation(each)
    name, record = KeyedPseudonyms("", "a key").of, _record()
    return {
        "look_up_us": median(kept),
        "life_seconds": LIFE_SECONDS - LONGEST_INVOCATION,
        "pseudonym_us": median(_cpu_us(lambda: name("acme", "ann")) for _ in range(ROUNDS)),
        "record_us": median(_cpu_us(lambda: record_item("acme", record, timedelta())) for _ in range(ROUNDS)),
        "policy_us": median(_cpu_us(lambda: session_policy("acme", "aws", "b", "c")) for _ in range(ROUNDS)),
        "invocations": ROUNDS,
        "tenants": TENANTS,
        "sts_requests": sts.asked,
    }


def _record() -> AuditRecord:
    return AuditRecord(
        audit_id="aud_01", at=datetime(2026, 1, 1, tzinfo=UTC), who="p_0", roles=("member",), source="192.0.2.0/24",
        action="session.message", details={"session_id": "ses_01"},
    )  # fmt: skip


def _cpu_us(work: Callable[[], object]) -> float:
    began = time.thread_time_ns()
    work()
    return (time.thread_time_ns() - began) / 1_000


def report(found: Figures) -> None:
    heading("Credentials of a tenant, in one worker")
    price = f"{number(found['look_up_us'])} µs of CPU; a session policy: {number(found['policy_us'])} µs."
    print(f"A look-up, one for each request to DynamoDB or S3: {price}")
    print(
        f"{found['invocations']:.0f} invocations for {found['tenants']:.0f} tenants asked STS "
        f"{found['sts_requests']:.0f} times. A worker asks anew after {found['life_seconds'] / 60:.0f} minutes, so "
        f"{3_600 / found['life_seconds']:.2f} times an hour for a tenant that it works for."
    )
    turn = REQUESTS_OF_A_TURN * found["look_up_us"]
    print(
        f"Of a turn with {REQUESTS_OF_A_TURN} requests: {number(turn)} µs. STS takes {STS_PER_SECOND} requests a "
        f"second of an account, which is {STS_PER_SECOND * found['life_seconds']:,.0f} pairs of worker and tenant."
    )
    print(
        f"A request that the audit trail has: a pseudonym, {number(found['pseudonym_us'])} µs, and two items, "
        f"{number(found['record_us'])} µs each, beside the two puts."
    )
