"""The deployed functions when concurrency runs short: recovery measures it, polls give way (docs/design/api.md 41)."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Person
from tests.e2e.support.samples import DELETION, OLD

ITEM = {"pk": {"S": "D"}, "sk": {"S": "W"}}
WAIT = 20


@pytest.fixture
def measured(behind: Behind) -> Iterator[None]:
    """Recovery measures, and comes when it is called. Whoever answers polls knows of no limit yet."""
    table = behind.settings["ACTA_TABLE"]
    with behind.unscheduled(), behind.configured("recover", ACTA_MEASURE_LOAD="true"):
        yield
    behind.client("dynamodb").delete_item(TableName=table, Key=ITEM)


def use(behind: Behind, executions: float) -> None:
    """As Lambda writes it into CloudWatch, of an account that has 1,000."""
    behind.client("cloudwatch").put_metric_data(
        Namespace="AWS/Lambda",
        MetricData=[
            {
                "MetricName": "UnreservedConcurrentExecutions",
                "Timestamp": datetime.now(UTC),
                "Value": executions,
            }
        ],
    )


def recover(behind: Behind) -> None:
    behind.recover("housekeeping")


def limit(behind: Behind) -> Any:
    table = behind.settings["ACTA_TABLE"]
    return behind.client("dynamodb").get_item(TableName=table, Key=ITEM).get("Item")


def test_a_full_account_makes_polls_answer_at_once_and_clients_come_later(
    ann: Person, behind: Behind, measured: None
) -> None:
    ann.put_file(OLD, "old")
    seen = ann.asked(ann.start(DELETION))
    path = f"/v1/sessions/{seen.session['session_id']}"
    recover(behind)
    assert limit(behind) is None, "there is no measure"

    use(behind, 950)
    recover(behind)

    assert limit(behind)["f"] == {"N": "0"}
    with behind.configured("status", ACTA_POLL_AFTER_MS="1000"):  # its processes begin anew
        answer = ann.get(path, after=seen.cursor, wait=WAIT)
        assert answer.json()["data"]["poll_after_ms"] == 10_000
        assert answer.headers["retry-after"] == "10"
        assert ann.get(f"{path}/events", after=seen.cursor).text.startswith("retry: 9500\n")
