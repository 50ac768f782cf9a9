"""What people do with one session of a tree later: they write to it, fork it, repair it, delete it."""

import pytest

from acta.engine.errors import Conflict, SessionNotFound, TreeBusy
from acta.engine.log.commit import Change
from acta.engine.recovery.repair import repair
from acta.engine.sessions.answers import fork_view
from acta.engine.sessions.delete import PARTS, delete, delete_ended
from acta.engine.sessions.fork import fork, parent_at
from acta.engine.sessions.start import NewSession
from acta.engine.subagents.money import give_up_child
from acta.engine.turn.endings import cancelled, restored
from tests.in_process.family import FamilyHouse
from tests.in_process.house import TENANT
from tests.in_process.scripted import call, says

AGENTS = {"boss": {"agents": [{"agent": "worker"}]}}
SLEEPS = [says("", call("wait_until", seconds=86_400)), says("Found it.")]


def house_of(*worker: object, count: int = 1) -> FamilyHouse:
    calls = call("worker", goal="Find it", map=[str(number) for number in range(count)])
    scripts = {"boss": [says("", calls), says("All done.")], "worker": worker or [says("Found it.")]}
    return FamilyHouse(scripts, AGENTS)  # type: ignore[arg-type]


def test_a_message_to_a_child_that_has_ended_is_refused_and_says_what_to_do() -> None:
    house = house_of()
    boss = house.begin("boss").session_id
    house.run()
    (worker,) = house.children(boss)

    with pytest.raises(Conflict, match="Fork it"):
        house.say(worker.session_id, "And now?")
    house.say(boss, "And now?")
    house.run()
    assert house.head(boss).state == "completed"


def test_a_message_to_a_child_at_work_is_read_by_it() -> None:
    house = house_of(*SLEEPS)
    boss = house.begin("boss").session_id
    house.run()
    (worker,) = house.children(boss)
    house.say(worker.session_id, "Take the blue one")
    house.clock.advance(86_401)
    house.recover()
    house.run()
    asked = [request for agent, request in house.family_model.requests if agent == "worker"][-1]
    assert "Take the blue one" in str(asked.entries)


def test_a_run_does_not_begin_over_children_that_are_still_being_ended() -> None:
    house = house_of(*SLEEPS)
    boss = house.begin("boss").session_id
    house.run()
    session = house.fresh_repository().newest(TENANT, boss)
    for change in house.fresh_repository().attempts(session, "cancel"):
        cancelled(change, "ann")
        change.commit()

    with pytest.raises(TreeBusy):
        house.say(boss, "Again")
    house.recover()
    house.run()
    assert house.say(boss, "Again").state != "cancelled"


def test_a_fork_of_a_child_is_a_session_of_its_own_and_a_fork_of_a_parent_leaves_the_children() -> None:
    house = house_of()
    boss = house.begin("boss").session_id
    house.run()
    (worker,) = house.children(boss)

    for session_id in (worker.session_id, boss):
        repository = house.fresh_repository()
        at = parent_at(repository, house.requester, session_id, None)
        new = NewSession(at.head.agent_id, "Go on", 10, 50_000, None, 0)
        forked = fork(repository, house.workflow, house.requester, at, new)
        assert forked.parent is None
        assert forked.budget.renews
        assert forked.children_at_work == ()
        assert forked.children_made == 0
        assert fork_view(forked)["sub_agents"] == "stay_with_the_original"
    assert [child.session_id for child in house.children(boss)] == [worker.session_id]


def test_a_child_that_has_failed_is_not_repaired_because_its_parent_knows() -> None:
    from acta.engine.errors import ProviderRejected

    house = house_of(ProviderRejected("no"))
    boss = house.begin("boss").session_id
    house.run()
    (worker,) = house.children(boss)
    assert worker.state == "failed"

    with pytest.raises(Conflict, match="worked for another"):
        repair(house.fresh_repository(), house.workflow, TENANT, worker.session_id)


def test_a_deletion_takes_the_tree_along() -> None:
    house = house_of(*SLEEPS, count=3)
    boss = house.begin("boss").session_id
    house.run()
    children = house.log.children(TENANT, boss)
    assert len(children) == 3

    house.delete(boss)

    for session_id in (boss, *children):
        with pytest.raises(SessionNotFound):
            house.head(session_id)
    assert house.log.children(TENANT, boss) == ()
    house.recover()
    house.run()
    assert house.workflow.take() is None


def test_a_child_that_is_deleted_alone_is_cancelled_for_its_parent_first() -> None:
    house = house_of(*SLEEPS, count=2)
    boss = house.begin("boss").session_id
    house.run()
    first, second = house.log.children(TENANT, boss)

    house.delete(first)
    assert [child.item for child in house.head(boss).children_at_work] in ([0], [1])
    house.clock.advance(86_401)
    house.recover()
    house.run()

    assert house.head(boss).state == "completed"
    ((text, _),) = house.results(boss)
    assert '"state": "deleted"' in text
    assert house.head(second).state == "completed"


def test_a_child_that_an_operators_command_deletes_alone_is_a_result_of_its_parent() -> None:
    house = house_of(*SLEEPS)
    boss = house.begin("boss").session_id
    house.run()
    (worker,) = house.children(boss)
    reserved = house.head(boss).children_at_work[0].tokens

    give_up_child(house.fresh_repository(), TENANT, worker.session_id)
    delete(  # as the command does, which has no engine
        house.fresh_repository(), house.workflow, house.log, house.index, house.blobs, house.requester,
        worker.session_id,
    )  # fmt: skip
    give_up_child(house.fresh_repository(), TENANT, worker.session_id)
    house.recover()
    house.run()

    head = house.head(boss)
    assert (head.state, head.budget.children_tokens) == ("completed", reserved)
    ((text, ok),) = house.results(boss)
    assert "deleted" in text
    assert not ok


def test_a_child_from_a_backup_owes_nobody_anything() -> None:
    house = house_of(*SLEEPS)
    boss = house.begin("boss").session_id
    house.run()
    (worker,) = house.children(boss)
    change = Change(worker, 99, house.clock.now())
    restored(change, "run_new")
    assert change.head.state == "cancelled"
    assert not change.head.owes_family


def a_day_of_retention_passes(house: FamilyHouse) -> None:
    def failed(session: str, error: Exception) -> None:
        pytest.fail(f"{session}: {type(error).__name__}")

    house.settings = house.settings.but(ended_sessions_days=30)
    app, place = house.app(), None
    for _ in range(PARTS):
        house.clock.advance(60)
        _, place = delete_ended(app, lambda: True, failed, place)


def test_retention_keeps_children_as_long_as_their_parent_and_deletes_them_with_it() -> None:
    house = house_of(count=2)
    boss = house.begin("boss").session_id
    house.run()
    children = house.log.children(TENANT, boss)
    house.clock.advance(29 * 86_400)
    house.say(boss, "And now?")
    house.run()

    for _ in range(3):
        a_day_of_retention_passes(house)
    assert [house.head(child).state for child in children] == ["completed"] * 2, "the parent is in use"

    house.clock.advance(30 * 86_400)
    a_day_of_retention_passes(house)
    a_day_of_retention_passes(house)
    for session_id in (boss, *children):
        with pytest.raises(SessionNotFound):
            house.head(session_id)
    assert house.log.children(TENANT, boss) == ()
