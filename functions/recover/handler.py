"""Recovery (design §2): of the session whose execution has ended, of all each minute, and at an operator's request;
the housekeeping of the deployment; and the measure that long polls go by. The events, and what is answered:

    "Step Functions Execution Status Change"      {"outcome": …}; the execution's session goes on
    {"round": "due"}                              counts; sessions whose time has come or execution is lost go on
    {"round": "woken"}                            counts; sessions with a decision whose wake-up was lost go on
    {"round": "housekeeping"}                     counts, all 0; sessions are erased that were deleted, or are too old
    {"admit": true}                               counts; sessions that wait in a provider's line go on (ADR 106)
    {"paid": […], "until": …}                     counts; a part of a long line goes on, which is paid for
    {"lost": […], "listed_at": …, "until": …}     counts; a part of what a scan has found goes on
    {"repair": true}                              counts; every session is looked at, however young
    {"repair": {"tenant": …, "session_id": …}}    {"outcome": …}, or {"refused": {"code", "message"}}
    {"repair": {"failed_since": …, "tenant": …,   {"sessions": [{"tenant", "session_id", "code", "failed_at"}],
                "cursor": …}}                     "cursor", "complete", "unreadable", "unanswered"}: a part of what a
                                                  repair would take up again; nothing is changed
    {"repair": {"sessions": […]}}                 {"outcomes": […]}, one for each of the sessions

The schedule sends each round every minute, and {"admit": true} where sessions may wait for a provider. Each is an
invocation of its own, so that none takes another one's time (ADR 116).

Only ids, counts and outcomes are logged.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

from pydantic import AwareDatetime, ConfigDict, Field, TypeAdapter, ValidationError

from acta_engine.embedded_metrics import LINE_METRICS, ROUND_METRICS, SWEEP_METRICS
from acta_engine.errors import CallerError, PoisonedSession, Refused, SchemaUnknown
from acta_engine.limits.long_polls import limit_long_polls
from acta_engine.log.store import SessionName
from acta_engine.queue.admit import admit, admit_paid
from acta_engine.queue.admit_one import AdmitDeps, Pace, Sharing
from acta_engine.queue.places import InLine
from acta_engine.queue.store import AdmissionStore
from acta_engine.recovery.dependencies import Dependencies, dependencies
from acta_engine.recovery.failed_sessions import FailedDeps, find_failed, repair_each
from acta_engine.recovery.recover import recover_ended, repair
from acta_engine.recovery.scans import Place, RecoveryScan, Round, Tally
from acta_engine.recovery.sweep import Sought, SweepDeps, recover_lost, sweep
from acta_engine.recovery.workers import SHARE, LostSessions, PaidPlaces
from acta_engine.sessions.erasure import ErasureDeps, erase_again
from acta_engine.sessions.retention import RetentionDeps, delete_ended
from acta_engine.store.frozen_model import FrozenModel
from acta_engine.telemetry import Telemetry
from acta_engine.tenant_hash import tenant_hash

SPARE_MILLISECONDS = 15_000
"""The longest that one session takes, with every request repeated."""
SPARE_MILLISECONDS_OF_ONE = 5_000
"""What an admission takes, where nothing is slow. One that is cut off is finished by the next call."""
MOST_REPAIRED = 100
"""Sessions of one request."""

telemetry = Telemetry("recover")


class OneSession(FrozenModel):
    tenant: str
    session_id: str


class FailedSince(FrozenModel):
    """`tenant` None: of all tenants. `cursor`: of the answer before; None: from the beginning."""

    failed_since: AwareDatetime
    tenant: str | None = None
    cursor: str | None = None


class ManySessions(FrozenModel):
    sessions: tuple[OneSession, ...] = Field(max_length=MOST_REPAIRED)


class Lost(FrozenModel):
    """As `to_event` in `shared/acta_engine/recovery/lambda_workers.py` writes it: tenants and sessions."""

    lost: tuple[tuple[str, str], ...] = Field(max_length=SHARE)
    listed_at: AwareDatetime
    until: AwareDatetime

    @property
    def sessions(self) -> LostSessions:
        return LostSessions([SessionName(*name) for name in self.lost], self.listed_at, self.until)


class Paid(FrozenModel):
    """As `paid_event` in `shared/acta_engine/recovery/lambda_workers.py` writes it: providers, tenants, sessions,
    since when they wait, tokens.
    """

    paid: tuple[tuple[str, str, str, AwareDatetime, int], ...] = Field(max_length=Sharing().batch_size)
    until: AwareDatetime

    @property
    def places(self) -> PaidPlaces:
        return PaidPlaces([InLine(*place) for place in self.paid], self.until)


RepairRequest = TypeAdapter[OneSession | FailedSince | ManySessions](
    OneSession | FailedSince | ManySessions, config=ConfigDict(defer_build=True)
)


def handle(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return recover_what_it_says(dependencies(), event, context)


def recover_what_it_says(deps: Dependencies, event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Raises Refused for an event of another form, and what AWS throttles or does not answer."""
    if deps.execution_events.is_one(event):
        return _recover_ended(deps, event)
    if event.get("admit") is True:
        return _admit(deps, context)
    if "paid" in event:
        return _admit_paid(deps, event, context)
    if "lost" in event:
        return _recover_lost(deps, event, context)
    if "round" in event:
        return _make_round(deps, context, event["round"])
    wanted = event.get("repair")
    if wanted is True:
        return _sweep(deps, context, "everything")._asdict()
    try:
        request = RepairRequest.validate_python(wanted)
    except ValidationError as error:
        raise Refused(f"not a repair: {error.error_count()} fields are wrong") from None
    match request:
        case FailedSince():
            return _find_failed(deps, context, request)
        case ManySessions():
            return _repair_each(deps, context, request)
        case _:
            return _repair(deps, request)


def _recover_ended(deps: Dependencies, event: dict[str, Any]) -> dict[str, Any]:
    """What AWS does not answer is raised, so that it counts as an error. The next `due` round finds the session."""
    ended = deps.execution_events.ended(event)
    if ended is None:
        return {"outcome": "nothing"}
    try:
        outcome: str = recover_ended(deps.repository, deps.session_index, deps.workflow, ended, deps.limits)
    except (PoisonedSession, SchemaUnknown) as error:  # the same event would meet the same
        telemetry.failure(error, at=ended.session_id)
        outcome = "unreadable"
    ids = {"session_id": ended.session_id, **_hashed(ended.tenant)}
    telemetry.logger.info("execution ended", extra={**ids, "outcome": outcome})
    return {"outcome": outcome}


def _make_round(deps: Dependencies, context: Any, round: Round) -> dict[str, Any]:
    """What a round could not do the next one does, so it is not repeated where it fails."""
    tally = Tally()
    match round:
        case "due" | "woken":
            tally = _sweep(deps, context, round)
        case "housekeeping":
            _keep_house(deps, _clock_of(context))
        case _:
            raise Refused("not a round of recovery")
    try:
        deps.scans.put(round, RecoveryScan(deps.clock.now(), tally))
    except Exception as error:  # the sessions go on all the same
        telemetry.failure(error, at="note_round")
    telemetry.counted("round ended", ROUND_METRICS, {"RecoveryRounds": 1}, [["round"]], round=round)
    return tally._asdict()


def _sweep(deps: Dependencies, context: Any, sought: Sought) -> Tally:
    # AWS tells of few executions a second, and a round of woken sessions asks for each of them.
    threads = 1 if sought == "woken" else deps.threads
    tally = sweep(_sweep_deps(deps, _clock_of(context))._replace(threads=threads), sought)
    _log_counts("swept", tally, sought=sought)
    return tally


def _keep_house(deps: Dependencies, time_is_left: Callable[[], bool]) -> None:
    _limit_long_polls(deps)
    tasks = [_erase_again, _delete_ended]
    if int(deps.clock.now().timestamp()) // 60 % 2:  # neither takes the time of the other for ever
        tasks.reverse()
    place = deps.scans.place()
    for task in tasks:
        before, place = place, task(deps, place, time_is_left)
        if place != before:
            deps.scans.put_place(place)


def _erase_again(deps: Dependencies, place: Place, time_is_left: Callable[[], bool]) -> Place:
    erasure = ErasureDeps(
        deps.log,
        deps.blobs,
        deps.session_index,
        deps.clock,
        after=deps.erase_again_after,
        time_is_left=time_is_left,
        failed=_told,
    )
    erased = erase_again(erasure, place.erasures)
    if erased.sessions:
        telemetry.logger.info("erased", extra={"sessions": erased.sessions})
    return place._replace(erasures=erased.cursor)


def _delete_ended(deps: Dependencies, place: Place, time_is_left: Callable[[], bool]) -> Place:
    retention = RetentionDeps(
        deps.repository,
        deps.log,
        deps.blobs,
        deps.session_index,
        deps.clock,
        days=deps.ended_sessions_days,
        time_is_left=time_is_left,
        failed=_told,
    )
    deleted = delete_ended(retention, place.ended)
    if deleted.sessions:
        telemetry.logger.info("no longer kept", extra={"sessions": deleted.sessions})
    return place._replace(ended=deleted.place)


def _admit(deps: Dependencies, context: Any) -> dict[str, Any]:
    if deps.admission is None:
        return {}
    done = admit(_admit_deps(deps, deps.admission, context))
    counts = done.counts._asdict()
    if any(counts.values()):
        telemetry.logger.info("admitted", extra=counts)
    for provider, waited in done.waited.items():
        telemetry.counted(
            "in line", LINE_METRICS, {"SessionsInLine": waited}, [["provider"]], provider=provider
        )
    return counts


def _admit_paid(deps: Dependencies, event: dict[str, Any], context: Any) -> dict[str, Any]:
    try:
        told = Paid.model_validate(event)
    except ValidationError as error:
        raise Refused(f"not places that are paid for: {error.error_count()} fields are wrong") from None
    if deps.admission is None:
        return {}
    counts = admit_paid(_admit_deps(deps, deps.admission, context), told.places)._asdict()
    telemetry.logger.info("admitted", extra=counts)
    return counts


def _admit_deps(deps: Dependencies, line: AdmissionStore, context: Any) -> AdmitDeps:
    return AdmitDeps(
        deps.repository,
        deps.workflow,
        line,
        deps.provider_limits,
        lambda: bool(context.get_remaining_time_in_millis() > SPARE_MILLISECONDS_OF_ONE),
        _told,
        workers=deps.workers,
        threads=deps.threads,
        pace=Pace(deps.clock),
    )


def _recover_lost(deps: Dependencies, event: dict[str, Any], context: Any) -> dict[str, Any]:
    try:
        told = Lost.model_validate(event)
    except ValidationError as error:
        raise Refused(f"not lost sessions: {error.error_count()} fields are wrong") from None
    tally = recover_lost(_sweep_deps(deps, _clock_of(context)), told.sessions)
    _log_counts("recovered", tally)
    return tally._asdict()


def _sweep_deps(deps: Dependencies, time_is_left: Callable[[], bool]) -> SweepDeps:
    return SweepDeps(
        deps.repository,
        deps.session_index,
        deps.workflow,
        grace=deps.grace,
        warn=deps.warn,
        unreadable=deps.unreadable,
        time_is_left=time_is_left,
        told=_told,
        limits=deps.limits,
        workers=deps.workers,
        threads=deps.threads,
        pace=Pace(deps.clock),
    )


def _log_counts(message: str, tally: Tally, **ids: object) -> None:
    metrics = {
        "SessionsRecovered": tally.started + tally.restarted + tally.woken,
        "SessionsStuck": tally.unreadable + tally.put_off,
    }
    telemetry.counted(message, SWEEP_METRICS, metrics, **ids, **tally._asdict())


def _limit_long_polls(deps: Dependencies) -> None:
    """Comes first, because it is short. Whatever becomes of it, housekeeping goes on."""
    if deps.load is None:
        return
    try:
        limit = limit_long_polls(deps.long_polls, deps.load, deps.clock.now())
    except Exception as error:
        telemetry.failure(error, at="limit_long_polls")
        return
    if limit is not None:
        telemetry.logger.info("long_polls", extra={"share": limit.share})


def _find_failed(deps: Dependencies, context: Any, wanted: FailedSince) -> dict[str, Any]:
    try:
        found = find_failed(_failed_deps(deps, context), wanted.failed_since, wanted.tenant, wanted.cursor)
    except ValueError:
        raise Refused("not a cursor of this listing") from None
    sessions = [{**run._asdict(), "failed_at": run.failed_at.isoformat()} for run in found.runs]
    answer = {**found._asdict(), "sessions": sessions}
    del answer["runs"]
    return answer


def _repair_each(deps: Dependencies, context: Any, wanted: ManySessions) -> dict[str, Any]:
    names = [SessionName(one.tenant, one.session_id) for one in wanted.sessions]
    outcomes = repair_each(_failed_deps(deps, context), names)
    telemetry.logger.info("repaired", extra={"sessions": len(names), **Counter(outcomes)})
    return {"outcomes": outcomes}


def _failed_deps(deps: Dependencies, context: Any) -> FailedDeps:
    return FailedDeps(
        deps.repository, deps.session_index, deps.workflow, _clock_of(context), _told, deps.limits
    )


def _clock_of(context: Any) -> Callable[[], bool]:
    """Whether the function has time for another session."""
    return lambda: bool(context.get_remaining_time_in_millis() > SPARE_MILLISECONDS)


def _told(what: str, error: Exception) -> None:
    telemetry.failure(error, at=what)


def _repair(deps: Dependencies, wanted: OneSession) -> dict[str, Any]:
    try:
        outcome = repair(deps.repository, deps.workflow, wanted.tenant, wanted.session_id, deps.limits)
    except CallerError as refusal:
        return {"refused": {"code": refusal.code, "message": str(refusal)}}
    ids = {"session_id": wanted.session_id, **_hashed(wanted.tenant)}
    telemetry.logger.info("repaired", extra={**ids, "outcome": outcome})
    return {"outcome": outcome}


def _hashed(tenant: str | None) -> dict[str, str]:
    return {} if tenant is None else {"tenant_hash": tenant_hash(tenant)}


handler = telemetry.watch(handle)
