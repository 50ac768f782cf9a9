"""A key that is refused is an operator's matter: a line in the log with ids, and a metric that raises an alarm."""

import json
from typing import Any

import pytest

from acta.engine.errors import ProviderKeyRefused, ProviderQuotaExceeded
from acta.engine.log.commit import Position
from acta.engine.telemetry import KEY_REFUSED_METRIC, Telemetry
from tests.in_process.house import House
from tests.in_process.scripted import ScriptedModel, Turn, completes, plans, says, step

SCRIPT: list[Turn] = [plans("write"), says("", step(1, "completed", "ok")), completes("Done.")]
AT = Position(tenant="acme", session_id="ses_1", run_id="run_1", generation=1, turn=2, first=3)


@pytest.mark.parametrize("error", [ProviderKeyRefused("401"), ProviderQuotaExceeded("402")])
@pytest.mark.parametrize("replies", [0, 1])
def test_a_refused_key_is_reported_whether_the_run_waits_or_fails(error: Any, replies: int) -> None:
    house = House(ScriptedModel([*SCRIPT[:replies], error, *SCRIPT[replies:]]))
    told: list[tuple[str, str]] = []
    house.on_key_refused = lambda at, code: told.append((at.session_id, code))
    session = house.start("Write").session_id
    house.run()
    assert told == [(session, error.code)]


def test_the_line_has_ids_and_the_code_and_the_metric_counts_one(capsys: pytest.CaptureFixture[str]) -> None:
    telemetry = Telemetry("refused-keys")  # a logger of its own: each writes to the stdout of its first day
    telemetry.key_refused(AT, "PROVIDER_KEY_REFUSED")
    telemetry.metrics.flush_metrics()
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (error,) = (line for line in lines if line.get("level") == "ERROR")
    assert (error["session_id"], error["code"]) == ("ses_1", "PROVIDER_KEY_REFUSED")
    assert "acme" not in json.dumps(error)
    assert [line[KEY_REFUSED_METRIC] for line in lines if KEY_REFUSED_METRIC in line] == [[1.0]]
