"""The times of a schedule: a cron expression on the clocks of a time zone, or a rate.

A local time that a change of the clocks leaves out comes at the first moment after it, and one that there is twice
comes the first time alone. So a daily schedule comes once on a day of 23 or 25 hours. An expression for every hour
follows the hours as they pass: it comes 23 or 25 times.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

import tzdata  # type: ignore[import-untyped]
from cronsim import CronSim, CronSimError

from acta.engine.untrusted.validation_messages import did_you_mean

MINUTE = timedelta(minutes=1)
UNITS = {"minute": MINUTE, "hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(weeks=1)}
LONGEST_RATE = timedelta(days=366)
EVERY = re.compile(r"(?:every )?([1-9][0-9]{0,5}) (minute|hour|day|week)s?", re.ASCII)
FIVE_FIELDS = (
    "A cron expression has five fields: minute, hour, day of the month, month, day of the week. `30 2 * * 1-5` is half "
    "past two from Monday to Friday."
)
ENDS = (("0", "59"), ("0", "23"), ("1", "31"), ("JAN", "DEC"), ("SUN", "SAT"))
"""The first and the last value of each field."""
NEVER = "Such a day never comes: there is none in the next 50 years."
RATE = "A rate is a number of minutes, hours, days or weeks, such as `15 minutes` or `1 hour`, and a year at most."
LOOKED_BACK = tuple(timedelta(days=days) for days in (1 / 24, 1, 31, 366, 366 * 8))
"""The stretches in which the last times are looked for, one after the other: so few of many times are made."""


class Times(NamedTuple):
    """When a schedule comes. One of `cron` and `every` is set, and both have been checked (`wrong_times`)."""

    cron: str | None
    every: str | None
    timezone: str
    created: datetime
    start: datetime | None = None
    """The first time is not before it. A rate counts from here, else from when the schedule was made."""
    end: datetime | None = None
    """The last time is not after it."""

    def after(self, at: datetime) -> Iterator[datetime]:
        """The times after this one, in UTC, the next first. There may be no end to them."""
        begin = at if self.start is None else max(at, self.start - timedelta(microseconds=1))
        for each in self._of_rate(begin) if self.cron is None else self._of_cron(self.cron, begin):
            if self.end is not None and each > self.end:
                return
            yield each

    def last(self, since: datetime, until: datetime, most: int) -> list[datetime]:
        """The last times from `since` to `until`, both included, oldest first, at most so many."""
        before = since - timedelta(microseconds=1)
        for stretch in LOOKED_BACK:
            begin = max(before, until - stretch)
            found = list(_until(self.after(begin), until))
            if len(found) >= most or begin == before:
                break
        return found[-most:]

    def _of_rate(self, after: datetime) -> Iterator[datetime]:
        step = rate_of(self.every or "") or LONGEST_RATE
        first = self.start or self.created.replace(second=0, microsecond=0)
        number = max(0, (after - first) // step + 1)
        while True:
            yield (first + number * step).astimezone(UTC)
            number += 1

    def _of_cron(self, expression: str, after: datetime) -> Iterator[datetime]:
        local = after.astimezone(ZoneInfo(self.timezone))
        if CronSim(expression, local).hours == set(range(24)):
            minute, _, *days = expression.split()
            each_hour = " ".join((minute, "*", *days))  # which the library takes for hours that pass
            yield from (each.astimezone(UTC) for each in CronSim(each_hour, local))
            return
        last = after
        for wall in CronSim(expression, local.replace(tzinfo=None)):
            at = first_moment(wall, ZoneInfo(self.timezone))
            if at > last:  # else it came before the clocks were set back, or together with another one
                yield at
                last = at


def _until(times: Iterator[datetime], until: datetime) -> Iterator[datetime]:
    for each in times:
        if each > until:
            return
        yield each


def first_moment(wall: datetime, zone: ZoneInfo) -> datetime:
    """When the clocks of the zone show this time first or, if they never do, the first moment after it; in UTC."""
    while True:
        at = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
        if at.astimezone(zone).replace(tzinfo=None, fold=0) == wall:
            return at
        wall += MINUTE


def rate_of(every: str) -> timedelta | None:
    """None: it is no rate."""
    found = EVERY.fullmatch(every)
    if found is None:
        return None
    step = int(found[1]) * UNITS[found[2]]
    return step if step <= LONGEST_RATE else None


@cache
def zone_names() -> tuple[str, ...]:
    """The names of the IANA time zones."""
    return tuple((Path(tzdata.__file__).parent / "zones").read_text(encoding="ascii").split())


def wrong_times(times: Times) -> dict[str, str]:
    """By field, a sentence about what is wrong. Empty: the schedule has times."""
    wrong = {}
    if times.timezone not in zone_names():
        hint = did_you_mean(times.timezone, zone_names())
        wrong["timezone"] = f"There is no time zone of that name. {hint}"
        times = times._replace(timezone="UTC")
    if times.start is not None and times.end is not None and times.end < times.start:
        wrong["end"] = "It is before `start`."
    if times.cron is None and times.every is None:
        return {**wrong, "cron": "Nothing says when it comes: name `cron` or `every`."}
    if times.cron is not None and times.every is not None:
        return {**wrong, "cron": "Name either `cron` or `every`, and not both."}
    if times.cron is None:
        return wrong if rate_of(times.every or "") else {**wrong, "every": RATE}
    if len(times.cron.split()) != 5:
        return {**wrong, "cron": FIVE_FIELDS}
    try:
        found = next(islice(times._replace(end=None).after(times.created), 1), None)
    except (CronSimError, AssertionError) as error:  # it asserts of some expressions that nobody writes them
        why = _why_not(times.cron.split()) or f"{str(error) or 'It cannot be read'}. {FIVE_FIELDS}"
        return {**wrong, "cron": why}
    return wrong if found is not None else {**wrong, "cron": NEVER}


def _why_not(fields: list[str]) -> str:
    """Why the five fields are no cron expression. Empty: one of them cannot be read."""
    wrong = [number for number, field in enumerate(fields) if not _fits(number, field)]
    for number in wrong:
        for term in fields[number].upper().split(","):
            begin, _, end = term.partition("-")
            if end and _fits(number, f"{end}-{begin}"):
                least, most = ENDS[number]
                two = f"{begin}-{most},{least}-{end}"
                return f"A range does not wrap, and {term} ends before it begins. Write two: `{two}`."
    return "" if wrong else NEVER


def _fits(number: int, field: str) -> bool:
    """Whether the field of this number can be read."""
    with suppress(CronSimError, AssertionError):
        fields = (field if each == number else "*" for each in range(5))
        CronSim(" ".join(fields), datetime(2026, 1, 1, tzinfo=UTC))
        return True
    return False
