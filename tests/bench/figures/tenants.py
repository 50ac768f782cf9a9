"""The price of working with one tenant's credentials, in a worker (ADR 48)."""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Any

from shared.adapters.aws.tenant_credentials import TenantCredentials, data_of, session_policy
from shared.bound_tenant import bound_to
from tests.bench.growth import Figures
from tests.bench.table import heading, number

ROUNDS = 2_000
TENANTS = 200


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
    credentials = TenantCredentials("arn:aws:iam::1:role/r", data_of("b", ("b",)), None, sts)  # type: ignore[arg-type]

    def invocation(number: int) -> None:
        with bound_to(f"tenant-{number % TENANTS}"):
            credentials.get_frozen_credentials()

    invocation(0)
    kept = [_cpu_us(lambda: invocation(0)) for _ in range(ROUNDS)]
    for each in range(ROUNDS):
        invocation(each)
    return {
        "look_up_us": median(kept),
        "policy_us": median(
            _cpu_us(lambda: session_policy("acme", "aws", "b", ("b", "c"))) for _ in range(ROUNDS)
        ),
        "invocations": ROUNDS,
        "tenants": TENANTS,
        "sts_requests": sts.asked,
    }


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
        f"{found['sts_requests']:.0f} times. Keys last 44 minutes. Turns: the row `STS requests`."
    )
