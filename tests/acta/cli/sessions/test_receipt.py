"""`acta receipt`."""

import json
from typing import Any

import pytest

from acta.cli.sessions.listings import receipt_lines
from tests.acta.conftest import Acta
from tests.acta.fake_deployment import SESSION_ID, FakeDeployment, success


def told(**changed: Any) -> dict[str, Any]:
    aws = {
        "is_estimate": True,
        "estimated_from": "2026-11-26",
        "usd": 0.0037,
        "step_functions": {"transitions": 86, "usd": 0.00215},
        "lambda": {"usd": 0.00145, "requests": 42, "gb_seconds": 108.09},
        "dynamodb": {"read_units": 66, "write_units": 136, "usd": 0.0001},
        "s3": {"get_requests": 20, "put_requests": 0, "usd": 0.000008},
    }
    model = {"model": "claude-sonnet-5-5", "calls": 22, "fresh_input_tokens": 14_080,
             "cached_input_tokens": 189_278, "output_tokens": 1_363, "usd": 0.0673}  # fmt: skip
    return {
        "session_id": SESSION_ID,
        "total_usd": 0.071,
        "models": {"usd": 0.0673, "vanished_tokens": 0, "items": [model]},
        "aws": aws,
        "prices": {"models": {"as_of": "2026-11-18"}, "aws": {"region": "us-east-1", "as_of": "2026-11-20"}},
        "not_counted": ["polls"],
    } | changed


def test_the_dollars_stand_below_one_another() -> None:
    lines = list(receipt_lines(told()))

    assert lines[0] == (
        "claude-sonnet-5-5          $0.067300  14,080 tokens in, 189,278 from the cache, 1,363 out, 22 calls"
    )
    assert {line.index("$") + len("$0.067300") for line in lines if "$" in line} == {36}


def test_what_is_estimated_says_so_and_of_when_it_is() -> None:
    *parts, last = receipt_lines(told())

    assert all(", about " in line for line in parts[1:])
    assert "estimate" in last
    assert "2026-11-26" in last


def test_one_is_one() -> None:
    one = told()
    one["aws"]["s3"] |= {"get_requests": 1, "put_requests": 1}
    assert "1 get, 1 put" in "\n".join(receipt_lines(one))


def test_an_amount_that_nobody_knows_is_called_unknown() -> None:
    unknown = told(
        total_usd=None,
        prices={"models": {"as_of": "2026-11-18"}, "aws": {"region": "moon-1", "as_of": None}},
    )

    together = next(line for line in receipt_lines(unknown) if line.startswith("together"))
    assert " unknown  prices: " in together
    assert together.endswith("AWS unknown")


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


def test_a_cost_without_a_price_says_once_where_a_price_is_given() -> None:
    known = told()["models"]["items"][0]
    no_price = [{**known, "usd": None}, {**known, "usd": None}]
    lines = [*receipt_lines(told(models={**told()["models"], "items": no_price}))]
    assert sum("`models` of the environment" in line for line in lines) == 1
    assert not any("`models` of the environment" in line for line in receipt_lines(told()))
