"""Recovery (design §2): of the session whose execution has ended, of all each minute, and at an operator's request;
the second erasure of deleted sessions; and the measure that long polls go by. The events, and what is answered:

    "Step Functions Execution Status Change"      {"outcome": …}; the execution's session goes on
    the schedule's event                          counts; sessions that have waited too long go on
    {"repair": true}                              counts; every session is looked at, however young
    {"repair": {"tenant": …, "session_id": …}}    {"outcome": …}, or {"refused": {"code", "message"}}
    {"repair": {"tenant": …, "failed_since": …,   {"sessions": [{"session_id", "code", "failed_at"}], "cursor"}: a page
                "cursor": …}}                     of what a repair would take up again; nothing is changed

Only ids, counts and outcomes are logged.
"""

from typing import Any

from pydantic import AwareDatetime, ValidationError

from functions.recover.dependencies import Dependencies, dependencies
from shared.agent.lifecycle.erase_again import ErasureDeps, erase_again
from shared.agent.queries.long_polls import limit_long_polls
from shared.agent.recovery.ended import recover_ended
from shared.agent.recovery.failed_runs import failed_runs
from shared.agent.recovery.recover import repair
from shared.agent.recovery.sweep import SweepDeps, sweep
from shared.domain.errors import CallerError, PoisonedSession, Refused, SchemaUnknown
from shared.domain.frozen_model import FrozenModel
from shared.telemetry import Telemetry

SPARE_MILLISECONDS = 15_000
"""The longest that one session takes, with every request repeated."""

telemetry = Telemetry("recover")


class RepairRequest(FrozenModel):
    tenant: str
    session_id: str


class FailedRunsRequest(FrozenModel):
    tenant: str
    failed_since: AwareDatetime
    cursor: str | None = None


def handle(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return recover_what_it_says(dependencies(), event, context)


def recover_what_it_says(deps: Dependencies, event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Raises Refused for an event of another form, and what AWS throttles or does not answer."""
    if deps.execution_events.is_one(event):
        return _recover_ended(deps, event)
    wanted = event.get("repair", False)
    if isinstance(wanted, bool):
        return _sweep(deps, context, everything=wanted)
    try:
        if isinstance(wanted, dict) and "failed_since" in wanted:
            return _failed_runs(deps, FailedRunsRequest.model_validate(wanted))
        return _repair(deps, RepairRequest.model_validate(wanted))
    except ValidationError as error:
        raise Refused(f"not a repair: {error.error_count()} fields are wrong") from None


def _recover_ended(deps: Dependencies, event: dict[str, Any]) -> dict[str, Any]:
    """What AWS does not answer is raised: Lambda then calls again with the same event."""
    ended = deps.execution_events.ended(event)
    if ended is None:
        return {"outcome": "nothing"}
    try:
        outcome: str = recover_ended(deps.repository, deps.session_index, deps.workflow, ended)
    except (PoisonedSession, SchemaUnknown) as error:  # the same event would meet the same
        telemetry.failure(error, at=ended.session_id)
        outcome = "unreadable"
    telemetry.logger.info("execution ended", extra={"session_id": ended.session_id, "outcome": outcome})
    return {"outcome": outcome}


def _sweep(deps: Dependencies, context: Any, *, everything: bool) -> dict[str, Any]:
    if not everything:
        _limit_long_polls(deps)

    def time_is_left() -> bool:
        return bool(context.get_remaining_time_in_millis() > SPARE_MILLISECONDS)

    def told(what: str, error: Exception) -> None:
        telemetry.failure(error, at=what)

    tally = sweep(
        SweepDeps(
            deps.repository,
            deps.session_index,
            deps.workflow,
            grace=deps.grace,
            warn=deps.warn,
            unreadable=deps.unreadable,
            time_is_left=time_is_left,
            told=told,
        ),
        everything=everything,
    )
    counts = tally._asdict()
    telemetry.logger.info("swept", extra={"everything": everything, **counts})
    erased = erase_again(
        ErasureDeps(
            deps.log,
            deps.blobs,
            deps.session_index,
            deps.clock,
            after=deps.erase_again_after,
            time_is_left=time_is_left,
            failed=told,
        )
    )
    if erased:
        telemetry.logger.info("erased", extra={"sessions": erased})
    return counts


def _limit_long_polls(deps: Dependencies) -> None:
    """Comes first, because it is short. Whatever becomes of it, recovery goes on."""
    if deps.load is None:
        return
    try:
        limit = limit_long_polls(deps.long_polls, deps.load, deps.clock.now())
    except Exception as error:
        telemetry.failure(error, at="limit_long_polls")
        return
    if limit is not None:
        telemetry.logger.info("long_polls", extra={"share": limit.share})


def _failed_runs(deps: Dependencies, wanted: FailedRunsRequest) -> dict[str, Any]:
    page = failed_runs(deps.repository, deps.session_index, wanted.tenant, wanted.failed_since, wanted.cursor)
    found = [
        {"session_id": one.session_id, "code": one.code, "failed_at": one.failed_at.isoformat()}
        for one in page.runs
    ]
    return {"sessions": found, "cursor": page.cursor}


def _repair(deps: Dependencies, wanted: RepairRequest) -> dict[str, Any]:
    try:
        outcome = repair(deps.repository, deps.workflow, wanted.tenant, wanted.session_id)
    except CallerError as refusal:
        return {"refused": {"code": refusal.code, "message": str(refusal)}}
    telemetry.logger.info("repaired", extra={"session_id": wanted.session_id, "outcome": outcome})
    return {"outcome": outcome}


handler = telemetry.watch(handle)
