"""What counts as going in circles, and the ladder it climbs (docs/design/turn.md 24)."""

from itertools import count
from typing import get_args

import pytest

from acta.engine.log.head import Progress
from acta.engine.turn.next_action import HINTS, FinishedCall, Kind, Stuck, fingerprint, observe

REPLIES = count()


def ok(name: str, *, repeatable: bool = False) -> FinishedCall:
    return FinishedCall(name, ok=True, repeatable=repeatable)


def failed(name: str) -> FinishedCall:
    return FinishedCall(name, ok=False, repeatable=False)


def turns(
    *each: list[FinishedCall], progress: Progress | None = None, reply: str | None = None
) -> list[Stuck | None]:
    """What each turn shows; replies differ unless one is given."""
    after, seen = progress or Progress(), []
    for attempts in each:
        said = reply if reply is not None else f"reply {next(REPLIES)}"
        after, stuck = observe(after, attempts, said, reply_counts=True, plan_changed=False)
        seen.append(stuck)
    return seen


def kinds(seen: list[Stuck | None]) -> list[Kind | None]:
    return [stuck.kind if stuck else None for stuck in seen]


def test_new_successful_calls_are_progress() -> None:
    assert kinds(turns(*([ok(f"call {i}")] for i in range(40)))) == [None] * 40


def test_the_same_reply_three_times_is_stuck() -> None:
    assert kinds(turns([], [], [], reply="again")) == [None, None, "same_reply"]


def test_five_turns_without_progress_are_stuck() -> None:
    assert kinds(turns([], [], [], [], []))[-2:] == [None, "no_progress"]


def test_the_same_failing_call_twice_is_stuck() -> None:
    assert kinds(turns([failed("a")], [ok("b")], [failed("a")])) == [None, None, "failing_call"]


def test_two_different_failures_are_not() -> None:
    assert kinds(turns([failed("a")], [failed("b")])) == [None, None]


def test_the_same_successful_call_three_times_is_stuck() -> None:
    assert kinds(turns([ok("a")], [ok("a")], [ok("a")])) == [None, None, "repeated_call"]


def test_alternating_between_two_calls_is_stuck() -> None:
    assert kinds(turns([ok("a")], [ok("b")], [ok("a")], [ok("b")])) == [None, None, None, "ping_pong"]


def test_repeatable_tools_may_be_called_again_and_again() -> None:
    seen = turns(*([ok("poll", repeatable=True), ok(f"new {i}")] for i in range(10)))
    assert kinds(seen) == [None] * 10


def test_a_plan_change_is_progress_and_breaks_the_circle() -> None:
    progress = Progress()
    for i in range(12):
        changed = i % 2 == 1
        progress, stuck = observe(progress, [ok("a")], f"r{i}", reply_counts=True, plan_changed=changed)
        assert stuck is None


def test_the_ladder_is_a_hint_then_a_person_then_failure() -> None:
    seen = [stuck.reaction for stuck in turns(*([[]] * 15)) if stuck]
    assert seen == ["hint", "ask", "fail"]


def test_progress_leads_back_to_the_foot_of_the_ladder() -> None:
    seen = turns([], [], [], [], [], [ok("new")], [], [], [], [], [])
    assert [stuck.reaction for stuck in seen if stuck] == ["hint", "hint"]


def test_what_is_remembered_is_bounded() -> None:
    progress = Progress()
    for i in range(500):
        attempts = [ok(f"a{i}"), failed(f"b{i}")]
        progress, _ = observe(progress, attempts, f"r{i}", reply_counts=True, plan_changed=False)
    assert (len(progress.succeeded), len(progress.failed), len(progress.window)) == (32, 8, 8)


def test_a_fingerprint_distinguishes_inputs_but_not_the_order_of_their_fields() -> None:
    assert fingerprint("t", {"a": 1, "b": 2}) == fingerprint("t", {"b": 2, "a": 1})
    assert fingerprint("t", {"a": 1}) != fingerprint("t", {"a": 2})


def test_what_was_seen_is_reported_with_how_often_and_which_calls_it_is_about() -> None:
    *_, failing = turns([failed("a")], [ok("b")], [failed("a")], [failed("a")])
    assert failing == Stuck("failing_call", "ask", times=3, calls=("a",))
    *_, repeated = turns([ok("a")], [ok("b")], [ok("a")], [ok("c")], [ok("a")])
    assert repeated == Stuck("repeated_call", "hint", times=3, calls=("a",))
    *_, alternating = turns([ok("a")], [ok("b")], [ok("a")], [ok("b")])
    assert alternating == Stuck("ping_pong", "hint", times=2, calls=("a", "b"))
    assert turns([], [], [], reply="again")[-1] == Stuck("same_reply", "hint", times=3)
    assert turns([], [], [], [], [])[-1] == Stuck("no_progress", "hint", times=5)


def test_failures_are_counted_among_the_last_eight_different_ones() -> None:
    progress = Progress(failed=tuple("abcdefgh"))
    assert turns([failed("i")], [failed("a")], progress=progress) == [None, None]
    *_, again = turns([failed("i")], [failed("b")], progress=progress)
    assert again == Stuck("failing_call", "hint", times=2, calls=("b",))


@pytest.mark.parametrize("kind", get_args(Kind))
def test_a_person_reads_what_was_seen_and_what_either_choice_does_in_no_words_of_the_model_s_hint(
    kind: Kind,
) -> None:
    question = Stuck(kind, "ask", times=4, calls=("a",), tools=("read_file",)).question
    assert HINTS[kind] not in question
    assert "You have" not in question
    assert ("read_file" in question) == (kind != "no_progress")
    assert ("4 times" in question or "4 turns" in question) == (kind != "ping_pong")
    assert ("retry" in question.lower(), "hint" in question, "cancel ends the run" in question) == (True,) * 3
