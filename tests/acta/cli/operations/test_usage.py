"""`acta usage`."""

import json
import re
from typing import Any

import pytest

from tests.acta.conftest import Acta
from tests.acta.fake_deployment import FakeDeployment, success

WORK = {
    "runs": {
        "started": 3,
        "completed": 1,
        "failed": 1,
        "cancelled": 0,
        "goal_met": 1,
        "goal_met_rate": 0.5,
        "unaided": 0,
        "unaided_rate": 0.0,
    },
    "ratings": {"up": 2, "down": 1, "up_rate": 0.6667},
    "messages": {"from_people": 3, "from_agents": 4},
    "interventions": {"opened": 2},
    "tools": {"ok": 5, "failed": 1},
}


def item(key: str, work: Any, usd: float | None = 0.25) -> dict[str, Any]:
    return {
        "key": key,
        "tokens": {"total": 12_345},
        "cost": {"total_usd": usd, "models_usd": 0.125},
        "work": work,
    }


def told(by: str, *items: dict[str, Any], until: str | None = "2026-11-22T09:30:00.000Z") -> dict[str, Any]:
    total = {name: value for name, value in item("", WORK, None).items() if name != "key"}
    times = {"from": "2026-11-16T00:00:00.000Z", "to": "2026-11-23T00:00:00.000Z", "complete_until": until}
    return {"by": by, **times, "items": [*items], "next_cursor": None, "total": total}


def test_a_row_for_each_day_and_one_for_all_of_them(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("GET", "/v1/usage", success(told("day", item("2026-11-22T00:00:00.000Z", WORK))))
    assert acta("usage", "--since", "2026-11-16T00:00:00Z") == 0
    shown = capsys.readouterr()
    columns, day, total = (re.split(r"\s{2,}", line.strip()) for line in shown.out.splitlines())
    assert columns[:5] == ["runs", "ended", "goal met", "needed nobody", "rated"]
    figures = ["3", "2", "1 (50 %)", "0 (0 %)", "2 up, 1 down", "7", "2", "6", "12,345"]
    assert day == ["2026-11-22 00:00", *figures, "$0.250000"]
    assert total == ["together", *figures, "unknown"]
    until, about = shown.err.splitlines()
    assert until == "2026-11-16 to 2026-11-23 00:00 UTC; counted up to 2026-11-22 09:30 UTC"
    assert "estimate" in about
    assert deployment.requests[0].path == "/v1/usage?by=day&from=2026-11-16T00%3A00%3A00Z&limit=200"


def test_an_agent_is_shown_by_its_name_and_a_deleted_one_by_its_id(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    named = item("agt_1", None) | {"agent_name": "Order desk\x1b[2K"}
    answer = told("agent", named, until=None)
    answer["items"].append(item("agt_2", None) | {"agent_name": None})
    deployment.on("GET", "/v1/usage", success(answer))
    assert acta("usage", "--by", "agent") == 0
    _, first, second, _ = capsys.readouterr().out.splitlines()
    assert first.startswith("Order desk\\x1b[2K (agt_1)")
    assert second.startswith("agt_2 ")


def test_a_model_has_tokens_and_their_price_alone(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("GET", "/v1/usage", success(told("model", item("a-model", None), until=None)))
    assert acta("usage", "--by", "model") == 0
    shown = capsys.readouterr()
    assert shown.out.splitlines()[1].split() == ["a-model", "12,345", "$0.125000"]
    assert "nothing was counted so far" in shown.err
    assert acta("usage", "--by", "model", "--json") == 0
    assert json.loads(capsys.readouterr().out)["by"] == "model"
