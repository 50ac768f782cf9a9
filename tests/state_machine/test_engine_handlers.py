"""Each function that the engine invokes works for the tenant of its payload, and for that one alone (ADR 48)."""

import json
import os
import subprocess
import sys

import pytest

from acta.infra.packaging.bundle import ROOT

PROGRAM = """
import json, sys
from contextlib import suppress
from importlib import import_module

from acta.engine.bound_tenant import bound

seen = []

class Spy:
    def call(self, operation, **asked):
        seen.append(bound() and bound().tenant)
        raise InterruptedError

import acta.engine.aws.clients as clients
clients.Service.call = Spy.call

class Context:
    function_name = invoked_function_arn = aws_request_id = "x"
    memory_limit_in_mb = 512

    def get_remaining_time_in_millis(self):
        return 60_000

handler = import_module(f"acta.functions.{sys.argv[1]}.handler").handler
at = {"tenant": "acme", "session_id": "ses_1", "run_id": "run_1", "generation": 1, "turn": 1, "first": 1}
with suppress(InterruptedError):
    entered = "2026-01-01T00:00:00Z"
    given = {"call_id": "call_1", "error": "States.Timeout", "task_token": "t", "entered": entered}
    handler({"op": sys.argv[2], "at": at, **given}, Context())
print(json.dumps([seen, bound()]))
"""


@pytest.mark.parametrize(
    ("function", "op"),
    [
        ("step", "plan"),
        ("step", "think"),
        ("tool", "tool"),
        ("tool", "lost_tool"),
        ("intervene", "ask"),
        ("intervene", "handle_error"),
        ("intervene", "roll_over"),
    ],
)
def test_the_first_request_is_made_for_the_tenant_of_the_payload(function: str, op: str) -> None:
    environ = {
        "PATH": os.defpath,
        "ACTA_ENV": "test",
        "ACTA_TABLE": "t",
        "ACTA_BUCKET": "b",
        "POWERTOOLS_METRICS_DISABLED": "true",
        "POWERTOOLS_LOG_LEVEL": "CRITICAL",
    }
    command = [sys.executable, "-c", PROGRAM, function, op]
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    seen, after = json.loads(done.stdout.splitlines()[-1])
    assert seen
    assert set(seen) == {"acme"}
    assert after is None
