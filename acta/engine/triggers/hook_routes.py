"""A webhook of a trigger: `POST /v1/hooks/{token}` (docs/design/triggers.md).

The token is checked before anything is read, and the signature before the event is looked at. Whoever has no valid URL
gets 404, whoever has one and cannot sign gets 401; neither writes anything.
"""

from acta.engine.api.app import Api
from acta.engine.api.envelope import Response, success
from acta.engine.api.json_body import parse_json
from acta.engine.bound_tenant import bound_to, tenant_hash
from acta.engine.errors import FieldsInvalid, NotFound, Unauthorized
from acta.engine.signed_urls import NO_SUCH_URL
from acta.engine.triggers.answers import delivered_view
from acta.engine.triggers.fire import deliver
from acta.engine.triggers.webhook import id_of, verified


def deliver_event(api: Api, token: str) -> Response:
    signed = api.app.signed_urls.verify("hooks", token)
    (trigger_id,) = signed.ids
    tenant, now = signed.tenant, api.app.clock.now()
    with bound_to(tenant):
        trigger = api.app.triggers.get(tenant, trigger_id)
        if trigger is None or trigger.webhook is None:
            raise NotFound(NO_SUCH_URL)
        secret = api.app.secret_reader(tenant, trigger.webhook.secret)
        if secret is None:
            raise Unauthorized("The secret that the trigger names is not there. Nothing was done.")
        body = api.request.body
        delivered = verified(trigger.webhook, secret, api.request.headers, body, now)
        event = parse_json(api.request.text)
        if not event:
            raise FieldsInvalid({"body": ["An event is an object with at least one field."]})
        if delivered.kind:
            event.setdefault("type", delivered.kind)
        source_id = id_of(trigger.webhook, delivered, event, body)
        one = deliver(api.app, tenant, trigger, source_id, event, now)
    if one is not None:
        known = {"event_id": one.event_id, "session_id": one.session_id, "outcome": one.outcome}
        told = {"trigger_id": trigger_id, "tenant_hash": tenant_hash(tenant), "code": one.code, **known}
        api.telemetry.logger.info("event", extra={name: value for name, value in told.items() if value})
    return success(delivered_view(one), 202)
