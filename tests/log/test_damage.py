"""A stored document that is damaged: its session is refused by name, everyone else's goes on
(docs/design/recovery.md 13)."""

from collections.abc import Callable
from random import Random

import pytest

from acta.engine.errors import PoisonedSession
from acta.engine.log.conversation import Content, UserEntry
from acta.engine.log.store import TransactionItems
from acta.engine.people.intervention import Intervention
from tests.stores.backends import Aws, Stores, aws_stores
from tests.stores.documents import make_commit, make_intervention

pytestmark = pytest.mark.contract


def test_a_session_with_a_damaged_commit_is_refused_and_its_neighbour_is_not(
    stores: Stores, tenant: str
) -> None:
    for session_id in ("ses_1", "ses_2"):
        for number in (1, 2):
            stores.log.append(make_commit(tenant, session_id, number))
    stores.spoil(tenant, "ses_1", 2)

    reads: list[Callable[[], object]] = [
        lambda: stores.log.latest(tenant, "ses_1"),
        lambda: stores.log.read(tenant, "ses_1", 1),
    ]
    for read in reads:
        with pytest.raises(PoisonedSession) as raised:
            read()
        assert "secret" not in str(raised.value)
    assert [commit.number for commit in stores.log.read(tenant, "ses_1", 1, limit=1).commits] == [1]
    assert [commit.number for commit in stores.log.read(tenant, "ses_2", 1).commits] == [1, 2]


def test_a_damaged_session_can_be_deleted(stores: Stores, tenant: str) -> None:
    stores.log.append(make_commit(tenant, "ses_1", 1))
    stores.spoil(tenant, "ses_1", 1)
    stores.log.delete(tenant, "ses_1")
    assert stores.log.latest(tenant, "ses_1") is None


def test_a_damaged_intervention_hides_no_other_from_the_people_who_decide(
    stores: Stores, tenant: str
) -> None:
    opened = [make_intervention("ses_1", f"int_{n}") for n in range(3)]
    stores.log.append(make_commit(tenant, "ses_1", 1), TransactionItems(interventions=opened))
    stores.spoil_intervention(tenant, "int_1")

    listed = stores.index.interventions(tenant, state="pending", limit=5, cursor=None)
    assert listed.items == (opened[2], opened[0])
    with pytest.raises(PoisonedSession):
        stores.index.intervention(tenant, "int_1")


@pytest.mark.parametrize("opened", [(), (make_intervention("ses_1", "int_1"),)], ids=["put", "transaction"])
def test_a_commit_that_dynamodb_never_takes_is_no_outage_and_nothing_of_it_is_stored(
    account: Aws, tenant: str, opened: tuple[Intervention, ...]
) -> None:
    """Each attempt would meet the same, after another call of the model."""
    stores, chance = aws_stores(account), Random(0)
    texts = ["".join(map(chr, chance.choices(range(33, 127), k=4_000))) for _ in range(150)]
    entries = tuple(UserEntry(message_id="msg", content=Content.of(text)) for text in texts)
    with pytest.raises(PoisonedSession) as raised:
        stores.log.append(
            make_commit(tenant, "ses_1", 1, entries=entries), TransactionItems(interventions=list(opened))
        )
    assert texts[0][:20] not in str(raised.value)
    assert stores.log.latest(tenant, "ses_1") is None
