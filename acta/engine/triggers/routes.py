"""Triggers: `/v1/triggers` (docs/design/triggers.md). Admins write them; what they start is theirs."""

import re
from typing import Annotated, ClassVar

from pydantic import Field, WithJsonSchema

from acta.engine.api.app import Api
from acta.engine.api.envelope import Response, page, success
from acta.engine.api.listing_cursor import MAX_PAGE, ListingCursor, listing_cursor
from acta.engine.api.resource import Applicable, Resource, applied_after, version_tag
from acta.engine.errors import Conflict, FieldsInvalid, NotFound
from acta.engine.triggers.answers import TriggerView, event_view, trigger_view, with_counts
from acta.engine.triggers.trigger import (
    MAX_TRIGGERS,
    TRIGGER_ID_PATTERN,
    TRIGGER_ID_RULE,
    Outcome,
    Trigger,
    TriggerSettings,
)
from acta.engine.untrusted.validation_messages import did_you_mean

TriggerId = Annotated[str, WithJsonSchema({"type": "string", "pattern": TRIGGER_ID_PATTERN})]
"""The handler checks it, to say what is wrong in its own words."""


class PutTrigger(TriggerSettings, Applicable):
    """A whole definition. Absent fields take their defaults."""

    EXAMPLES: ClassVar = {
        "github": {
            "webhook": {"scheme": "github", "secret": "github_hook"},
            "pattern": {"type": ["issues"], "action": ["opened"]},
            "goal": "Look at issue {{event.issue.number}}, {{event.issue.title}}, and say which team it is for.",
        },
        "orders": {
            "webhook": {"scheme": "hmac", "secret": "shop_hook", "header": "X-Signature"},
            "goal": "Look after order {{event.order.id}}: it is now {{event.order.state}}.",
            "key": "order-{{event.order.id}}",
            "on_limit": "wait",
        },
    }

    trigger_id: str | None = None
    """The id in the path, or absent: a trigger cannot be renamed."""
    version: Annotated[int, Field(ge=1)] | None = None
    """The version that it replaces; with another one in force: 409."""


def _triggers(api: Api) -> Resource[Trigger]:
    return Resource[Trigger](
        api,
        find=api.app.triggers.get,
        view=lambda trigger: _view(api, trigger),
        tag=version_tag,
        missing="There is no trigger of this id.",
        changed="The trigger was changed meanwhile. Read it again and decide again.",
    )


def _view(api: Api, trigger: Trigger) -> TriggerView:
    url = None
    if trigger.webhook is not None:
        url = api.app.signed_urls.url("hooks", api.caller.tenant, trigger.trigger_id)
    return trigger_view(trigger, url)


def list_triggers(api: Api) -> Response:
    """All on one page: a tenant has at most `MAX_TRIGGERS`."""
    return page([_view(api, each) for each in api.app.triggers.all(api.caller.tenant)], None)


def read_trigger(api: Api, trigger_id: str) -> Response:
    trigger = _triggers(api).get(trigger_id)
    counts = api.app.trigger_events.counts(api.caller.tenant, trigger_id)
    return success(with_counts(_view(api, trigger), counts), headers={"ETag": version_tag(trigger)})


def write_trigger(api: Api, trigger_id: TriggerId, body: PutTrigger) -> Response:
    triggers, tenant, now = _triggers(api), api.caller.tenant, api.app.clock.now()
    old = api.app.triggers.get(tenant, trigger_id)
    if old is not None:
        triggers.check_as_read(old, body.version)
    elif not re.fullmatch(TRIGGER_ID_PATTERN, trigger_id):
        raise FieldsInvalid({"trigger_id": [TRIGGER_ID_RULE]})
    elif body.version is not None or "if-match" in api.request.headers:
        raise triggers.refusal()
    elif len(api.app.triggers.all(tenant)) >= MAX_TRIGGERS:
        raise Conflict(f"There are {MAX_TRIGGERS} triggers already, which is the most. Delete one.")
    _check(api, trigger_id, body)
    new = Trigger(
        **{name: getattr(body, name) for name in TriggerSettings.model_fields},
        name=trigger_id,
        created_by=api.caller.user,
        roles=tuple(sorted(api.caller.roles)),
        quotation_key=api.app.clock.new_id("trg") if old is None else old.quotation_key,
        applied=applied_after(body, None if old is None else old.applied),
        version=1 if old is None else old.version + 1,
        created_at=now if old is None else old.created_at,
        updated_at=now,
    )
    if old is not None:
        return triggers.replaced(api.app.triggers.replace, old, new)
    with triggers.writing():
        api.app.triggers.create(tenant, new)
    return success(_view(api, new), 201)


def delete_trigger(api: Api, trigger_id: str, version: Annotated[int | None, Field(ge=1)] = None) -> Response:
    triggers = _triggers(api)
    old = triggers.get_as_read(trigger_id, version)
    answer = triggers.deleted(api.app.triggers.delete, old)
    api.app.trigger_events.forget_counts(api.caller.tenant, trigger_id)
    return answer


def pause_trigger(api: Api, trigger_id: str) -> Response:
    return _set_paused(api, trigger_id, paused=True)


def resume_trigger(api: Api, trigger_id: str) -> Response:
    return _set_paused(api, trigger_id, paused=False)


def _set_paused(api: Api, trigger_id: str, *, paused: bool) -> Response:
    """Whose its sessions are does not change."""
    triggers = _triggers(api)
    old = triggers.get(trigger_id)
    if old.paused == paused:
        return triggers.answer(old)
    changed = {"paused": paused, "version": old.version + 1, "updated_at": api.app.clock.now()}
    return triggers.replaced(api.app.triggers.replace, old, old.model_copy(update=changed))


def list_trigger_events(
    api: Api,
    trigger_id: str,
    outcome: Outcome | None = None,
    limit: Annotated[int, Field(ge=1, le=MAX_PAGE)] = 50,
    cursor: ListingCursor = None,
) -> Response:
    tenant = api.caller.tenant
    _triggers(api).get(trigger_id)
    with listing_cursor():
        found, after = api.app.trigger_events.page(tenant, trigger_id, outcome, limit, cursor)
    return page([event_view(one) for one in found], after)


def replay_trigger_event(api: Api, trigger_id: str, event_id: str) -> Response:
    """The event waits again, so that recovery tries it in the next minute."""
    tenant, events = api.caller.tenant, api.app.trigger_events
    trigger = _triggers(api).get(trigger_id)
    one = events.get(tenant, trigger_id, event_id)
    if one is None:
        raise NotFound("The trigger has no event of this id, or no longer.")
    if trigger.paused:
        raise Conflict("The trigger is paused. Resume it, then replay the event.")
    if one.outcome not in ("refused", "failed") or one.event is None:
        raise Conflict(f"The event's outcome is {one.outcome}: only what was refused or failed is replayed.")
    waiting = one._replace(outcome="waiting", code="REPLAYED", reason="It is tried in the next minute.")
    if not events.settle(tenant, trigger_id, one, waiting):
        raise Conflict("The event was changed meanwhile. Read it again.")
    return success(event_view(waiting), 202)


def _check(api: Api, trigger_id: str, body: PutTrigger) -> None:
    """Raises FieldsInvalid where no event could start a session."""
    tenant, wrong = api.caller.tenant, dict[str, list[str]]()
    if body.trigger_id not in (None, trigger_id):
        wrong["trigger_id"] = ["A trigger keeps its id. Leave it out, or give the one in the path."]
    if api.app.definitions.agent(tenant, body.agent_id) is None:
        wrong["agent_id"] = ["There is no agent of that id."]
    if body.source is not None:
        named = api.settings.sources_for(tenant)
        if body.source not in named:
            hint = (
                did_you_mean(body.source, named)
                if named
                else "The operator has set up none (docs/options.md)."
            )
            wrong["source"] = [f"There is no event source of that name for you. {hint}"]
    if body.webhook is not None:
        known = [each.name for each in api.app.secret_names.all(tenant)]
        if body.webhook.secret not in known:
            hint = did_you_mean(body.webhook.secret, known) if known else "There is none yet."
            wrong["webhook.secret"] = [
                f"There is no secret of that name. {hint} Set it with PUT /v1/tool-secrets/{body.webhook.secret}."
            ]
    if wrong:
        raise FieldsInvalid(wrong)
