"""Triggers and their events, as the API answers them."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from acta.engine.agents.answers import AppliedFromView
from acta.engine.api.answers import Counter, Instant, TypedDict, as_json, copied
from acta.engine.log.head import Visibility
from acta.engine.schedules.answers import NamedLimitsView
from acta.engine.triggers.trigger import Counts, Outcome, Scheme, Trigger, TriggerEvent


class WebhookView(TypedDict):
    """How the sender signs."""

    scheme: Scheme
    secret: str
    """The name of the tenant's secret."""
    header: NotRequired[str]
    prefix: str
    encoding: Literal["hex", "base64"]
    id_header: NotRequired[str]
    timestamp_header: NotRequired[str]
    signed: NotRequired[str]


class TriggerView(TypedDict):
    """Which events start a session or are said to one."""

    trigger_id: str
    webhook: WebhookView | None
    url: str | None
    """Where the events are posted. null: they come from a source of the operator's."""
    source: str | None
    pattern: dict[str, Any] | None
    agent_id: str
    goal: str
    key: str | None
    on_limit: Literal["wait", "refuse"]
    limits: NamedLimitsView
    visibility: Visibility | None
    """null: the deployment's default."""
    metadata: dict[str, str]
    paused: bool
    created_by: str
    """The subject of whoever wrote it last, to whom its sessions belong."""
    roles: list[str]
    """The roles that this person had then: its sessions may do what these allow."""
    applied: AppliedFromView | None
    version: Counter
    created_at: Instant
    updated_at: Instant


class EventCountsView(TypedDict):
    """How many events came to each end since the trigger was made."""

    started: Counter
    """Started a session."""
    told: Counter
    """Were said to a session."""
    refused: Counter
    failed: Counter
    ignored: Counter
    """Did not fit the pattern. The history does not have them."""
    own_files: Counter
    """Ignored as well, because a session that this trigger had led to wrote the file."""


class TriggerWithCountsView(TriggerView):
    """A trigger, and how many events came to it."""

    events: EventCountsView


class TriggerEventView(TypedDict):
    """How an event ended. What it said is not shown."""

    event_id: str
    received_at: Instant
    outcome: Outcome
    """`waiting`: for the tenant's limits, or for a session to read what it was sent. `started`: it has started a
    session. `told`: it was said to a session. `refused`: by the trigger or the tenant's limits. `failed`: the session
    could not be started. What was refused or failed can be replayed."""
    session_id: str | None
    code: str | None
    """Why it waits, was refused or failed, as a code, and in words as `reason`."""
    reason: str | None


class DeliveredEventView(TypedDict):
    """What became of an event."""

    outcome: Literal["waiting", "started", "told", "refused", "failed", "ignored"]
    event_id: NotRequired[str]
    """Absent: the event is ignored, because it does not fit the trigger's pattern."""


def delivered_view(one: TriggerEvent | None) -> DeliveredEventView:
    """`one` None: the event is ignored."""
    return {"outcome": "ignored"} if one is None else {"outcome": one.outcome, "event_id": one.event_id}


def trigger_view(trigger: Trigger, url: str | None) -> TriggerView:
    return copied(
        TriggerView, trigger, url=url, limits=as_json(trigger.limits), visibility=trigger.visibility
    )


def with_counts(view: TriggerView, counts: Counts) -> dict[str, Any]:
    """A `TriggerWithCountsView`."""
    return {**view, "events": counts._asdict()}


def event_view(one: TriggerEvent) -> TriggerEventView:
    return copied(
        TriggerEventView,
        one,
        session_id=one.session_id or None,
        code=one.code or None,
        reason=one.reason or None,
    )
