"""What the span of a run has to do with what was there before: forks, and runs that were repaired."""

from collections.abc import Mapping, Sequence

import pytest

from acta.engine.errors import ProviderKeyRefused
from acta.engine.log.commit import Commit
from acta.engine.recovery.repair import repair
from acta.engine.store.keys import tenant_part
from acta.engine.traces.export import MOST_COMMITS, export
from acta.engine.traces.spans import CommitName, Link, RunName, Span, TracedCommit, ends_run, run_of
from acta.engine.usage.store import UsagePartition
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, plans, says
from tests.sessions.test_forks import forked
from tests.traces.scripts import finishes
from tests.traces.test_exporting import Commits, Receiver


def exported(house: House, session_id: str) -> list[Span]:
    """As if each commit were handed over alone."""
    receiver = Receiver()
    partition = UsagePartition(tenant_part(TENANT), session_id)
    for commit in house.repository.commits(TENANT, session_id, 1):
        export(Commits(house), receiver, [CommitName(partition, commit.number)])
    return receiver.taken


def runs(spans: list[Span]) -> list[Span]:
    return [span for span in spans if span.name.startswith("invoke_agent")]


LOOK = says("Looking.", call("list_files"))


@pytest.mark.parametrize("looks", [0, 1, 20])
def test_a_fork_s_run_links_to_the_run_of_the_parent_that_it_goes_on_from(looks: int) -> None:
    """However many commits the parent has, and wherever in it the fork begins."""
    model = ScriptedModel(
        [plans("one"), *[LOOK] * looks, finishes(), plans("one"), *[LOOK] * looks, finishes()]
    )
    house = House(model)
    parent = house.start("Go", max_steps=200).session_id
    house.run()
    first = house.head(parent)
    house.say(parent, "And again")
    house.run()
    second = house.head(parent)
    for head in (first, second):
        house.model = ScriptedModel([plans("one"), finishes()])
        session_id = forked(house, parent, head.last_seq, "Another way").session_id
        house.run()
        (root,) = runs(exported(house, session_id))
        assert head.run is not None
        name = RunName(TENANT, parent, head.run.run_id)
        assert root.links == (Link(name.trace_id, name.root_id),)
        assert root.trace_id != name.trace_id


def test_forks_of_one_parent_that_end_together_read_it_commit_by_commit_and_once() -> None:
    house = House(ScriptedModel([plans("one"), *[LOOK] * 8, finishes()]))
    parent = house.start("Go", max_steps=200).session_id
    house.run()
    house.model = ScriptedModel([each for _ in range(5) for each in (plans("one"), finishes())])
    ends: list[CommitName] = []
    for _ in range(5):
        session_id = forked(house, parent, None, "Another way").session_id
        house.run()
        partition = UsagePartition(tenant_part(TENANT), session_id)
        made = house.repository.commits(TENANT, session_id, 1)
        ends += [CommitName(partition, commit.number) for commit in made if ends_run(commit)]
    commits, receiver = Commits(house), Receiver()
    export(commits, receiver, ends)
    assert [len(root.links) for root in runs(receiver.taken)] == [1] * 5
    assert commits.asked[0] == 5
    assert set(commits.asked[1:]) == {1}
    assert len(commits.asked) == MOST_COMMITS.bit_length(), "one for the ends, and one for each halving"


def test_a_fork_whose_parent_is_gone_has_no_link() -> None:
    model = ScriptedModel([plans("one"), finishes(), plans("one"), finishes()])
    house = House(model)
    parent = house.start("Go").session_id
    house.run()
    session_id = forked(house, parent, None, "Another way").session_id
    house.run()
    house.delete(parent)
    (root,) = runs(exported(house, session_id))
    assert root.links == ()


def repaired() -> tuple[House, str]:
    """A session whose run has failed, was repaired and is over, and its id."""
    house = House(ScriptedModel([ProviderKeyRefused("no"), plans("one"), finishes()]))
    session_id = house.start("Go").session_id
    house.run()
    assert house.head(session_id).state == "failed"
    house.clock.advance(600)
    repair(house.fresh_repository(), house.workflow, TENANT, session_id)
    house.run()
    assert house.head(session_id).state == "completed"
    return house, session_id


def test_a_run_that_failed_and_was_repaired_has_a_span_for_each_end() -> None:
    house, session_id = repaired()
    found = exported(house, session_id)
    first, again = runs(found)
    assert (first.error != "", again.error) == (True, "")
    assert first.parent_id == b""
    assert again.parent_id == first.span_id
    assert len({span.span_id for span in found}) == len(found)
    assert found == exported(house, session_id)


class Kept:
    """A CommitReader of these commits and no others."""

    def __init__(self, commits: Mapping[CommitName, Commit]) -> None:
        self.commits = commits

    def read(self, names: Sequence[CommitName]) -> Sequence[TracedCommit]:
        return [TracedCommit(name, self.commits[name]) for name in sorted(names) if name in self.commits]


def test_sessions_of_two_tenants_with_one_id_are_each_read_in_their_own_log() -> None:
    """A restore into another tenant keeps ids. Of the other one's session there is the last commit alone."""
    house, session_id = repaired()
    commits = house.repository.commits(TENANT, session_id, 1)
    kept = {CommitName(UsagePartition(TENANT, session_id), each.number): each for each in commits}
    last = commits[-1]
    theirs = last.head.model_copy(update={"tenant": "other"})
    kept[CommitName(UsagePartition("other", session_id), last.number)] = last.model_copy(
        update={"head": theirs}
    )

    receiver = Receiver()
    export(Kept(kept), receiver, [name for name in kept if name.number == last.number])

    ours, others = (RunName(tenant, session_id, run_of(last) or "") for tenant in (TENANT, "other"))
    found = {span.trace_id: span for span in runs(receiver.taken)}
    assert found[ours.trace_id].parent_id == ours.root_id
    assert (found[others.trace_id].span_id, found[others.trace_id].parent_id) == (others.root_id, b"")
