"""What one tenant's sessions write, by partition and by item: counted, so that what it can start a second is known."""

from collections import Counter
from typing import Any

import pytest

from acta.engine.limits.shares import MOST_COUNT_SHARES, OF_A_SHARE, SHARE_TOKENS
from tests.bench.stand.capacity import write_units
from tests.in_process.house import TENANT
from tests.in_process.scripted import completes, plans, says, step
from tests.stores.backends import Aws
from tests.tenants.stored_house import StoredHouse

OF_A_PARTITION = 1_000
"""Write units that it takes a second (DynamoDB developer guide, partitions)."""
AT_PEAK = 3 * 1_000_000 / 86_400
"""Sessions that begin in a second of the busiest minute, at a million a day."""
RUNS = 8


class Counting:
    """A client of DynamoDB that notes the units of what it writes, by partition key and by item."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.units = Counter[str]()
        self.writes = Counter[tuple[str, str]]()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._client, name)
        if name not in ("put_item", "transact_write_items"):
            return found

        def noted(**request: Any) -> Any:
            answer = found(**request)
            actions = request.get("TransactItems") or [{"Put": request}]
            for ((_, action),) in (each.items() for each in actions):
                key = action.get("Item") or action["Key"]
                units = write_units(action["Item"]) if "Item" in action else 1
                self.units[key["pk"]["S"]] += units * (2 if "TransactItems" in request else 1)
                self.writes[key["pk"]["S"], key["sk"]["S"]] += 1
            return answer

        return noted


@pytest.fixture
def counted(aws: Aws) -> Counting:
    return Counting(aws.dynamodb)


def house_of(counted: Counting, account: Aws, **settings: Any) -> StoredHouse:
    one = [plans("do"), says("", step(1, "completed", "done")), completes("Done.")]
    aws = account._replace(dynamodb=counted)
    return StoredHouse(aws, [turn for _ in range(RUNS) for turn in one], **settings)


def test_what_a_session_writes_under_its_tenant_s_key_carries_more_than_a_million_a_day(
    counted: Counting, aws: Aws
) -> None:
    """Beside its own partition: a listing at its start and at its end; a question costs its opening, its decision, and
    the listing with each.
    """
    house = house_of(counted, aws)
    for _ in range(RUNS):
        house.start("Do it")
        house.run()
    own = {pk: units for pk, units in counted.units.items() if "#S#" in pk}
    assert len(own) == RUNS
    assert {pk for pk in counted.units if pk not in own} == {f"T#{TENANT}"}
    a_session = counted.units[f"T#{TENANT}"] / RUNS
    assert a_session == 8, (
        "a listing at the start, one at the end, a grant of a small hour and what is given back; "
        "each in a transaction"
    )
    assert OF_A_PARTITION / a_session > 3.5 * AT_PEAK
    assert max(own.values()) < OF_A_PARTITION / 10

    before = counted.units[f"T#{TENANT}"]
    session = house.start("Do it").session_id
    house.pause(session)
    house.resume(session)
    a_question = counted.units[f"T#{TENANT}"] - before - 2  # of the start
    assert a_question == 8
    a_key = 2
    assert OF_A_PARTITION / (a_session + a_question + a_key) > 1.5 * AT_PEAK, (
        "each asked once, and with a key"
    )


def test_grants_of_a_large_hour_are_spread_and_no_item_of_a_small_one_is_more(
    counted: Counting, aws: Aws
) -> None:
    house = house_of(counted, aws, tenant_tokens_per_hour=32 * SHARE_TOKENS)
    for _ in range(RUNS):
        house.start("Do it")
        house.run()
    hour = [pk for pk, sk in counted.writes if sk.startswith("L#") and pk == f"T#{TENANT}"]
    shares = {pk for pk, sk in counted.writes if "#=L" in pk}
    assert len(hour) == 1
    assert len(shares) > RUNS / 2

    small = Counting(aws.dynamodb)
    other = house_of(small, aws, tenant_tokens_per_hour=SHARE_TOKENS)
    other.start("Do it")
    other.run()
    assert not [pk for pk in small.units if "#=L" in pk]


def test_starts_and_ends_of_large_limits_are_spread(counted: Counting, aws: Aws) -> None:
    limit = MOST_COUNT_SHARES * OF_A_SHARE
    house = house_of(counted, aws, tenant_limits={"*": {"open_sessions": limit, "starts_per_minute": limit}})
    for _ in range(RUNS):
        house.start("Do it")
        house.run()
    counts = {sk: writes for (pk, sk), writes in counted.writes.items() if pk == f"T#{TENANT}#=N"}
    shares = {sk for sk in counts if sk != "O"}
    assert len(shares) > RUNS / 2
    assert counts.pop("O") == len(shares), "once for each share"
    assert sum(counts.values()) == 2 * RUNS, "a start and an end"
    assert house.index.counts(TENANT)._replace(minute=0) == (0, 0, RUNS)
    assert OF_A_PARTITION / (2 * 2) > 7 * AT_PEAK, "units of a start and an end"


def test_starts_and_ends_of_small_limits_are_one_item(counted: Counting, aws: Aws) -> None:
    limit = 2 * OF_A_SHARE - 1
    house = house_of(counted, aws, tenant_limits={"*": {"open_sessions": limit}})
    for _ in range(2):
        house.start("Do it")
        house.run()
    assert {sk: writes for (pk, sk), writes in counted.writes.items() if pk == f"T#{TENANT}#=N"} == {"O": 4}
