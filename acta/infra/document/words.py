"""The texts of the document that belong to no operation: how to read it, tags, headers."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from acta.engine.api.etag import TAGS

Json = dict[str, Any]

DESCRIPTION = Path(__file__).with_name("description.md").read_text(encoding="utf-8")
TAG_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "Sessions": "A goal and the work on it.",
        "Interventions": "Questions to people, and their decisions.",
        "Files": "What agents' file tools read and write.",
        "Agents": "Who works: prompt, models, tools, limits.",
        "Tools": "What agents can call, and the secrets that tools need.",
        "Notifications": "Where people are told of questions and ended sessions.",
        "Triggers": "Events from outside that start sessions.",
        "Memories": "What agents keep from one session to the next.",
        "Prompts": "Managed prompts and their versions.",
        "Schedules": "Sessions that start at times.",
        "MCP": "Sessions for clients of the Model Context Protocol.",
        "Operation": "Models, the audit trail, health, and this document.",
    }
)

MISSING = {"{session_id}": "SESSION_NOT_FOUND", "{intervention_id}": "INTERVENTION_NOT_FOUND"}
"""The variables of paths with an error code of their own for what does not exist."""

TEXT: Json = {"type": "string"}
SEARCHED_TO: Json = {
    "type": ["string", "null"],
    "format": "date-time",
    "description": "How far back the listing has been searched, where there is a `next_cursor`; null: to its end, or "
    "nobody can say.",
}


def _header(says: str, schema: Json = TEXT, **more: str) -> Json:
    return {"description": says, "schema": schema, **more}


HEADERS: Mapping[str, Json] = MappingProxyType(
    {
        "Idempotency-Key": _header(
            "A name of your own for this request, a UUID for instance. Sent again under it, the request does nothing "
            "again and is answered as before.",
            {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
        ),
        "If-Match": _header(
            "The ETag of what you have read, with its quotation marks, or `*`. 412 where it has changed since.",
            {"type": "string", "anyOf": [{"const": "*"}, {"pattern": TAGS}]},
        ),
        "If-None-Match": _header("The ETag of the last answer. 304 where nothing has changed since."),
        "Last-Event-ID": _header("The id of the last event that arrived."),
    }
)
OF_NEW = _header(
    "`*`: only where there is nothing yet. 412 where there is something.", {"type": "string", "const": "*"}
)
"""`If-None-Match` of a write."""

LIMITS = r'^"[a-z-]+"(;[a-z]=[0-9]+)+(, "[a-z-]+"(;[a-z]=[0-9]+)+)*$'
RESPONSE_HEADERS: dict[str, Json] = {
    "ETag": _header("Names this state of it."),
    "Location": _header("The path of what was made."),
    "Retry-After": _header("Seconds after which to come again.", {"type": "integer", "minimum": 0}),
    "RateLimit-Policy": _header(
        "The tenant's limits that this is about, as draft 11 of the IETF's RateLimit header fields: by the limit's "
        "name the quota `q` and, where it is one of a time, the seconds `w` of that.",
        {"type": "string", "pattern": LIMITS},
        example='"requests";q=500;w=10',
    ),
    "RateLimit": _header(
        "What is left of a limit: by its name `r`, and the seconds `t` until there is more. It is what one worker "
        "knows, so the next answer may say more.",
        {"type": "string", "pattern": LIMITS},
        example='"requests";r=480;t=7',
    ),
    "Allow": _header("The methods that the path takes."),
    "Content-Security-Policy": _header("What the page may load: its own files alone."),
}
