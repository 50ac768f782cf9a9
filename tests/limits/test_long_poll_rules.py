"""How long polls give way to load, and that it settles: a bounded simulation, a step a minute."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acta.engine.limits.long_polls import FULL, after_measuring
from acta.engine.limits.store import LongPolls

LONGEST = 20
USUAL_MS = 1_000
QUOTA = 1_000


def held(watchers: int, limit: LongPolls) -> float:
    """Concurrent executions that so many watchers hold: the part of their time that they wait or are answered."""
    waiting = limit.seconds(LONGEST) + 0.02
    return watchers * waiting / (waiting + limit.pause_ms(USUAL_MS, LONGEST) / 1_000)


def loads(watchers: int, work: int, minutes: int, delay: int) -> list[float]:
    """The load in each minute. `work`: executions of the engine. `delay`: minutes until a measure is used."""
    limit, found = LongPolls(), []
    for minute in range(minutes):
        found.append(min(1.0, (work + held(watchers, limit)) / QUOTA))
        if minute >= delay:
            limit = after_measuring(limit, found[minute - delay])
    return found


def test_without_load_polls_wait_as_they_ask_and_come_again_as_ever() -> None:
    limit = after_measuring(LongPolls(), 0.29)
    assert (limit.seconds(20), limit.pause_ms(1_000), limit.pause_ms(1_000, 20)) == (20, 1_000, 0)


def test_at_full_load_none_waits_and_all_come_seldom() -> None:
    limit = after_measuring(LongPolls(), 0.8)
    assert (limit.seconds(20), limit.pause_ms(1_000), limit.pause_ms(1_000, 20)) == (0, 10_000, 10_000)


def test_what_a_poll_may_wait_is_a_part_of_the_pause() -> None:
    assert [LongPolls().pause_ms(1_000, asked) for asked in (0, 0.4, 1, 20)] == [1_000, 600, 0, 0]
    assert [LongPolls(share).pause_ms(1_000, 1) for share in (0.5, 0.1)] == [5_000, 9_000]


def test_under_high_load_the_waits_halve_and_at_last_are_none() -> None:
    limit, shares = LongPolls(), []
    while limit.share:
        limit = after_measuring(limit, 0.6)
        shares.append(limit.share)
    assert shares[:3] == [0.5, 0.25, 0.125]
    assert len(shares) < 10


def test_they_come_back_when_the_load_has_gone() -> None:
    limit = LongPolls(0)
    for _ in range(22):
        limit = after_measuring(limit, 0.01)
    assert limit == LongPolls()


@pytest.mark.parametrize("delay", [1, 2, 3])
@pytest.mark.parametrize("watchers", [0, 50, 400, 700, 1_000, 3_000, 10_000])
@pytest.mark.parametrize("work", [10, 200, 350])
def test_however_many_watch_the_engine_has_room_from_a_few_minutes_on(
    watchers: int, work: int, delay: int
) -> None:
    found = loads(watchers, work, minutes=240, delay=delay)
    settled = found[delay + 2 :]
    assert max(settled) < FULL
    assert min(settled) <= found[0]


@pytest.mark.parametrize("watchers", [50, 300])
def test_a_few_watchers_wait_their_whole_time(watchers: int) -> None:
    assert min(loads(watchers, 50, minutes=60, delay=2)) == max(loads(watchers, 50, minutes=60, delay=2))


@settings(derandomize=True)
@given(st.floats(min_value=0, max_value=1), st.floats(min_value=0, max_value=2))
def test_a_share_stays_a_share(share: float, load: float) -> None:
    after = after_measuring(LongPolls(share), load)
    assert 0 <= after.share <= 1
    assert after.share <= share or load < 0.3
