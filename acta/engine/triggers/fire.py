"""An event comes to a trigger: it starts a session, or is said to the one that its key names (docs/design/triggers.md).

An event is stored before anything is done for it, and waits from then on. So a worker may die at any point: recovery
goes on with what waits each minute (`retry_waiting`), and whatever is done twice is found to be done. The session's id
is made from the event, and a message is committed together with a record of it.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from acta.engine.agents.agent import require_start_role
from acta.engine.app import App
from acta.engine.bound_tenant import bound_to, tenant_hash
from acta.engine.clock import MESSAGE, make_id
from acta.engine.errors import CallerError, LimitReached, PoisonedSession, SessionNotFound
from acta.engine.log.commit import IdempotencyKey
from acta.engine.log.head import MAX_UNDELIVERED, Head, Origin, SessionSettings
from acta.engine.log.store import KeyTaken
from acta.engine.people.requester import agent_of
from acta.engine.recovery.recover import wake_engine
from acta.engine.sessions.woken import WokenSession, start_woken, woken_id
from acta.engine.telemetry import trigger_fails
from acta.engine.triggers.pattern import matches
from acta.engine.triggers.sources import Received, pattern_for
from acta.engine.triggers.store import SHARDS
from acta.engine.triggers.trigger import (
    LONGEST_WAIT,
    MAX_EVENT_BYTES,
    Outcome,
    Trigger,
    TriggerEvent,
    file_of,
    hashed,
    key_of,
    message_of,
    size_of,
)

STARTING = timedelta(seconds=60)
"""How long a session that stands for a key may take to be started, before the next event takes its place: longer than
the function `wake` runs."""
BUSY, PAUSED, DELETED, TOO_LARGE = "BUSY", "PAUSED", "NOT_FOUND", "PAYLOAD_TOO_LARGE"
"""Codes of events that are not the codes of errors of a start."""
ATTEMPTS = 5
"""At naming the session for a key, while other events of the same key do so."""


class NotYet(Exception):
    """The event waits: the session that its key names is just being started, or has too many messages to read."""


def fire(app: App, tenant: str, source: str, received: Received, received_at: datetime) -> list[TriggerEvent]:
    """Gives an event of one of the operator's sources to each trigger that the tenant has for it, at most once for each
    event id. Returns how it stands with each trigger that takes it.

    Raises what stores and the engine raise; then the same event has to be given again. At that time nothing is lost:
    what was taken before waits.
    """
    with bound_to(tenant):
        known = app.settings.event_sources[source]
        triggers = [
            each.model_copy(update={"pattern": pattern_for(known, each.pattern)})
            for each in app.triggers.all(tenant)
            if each.source == source
        ]
        above = _triggers_above(app, tenant, received.session_id) if triggers and received.session_id else ()
        event_id, event = received.event_id, received.event
        given = [deliver(app, tenant, each, event_id, event, received_at, above) for each in triggers]
    return [one for one in given if one is not None]


def _triggers_above(app: App, tenant: str, session_id: str) -> tuple[str, ...]:
    """The ids of the triggers that have led to the session, or to the one at the top of its tree: its own one last."""
    try:
        head = app.repository.newest(tenant, session_id).head
        if head.parent is not None:
            head = app.repository.newest(tenant, head.parent.chain[0].session_id).head
    except (SessionNotFound, PoisonedSession):
        return ()
    origin = head.origin
    return () if origin is None or origin.kind != "trigger" else (*origin.above, origin.id)


def deliver(
    app: App,
    tenant: str,
    trigger: Trigger,
    source_id: str,
    event: Mapping[str, Any],
    received_at: datetime,
    above: tuple[str, ...] = (),
) -> TriggerEvent | None:
    """Takes the event and does what the trigger says. None: the trigger is not for such events. The tenant is bound.
    `above`: the triggers that have led to the event.
    """
    fits = trigger.pattern is None or matches(trigger.pattern, event)
    if not fits or trigger.trigger_id in above:  # else it would start its own sessions without end
        app.trigger_events.count(tenant, trigger.trigger_id, "own_files" if fits else "ignored")
        return None
    kept = event if size_of(event) <= MAX_EVENT_BYTES else None
    taken, is_new = app.trigger_events.take(tenant, trigger.trigger_id, source_id, kept, received_at, above)
    return attempt(app, tenant, trigger, taken) if is_new else taken


def attempt(app: App, tenant: str, trigger: Trigger, one: TriggerEvent) -> TriggerEvent:
    """Does for an event that waits what the trigger says, and returns how it stands then."""
    after = _attempted(app, tenant, trigger, one)
    if after != one:
        is_mine = app.trigger_events.settle(tenant, trigger.trigger_id, one, after)
        if is_mine and after.outcome in ("refused", "failed") and after.code != PAUSED:
            trigger_fails(tenant, trigger.trigger_id, after.outcome, after.code)
    return after


def _attempted(app: App, tenant: str, trigger: Trigger, one: TriggerEvent) -> TriggerEvent:
    if one.event is None:
        why = f"The event has more than {MAX_EVENT_BYTES:,} bytes."
        return one._replace(outcome="failed", code=TOO_LARGE, reason=why)
    if trigger.paused:
        return one._replace(outcome="refused", code=PAUSED, reason="The trigger is paused.")
    waits = app.clock.now() - one.received_at < LONGEST_WAIT
    try:
        head, was_told = _start_or_tell(app, tenant, trigger, one, one.event)
    except NotYet as why:
        return one._replace(outcome="waiting" if waits else "refused", code=BUSY, reason=str(why))
    except LimitReached as reached:
        waits = waits and trigger.on_limit == "wait"
        outcome: Outcome = "waiting" if waits else "refused"
        return one._replace(outcome=outcome, code=reached.code, reason=str(reached))
    except CallerError as error:
        return one._replace(outcome="failed", code=error.code, reason=str(error))
    outcome = "told" if was_told else "started"
    return TriggerEvent(one.event_id, one.received_at, outcome, head.session_id)


def _start_or_tell(
    app: App, tenant: str, trigger: Trigger, one: TriggerEvent, event: Mapping[str, Any]
) -> tuple[Head, bool]:
    """The session, and whether it was there already. Raises NotYet, LimitReached and other errors of a start."""
    made = str(trigger.created_at.timestamp())
    session_id = woken_id(one.received_at, "trigger", tenant, trigger.trigger_id, made, one.event_id)
    key = None if trigger.key is None else key_of(trigger.key, event)
    if key is None:
        return _start(app, tenant, trigger, one, event, session_id), False
    events, request = app.trigger_events, _request(tenant, trigger, one)
    record = app.session_index.idempotency_record(tenant, request.route, request.key)
    if record is not None:  # a worker died after the message was committed
        return app.repository.newest(tenant, record.answer["session_id"]).head, True
    for _ in range(ATTEMPTS):
        holder = events.holder(tenant, trigger.trigger_id, key)
        if holder is not None and holder.session_id != session_id:
            try:
                told = _tell(app, tenant, trigger, one, event, holder.session_id)
            except SessionNotFound:
                told = None
                if app.clock.now() - holder.since < STARTING:
                    raise NotYet("another event with this key is just starting a session") from None
            if told is not None:
                return told, True
        mine = holder is not None and holder.session_id == session_id
        if mine or events.hold(tenant, trigger.trigger_id, key, session_id, holder):
            return _start(app, tenant, trigger, one, event, session_id), False
    raise NotYet("too many events with this key come at once")


def _request(tenant: str, trigger: Trigger, one: TriggerEvent) -> IdempotencyKey:
    return IdempotencyKey(tenant, f"trigger {trigger.trigger_id}", one.event_id, "", 202)


def _start(
    app: App, tenant: str, trigger: Trigger, one: TriggerEvent, event: Mapping[str, Any], session_id: str
) -> Head:
    settings = SessionSettings(
        metadata=trigger.metadata, visibility=trigger.visibility or app.settings.default_visibility
    )
    return start_woken(
        app.repository,
        app.workflow,
        app.definitions,
        app.settings,
        WokenSession(
            tenant=tenant,
            session_id=session_id,
            origin=Origin(
                kind="trigger",
                id=trigger.trigger_id,
                at=one.received_at,
                event=one.event_id,
                above=one.above,
            ),
            agent_id=trigger.agent_id,
            message=_message(app, tenant, trigger, one, event, is_private=settings.visibility == "private"),
            created_by=trigger.created_by,
            roles=frozenset(trigger.roles),
            settings=settings,
            limits=trigger.limits.values,
            read_outside=True,
        ),
    )


def _message(
    app: App, tenant: str, trigger: Trigger, one: TriggerEvent, event: Mapping[str, Any], *, is_private: bool
) -> str:
    """What the agent is told. A large event is stored as a file first; the same bytes may be stored again."""
    path = file_of(trigger, one.event_id, is_private=is_private)
    said = message_of(trigger, one.event_id, event, path)
    if said.file is not None:
        # The id has a `/`, so the file counts as written for an agent and sets off no trigger on files.
        write_id = f"{one.event_id}/event"
        app.files.seen_by(trigger.created_by).write(tenant, path, said.file, write_id)
    return said.text


def _tell(
    app: App, tenant: str, trigger: Trigger, one: TriggerEvent, event: Mapping[str, Any], session_id: str
) -> Head | None:
    """Says the event to the session that its key names, once. None: the session's run is over, or it is private to
    somebody else.

    The event is a message that waits for the next turn. It never answers a question of the agent's: that is for a
    person. Raises SessionNotFound, NotYet, StartRoleMissing, and Conflict where the agent was deleted.
    """
    repository = app.repository
    session = repository.newest(tenant, session_id)
    require_start_role(agent_of(app.definitions, session.head), frozenset(trigger.roles))
    text = _message(app, tenant, trigger, one, event, is_private=session.head.private_to is not None)
    at = int(one.received_at.timestamp() * 1_000)
    message_id = make_id(MESSAGE, at, bytes.fromhex(hashed(f"{session_id}/{one.event_id}"))[:10])
    key = f"say/{message_id}"
    try:
        for change in repository.attempts(session, key):
            head = change.head
            # A trigger that somebody else has written since does not reach its former writer's private session.
            if head.is_over or head.run is None or head.private_to not in (None, trigger.created_by):
                return None
            if len(head.undelivered) >= MAX_UNDELIVERED:
                raise NotYet("the session has many messages to read")
            change.user_message(message_id, text, trigger.created_by, frozenset(trigger.roles))
            change.set(read_outside=True)
            change.commit(idempotency=_request(tenant, trigger, one))
    except KeyTaken:  # it was said before
        session = repository.newest(tenant, session_id)
    wake_engine(repository, app.workflow, session)
    return session.head


def retry_waiting(
    app: App, time_is_left: Callable[[], bool], failed: Callable[[str, Exception], None]
) -> int:
    """Tries events of all tenants again that wait. Returns how many went on. After an event that met its tenant's
    limits no other of this tenant is tried. An error of one event stops no other: `failed` is told of it.
    """
    events, now, went_on = app.trigger_events, app.clock.now(), 0
    full: set[str] = set()
    minute = int(now.timestamp()) // 60
    for number in range(SHARDS):  # each minute begins with another part
        for name in events.waiting((number + minute) % SHARDS, now):
            if not time_is_left():
                return went_on
            if name.tenant in full:
                continue
            try:
                with bound_to(name.tenant):
                    after = _retried(app, name.tenant, name.trigger_id, name.event_id)
            except Exception as error:
                failed(f"event {name.event_id} of {tenant_hash(name.tenant)}", error)
                continue
            if after is None:
                continue
            if after.outcome != "waiting":
                went_on += 1
            elif after.code != BUSY:
                full.add(name.tenant)
    return went_on


def _retried(app: App, tenant: str, trigger_id: str, event_id: str) -> TriggerEvent | None:
    one = app.trigger_events.get(tenant, trigger_id, event_id)
    if one is None or one.outcome != "waiting":
        return None
    trigger = app.triggers.get(tenant, trigger_id)
    if trigger is not None:
        return attempt(app, tenant, trigger, one)
    gone = one._replace(outcome="failed", code=DELETED, reason="The trigger was deleted.", event=None)
    app.trigger_events.settle(tenant, trigger_id, one, gone)
    return gone
