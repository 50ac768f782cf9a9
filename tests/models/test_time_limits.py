"""A bound on wall time: of the whole answer, and of its beginning."""

import threading

import pytest

from acta.engine.errors import ProviderTimeout
from acta.engine.models.calls import CallCancelled, CallProgress, run_within

LONG = 30.0


class HeldCall:
    """A call that reports a beginning or not, and then waits until the test lets it go."""

    def __init__(self, *, begins: bool) -> None:
        self._begins = begins
        self.go = threading.Event()

    def __call__(self, progress: CallProgress) -> str:
        if self._begins:
            progress.begin()
        self.go.wait(LONG)
        return "whole"


def test_a_call_that_has_not_begun_in_time_is_given_up_before_the_whole_time_is_over() -> None:
    call = HeldCall(begins=False)
    with pytest.raises(ProviderTimeout) as caught:
        run_within(LONG, "p", call, 0.05)
    assert not caught.value.began
    call.go.set()


def test_an_answer_that_has_begun_has_all_of_the_time() -> None:
    call = HeldCall(begins=True)
    timer = threading.Timer(0.9, call.go.set)
    timer.start()
    assert run_within(LONG, "p", call, 0.6) == "whole"


def test_a_timeout_after_an_answer_began_says_so() -> None:
    call = HeldCall(begins=True)
    with pytest.raises(ProviderTimeout) as caught:
        run_within(0.6, "p", call, 0.3)
    assert caught.value.began
    call.go.set()


def test_no_answer_begins_after_the_call_was_cancelled() -> None:
    progress = CallProgress()
    assert not progress.cancel()
    with pytest.raises(CallCancelled):
        progress.begin()
    assert not progress.has_begun


def test_a_call_that_ends_at_once_returns_its_result() -> None:
    assert run_within(LONG, "p", lambda progress: "done", 0.5) == "done"


def test_a_complete_answer_is_returned_at_once_whatever_becomes_of_the_connection() -> None:
    go = threading.Event()

    def call(progress: CallProgress) -> str:
        progress.complete("whole")
        go.wait(LONG)
        raise ConnectionError("the connection broke after it")

    assert run_within(LONG, "p", call) == "whole"
    go.set()
