"""`acta costs` and docs/costs.md tell the same figures."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from acta.cli.main import main
from acta.cli.operations.costs import ALARM, counted_in
from acta.engine.usage.aws_estimate import AwsRates, estimated
from acta.engine.usage.aws_prices import prices_in
from acta.infra.costs import BY_RESOURCE, ENDS, Costs, UnknownPrice, costs, done_in, total
from acta.infra.environments import DEV, PROD
from acta.infra.options import AT_ONCE
from tests.infra.conftest import Synthesised

PAGE = (Path(__file__).parents[2] / "docs" / "costs.md").read_text(encoding="utf-8")
OPERATIONS = " ".join(
    (Path(__file__).parents[2] / "docs" / "operations.md").read_text(encoding="utf-8").split()
)
US = AwsRates(prices_in("us-east-1"))
MODEL = "claude-sonnet-5-5"
ROWS = {
    "DynamoDB write units": "write_units",
    "DynamoDB read units": "read_units",
    "S3 puts": "puts",
    "S3 gets (one is the file)": "gets",
    "Step Functions transitions": "transitions",
    "Lambda invocations": "invocations",
}


def cells(row: str) -> list[list[float]]:
    """The figures of a row of the page's first table that begins so: by column, at 1 turn a step and at 8."""
    line = next(each for each in PAGE.splitlines() if each.startswith(f"| {row} |"))
    columns = [[float(one) for one in cell.split(",")] for cell in line.split("|")[2:-1]]
    return [column if len(column) == 2 else column * 2 for column in columns]


@pytest.mark.parametrize("row", ROWS)
def test_what_is_estimated_is_what_the_page_says_was_counted(row: str) -> None:
    for turns, counted in zip((5, 20, 100), cells(row), strict=True):
        for turns_per_step, each in zip((1, 8), counted, strict=True):
            use = estimated(done_in(turns, turns_per_step, seconds=0), turns + ENDS, US).use
            assert getattr(use, ROWS[row]) == pytest.approx(each * turns, rel=0.15, abs=2)


def test_the_page_s_table_is_what_the_command_computes() -> None:
    rows = re.findall(
        r"^\| (5|20|50|100) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", PAGE, re.MULTILINE
    )
    assert len(rows) == 4
    for turns, one, eight, model, parked in rows:
        in_dev, in_prod = (costs(int(turns), MODEL, environment=each) for each in (DEV, PROD))
        assert f"{aws(in_dev):.4f}" == one
        assert f"{aws(in_prod):.4f}" == eight
        assert f"{in_prod.session['the model']:.2f}" == model
        assert f"{in_prod.parked:.6f}" == parked


def aws(found: Costs) -> float:
    return found.of_session - found.session["the model"]


def test_a_deployment_at_rest_costs_what_its_templates_have(each: Synthesised) -> None:
    templates = (each.stateful, each.sessions, each.stateless)
    resources = counted_in(one.body for one in templates)
    idle = costs(5, MODEL, environment=each.environment, resources=resources).idle
    assert idle["alarms"] == pytest.approx(resources["AWS::CloudWatch::Alarm"] * 0.10)
    if not each.environment.is_local and each.environment.roll_out != AT_ONCE:
        alarms, metrics = len(each.stateless.resources(ALARM)), resources[ALARM]
        rolls = [one for name, one in each.stateless.resources(ALARM).items() if name.startswith("RollOut")]
        assert metrics > alarms
        said = f"{metrics * 0.10:.2f} dollars for the {alarms} alarms of `staging` or `prod`, which look at {metrics}. "
        of_them = counted_in([{"Resources": dict(enumerate(rolls))}])[ALARM]
        assert f"{said}{len(rolls)} of them, with {of_them} metrics" in OPERATIONS
    assert (idle["secrets"] > 0) == (not each.environment.is_local)
    for word, usd in BY_RESOURCE.values():
        name = word.split(",")[0].removesuffix("s")
        assert re.search(rf"{name}\b[^,]* {usd:.2f}", PAGE), word


def test_a_month_is_the_sessions_and_the_rest() -> None:
    found = costs(20, MODEL, environment=PROD, resources={"AWS::CloudWatch::Alarm": 10})
    assert found.month(0) == pytest.approx(found.of_idle)
    assert found.month(1_000) == pytest.approx(1_000 * found.of_session + found.of_idle)
    assert costs(20, MODEL).idle == {}


def test_between_counted_sessions_lie_the_others() -> None:
    assert [total((5, 20), (10, 40), turns) for turns in (1, 5, 12, 20, 40)] == [2, 10, 24, 40, 80]
    longer = [costs(turns, MODEL).of_session for turns in (1, 5, 10, 20, 35, 50, 75, 100, 200)]
    assert longer == sorted(longer)


def test_what_has_no_price_is_named() -> None:
    with pytest.raises(UnknownPrice, match="'my-model'"):
        costs(5, "my-model")
    elsewhere = replace(PROD, account="123456789012", region="eu-west-1")
    with pytest.raises(UnknownPrice, match=r"eu-west-1: give aws_prices"):
        costs(5, MODEL, environment=elsewhere)


def test_the_command_prints_a_table_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["costs", "--sessions", "100", "--turns", "20"]) == 0
    shown = capsys.readouterr().out
    assert "100 sessions a month, of 20 turns" in shown
    assert "estimate" in shown
    assert re.search(r"^together +\$[\d.]+ +\$[\d.]+$", shown, re.MULTILINE)
    assert main(["costs", "--sessions", "100", "--turns", "20", "--json"]) == 0
    assert '"month_usd": ' in capsys.readouterr().out
    assert main(["costs", "--sessions", "100", "--turns", "20", "--model", "mine"]) == 2
    assert main(["costs", "--sessions", "100", "--turns", "0"]) == 2
