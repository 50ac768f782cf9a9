"""When a schedule comes, over changes of the clocks."""

from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from acta.engine.schedules.times import Times, wrong_times

CREATED = datetime(2027, 1, 1, 12, 7, 30, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")


def berlin(*at: int, fold: int = 0) -> datetime:
    return datetime(*at, tzinfo=BERLIN, fold=fold)  # type: ignore[misc, arg-type]


def cron(expression: str, timezone: str = "Europe/Berlin", **more: datetime) -> Times:
    return Times(expression, None, timezone, CREATED, **more)


def on_day(times: Times, year: int, month: int, day: int) -> list[str]:
    """The times of a local day, as the clocks show them."""
    zone = ZoneInfo(times.timezone)
    begin = datetime(year, month, day, tzinfo=zone)
    end = datetime(year, month, day, tzinfo=zone) + timedelta(days=1)
    found = times.last(begin.astimezone(UTC), end.astimezone(UTC) - timedelta(seconds=1), 100)
    return [each.astimezone(zone).strftime("%H:%M%z") for each in found]


def test_a_daily_time_that_the_clocks_leave_out_comes_at_the_first_moment_after_it() -> None:
    assert on_day(cron("30 2 * * *"), 2027, 3, 27) == ["02:30+0100"]
    assert on_day(cron("30 2 * * *"), 2027, 3, 28) == ["03:00+0200"]
    assert on_day(cron("30 2 * * *"), 2027, 3, 29) == ["02:30+0200"]


def test_a_daily_time_that_the_clocks_show_twice_comes_the_first_time_alone() -> None:
    assert on_day(cron("30 2 * * *"), 2027, 10, 31) == ["02:30+0200"]
    assert on_day(cron("30 2 * * *"), 2027, 11, 1) == ["02:30+0100"]


@pytest.mark.parametrize("expression", ["0 * * * *", "0 0-23 * * *", "0 */1 * * *"])
def test_every_hour_is_23_and_25_times_on_the_days_on_which_the_clocks_change(expression: str) -> None:
    days = [on_day(cron(expression), 2027, *day) for day in ((3, 28), (10, 31), (6, 1))]
    assert [len(set(day)) for day in days] == [23, 25, 24]


def test_named_hours_come_once_each_however_often_the_clocks_show_them() -> None:
    assert len(on_day(cron("0 */2 * * *"), 2027, 10, 31)) == 12
    assert on_day(cron("*/15 2 * * *"), 2027, 10, 31) == [
        "02:00+0200",
        "02:15+0200",
        "02:30+0200",
        "02:45+0200",
    ]
    assert on_day(cron("*/15 2 * * *"), 2027, 3, 28) == ["03:00+0200"]


@pytest.mark.parametrize(
    ("zone", "day", "shown"),
    [
        ("America/Santiago", (2027, 9, 5), ["01:00-0300"]),  # midnight is left out
        ("Australia/Lord_Howe", (2027, 10, 3), ["02:30+1100"]),  # half an hour is left out
        ("Africa/Casablanca", (2027, 6, 1), ["02:10+0100"]),
    ],
)
def test_other_changes_of_the_clocks(zone: str, day: tuple[int, int, int], shown: list[str]) -> None:
    hour = "10 0" if zone == "America/Santiago" else "10 2"
    assert on_day(cron(f"{hour} * * *", zone), *day) == shown


def test_the_times_go_on_from_any_moment_and_none_comes_twice_over_a_year_of_changes() -> None:
    times = cron("*/20 1-3 * * *")
    whole = list(islice(times.after(CREATED), 2_000))
    assert whole == sorted(set(whole))
    for number in range(0, 1_999, 37):
        assert next(times.after(whole[number])) == whole[number + 1]
        assert next(times.after(whole[number + 1] - timedelta(microseconds=1))) == whole[number + 1]


def test_a_rate_counts_from_its_start_or_from_when_it_was_made() -> None:
    made = Times(None, "every 15 minutes", "UTC", CREATED)
    assert next(made.after(CREATED)) == datetime(2027, 1, 1, 12, 22, tzinfo=UTC)
    start = datetime(2027, 3, 28, 1, 0, 30, tzinfo=UTC)
    begun = made._replace(start=start, every="2 hours")
    assert list(islice(begun.after(CREATED), 2)) == [start, start + timedelta(hours=2)]
    assert next(begun.after(start + timedelta(hours=5))) == start + timedelta(hours=6)


def test_start_and_end_bound_the_times_and_belong_to_them() -> None:
    start, end = berlin(2027, 5, 3, 8).astimezone(UTC), berlin(2027, 5, 4, 8).astimezone(UTC)
    times = cron("0 8 * * *", start=start, end=end)
    assert list(times.after(CREATED)) == [start, end]
    assert list(times.after(end)) == []


def test_the_last_times_of_a_long_stretch_are_found_without_all_of_them() -> None:
    since, until = CREATED, CREATED + timedelta(days=3_000)
    assert cron("* * * * *", "UTC").last(since, until, 2) == [
        (until - timedelta(seconds=30) - timedelta(minutes=1)), until - timedelta(seconds=30)
    ]  # fmt: skip
    (yearly,) = cron("0 0 29 2 *", "UTC").last(since, until, 1)
    assert yearly == datetime(2032, 2, 29, tzinfo=UTC)
    assert cron("0 0 1 1 *", "UTC").last(since, since + timedelta(days=2), 5) == []


@pytest.mark.parametrize(
    ("changed", "field", "said"),
    [
        ({"every": "5 minutes"}, "cron", "either"),
        ({"cron": None}, "cron", "Nothing says when it comes"),
        ({"cron": "@daily"}, "cron", "five fields"),
        ({"cron": "0 0 8 * * *"}, "cron", "five fields"),
        ({"cron": "61 * * * *"}, "cron", "Bad minute"),
        ({"cron": "0 0 30 2 *"}, "cron", "Such a day never comes"),
        ({"cron": "0 0 32 2 *"}, "cron", "Bad day"),
        ({"cron": "0 8 * * FRI-MON"}, "cron", "Write two: `FRI-SAT,SUN-MON`."),
        ({"cron": "0 1,22-3 * * *"}, "cron", "Write two: `22-23,0-3`."),
        ({"cron": "0 22-30 * * *"}, "cron", "Bad hour"),
        ({"cron": "0 0 * * 5L/2"}, "cron", "five fields"),
        ({"cron": "٣ * * * *"}, "cron", "Bad minute"),
        ({"cron": "0 0 31 2,4 *"}, "cron", "Such a day never comes"),
        ({"timezone": "Europe/Berlim"}, "timezone", "Did you mean Europe/Berlin"),
        ({"timezone": "../../etc/passwd"}, "timezone", "no time zone"),
        ({"cron": None, "every": "0 minutes"}, "every", "15 minutes"),
        ({"cron": None, "every": "90 seconds"}, "every", "15 minutes"),
        ({"cron": None, "every": "999999 weeks"}, "every", "15 minutes"),
        ({"start": CREATED, "end": CREATED - timedelta(1)}, "end", "before"),
    ],
)
def test_what_is_no_schedule_is_told_with_what_to_write(
    changed: dict[str, Any], field: str, said: str
) -> None:
    (told,) = wrong_times(cron("0 8 * * *")._replace(**changed)).items()
    assert told[0] == field
    assert said in told[1]


@pytest.mark.parametrize(
    "expression", ["0 8 * * 1-5", "*/5 8-17 * * MON-FRI", "0 0 L * *", "0 9 * * 1#1", "0 0 29 2 *"]
)
def test_expressions_that_people_write_are_taken(expression: str) -> None:
    assert wrong_times(cron(expression)) == {}
