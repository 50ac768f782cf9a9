"""The `webhooks` of the document: what a webhook of a tenant or of a session is sent (ADR 68).

The payloads are the domain's own models. Their words are here, because the models are not imported with docstrings of
fields, and what is not sent (`private_to`) is left out.
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

COMMON = {
    "notification_id": "The same for each repeat, and the same as the header `webhook-id`.",
    "event": "What has happened.",
    "tenant": "Your tenant.",
    "session_id": "The session that it is about.",
    "links": "`api`: where the API has it. `console`: the page where a person sees it and decides.",
}
WORDS: Mapping[type[Notification], tuple[str, Mapping[str, str]]] = {
    QuestionNotification: (
        "A person has to decide. The question itself is not sent: read the intervention.",
        {
            **COMMON,
            "intervention_id": "Read it, and decide it with `…/resolve`.",
            "type": "What is asked.",
            "role": "Who may decide. null: whoever may write to the session.",
            "created_at": "When it opened.",
            "timeout_at": "When its default decides. null: it waits for a person.",
        },
    ),
    EndNotification: (
        "A run has ended. The answer is not sent: read the session.",
        {
            **COMMON,
            "run_id": "The run. null: the session was cancelled before it ran.",
            "state": "How it ended. `completed` alone is no success: look at `goal_met`.",
            "reason": "Of `result.reason`, else the code of `error` or of the cancellation, in small letters.",
            "goal_met": "Whether the goal is met. null: the run did not complete.",
            "updated_at": "When it ended.",
        },
    ),
}
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
    return {each.__name__: (each.__name__, "serialization", TypeAdapter(each)) for each in WORDS}


def describe(defined: dict[str, Json]) -> None:
    """Puts the words into the schemas of the payloads. Fields may be added to them, as to answers."""
    for each, (says, words) in WORDS.items():
        schema = defined[each.__name__]
        schema["description"] = says
        schema.pop("additionalProperties", None)
        schema["properties"] = {
            name: {**schema["properties"][name], "description": word} for name, word in words.items()
        }
        schema["required"] = list(words)
    properties = defined[EndNotification.__name__]["properties"]
    properties["state"] = {
        "type": "string",
        "enum": sorted(TERMINAL),
        "description": properties["state"]["description"],
    }


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
