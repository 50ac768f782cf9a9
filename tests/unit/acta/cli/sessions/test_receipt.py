"""`acta receipt`, and the lines at the end of `acta run`."""

import json
from typing import Any

import pytest

from acta.cli.sessions.receipt import receipt_lines
from tests.unit.acta.conftest import Acta
from tests.unit.acta.fake_deployment import SESSION_ID, FakeDeployment, poll, session, success


def told(**changed: Any) -> dict[str, Any]:
    functions = [
        {"function": "step", "requests": 22, "ms": 110_245, "gb_seconds": 107.66, "usd": 0.00144},
        {"function": "tool", "requests": 20, "ms": 859, "gb_seconds": 0.43, "usd": 0.00001},
    ]
    aws = {
        "usd": 0.0037,
        "step_functions": {"transitions": 86, "usd": 0.00215},
        "lambda": {"usd": 0.00145, "functions": functions},
        "dynamodb": {
            "read_requests": 66,
            "read_units": 66.0,
            "write_requests": 67,
            "write_units": 136,
            "usd": 0.0001,
        },
        "s3": {"get_requests": 20, "put_requests": 0, "usd": 0.000008},
    }
    model = {"model": "claude-sonnet-5-5", "calls": 22, "fresh_input_tokens": 14_080,
             "cached_input_tokens": 189_278, "output_tokens": 1_363, "usd": 0.0673}  # fmt: skip
    return {
        "session_id": SESSION_ID,
        "is_whole": True,
        "counted_since": "2026-11-20T09:30:00.000Z",
        "total_usd": 0.071,
        "models": {"usd": 0.0673, "vanished_tokens": 0, "items": [model]},
        "aws": aws,
        "prices": {"models": {"as_of": "2026-11-18"}, "aws": {"region": "us-east-1", "as_of": "2026-11-20"}},
        "not_counted": ["polls"],
    } | changed


def test_the_dollars_stand_below_one_another() -> None:
    lines = list(receipt_lines(told()))

    assert lines == [
        "claude-sonnet-5-5          $0.067300  14,080 tokens in, 189,278 from the cache, 1,363 out, 22 calls",
        "Step Functions             $0.002150  86 transitions",
        "Lambda                     $0.001450  42 requests, 111.104 s, 108.090 GB-s",
        "  step                     $0.001440  22 requests, 110.245 s, 107.660 GB-s",
        "  tool                     $0.000010  20 requests, 0.859 s, 0.430 GB-s",
        "DynamoDB                   $0.000100  67 writes of 136 units, 66 reads of 66 units",
        "S3                         $0.000008  20 gets, 0 puts",
        "together                   $0.071000  prices: models of 2026-11-18, AWS us-east-1 of 2026-11-20",
    ]


def test_one_is_one() -> None:
    one = told()
    one["aws"]["s3"] |= {"get_requests": 1, "put_requests": 1}
    one["aws"]["dynamodb"] |= {"write_requests": 1, "read_requests": 1}

    whole = "\n".join(receipt_lines(one))

    assert "1 get, 1 put" in whole
    assert "1 write of 136 units, 1 read of" in whole


def test_an_amount_that_nobody_knows_is_called_unknown() -> None:
    unknown = told(
        total_usd=None,
        prices={"models": {"as_of": "2026-11-18"}, "aws": {"region": "moon-1", "as_of": None}},
    )

    assert list(receipt_lines(unknown))[-1] == (
        "together                     unknown  prices: models of 2026-11-18, AWS unknown"
    )


def test_a_receipt_that_began_later_says_so() -> None:
    assert list(receipt_lines(told(is_whole=False)))[-1] == "counted since 2026-11-20 09:30:00"
    assert list(receipt_lines(told(is_whole=False, counted_since=None)))[-1] == "nothing was counted"


def test_json_is_the_answer_of_the_api(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("GET", f"/v1/sessions/{SESSION_ID}/receipt", success(told()))

    assert acta("receipt", SESSION_ID, "--json") == 0

    assert json.loads(capsys.readouterr().out) == told()


def test_the_command_says_what_is_not_in_it(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("GET", f"/v1/sessions/{SESSION_ID}/receipt", success(told()))

    assert acta("receipt", SESSION_ID) == 0

    assert capsys.readouterr().out.splitlines()[-1] == "not counted: polls"


def test_a_followed_session_ends_with_its_receipt_and_then_how_it_ended(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = session("completed", result={"goal_met": True, "answer": "All done.", "reason": "goal_complete"})
    deployment.polls(poll(ended))
    deployment.on("GET", f"/v1/sessions/{SESSION_ID}/receipt", success(told()))

    assert acta("watch", SESSION_ID) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[-9:-1] == list(receipt_lines(told()))
    assert lines[-1].startswith("✔ completed · ")
