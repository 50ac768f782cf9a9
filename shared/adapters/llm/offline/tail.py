"""The plan's status as the volatile tail tells it: for a run whose plan was made out of sight of the
conversation."""

import re

_MARKED = re.compile(r"^\[([ >x!-])\]\s*(\d{1,2})\b")
_MARKS = {" ": "pending", ">": "in_progress", "x": "completed", "!": "failed", "-": "skipped"}
_STEP = re.compile(
    r"^\W*(?:step\s+)?(\d{1,2})\b.*?\b(pending|in_progress|completed|failed|skipped)\b", re.IGNORECASE
)


def statuses_in(tail: str) -> dict[int, str]:
    """Status by step number, of every line that tells both; empty when the tail shows no plan that is on."""
    if "executing" not in tail:
        return {}
    lines = [line.strip() for line in tail.splitlines()]
    named = {int(step[1]): step[2].lower() for line in lines if (step := _STEP.match(line))}
    marked = {int(step[2]): _MARKS[step[1]] for line in lines if (step := _MARKED.match(line))}
    return named | marked
