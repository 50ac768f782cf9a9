"""What the emulator can be told for tests that AWS cannot: shorter pauses, refused invocations."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from acta.local_aws.loopback import HOST
from acta.local_aws.testing import Cloud, invoking, one_state
from tests.local_aws.emulators import emulator_on


class Check(ThreadingHTTPServer):
    """Refuses invocations with the error that their event names; without an answer where it says `unheard`."""

    def __init__(self) -> None:
        super().__init__((HOST, 0), _Asked)
        self.asked: list[str] = []


class _Asked(BaseHTTPRequestHandler):
    server: Check

    def do_POST(self) -> None:
        about = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(about["function"])
        what = about["event"].get("check")
        if what == "unheard":
            self.close_connection = True
            return
        body = json.dumps({"error": what, "cause": "told to"}).encode() if what else b""
        self.send_response(200 if body else 204)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@pytest.fixture(scope="module")
def check() -> Iterator[Check]:
    with Check() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture(scope="module")
def hurried(check: Check, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    state: Path = tmp_path_factory.mktemp("hurried")
    url = f"http://{HOST}:{check.server_port}/"
    with emulator_on(state, options={"longest-pause": "0.1", "invocation-check": url}) as process:
        yield Cloud.of(process)


def test_no_wait_and_no_retry_interval_is_longer_than_it_was_told(hurried: Cloud) -> None:
    retry = {"ErrorEquals": ["Refused"], "IntervalSeconds": 600, "MaxAttempts": 2}
    event = {"do": "fail_until", "attempts": 2, "retry_count": "{% $states.context.State.RetryCount %}"}
    states = {
        "Pause": {"Type": "Wait", "Seconds": 600, "Next": "Call"},
        "Call": invoking(hurried.probe, event, Retry=[retry], End=True),
    }
    found = hurried.run({"StartAt": "Pause", "States": states})
    assert found["output"]["event"]["retry_count"] == 2


@pytest.mark.parametrize(
    ("what", "error"),
    [
        ("Lambda.TooManyRequestsException", "Lambda.TooManyRequestsException"),
        ("Lambda.Unknown", "Lambda.Unknown"),
        ("unheard", "Lambda.SdkClientException"),
        ("", None),
    ],
)
def test_an_invocation_by_a_state_machine_may_be_refused_from_outside(
    hurried: Cloud, check: Check, what: str, error: str | None
) -> None:
    found = hurried.run(one_state(invoking(hurried.probe, {"check": what})))
    assert found.get("error") == error
    assert check.asked[-1].endswith(hurried.probe)
