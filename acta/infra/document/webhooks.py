"""The `webhooks` of the document: what a webhook of a tenant or of a session is sent (ADR 68).

The payloads are the domain's own models (`acta/engine/notifications/notification.py`), without one unsent field.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from acta.engine.log.head import TERMINAL
from acta.engine.notifications.notification import EndNotification, Notification, QuestionNotification
from acta.engine.notifications.webhooks import REFUSALS
from acta.infra.document.schemas import REF

Json = dict[str, Any]

NOT_SENT = "private_to"
EVENTS: Mapping[str, tuple[type[Notification], str]] = {
    "intervention.opened": (QuestionNotification, "A person has to decide"),
    "intervention.warned": (QuestionNotification, "A question is about to expire"),
    "session.ended": (EndNotification, "A run has completed, failed or was cancelled"),
}
ABOUT = Path(__file__).with_name("webhooks.md").read_text(encoding="utf-8")
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
    """Changes the schemas in `defined` to the payloads as they are sent. As in answers, further fields are allowed."""
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
