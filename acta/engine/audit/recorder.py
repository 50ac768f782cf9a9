"""Writes each request of a route with an action to the audit trail: before it is acted on, and how it ended (ADR 54).
Reads are recorded once in an hour, where the environment wants them (ADR 142).

A row of `operations.py` says which action a request is, and which fields of the request and of the answer its record
has besides the variables of the path.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

from acta.engine.api.envelope import Response
from acta.engine.api.identity import Caller
from acta.engine.api.incoming import Request
from acta.engine.audit.record import (
    MAX_ROLES,
    UNKNOWN,
    Audit,
    AuditRecord,
    RecordExists,
    outcome_of,
    shortened,
)
from acta.engine.clock import AUDIT, make_id
from acta.engine.errors import TransientError, Unauthorized
from acta.engine.untrusted.exact_json import value_at
from acta.engine.untrusted.path import is_private

if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta.engine.people.intervention import Intervention

DECIDED_INPUT = "tool_call.input_hash"
"""In the record of a decision about a call: the input that was decided on, which is the person's if they gave one."""
PRIVATE_FILE = "~/…"
"""Replaces the path of a private file: nobody else may read which of their own files a person wrote."""
RENAMED = {"version": "restored_version"}
"""A variable of a path whose name the answer uses otherwise."""
STOPPING: frozenset[str] = frozenset({"session.pause", "session.cancel", "schedule.pause", "trigger.pause"})
"""They end spending and harm, so they are not refused when the key of the pseudonyms cannot be read."""
READS_KEPT = 10_000
"""How many records of reads a worker remembers. It writes those that it has forgotten once more, which changes nothing.
"""
Missing = Literal["record", "who"]
"""What the trail lacks: the request or its end, or only the pseudonym of who sent it."""


class Recorder:
    def __init__(self, audit: Audit, on_missing: Callable[[Exception, Missing], None]) -> None:
        """`on_missing`: is told why something could not be recorded."""
        self._audit = audit
        self._on_missing = on_missing
        self._reads: set[str] = set()
        """The ids of the records of reads that this worker knows to be there."""

    def recorded(
        self, request: Request, arguments: Mapping[str, Any], act: Callable[[], Response]
    ) -> Response:
        """The answer of `act`, also if it refuses or fails. `act` is not called if its beginning cannot be recorded.

        Raises what the trail raises. A worker that dies in `act` leaves the record that it had begun.
        """
        tenant, begun = self._begin(request, arguments)
        response = act()
        self._end(tenant, begun, request.route.recorded_answer, response)
        return response

    def _begin(self, request: Request, arguments: Mapping[str, Any]) -> tuple[str, AuditRecord]:
        caller, action = request.caller, request.route.action
        if caller is None or action is None:
            raise Unauthorized("This needs a bearer token.")
        details = dict(_asked(request, arguments))
        try:
            record = AuditRecord(
                audit_id=self._audit.clock.new_id(AUDIT),
                at=self._audit.clock.now(),
                who=self._who(caller, action),
                roles=_roles(caller),
                source=request.source,
                via=request.via,
                action=action,
                details=details,
            )
            self._audit.trail.put(caller.tenant, record)
        except Exception as error:
            self._on_missing(error, "record")
            raise
        return caller.tenant, record

    def read(self, request: Request, sessions: Set[str], shown: Mapping[str, str]) -> None:
        """Records what a read is about to be answered with: each of the private `sessions` of others, and what `shown`
        names. Raises what the trail raises; then the read may not be answered.

        The id of such a record is made from who, what and the hour. So polls of one thing, by whichever workers, are
        one item, which costs one write and no second one after it.
        """
        questions = {name: value for name, value in request.variables.items() if name == "intervention_id"}
        things = [{"session_id": each, **questions} for each in sorted(sessions)]
        things += [{name: shortened(value) for name, value in shown.items()}] if shown else []
        try:
            for thing in things:
                self._read(request, thing)
        except Exception as error:
            self._on_missing(error, "record")
            raise

    def _read(self, request: Request, thing: Mapping[str, str]) -> None:
        caller, action, now = request.caller, request.route.action, self._audit.clock.now()
        if caller is None or action is None:
            raise Unauthorized("This needs a bearer token.")
        hour = now.replace(minute=0, second=0, microsecond=0)
        who = self._audit.pseudonyms.of(caller.tenant, caller.user)
        said = json.dumps([caller.tenant, who, action, thing], sort_keys=True)
        record_id = make_id(AUDIT, int(hour.timestamp() * 1_000), sha256(said.encode()).digest())
        if record_id in self._reads:
            return
        record = AuditRecord(
            audit_id=record_id,
            at=hour,
            ended_at=now,
            who=who,
            roles=_roles(caller),
            source=request.source,
            via=request.via,
            action=action,
            details=thing,
            outcome="done",
        )
        with suppress(RecordExists):
            self._audit.trail.put(caller.tenant, record)
        if len(self._reads) >= READS_KEPT:
            self._reads.clear()
        self._reads.add(record_id)

    def _who(self, caller: Caller, action: str) -> str:
        try:
            return self._audit.pseudonyms.of(caller.tenant, caller.user)
        except TransientError as error:
            if action not in STOPPING:
                raise
            self._on_missing(error, "who")
            return UNKNOWN

    def _end(self, tenant: str, begun: AuditRecord, fields: tuple[str, ...], response: Response) -> None:
        told = dict(_answered(begun.action, fields, response.data))
        ended = begun.model_copy(
            update={
                "ended_at": self._audit.clock.now(),
                "details": {**begun.details, **told, **response.recorded},
                "outcome": outcome_of(response.status),
                "code": response.code,
            }
        )
        try:
            self._audit.trail.put(tenant, ended)
        except Exception as error:  # what was done was done, and its beginning is recorded
            self._on_missing(error, "record")


def _roles(caller: Caller) -> tuple[str, ...]:
    return tuple(shortened(role) for role in sorted(caller.roles)[:MAX_ROLES])


def _asked(request: Request, arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Raises PathRefused for a path of a file that is not usable."""
    if request.route.takes_bytes:
        path = request.file_path
        yield "path", PRIVATE_FILE if is_private(path) else path
    else:
        for name, value in request.variables.items():
            yield RENAMED.get(name, name), shortened(value)
    for name in request.route.recorded_request:
        said = arguments.get(name, getattr(arguments.get("body"), name, None))
        if said is not None:
            yield name, shortened(str(said))


def _answered(action: str, fields: tuple[str, ...], data: Any) -> Iterator[tuple[str, str]]:
    for name in fields:
        value = value_at(data, *name.split("."))
        if value is not None:
            yield name, shortened(str(value))
    decided = _decided_input(data) if action == "intervention.resolve" else None
    if decided is not None:
        yield DECIDED_INPUT, decided


def _decided_input(decision: Any) -> str | None:
    """The hash of the input that the decision is about; None: it is about no call."""
    given = value_at(decision, "input", "input")
    if value_at(decision, "resolution") != "modify" or given is None:
        asked_about: str | None = value_at(decision, *DECIDED_INPUT.split("."))
        return asked_about
    # Imported here, because few workers that record anything need it.
    from acta.engine.log.conversation import input_hash

    return input_hash(given)


class DecisionDetails(dict[str, str]):
    """What the record says of the question that a request has decided by the way; empty: it has decided none."""

    def by(self, one: "Intervention | None") -> None:
        self.clear()
        if one is not None:
            self |= {"intervention_id": one.intervention_id, "type": one.type, "option": one.resolution or ""}
