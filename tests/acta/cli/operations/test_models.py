"""`acta models`."""

import json
from typing import Any

import pytest

from tests.acta.conftest import Acta
from tests.acta.fake_deployment import FakeDeployment, failure, success

PRICES = {"input": 2.0, "cached_input": 0.1, "cache_write": 2.5, "output": 10.0, "above": None}
FOUND: dict[str, Any] = {
    "default": {"provider": "anthropic", "model": "claude-sonnet-5-5"},
    "providers": [{"provider": "anthropic", "key": "present"}, {"provider": "openai", "key": "missing"}],
    "models": [
        {
            "provider": "anthropic",
            "model": "claude-sonnet-5-5",
            "used_by": [
                {"agent_id": None, "purpose": "default"},
                {"agent_id": "librarian", "purpose": "plan"},
                {"agent_id": "librarian", "purpose": "think"},
            ],
            "context_window_tokens": 1_000_000,
            "context_tokens": 200_000,
            "usd_per_million_tokens": PRICES,
            "source": "the price list, 2026-11-18",
        },
        {
            "provider": "openai",
            "model": "somebodys-own",
            "used_by": [{"agent_id": "librarian", "purpose": "fallback"}],
            "context_window_tokens": 32_000,
            "context_tokens": 32_000,
            "usd_per_million_tokens": None,
            "source": None,
        },
    ],
    "priced_at": "2026-11-18",
}


@pytest.fixture(autouse=True)
def listed(deployment: FakeDeployment) -> None:
    deployment.on("GET", "/v1/models", success(FOUND))


def checked(deployment: FakeDeployment, **statuses: str) -> None:
    checks = [{"provider": name, "status": status} for name, status in statuses.items()]
    deployment.on("POST", "/v1/models/check", success({"providers": checks}))


def test_models_their_prices_and_users_are_listed_and_no_provider_is_asked(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    assert acta("models") == 0

    shown = capsys.readouterr().out
    assert "deployment; librarian (plan, think)" in shown
    (priced,) = [line for line in shown.splitlines() if line.startswith("anthropic claude")]
    assert priced.split()[2:7] == ["1,000,000", "200,000", "2.00", "0.10", "10.00"]
    (unpriced,) = [line for line in shown.splitlines() if line.startswith("openai somebodys")]
    assert unpriced.split()[2:7] == ["32,000", "32,000", "?", "?", "?"]
    assert "no price is known of openai somebodys-own: name price and window in `models`" in shown
    assert deployment.requests_to("POST", "/v1/models/check") == []


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        ({"anthropic": "works", "openai": "missing", "bedrock": "unchecked"}, 0),
        ({"anthropic": "refused", "openai": "missing"}, 1),
        ({"anthropic": "missing", "openai": "works"}, 1),
        ({"anthropic": "works", "openai": "unreachable"}, 1),
    ],
)
def test_a_check_ends_with_an_error_where_a_key_does_not_work(
    acta: Acta, deployment: FakeDeployment, statuses: dict[str, str], code: int
) -> None:
    checked(deployment, **statuses)

    assert acta("models", "--check") == code


def test_a_check_is_shown_in_the_place_of_what_is_configured(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    checked(deployment, anthropic="refused", openai="missing")
    acta("models", "--check")

    shown = capsys.readouterr().out
    assert "anthropic  the key is REFUSED" in shown
    assert "has a key" not in shown


def test_json_is_what_the_api_answered_with_the_check_in_it(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    checked(deployment, anthropic="works")

    acta("models", "--check", "--json")

    printed = json.loads(capsys.readouterr().out)
    assert printed == FOUND | {"checked": [{"provider": "anthropic", "status": "works"}]}


def test_a_member_reads_why_not(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("GET", "/v1/models", failure(403, "FORBIDDEN", "This needs the role admin."))

    assert acta("models") == 2
    assert "This needs the role admin." in capsys.readouterr().err
