"""What a function writes to its log."""

import json
import os
import subprocess
import sys
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from shared.telemetry import Telemetry
from tests.unit.api.gateway import Gateway, claims
from tests.unit.api.samples import start_api

SECRET = "attack at dawn"
FUNCTIONS = Path(__file__).parents[3] / "functions"
_numbers = count()


def telemetry() -> Telemetry:
    """Loggers are kept by name and write to the stdout of their first day: each test has its own."""
    return Telemetry(f"telemetry-{next(_numbers)}")


def logged(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return [line for line in lines if "level" in line]


def test_an_unexpected_error_is_logged_by_class_and_place_without_its_text(
    capsys: pytest.CaptureFixture[str],
) -> None:
    gateway = Gateway(start_api(ValueError(f"could not read {SECRET}"), telemetry()).handler)
    gateway.request("POST", "/v1/sessions/ses_01/messages", json_body={"content": SECRET})
    error = next(line for line in logged(capsys) if line["level"] == "ERROR")
    assert error["error"] == "ValueError"
    assert error["where"].startswith("tests.unit.api.samples:")
    assert SECRET not in json.dumps(error)


def test_no_line_has_a_body_a_claim_or_a_path(capsys: pytest.CaptureFixture[str]) -> None:
    gateway = Gateway(
        start_api(telemetry=telemetry()).handler, token=claims(tenant="tenant-x", user="user-x")
    )
    gateway.request("POST", "/v1/sessions", json_body={"message": SECRET})
    gateway.request("POST", "/v1/sessions/ses_secret/messages", body=f'{{"content": "{SECRET}"')
    text = json.dumps(logged(capsys))
    assert all(word not in text for word in (SECRET, "tenant-x", "user-x", "ses_secret"))


def test_an_answer_is_logged_with_route_and_status(capsys: pytest.CaptureFixture[str]) -> None:
    Gateway(start_api(telemetry=telemetry()).handler).request("POST", "/v1/sessions", json_body={})
    answered = next(line for line in logged(capsys) if line["message"] == "answered")
    assert (answered["route"], answered["status"]) == ("POST /v1/sessions", 202)


def test_a_refused_caller_is_logged_by_code(capsys: pytest.CaptureFixture[str]) -> None:
    Gateway(start_api(telemetry=telemetry()).handler, token=claims(roles="[guest]")).request(
        "POST", "/v1/sessions", json_body={}
    )
    refused = next(line for line in logged(capsys) if line["message"] == "refused")
    assert refused["code"] == "FORBIDDEN"
    assert "guest" not in json.dumps(refused)


WHO_COLLECTS = """
import gc, importlib, sys
for name in sys.argv[1:]:
    gc.disable()  # as `functions` does for the first
    importlib.import_module(f"functions.{name}.handler")
    print(name, gc.isenabled())
"""


def test_the_garbage_collector_is_on_once_a_handler_is_imported() -> None:
    variables = {
        **os.environ,
        "ACTA_ENV": "test",
        "ACTA_TABLE": "t",
        "ACTA_BUCKET": "b",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    functions = sorted(path.parent.name for path in FUNCTIONS.glob("*/handler.py"))
    assert "step" in functions
    ended = subprocess.run(
        [sys.executable, "-c", WHO_COLLECTS, *functions],
        env=variables, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert ended.stdout.splitlines() == [f"{name} True" for name in functions]
