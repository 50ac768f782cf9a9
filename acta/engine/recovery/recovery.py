"""Recovery (docs/design/recovery.md 16): of the session whose execution has ended, of all each minute, and at an
operator's request; the housekeeping of the deployment; and the measure that long polls go by. The events, and what is
answered:

    "Step Functions Execution Status Change"      {"outcome": …}; the execution's session goes on
    {"round": "due"}                              counts; sessions whose time has come or execution is lost go on
    {"round": "woken"}                            counts; sessions with a decision whose wake-up was lost go on
    {"round": "events"}                           counts; events of triggers that wait start their sessions
    {"round": "housekeeping"}                     counts, all 0; sessions are erased that were deleted, or are too old
    {"round": "timed"}                            counts, all 0; sessions start whose schedule says so
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
from dataclasses import dataclass, field
from typing import Any

from pydantic import AwareDatetime, ConfigDict, Field, TypeAdapter, ValidationError

from acta.engine.app import App
from acta.engine.bound_tenant import tenant_hash
from acta.engine.errors import CallerError, PoisonedSession, Refused, SchemaUnknown
from acta.engine.log.store import SessionName
from acta.engine.queue.dispatcher import AdmitDeps, Pace, Sharing, admit, admit_paid
from acta.engine.queue.places import QueuePlace
from acta.engine.recovery.recover import recover_ended
from acta.engine.recovery.repair import FailedDeps, find_failed, repair, repair_each
from acta.engine.recovery.store import (
    SHARE,
    LostSessions,
    PaidPlaces,
    Round,
    RoundCounts,
    RoundResult,
)
from acta.engine.recovery.sweep import Sought, SweepDeps, Unreadable, recover_lost, sweep
from acta.engine.schedules.fire import fire_due
from acta.engine.sessions.housekeeping import Housekeeping
from acta.engine.store.schema import FrozenModel
from acta.engine.telemetry import LINE_METRICS, ROUND_METRICS, SWEEP_METRICS
from acta.engine.triggers.fire import retry_waiting
from acta.engine.turn.engine import ExecutionEvents

SPARE_MILLISECONDS = 15_000
"""The longest that one session takes, with every request repeated."""
SPARE_MILLISECONDS_OF_ONE = 5_000
"""What an admission takes, where nothing is slow. One that is cut off is finished by the next call."""
MOST_REPAIRED = 100
"""The most sessions of one request."""
THREADS = 4
"""How many sessions are handled at once. Each takes three or four requests, and their time is mostly waiting."""


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
    """As `to_event` in `acta/engine/recovery/aws.py` writes it: tenants and sessions."""

    lost: tuple[tuple[str, str], ...] = Field(max_length=SHARE)
    listed_at: AwareDatetime
    until: AwareDatetime

    @property
    def sessions(self) -> LostSessions:
        return LostSessions([SessionName(*name) for name in self.lost], self.listed_at, self.until)


class Paid(FrozenModel):
    """As `paid_event` in `acta/engine/recovery/aws.py` writes it: providers, tenants, sessions,
    since when they wait, tokens.
    """

    paid: tuple[tuple[str, str, str, AwareDatetime, int], ...] = Field(max_length=Sharing().batch_size)
    until: AwareDatetime

    @property
    def places(self) -> PaidPlaces:
        return PaidPlaces([QueuePlace(*place) for place in self.paid], self.until)


RepairRequest = TypeAdapter[OneSession | FailedSince | ManySessions](
    OneSession | FailedSince | ManySessions, config=ConfigDict(defer_build=True)
)


@dataclass(eq=False, repr=False)
class Recovery:
    """Answers each event of the function `recover`."""

    app: App
    execution_events: ExecutionEvents
    threads: int = THREADS
    """Sessions that are looked at at once."""
    unreadable: Unreadable = field(default_factory=Unreadable)
    """What this process could not read."""

    def handle(self, event: dict[str, Any], context: Any) -> dict[str, Any]:
        """Raises Refused for an event of another form, and what AWS throttles or does not answer."""
        if self.execution_events.is_one(event):
            return self._recover_ended(event)
        if event.get("admit") is True:
            return self._admit(context)
        if "paid" in event:
            return self._admit_paid(event, context)
        if "lost" in event:
            return self._recover_lost(event, context)
        if "round" in event:
            return self._make_round(event["round"], context)
        wanted = event.get("repair")
        if wanted is True:
            return self._sweep("everything", context)._asdict()
        try:
            request = RepairRequest.validate_python(wanted)
        except ValidationError as error:
            raise Refused(f"not a repair: {error.error_count()} fields are wrong") from None
        match request:
            case FailedSince():
                return self._find_failed(request, context)
            case ManySessions():
                return self._repair_each(request, context)
            case _:
                return self._repair(request)

    def _recover_ended(self, event: dict[str, Any]) -> dict[str, Any]:
        """What AWS does not answer is raised, so that it counts as an error. The next `due` round finds the session."""
        ended = self.execution_events.ended(event)
        if ended is None:
            return {"outcome": "nothing"}
        limits = self.app.settings.outage_limits
        try:
            outcome: str = recover_ended(
                self.app.repository, self.app.session_index, self.app.workflow, ended, limits
            )
        except (PoisonedSession, SchemaUnknown) as error:  # the same event would meet the same
            self._failed(ended.session_id, error)
            outcome = "unreadable"
        ids = {"session_id": ended.session_id}
        if ended.tenant is not None:
            ids["tenant_hash"] = tenant_hash(ended.tenant)
        self.app.telemetry.logger.info("execution ended", extra={**ids, "outcome": outcome})
        return {"outcome": outcome}

    def _make_round(self, round: Round, context: Any) -> dict[str, Any]:
        """The next round does what this one could not do, so a round that fails is not repeated."""
        tally = RoundCounts()
        match round:
            case "due" | "woken":
                tally = self._sweep(round, context)
            case "events":
                tally = RoundCounts(started=retry_waiting(self.app, _time_is_left(context), self._failed))
                if tally.started:
                    self.app.telemetry.logger.info("events went on", extra={"events": tally.started})
            case "housekeeping":
                Housekeeping(self.app).keep(_time_is_left(context))
            case "timed":
                self._fire_schedules(context)
            case _:
                raise Refused("not a round of recovery")
        try:
            self.app.scans.put(round, RoundResult(self.app.repository.clock.now(), tally))
        except Exception as error:  # the sessions go on all the same
            self._failed("note_round", error)
        self.app.telemetry.counted(
            "round ended", ROUND_METRICS, {"RecoveryRounds": 1}, [["round"]], round=round
        )
        return tally._asdict()

    def _sweep(self, sought: Sought, context: Any) -> RoundCounts:
        # AWS tells of few executions a second, and a round of woken sessions asks for each of them.
        threads = 1 if sought == "woken" else self.threads
        tally = sweep(self._sweep_deps(context)._replace(threads=threads), sought)
        self._log_counts("swept", tally, sought=sought)
        return tally

    def _fire_schedules(self, context: Any) -> None:
        firing = self.app.firing._replace(
            time_is_left=_time_is_left(context),
            on_error=self._failed,
            told=self.app.telemetry.schedule_fails,
            threads=self.threads,
        )
        counts = fire_due(firing)
        if counts:
            self.app.telemetry.logger.info("fired schedules", extra=dict(counts))

    def _recover_lost(self, event: dict[str, Any], context: Any) -> dict[str, Any]:
        try:
            lost = Lost.model_validate(event)
        except ValidationError as error:
            raise Refused(f"not lost sessions: {error.error_count()} fields are wrong") from None
        tally = recover_lost(self._sweep_deps(context), lost.sessions)
        self._log_counts("recovered", tally)
        return tally._asdict()

    def _sweep_deps(self, context: Any) -> SweepDeps:
        return SweepDeps(
            self.app,
            self.unreadable,
            time_is_left=_time_is_left(context),
            on_error=self._failed,
            threads=self.threads,
            pace=Pace(self.app.repository.clock),
        )

    def _log_counts(self, message: str, tally: RoundCounts, **ids: object) -> None:
        metrics = {
            "SessionsRecovered": tally.started + tally.restarted + tally.woken,
            "SessionsStuck": tally.unreadable + tally.put_off,
        }
        self.app.telemetry.counted(message, SWEEP_METRICS, metrics, **ids, **tally._asdict())

    def _admit(self, context: Any) -> dict[str, Any]:
        done = admit(self._admit_deps(context))
        counts = done.counts._asdict()
        if any(counts.values()):
            self.app.telemetry.logger.info("admitted", extra=counts)
        for provider, waited in done.waited.items():
            in_line = {"SessionsInLine": waited}
            self.app.telemetry.counted("in line", LINE_METRICS, in_line, [["provider"]], provider=provider)
        return counts

    def _admit_paid(self, event: dict[str, Any], context: Any) -> dict[str, Any]:
        try:
            paid = Paid.model_validate(event)
        except ValidationError as error:
            raise Refused(f"not places that are paid for: {error.error_count()} fields are wrong") from None
        counts = admit_paid(self._admit_deps(context), paid.places)._asdict()
        self.app.telemetry.logger.info("admitted", extra=counts)
        return counts

    def _admit_deps(self, context: Any) -> AdmitDeps:
        return AdmitDeps(
            self.app.repository,
            self.app.workflow,
            self.app.lines,
            self.app.settings.limits_of_providers,
            _time_is_left(context, SPARE_MILLISECONDS_OF_ONE),
            self._failed,
            workers=self.app.recovery_workers,
            threads=self.threads,
            pace=Pace(self.app.repository.clock),
        )

    def _find_failed(self, wanted: FailedSince, context: Any) -> dict[str, Any]:
        looking = self._failed_deps(context)
        try:
            found = find_failed(looking, wanted.failed_since, wanted.tenant, wanted.cursor)
        except ValueError:
            raise Refused("not a cursor of this listing") from None
        sessions = [{**run._asdict(), "failed_at": run.failed_at.isoformat()} for run in found.runs]
        answer = {**found._asdict(), "sessions": sessions}
        del answer["runs"]
        return answer

    def _repair_each(self, wanted: ManySessions, context: Any) -> dict[str, Any]:
        names = [SessionName(one.tenant, one.session_id) for one in wanted.sessions]
        outcomes = repair_each(self._failed_deps(context), names)
        self.app.telemetry.logger.info("repaired", extra={"sessions": len(names), **Counter(outcomes)})
        return {"outcomes": outcomes}

    def _failed_deps(self, context: Any) -> FailedDeps:
        return FailedDeps(self.app, _time_is_left(context), self._failed)

    def _repair(self, wanted: OneSession) -> dict[str, Any]:
        limits = self.app.settings.outage_limits
        try:
            outcome = repair(self.app.repository, self.app.workflow, wanted.tenant, wanted.session_id, limits)
        except CallerError as refusal:
            return {"refused": {"code": refusal.code, "message": str(refusal)}}
        ids = {"session_id": wanted.session_id, "tenant_hash": tenant_hash(wanted.tenant)}
        self.app.telemetry.logger.info("repaired", extra={**ids, "outcome": outcome})
        return {"outcome": outcome}

    def _failed(self, what: str, error: Exception) -> None:
        self.app.telemetry.failure(error, at=what)


def _time_is_left(context: Any, spare: int = SPARE_MILLISECONDS) -> Callable[[], bool]:
    """Whether the function has time for another session."""
    return lambda: bool(context.get_remaining_time_in_millis() > spare)
