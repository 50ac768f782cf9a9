"""Clocks: UTC, ids in the order of time, pauses that end."""

import re
from datetime import UTC

import pytest

from acta.engine.clock import SESSION, Clock, SystemClock
from acta.testing.clock import FakeClock

pytestmark = pytest.mark.contract


@pytest.fixture(params=[SystemClock, FakeClock])
def clock(request: pytest.FixtureRequest) -> Clock:
    made: Clock = request.param()
    return made


def test_the_time_is_utc_and_does_not_go_back(clock: Clock) -> None:
    before = clock.now()
    clock.back_off(0.001)
    assert before.tzinfo is UTC
    assert clock.now() >= before


def test_ids_are_well_formed_and_never_the_same(clock: Clock) -> None:
    ids = [clock.new_id(SESSION) for _ in range(500)]
    assert all(re.fullmatch(r"ses_[0-9A-HJKMNP-TV-Z]{26}", each) for each in ids)
    assert len(set(ids)) == 500


def test_a_later_id_is_greater() -> None:
    clock = FakeClock()
    first, second = clock.new_id(SESSION), clock.new_id(SESSION)
    clock.advance(0.001)
    assert first < second < clock.new_id(SESSION)


def test_a_fake_clock_notes_the_pauses_and_goes_on_by_them() -> None:
    clock = FakeClock()
    began = clock.now()
    clock.back_off(0.5)
    assert clock.pauses == [0.5]
    assert (clock.now() - began).total_seconds() == 0.5
