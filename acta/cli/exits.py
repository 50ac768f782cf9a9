"""Exit codes of the `acta` command."""

from collections.abc import Mapping
from typing import Any, Final

OK: Final = 0
SESSION_FAILED: Final = 1
WRONG_USE: Final = 2
GOAL_NOT_MET: Final = 3
CANCELLED: Final = 4
WAITING: Final = 5
INTERRUPTED: Final = 130


def of_session(session: Mapping[str, Any]) -> int:
    """The exit code that tells how a session ended; 0 for one that has not ended."""
    state = session.get("state")
    if state == "completed":
        return OK if (session.get("result") or {}).get("goal_met") else GOAL_NOT_MET
    if state == "failed":
        return SESSION_FAILED
    return CANCELLED if state == "cancelled" else OK
