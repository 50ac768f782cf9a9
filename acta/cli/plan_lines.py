"""The plan as lines: a mark, a number and what the step is about."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from acta.cli.text import one_line

MARKS = {"pending": "·", "in_progress": "▶", "completed": "✔", "failed": "✘", "skipped": "–"}
ASCII_MARKS = {"pending": ".", "in_progress": ">", "completed": "x", "failed": "!", "skipped": "-"}
DESCRIPTION_LIMIT = 96


class PlanLine(NamedTuple):
    mark: str
    number: int
    description: str
    status: str

    def __str__(self) -> str:
        return f"{self.mark} {self.number:>2}. {self.description}"


def marks_for(encoding: str | None) -> Mapping[str, str]:
    try:
        "".join(MARKS.values()).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII_MARKS
    return MARKS


def plan_lines(plan: Mapping[str, Any] | None, marks: Mapping[str, str] = MARKS) -> Iterator[PlanLine]:
    for step in (plan or {}).get("steps") or []:
        status = str(step.get("status", "pending"))
        yield PlanLine(
            mark=marks.get(status, "?"),
            number=int(step.get("step_number", 0)),
            description=one_line(str(step.get("description", "")), DESCRIPTION_LIMIT),
            status=status,
        )
