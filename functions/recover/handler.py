"""Scheduled recovery (design §2), and an operator's repair. What comes in, and what is answered:

    the schedule's event                          a tally: what has waited too long goes on
    {"repair": true}                              a tally: everything is looked at, however young
    {"repair": {"tenant": …, "session_id": …}}    {"outcome": …}, or {"refused": {"code", "message"}}

Only ids, counts and outcomes are logged.
"""

from typing import Any

from pydantic import ValidationError

from functions.recover.root import root
from shared.agent.recovery.recover import repair
from shared.agent.recovery.sweep import SweepDeps, sweep
from shared.api.telemetry import Telemetry
from shared.domain.errors import CallerError, Refused
from shared.domain.value import Value

SPARE_MILLISECONDS = 15_000
"""What one session may take when every request it makes has to be repeated."""

telemetry = Telemetry("recover")


class One(Value):
    tenant: str
    session_id: str


def _handle(event: dict[str, Any], context: Any) -> dict[str, Any]:
    wanted = event.get("repair", False)
    if isinstance(wanted, bool):
        return _sweep(context, everything=wanted)
    try:
        return _repair(One.model_validate(wanted))
    except ValidationError as error:
        raise Refused(f"not a repair: {error.error_count()} fields are wrong") from None


def _sweep(context: Any, *, everything: bool) -> dict[str, Any]:
    its = root()
    tally = sweep(
        SweepDeps(
            its.repository,
            its.directory,
            its.workflow,
            grace=its.grace,
            warn=its.warn,
            time_is_left=lambda: context.get_remaining_time_in_millis() > SPARE_MILLISECONDS,
            unreadable=lambda session_id, error: telemetry.failure(error, session_id=session_id),
        ),
        everything=everything,
    )
    counts = tally._asdict()
    telemetry.logger.info("swept", extra={"everything": everything, **counts})
    return counts


def _repair(one: One) -> dict[str, Any]:
    its = root()
    try:
        outcome = repair(its.repository, its.workflow, one.tenant, one.session_id)
    except CallerError as refusal:
        return {"refused": {"code": refusal.code, "message": str(refusal)}}
    telemetry.logger.info("repaired", extra={"session_id": one.session_id, "outcome": outcome})
    return {"outcome": outcome}


handler = telemetry.watch(_handle)
