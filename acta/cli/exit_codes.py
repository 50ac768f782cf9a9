"""How a command ends: its exit code, and the error that ends it early.

CliError and ClientError both end a command with `WRONG_USE` and one line on standard error, never with a traceback.
With `--json` that line is JSON, in the API's form.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from acta.client.following import Update, waits_for_tokens

OK: Final = 0
SESSION_FAILED: Final = 1
FAILED: Final = 1
WRONG_USE: Final = 2
GOAL_NOT_MET: Final = 3
DIFFERS: Final = 3
CANCELLED: Final = 4
WAITING: Final = 5
INTERRUPTED: Final = 130


class CliError(Exception):
    """The command cannot do what was asked. The message is what a person reads: what is wrong and what to do.

    What the message quotes is already escaped for a terminal. `code`: for scripts.
    """

    def __init__(self, message: str, code: str = "REFUSED") -> None:
        super().__init__(message)
        self.code = code


def as_json(code: str, message: str, details: Mapping[str, Any]) -> str:
    """An error in the API's form. It is pure ASCII, so that nothing in it moves a cursor."""
    told = {"code": code, "message": message, **({"details": dict(details)} if details else {})}
    return json.dumps({"success": False, "error": told})


def of_session(session: Mapping[str, Any]) -> int:
    """The exit code for the state in which a session ended; 0 if it has not ended."""
    state = session.get("state")
    if state == "completed":
        return OK if (session.get("result") or {}).get("goal_met") else GOAL_NOT_MET
    if state == "failed":
        return SESSION_FAILED
    return CANCELLED if state == "cancelled" else OK


def of_followed_session(last: Update) -> int:
    """The exit code for a session that was followed. If it waits for tokens, or it or one below it waits for a person,
    `--no-wait` ended the following.
    """
    if last.waits_for_a_person or waits_for_tokens(last.session):
        return WAITING
    return of_session(last.session)
