"""The commits that become spans, read by their keys: what was deleted or is damaged is left out."""

from uuid import uuid4

import pytest

from acta.engine.errors import SchemaUnknown
from acta.engine.store.keys import tenant_part
from acta.engine.store.schema import NEXT
from acta.engine.traces.queue import DynamoTracedCommits
from acta.engine.traces.spans import CommitName
from acta.engine.usage.store import UsagePartition
from acta.testing.clock import FakeClock
from tests.stores.backends import SPOILED, Aws, aws_stores
from tests.stores.documents import make_commit

pytestmark = pytest.mark.contract

MANY = 130
"""More than one request takes."""


class Place:
    def __init__(self, account: Aws) -> None:
        self.account = account
        self.tenant = f"tenant {uuid4().hex}"  # a name that its key has in another form
        self.reader = DynamoTracedCommits(account.table, FakeClock(), account.dynamodb)

    def commit(self, *numbers: int) -> None:
        for number in numbers:
            aws_stores(self.account).log.append(make_commit(self.tenant, "ses_1", number))

    def name(self, number: int) -> CommitName:
        return CommitName(UsagePartition(tenant_part(self.tenant), "ses_1"), number)

    def read(self, *numbers: int) -> list[int]:
        return [each.commit.number for each in self.reader.read([self.name(number) for number in numbers])]

    def change(self, number: int, expression: str, **values: object) -> None:
        self.account.dynamodb.update_item(
            TableName=self.account.table,
            Key={
                "pk": {"S": f"T#{tenant_part(self.tenant)}#S#ses_1"},
                "sk": {"S": f"C#{number:010d}"},
            },
            UpdateExpression=expression,
            **({"ExpressionAttributeValues": values} if values else {}),
        )


@pytest.fixture
def place(account: Aws) -> Place:
    return Place(account)


def test_commits_are_read_by_their_names_in_order_however_many(place: Place) -> None:
    place.commit(*range(1, MANY + 1))
    assert place.read(*range(MANY, 0, -1)) == list(range(1, MANY + 1))
    (found,) = place.reader.read([place.name(3)])
    assert (found.name, found.commit.head.tenant) == (place.name(3), place.tenant)


def test_what_is_gone_emptied_or_damaged_is_left_out(place: Place) -> None:
    place.commit(1, 2, 3)
    place.change(1, "REMOVE z")
    place.change(2, "SET z = :z", **{":z": {"B": SPOILED}})
    assert place.read(1, 2, 3, 4) == [3]


def test_a_commit_of_a_later_release_is_waited_for(place: Place) -> None:
    place.commit(1)
    place.change(1, "SET v = :v", **{":v": {"N": str(NEXT + 1)}})
    with pytest.raises(SchemaUnknown):
        place.read(1)
