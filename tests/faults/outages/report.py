"""The outages as a table and as a part of build/faults.json."""

from collections.abc import Sequence
from typing import Any

from tests.faults.outages.run import OutageVerdict
from tests.faults.report import columns

COLUMNS = (
    "service",
    "outage",
    "sessions",
    "failed",
    "asked",
    "same end",
    "bought twice",
    "charged wrongly",
    "seconds",
)


def table(verdicts: Sequence[OutageVerdict]) -> str:
    """A row per outage, and what they add up to."""
    rows = [(*verdict.case, *_counts([verdict])) for verdict in verdicts]
    return columns([COLUMNS, *rows, ("all", str(len(verdicts)), *_counts(verdicts))])


def _counts(verdicts: Sequence[OutageVerdict]) -> tuple[int, ...]:
    return (
        sum(len(verdict.outcomes) for verdict in verdicts),
        sum(verdict.failed for verdict in verdicts),
        sum(verdict.asked for verdict in verdicts),
        sum(verdict.same_end for verdict in verdicts),
        sum(verdict.bought_twice for verdict in verdicts),
        sum(verdict.misbilled for verdict in verdicts),
        round(sum(verdict.seconds for verdict in verdicts)),
    )


def line(verdict: OutageVerdict) -> str:
    """One outage, and below it every session that did not end as the clean one."""
    word = "ok" if verdict.is_good else ("differs" if verdict.was_felt else "was not felt")
    asked = f", {verdict.asked} asked" if verdict.asked else ""
    more = "".join(
        f"\n    {outcome.stage.name}: {problem}"
        for outcome, problems in zip(verdict.outcomes, verdict.problems, strict=True)
        for problem in problems
    )
    waited = sum(outcome.waited for outcome in verdict.outcomes)
    return f"{verdict.seconds:5.1f} s  outage {verdict.case.name}: {word}{asked}, {waited} told why they wait{more}"


def content(verdicts: Sequence[OutageVerdict]) -> list[dict[str, Any]]:
    return [
        {
            "service": verdict.case.service,
            "outage": verdict.case.kind,
            **dict(zip(COLUMNS[2:], _counts([verdict]), strict=True)),
            "refused_calls": verdict.refused,
            "gave_up": verdict.gave_up,
            "sessions": [
                {
                    "stage": outcome.stage.name,
                    "same_end": not problems,
                    "failed": outcome.failed,
                    "asked": list(outcome.asked),
                    "told_why_it_waits": outcome.waited,
                    "polls": dict(outcome.answers),
                    "problems": list(problems),
                }
                for outcome, problems in zip(verdict.outcomes, verdict.problems, strict=True)
            ],
        }
        for verdict in verdicts
    ]
