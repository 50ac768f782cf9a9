"""The plan's status as the volatile tail tells it: for a run whose plan was made out of sight of the
conversation."""

import re

_STEP = re.compile(
    r"^\W*(?:step\s+)?(\d{1,2})\b.*?\b(pending|in_progress|completed|failed|skipped)\b", re.IGNORECASE
)


def statuses_in(tail: str) -> dict[int, str]:
    """Status by step number, of every line that names both; empty when the tail shows no plan."""
    found = (_STEP.match(line.strip()) for line in tail.splitlines())
    return {int(step[1]): step[2].lower() for step in found if step}
