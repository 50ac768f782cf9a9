"""An admin sends an event to a trigger by hand: `POST /v1/triggers/{trigger_id}/events` (docs/design/triggers.md)."""

from typing import Annotated, ClassVar

from pydantic import Field

from acta.engine.api.app import Api
from acta.engine.api.envelope import Response, success
from acta.engine.api.json_body import RequestBody
from acta.engine.errors import FieldsInvalid, Forbidden, NotFound
from acta.engine.triggers.answers import delivered_view
from acta.engine.triggers.fire import deliver
from acta.engine.triggers.trigger import MAX_QUOTED_BYTES, size_of
from acta.engine.untrusted.texts import NOT_BLANK, READABLE, JsonObject


class SendEvent(RequestBody):
    """An event as its source would bring it."""

    EXAMPLES: ClassVar = {
        "a file": {"event": {"path": "inbox/may.pdf", "bytes": 48213, "written_by": "api"}},
        "again": {"event": {"type": "order.paid", "order": {"id": "4711"}}, "event_id": "order-4711-paid"},
    }

    event: JsonObject
    """What triggers see of the event, at most 8,192 bytes."""
    event_id: Annotated[str, Field(max_length=200), READABLE, NOT_BLANK] | None = None
    """The same id counts once. Absent: a new one each time."""


def send_trigger_event(api: Api, trigger_id: str, body: SendEvent) -> Response:
    tenant, clock = api.caller.tenant, api.app.clock
    trigger = api.app.triggers.get(tenant, trigger_id)
    if trigger is None:
        raise NotFound("There is no trigger of this id.")
    if trigger.created_by != api.caller.user:
        raise Forbidden(
            "Only whoever wrote the trigger last sends it events, because its sessions are theirs. Write it again to "
            "make them yours."
        )
    size = size_of(body.event)
    if not 2 < size <= MAX_QUOTED_BYTES:
        rule = f"An event that is sent by hand has 1 field at least and {MAX_QUOTED_BYTES:,} bytes at most."
        raise FieldsInvalid({"event": [rule]})
    # Ids of events that were sent by hand are apart from those that the source gives.
    source_id = f"sent {body.event_id or clock.new_id('sent')}"
    one = deliver(api.app, tenant, trigger, source_id, body.event, clock.now())
    return success(delivered_view(one), 202)
