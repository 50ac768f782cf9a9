"""What a function writes to its log."""

import json
import os
import subprocess
import sys
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from acta.engine.audit.trail import KeyedPseudonyms
from acta.engine.bound_tenant import tenant_hash
from acta.engine.errors import Fenced, ProviderTimeout, StoreThrottled
from acta.engine.log.commit import Position
from acta.engine.telemetry import Telemetry
from acta.engine.turn.engine import EngineEvent
from tests.api.gateway import Gateway, claims
from tests.api.samples import start_api
from tests.doubles.audit import memory_audit

SECRET = "attack at dawn"
FUNCTIONS = Path(__file__).parents[2] / "acta" / "functions"
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
    assert error["where"].startswith("tests.api.samples:")
    assert SECRET not in json.dumps(error)


def test_no_line_has_a_body_a_claim_or_a_path(capsys: pytest.CaptureFixture[str]) -> None:
    audit = memory_audit()._replace(pseudonyms=KeyedPseudonyms("", "key"))
    gateway = Gateway(
        start_api(telemetry=telemetry(), audit=audit).handler, token=claims(tenant="tenant-x", user="user-x")
    )
    gateway.request("POST", "/v1/sessions", json_body={"content": SECRET})
    gateway.request("POST", "/v1/sessions/ses_secret/messages", body=f'{{"content": "{SECRET}"')
    text = json.dumps(logged(capsys))
    assert all(word not in text for word in (SECRET, "tenant-x", "user-x", "ses_secret"))
    assert '"who": "p_' in text, "who was refused is told by pseudonym"


def test_an_answer_is_logged_with_route_and_status(capsys: pytest.CaptureFixture[str]) -> None:
    Gateway(start_api(telemetry=telemetry()).handler).request("POST", "/v1/sessions", json_body={})
    answered = next(line for line in logged(capsys) if line["message"] == "answered")
    assert (answered["route"], answered["status"]) == ("POST /v1/sessions", 202)


def test_an_answer_about_a_session_names_it_and_the_request_and_hashes_the_tenant(
    capsys: pytest.CaptureFixture[str],
) -> None:
    session_id = f"ses_{'0' * 26}"
    gateway = Gateway(start_api(telemetry=telemetry()).handler, token=claims(tenant="tenant-x"))
    gateway.request("POST", f"/v1/sessions/{session_id}/messages", body="{")
    gateway.request("POST", "/v1/sessions/attack_at_dawn/messages", body="{")
    first, second = (line for line in logged(capsys) if line["message"] == "answered")
    assert (first["session_id"], first["status"], first["code"]) == (session_id, 400, "VALIDATION_ERROR")
    assert first["tenant_hash"] == second["tenant_hash"] == tenant_hash("tenant-x")
    assert first["request_id"]
    assert "session_id" not in second, "what is no id may say anything"


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
    importlib.import_module(f"acta.functions.{name}.handler")
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


def engine_event(attempt: int = 0) -> EngineEvent:
    at = Position(tenant="tenant-x", session_id="ses_1", run_id="run_1", generation=1, turn=2, first=3)
    return EngineEvent(op="think", at=at, attempt=attempt)


@pytest.mark.parametrize(
    ("error", "counts"),
    [(ProviderTimeout(SECRET), (1, 1, 1)), (StoreThrottled("x"), (1, 1, 0)), (KeyError(SECRET), (1, 0, 0))],
)
def test_work_that_fails_is_one_more_line_with_its_ids_and_metrics_and_no_text(
    error: Exception, counts: tuple[int, int, int], capsys: pytest.CaptureFixture[str]
) -> None:
    with suppress(type(error)), telemetry().work("step", engine_event()):
        raise error
    begun, failed = logged(capsys)
    assert (begun["message"], begun["session_id"], begun["level"]) == ("step", "ses_1", "INFO")
    assert (failed["message"], failed["error"], failed["op"]) == ("failed", type(error).__name__, "think")
    assert (failed["session_id"], failed["turn"]) == ("ses_1", 2)
    assert failed["tenant_hash"] == begun["tenant_hash"] == tenant_hash("tenant-x")
    assert (failed["Failures"], failed["Retries"], failed["ProviderErrors"]) == counts
    directives = failed["_aws"]["CloudWatchMetrics"]
    assert [one["Dimensions"] for one in directives] == [[[]], [["error"]]]
    text = json.dumps([begun, failed])
    assert SECRET not in text
    assert "tenant-x" not in text


def test_work_that_somebody_else_took_over_has_not_failed(capsys: pytest.CaptureFixture[str]) -> None:
    with suppress(Fenced), telemetry().work("step", engine_event()):
        raise Fenced("overtaken")
    assert [(line["message"], line["level"]) for line in logged(capsys)] == [
        ("step", "INFO"),
        ("overtaken", "INFO"),
    ]
