"""What a session has used is counted in its commits, each part once; a crash never makes it less (ADR 61)."""

from typing import Any

import pytest

from shared.agent.session.repository import CommitDraft, SessionRepository
from shared.domain.session.commit import Decision
from shared.domain.spending.spent import Spent
from shared.invocation_meter import InvocationMeter
from tests.in_process.house import TENANT, House
from tests.in_process.lossy import LossyLog, OvertakenLog
from tests.in_process.scripted import ScriptedModel, call, plans, says

SCRIPT = (
    plans("read"),
    says("Next.", call("read_file", path="a.txt")),
    says("", call("update_plan", action="fail", reason="over")),
)


class Invoked:
    """A house whose states are invocations of one process, a second and one read of the store each."""

    def __init__(self, **settings: Any) -> None:
        self.house = House(ScriptedModel(list(SCRIPT)), **settings)
        self.house.files.write(TENANT, "a.txt", b"text")
        self.now = 0.0
        self.meter = InvocationMeter(lambda: self.now)
        self.log: Any = self.house.log

    def run(self) -> str:
        house = self.house
        repository = SessionRepository(
            self.log, house.blobs, house.clock, write_version=house.settings.write_version, meter=self.meter
        )
        house.repository = repository
        house.runtime = house.runtime._replace(repository=repository)
        session_id = house.start("Go").session_id
        house.run(self.begin)
        return session_id

    def begin(self, decision: Decision) -> None:
        self.meter.end()
        op = "tool" if decision.next == "act" else decision.next
        self.meter.begin("step", 512, {"op": op, "at": {"session_id": decision.at.session_id}})
        self.meter.note(reads=1, half_rru=2)
        self.now += 1.0

    def spent(self, session_id: str) -> Spent:
        found = self.house.head(session_id).spent
        assert found is not None
        return found


def clean() -> Spent:
    invoked = Invoked()
    return invoked.spent(invoked.run())


def test_a_run_counts_its_invocations_its_time_its_writes_and_the_states_it_passed() -> None:
    invoked = Invoked()
    session_id = invoked.run()
    spent = invoked.spent(session_id)

    # plan, think, the call, think
    assert (spent.functions["step"].invocations, spent.functions["step"].ms) == (4, 4_000)
    assert spent.stores.reads == 4
    assert spent.stores.writes == len(invoked.house.log.read(TENANT, session_id, 1).commits)
    # Route Plan, Route Think, Route Act Tool, Think, Route Done
    assert spent.transitions == 2 + 2 + 3 + 1 + 2


@pytest.mark.parametrize("nth", range(1, 5))
def test_a_lost_answer_makes_no_receipt_smaller(nth: int) -> None:
    invoked = Invoked()
    invoked.log = LossyLog(invoked.house, nth)

    spent, undisturbed = invoked.spent(invoked.run()), clean()

    assert spent.transitions >= undisturbed.transitions
    assert spent.functions["step"].ms >= undisturbed.functions["step"].ms
    assert spent.stores.reads >= undisturbed.stores.reads
    assert spent.stores.writes >= undisturbed.stores.writes


def test_a_lost_race_counts_nothing_twice() -> None:
    invoked = Invoked()
    invoked.log = OvertakenLog(invoked.house)

    spent, undisturbed = invoked.spent(invoked.run()), clean()

    assert spent.transitions == undisturbed.transitions
    assert spent.functions == undisturbed.functions
    assert spent.stores == undisturbed.stores


def test_while_the_version_before_is_written_nothing_is_counted_and_afterwards_it_says_since_when() -> None:
    invoked = Invoked(write_version=1)
    session_id = invoked.run()
    assert invoked.house.head(session_id).spent is None

    later = SessionRepository(
        invoked.house.log, invoked.house.blobs, invoked.house.clock, meter=invoked.meter
    )
    session = later.newest(TENANT, session_id)
    later.commit(session, "note", lambda _, change: CommitDraft(change))

    assert invoked.spent(session_id).since == invoked.house.clock.now()
