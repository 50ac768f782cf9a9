"""What a tenant, or one person in it, has used in a time (docs/design/usage.md 3)."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from functools import reduce
from typing import Literal, NamedTuple

from acta.engine.errors import ValidationFailed
from acta.engine.usage.store import UsageReader
from acta.engine.usage.usage import (
    HOURS_OF_DAY,
    NOTHING,
    Amounts,
    Dimension,
    RowKey,
    day_begins,
    day_of,
    hour_begins,
    hour_of,
)

By = Literal["hour", "day", "agent", "model", "user"]
LONGEST = timedelta(days=92)
MOST_ROWS = 20_000
"""Rows that one answer is made from: about 8 MB."""
BEHIND = timedelta(minutes=2)
"""The shards of the stream are counted independently. When one is at its newest commit, the others are at most this
far behind, unless an alarm says so."""


class ReportPeriod(NamedTuple):
    """`until` is not part of it."""

    since: datetime
    until: datetime


class Report(NamedTuple):
    """`items`: by hour or day as an instant, or by name, in order. `ends`: how runs ended -> how often; None: it is one
    person's. `complete_until`: all commits before it are counted; None: no commit is.
    """

    span: ReportPeriod
    items: Mapping[str, Amounts]
    total: Amounts
    ends: Mapping[str, int] | None
    complete_until: datetime | None


def report(usage: UsageReader, tenant: str, by: By, span: ReportPeriod, who: str | None = None) -> Report:
    """`who`: the pseudonym of a person, if the report is about this person alone, by day or as a sum. Raises
    ValidationFailed for a time that is too long.
    """
    if span.until - span.since > LONGEST:
        raise ValidationFailed(
            "The time is too long.", {"from": [f"at most {LONGEST.days} days before `to`"]}
        )
    counted = _Rows(usage, tenant)
    span = _rounded(span, hours=by == "hour")
    if who is not None:
        rows = counted.of("user", span, who)
        items = _by_day(rows) if by == "day" else _by_name(rows)
        ends = None
    else:
        rows = counted.of("tenant", span)
        match by:
            case "hour":
                items = {_text(hour_begins(key.at)): amounts for key, amounts in rows}
            case "day":
                items = _by_day([(key._replace(at=key.at // HOURS_OF_DAY), amounts) for key, amounts in rows])
            case dimension:
                items = _by_name(counted.of(dimension, span))
        ends = {name: row.runs for name, row in _by_name(counted.of("end", span)).items() if row.runs}
    until = usage.counted_until(tenant)
    total = reduce(Amounts.plus, (amounts for _, amounts in rows), NOTHING)
    return Report(span, items, total, ends, None if until is None else until - BEHIND)


class _Rows:
    """Reads no more than may be read."""

    def __init__(self, usage: UsageReader, tenant: str) -> None:
        self._usage = usage
        self._tenant = tenant
        self._read = 0

    def of(
        self, dimension: Dimension, span: ReportPeriod, name: str | None = None
    ) -> list[tuple[RowKey, Amounts]]:
        place = hour_of if dimension == "tenant" else day_of
        last = span.until - timedelta(microseconds=1)
        found = []
        for row in self._usage.rows(self._tenant, dimension, place(span.since), place(last), name):
            self._read += 1
            if self._read > MOST_ROWS:
                raise ValidationFailed("There is too much in this time.", {"from": ["a shorter time"]})
            found.append(row)
        return found


def _rounded(span: ReportPeriod, *, hours: bool) -> ReportPeriod:
    """To whole hours or days (UTC): the beginning down, the end up."""
    place, begins = (hour_of, hour_begins) if hours else (day_of, day_begins)
    last = span.until - timedelta(microseconds=1)
    return ReportPeriod(begins(place(span.since)), begins(place(last) + 1))


def _by_day(rows: list[tuple[RowKey, Amounts]]) -> dict[str, Amounts]:
    return _grouped((_text(day_begins(key.at)), amounts) for key, amounts in rows)


def _by_name(rows: list[tuple[RowKey, Amounts]]) -> dict[str, Amounts]:
    return _grouped((key.name, amounts) for key, amounts in rows)


def _grouped(rows: Iterable[tuple[str, Amounts]]) -> dict[str, Amounts]:
    found: dict[str, Amounts] = {}
    for name, amounts in rows:
        found[name] = found.get(name, NOTHING).plus(amounts)
    return {name: found[name] for name in sorted(found)}


def _text(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S}.000Z"
