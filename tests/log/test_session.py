"""A session folded from its commits, with and without a compaction among them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acta.engine.log.commit import Commit
from acta.engine.log.conversation import (
    AssistantEntry,
    Compacted,
    Content,
    Entry,
    ToolCall,
    ToolEntry,
    UserEntry,
)
from acta.engine.log.repository import Session
from tests.stores.documents import make_commit

SUMMARY = UserEntry(message_id="msg_sum", content=Content.of("Summary."), origin="summary")


def user(name: str) -> UserEntry:
    return UserEntry(message_id=name, content=Content.of(name))


def reply(number: int, calls: int = 1) -> AssistantEntry:
    made = tuple(
        ToolCall(call_id=f"call_{number}_{n}", effect_id="e", name="list_files", input={})
        for n in range(calls)
    )
    return AssistantEntry(message_id=f"msg_{number}", content=Content.of(str(number)), calls=made)


def result(number: int, n: int = 0) -> ToolEntry:
    return ToolEntry(call_id=f"call_{number}_{n}", name="list_files", content=Content.of(f"{number}.{n}"))


def log(turns: int) -> list[Commit]:
    """A message, then turns of one call each; the last one has no result yet."""
    commits = [make_commit("t", "s", 1, entries=(user("msg_goal"),))]
    for number in range(turns):
        delivered = ("msg_goal",) if number == 0 else ()
        commits.append(make_commit("t", "s", len(commits) + 1, entries=(reply(number),), delivered=delivered))
        if number < turns - 1:
            commits.append(make_commit("t", "s", len(commits) + 1, entries=(result(number),)))
    return commits


def folded(commits: list[Commit], compacted: dict[int, Compacted] | None = None) -> Session:
    compacted = compacted or {}
    session = Session(commits[0], compacted.get(commits[0].number))
    for commit in commits[1:]:
        session.fold(commit, compacted.get(commit.number))
    return session


def seen(session: Session) -> list[Entry]:
    return [*session.entries, *session.pending()]


def with_compaction(turns: int) -> tuple[list[Commit], Compacted]:
    """What went before, then the commit that compacts it: the goal, a summary, the last turn."""
    commits = log(turns)
    last = reply(turns - 1)
    waiting, results = (user("msg_wait"),), (result(turns - 1),)
    commits.append(make_commit("t", "s", len(commits) + 1, entries=(*waiting, *results)))
    commits.append(make_commit("t", "s", len(commits) + 1))
    return commits, Compacted(entries=(user("msg_goal"), SUMMARY, last), waiting=waiting, results=results)


def test_a_compaction_replaces_the_conversation_and_keeps_what_is_pending() -> None:
    commits, compacted = with_compaction(4)
    session = folded(commits, {commits[-1].number: compacted})
    assert seen(session) == [*compacted.entries, *compacted.results, *compacted.waiting]
    assert session.call("call_3_0") is not None
    assert session.orphans() == ()


@given(st.integers(1, 6), st.integers(0, 5))
def test_who_starts_at_the_compaction_sees_what_everyone_sees(turns: int, later: int) -> None:
    commits, compacted = with_compaction(turns)
    at = commits[-1].number
    for number in range(turns, turns + later):
        delivered = ("msg_wait",) if number == turns else ()
        commits.append(make_commit("t", "s", len(commits) + 1, entries=(reply(number),), delivered=delivered))
        commits.append(make_commit("t", "s", len(commits) + 1, entries=(result(number),)))
    warm = folded(commits, {at: compacted})
    cold = folded(commits[at - 1 :], {at: compacted})
    assert seen(cold) == seen(warm)
    assert cold.outcomes() == warm.outcomes()
    assert (cold.number, cold.head) == (warm.number, warm.head)


def test_who_does_without_sees_everything() -> None:
    commits, _ = with_compaction(3)
    assert len(seen(folded(commits))) == 1 + 2 * 3 + 1


def test_the_same_message_is_not_delivered_twice() -> None:
    commits, compacted = with_compaction(2)
    commits.append(make_commit("t", "s", len(commits) + 1, entries=(reply(2, 0),), delivered=("msg_wait",)))
    session = folded(commits, {commits[-2].number: compacted})
    ids = [entry.message_id for entry in seen(session) if isinstance(entry, UserEntry)]
    assert ids == ["msg_goal", "msg_sum", "msg_wait"]


def test_commits_are_folded_in_order_only() -> None:
    commits = log(2)
    with pytest.raises(ValueError, match="does not follow"):
        Session(commits[0]).fold(commits[2])
