"""A tree of sessions in a backup, and when a tenant or a person of it is erased."""

from pathlib import Path
from typing import Any

import pytest

from acta.engine.errors import SessionNotFound
from acta.infra.deployed.tenants.backup import BackupFolder
from acta.infra.deployed.tenants.erase import Eraser, erase_tenant, erase_user
from tests.in_process.house import TENANT, USER
from tests.in_process.scripted import call, says
from tests.stores.backends import Aws
from tests.tenants.stored_house import StoredTree
from tests.tenants.test_backup import OTHER, back, restored_head, taken
from tests.tenants.test_erase import Deployment, secretsmanager

__all__ = ["secretsmanager"]

AGENTS = {"boss": {"agents": [{"agent": "lead"}]}, "lead": {"agents": [{"agent": "worker"}]}}
SLEEPS = says("", call("wait_until", seconds=86_400))


def tree_of(aws: Aws, worker: Any) -> tuple[StoredTree, list[str]]:
    """The ids of a boss, of its two leads and of their workers, once all that can be done is done."""
    scripts = {
        "boss": [says("", call("lead", goal="Lead", map=["a", "b"])), says("All done.")],
        "lead": [says("", call("worker", goal="Work")), says("Led.")],
        "worker": [worker],
    }
    house = StoredTree(aws, scripts, AGENTS)
    boss = house.begin("boss").session_id
    house.run()
    leads = house.log.children(TENANT, boss)
    workers = [each for lead in leads for each in house.log.children(TENANT, lead)]
    assert (len(leads), len(workers)) == (2, 2)
    return house, [boss, *leads, *workers]


def test_a_tree_that_has_ended_comes_back_as_the_same_tree(aws: Aws, tmp_path: Path) -> None:
    house, ids = tree_of(aws, says("Worked."))
    place = taken(house, BackupFolder(tmp_path))

    assert back(house.stores, place).sessions == {"restored": 5}

    log = house.stores.log
    assert log.children(OTHER, ids[0]) == tuple(ids[1:3])
    assert [log.children(OTHER, lead) for lead in ids[1:3]] == [(ids[3],), (ids[4],)]
    for session_id in ids:
        before, after = house.head(session_id), restored_head(house, session_id)
        assert (after.state, after.result, after.parent) == (before.state, before.result, before.parent)
        assert not after.owes_family


def test_a_tree_at_work_comes_back_cancelled_and_nobody_of_it_waits_for_another(
    aws: Aws, tmp_path: Path
) -> None:
    house, ids = tree_of(aws, SLEEPS)
    back(house.stores, taken(house, BackupFolder(tmp_path)))

    for session_id in ids:
        head = restored_head(house, session_id)
        assert (head.state, head.state_reason) == ("cancelled", "restored")
        assert (head.children_at_work, head.owes_family, head.calls) == ((), False, ())


@pytest.fixture
def deployment(aws: Aws, secretsmanager: Any) -> Deployment:
    return Deployment(aws, secretsmanager)


def erased(deployment: Deployment, house: StoredTree) -> Eraser:
    return deployment.eraser._replace(stores=house.stores, workflow=house.workflow)


def late_notes(ids: list[str]) -> tuple[str, ...]:
    """What stops late workers of sessions that were erased."""
    return tuple(f"T#{TENANT} in T#{TENANT}#S#{each} " for each in ids)


def test_of_a_tree_at_work_nothing_is_left_with_its_tenant(deployment: Deployment) -> None:
    house, ids = tree_of(deployment.aws, SLEEPS)

    receipt = erase_tenant(erased(deployment, house), TENANT)

    assert receipt.removed["sessions"] == 5
    assert all(
        each.startswith((*late_notes(ids), f"T#{TENANT} in T#{TENANT} Q")) for each in deployment.left()
    )
    house.recover()
    house.run()
    assert receipt.until is not None
    house.clock.set(receipt.until)
    assert erase_tenant(erased(deployment, house), TENANT).until is None
    assert deployment.left() == []


@pytest.mark.parametrize("worker", [SLEEPS, says("Worked.")])
def test_with_a_person_their_trees_are_erased_at_work_or_ended(deployment: Deployment, worker: Any) -> None:
    house, ids = tree_of(deployment.aws, worker)
    house.user = "bob"
    other = house.begin("boss").session_id
    house.run()

    receipt = erase_user(erased(deployment, house), TENANT, USER)

    assert receipt.removed["sessions"] == 5
    for session_id in ids:
        with pytest.raises(SessionNotFound):
            house.head(session_id)
    assert len(house.log.children(TENANT, other)) == 2
