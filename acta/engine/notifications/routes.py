"""Where the tenant is told: `/v1/notifications` (docs/design/people.md 31, ADR 68). The secret goes in and never comes
out again."""

from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from acta.engine.api.app import Api
from acta.engine.api.envelope import Response, no_content, success
from acta.engine.api.json_body import RequestBody
from acta.engine.egress.address import AddressRefused
from acta.engine.errors import FieldsInvalid, NotFound
from acta.engine.notifications.answers import notifications_view
from acta.engine.notifications.receiver import TenantReceiver, usable_secret
from acta.engine.sessions.bodies import NotifyUrl
from acta.engine.store.keys import RECEIVERS_SECRET

NONE = "Notifications are not set."


class PutNotifications(RequestBody):
    """Where the tenant is told."""

    EXAMPLES: ClassVar = {
        "webhook": {
            "url": "https://hooks.example.com/acta",
            "secret": "whsec_ZXhhbXBsZS1rZXktb2YtdGhpcnR5LXR3by1ieXRlcy4=",
        },
        "secret": {"secret": "whsec_ZXhhbXBsZS1rZXktb2YtdGhpcnR5LXR3by1ieXRlcy4="},
    }

    url: NotifyUrl | None = None
    """The tenant's webhook: https, at a host that the operator allows. null: only a session's `notify_url` is used."""
    secret: Annotated[str, AfterValidator(usable_secret)] | None = Field(default=None, repr=False)
    """What notifications are signed with. It is never shown. 16 to 512 printable ASCII characters without a space,
    or `whsec_` and the base64 of 16 bytes or more. Absent: it stays as it was."""


def read_notifications(api: Api) -> Response:
    receiver = api.app.receivers.get(api.caller.tenant)
    if receiver is None:
        raise NotFound(NONE)
    return success(notifications_view(receiver))


def set_notifications(api: Api, body: PutNotifications) -> Response:
    """The secret is stored last. A request that fails in between is repeated; until then nothing is signed with a
    secret that the admin does not know, and what was not delivered comes again.
    """
    try:
        if body.url is not None:
            api.app.receiver_hosts.check(body.url)
    except AddressRefused as refused:
        raise FieldsInvalid({"url": [refused.explained]}) from None
    tenant, now = api.caller.tenant, api.app.clock.now()
    old = api.app.receivers.get(tenant)
    if old is None and body.secret is None:
        raise FieldsInvalid({"secret": ["The first time a secret is needed."]})
    receiver = TenantReceiver(
        tenant=tenant,
        url=body.url,
        created_at=now if old is None else old.created_at,
        updated_at=now,
        updated_by=api.caller.user,
    )
    api.app.receivers.put(receiver)
    if body.secret is not None:
        api.app.receiver_secrets.put(tenant, RECEIVERS_SECRET, body.secret)
    return success(notifications_view(receiver), 201 if old is None else 200)


def delete_notifications(api: Api) -> Response:
    """Sessions' own webhooks are no longer told anything either, because there is no secret to sign with."""
    tenant = api.caller.tenant
    if api.app.receivers.get(tenant) is None:
        raise NotFound(NONE)
    api.app.receiver_secrets.delete(tenant, RECEIVERS_SECRET)
    api.app.receivers.delete(tenant)
    return no_content()
