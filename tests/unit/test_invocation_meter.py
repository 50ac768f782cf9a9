"""What an invocation uses is counted once: with its next commit, or with the next one of the same session."""

from typing import Any

from shared.invocation_meter import InvocationMeter, ms_since_start


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def of_engine(op: str = "think", session: str = "ses_1", attempt: int = 0) -> dict[str, Any]:
    return {"op": op, "attempt": attempt, "at": {"session_id": session}}


def test_the_first_commit_takes_the_invocation_and_the_next_one_what_came_after_it() -> None:
    clock = Clock()
    meter = InvocationMeter(clock)
    meter.begin("step", 1_024, of_engine())
    meter.note(reads=1, half_rru=2)
    clock.now += 1.5

    first = meter.take()
    clock.now += 0.25
    meter.note(writes=1, wcu=3)
    second = meter.take()

    assert (first.function, first.memory_mb, first.invocations, first.ms) == ("step", 1_024, 1, 1_500)
    assert (first.reads, first.half_rru, first.transitions) == (1, 2, 2)
    assert (second.invocations, second.ms, second.writes, second.wcu, second.reads) == (0, 250, 1, 3, 0)


def test_what_was_used_after_the_last_commit_waits_for_the_same_session_and_for_no_other() -> None:
    for session, kept in (("ses_1", 2), ("ses_2", 0)):
        clock = Clock()
        meter = InvocationMeter(clock)
        meter.begin("step", 512, of_engine())
        meter.take()
        meter.note(reads=2)
        clock.now += 0.5
        meter.end()
        clock.now += 60  # idle time is nobody's
        meter.begin("step", 512, of_engine(session=session))

        assert (meter.take().reads, meter.take().ms) == (kept, 0)


def test_a_request_over_the_api_leaves_nothing_to_the_next_one() -> None:
    meter = InvocationMeter(Clock())
    meter.begin("start", 512, {"requestContext": {}})
    meter.note(reads=2)
    meter.end()
    meter.begin("start", 512, {"requestContext": {}})

    assert meter.take().reads == 0


def test_what_was_taken_and_not_stored_is_taken_again() -> None:
    meter = InvocationMeter(Clock())
    meter.begin("step", 512, of_engine())
    meter.note(writes=1, wcu=2)
    taken = meter.take(transitions=3)
    meter.note(writes=1, wcu=1)

    meter.give_back(taken)

    again = meter.take(transitions=3)
    assert (again.invocations, again.writes, again.wcu) == (1, 2, 3)
    assert again.transitions == taken.transitions


def test_a_decision_that_the_same_invocation_went_on_from_itself_is_taken_back() -> None:
    meter = InvocationMeter(Clock())
    meter.begin("step", 512, of_engine())

    assert meter.take(transitions=1).transitions == 3  # Route and Think, and Act ahead
    assert meter.take().transitions == -1  # the calls ran here
    assert meter.take(transitions=2).transitions == 2


def test_each_retry_of_the_engine_is_a_transition() -> None:
    meter = InvocationMeter(Clock())
    meter.begin("tool", 512, of_engine("tool", attempt=2))

    assert meter.take().transitions == 3


def test_the_first_invocation_pays_for_the_start_of_the_process() -> None:
    meter = InvocationMeter(Clock())
    meter.started(700.0)
    meter.started(900.0)
    meter.begin("step", 512, of_engine())
    first = meter.take()
    meter.end()
    meter.begin("step", 512, of_engine())

    assert (first.ms, meter.take().ms) == (700, 0)


def test_an_event_of_any_shape_is_metered() -> None:
    meter = InvocationMeter(Clock())
    for event in ({}, {"at": "x", "op": 1}, {"at": {}, "op": "think"}, {"at": {"session_id": "s"}, "op": []}):
        meter.begin("step", 128, event)
        assert meter.take().transitions == 0
        meter.end()


def test_a_process_knows_how_long_it_has_lived() -> None:
    assert ms_since_start() >= 0.0
