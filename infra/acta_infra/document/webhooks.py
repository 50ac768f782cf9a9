"""The `webhooks` of the document: what a webhook of a tenant or of a session is sent (ADR 68).

The payloads are the domain's own models (`shared/acta_engine/notifications/notification.py`), without what is not sent.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from acta_engine.log.head import TERMINAL
from acta_engine.notifications.notification import EndNotification, Notification, QuestionNotification
from acta_engine.notifications.webhooks import REFUSALS
from acta_infra.document.schemas import REF

Json = dict[str, Any]

NOT_SENT = "private_to"
EVENTS: Mapping[str, tuple[type[Notification], str]] = {
    "intervention.opened": (QuestionNotification, "A person has to decide"),
    "intervention.warned": (QuestionNotification, "A question is about to expire"),
    "session.ended": (EndNotification, "A run has completed, failed or was cancelled"),
}
ABOUT = """\
Sent to the URL of `PUT /v1/notifications` and to a session's `notify_url`.

**Signature.** As Standard Webhooks (https://www.standardwebhooks.com) has it, whose libraries check it. By hand: join
`webhook-id`, `webhook-timestamp` and the raw bytes of the body with dots, make the HMAC-SHA256 of that with the key,
and compare `v1,` and its base64 with `webhook-signature`, in constant time. The key is the bytes of the tenant's
secret; of a secret that begins with `whsec_` it is what the base64 behind that stands for. Refuse a timestamp that is
more than five minutes away.

**Repeats.** What is neither taken (2xx) nor refused for good comes again each minute, for six hours, with the same
`webhook-id`: drop ids that you have seen. Expect no order. Redirects are not followed.
"""
SIGNED: Mapping[str, str] = {
    "webhook-id": "The same for each repeat.",
    "webhook-timestamp": "When it was sent, in whole seconds since 1970.",
    "webhook-signature": "`v1,` and the base64 of the HMAC-SHA256 of `<id>.<timestamp>.<body>`.",
}


def wanted() -> dict[str, tuple[str, JsonSchemaMode, TypeAdapter[Any]]]:
    """By name, the schemas that the webhooks refer to."""
    shapes = {shape.__name__: shape for shape, _ in EVENTS.values()}
    return {name: (name, "serialization", TypeAdapter(shape)) for name, shape in shapes.items()}


def describe(defined: dict[str, Json]) -> None:
    """The payloads as they are sent. Fields may be added to them, as to answers."""
    for name in wanted():
        schema = defined[name]
        schema.pop("additionalProperties", None)
        del schema["properties"][NOT_SENT]
        schema["required"] = list(schema["properties"])
    state = defined[EndNotification.__name__]["properties"]["state"]
    state["enum"] = sorted(TERMINAL)


def webhooks() -> Json:
    return {name: {"post": _webhook(shape, summary)} for name, (shape, summary) in EVENTS.items()}


def _webhook(shape: type[Notification], summary: str) -> Json:
    schema = {"$ref": REF.format(model=shape.__name__)}
    refused = "Refused for good: it is not sent again."
    return {
        "tags": ["Notifications"],
        "summary": summary,
        "description": ABOUT,
        "security": [],
        "parameters": [
            {
                "name": name,
                "in": "header",
                "required": True,
                "description": word,
                "schema": {"type": "string"},
            }
            for name, word in SIGNED.items()
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
        "responses": {
            "2XX": {"description": "Taken."},
            **{str(status): {"description": refused} for status in sorted(REFUSALS)},
            "default": {"description": "It comes again, as does one without an answer."},
        },
    }
