"""What the document says beside its operations: how to read it, tags, headers."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

Json = dict[str, Any]

DESCRIPTION = """\
Autonomous LLM agents: give one a goal, go away, and be asked when a person has to decide.

**Token.** Send `Authorization: Bearer <token>`. Tenant, person and roles come from the token alone. What needs the
role `admin` says so. Without a token, and with one that is not valid, 401 is the gateway's own: `{"message":
"Unauthorized"}`. Another tenant's thing does not exist for you: 404.

**Answers.** Success is `{"success": true, "data": …}`, an error `{"success": false, "error": {"code", "message",
"details"?}}`. React to the code; it is stable. A few refusals are the gateway's own, `{"message": …}`. Fields may be
added to answers: ignore what you do not know. Times are RFC 3339 in UTC, ids are opaque. Unknown fields of a body and
unknown query parameters are refused. A method that a path does not have is 405, with `Allow`.

**First steps.** `POST /v1/sessions` with a `content` starts a session and answers at once. Follow it with `GET
/v1/sessions/{session_id}?after=<cursor>&wait=20`: each answer has the session, the events since the cursor, and the
next `cursor`. Ask again after `poll_after_ms`, at once where `has_more` is true. In the states `completed`, `failed`
and `cancelled` the run is over. `completed` alone is no success: look at `result.goal_met`. `result.answer` has the
answer, `result.reason` why the run ended, and the `status` of `plan.steps` which step failed. In `waiting_for_user`
look at `interventions`, and decide with `…/resolve`; where `state_reason` is `paused`, a person paused it: `…/resume`.

**Idempotency.** A `POST` or `PATCH` that takes `Idempotency-Key` does what it does once for a key: send the same
request again under the same key and you get the same answer. Keys are a person's and a path's, and live for 24
hours. The same key with another body is 422.

**Pages.** A list is `{"items": […], "next_cursor": …}`. Send `next_cursor` as `cursor` until it is null. A page may
be shorter than `limit`, and a filtered one may have no items and yet a `next_cursor`: nothing so far. Cursors are
opaque.

**Changes.** `ETag` and `If-Match` keep you from overwriting what somebody else has changed since you read it: 409, and
412 of a plan, whose edits need `If-Match` (428 without).
The polling endpoint answers `If-None-Match` with 304 where nothing happened.

**Too much.** 429 and 503 are worth another try, after `Retry-After` seconds where they say so. A deployment may limit
what a tenant uses: runs it begins in a minute, sessions it has open, requests in ten seconds, polls that wait.
`RateLimit-Policy` names the limits that a route is about, `RateLimit` what is left of the requests. A poll for which no
place is left is answered at once, and `poll_after_ms` says when to come again. What stops a session, and what decides,
is refused for none of these.

Every answer of Acta has `X-Content-Type-Options: nosniff`, `X-Frame-Options: DENY`,
`Referrer-Policy: strict-origin-when-cross-origin` and `Cache-Control: no-store`.
"""

TAG_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "Sessions": "A goal and the work on it.",
        "Interventions": "Questions to people, and their decisions.",
        "Files": "What agents' file tools read and write.",
        "Agents": "Who works: prompt, models, tools, limits.",
        "Tools": "What agents can call, and the secrets that tools need.",
        "Notifications": "Where people are told of questions and ended sessions.",
        "Memories": "What agents keep from one session to the next.",
        "Prompts": "Managed prompts and their versions.",
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
        "If-Match": _header("The ETag of what you have read. 409 where it has changed since."),
        "If-None-Match": _header("The ETag of the last answer. 304 where nothing has changed since."),
        "Last-Event-ID": _header("The id of the last event that arrived."),
    }
)
NEEDED: Mapping[str, Json] = MappingProxyType(
    {"If-Match": _header("The ETag of what you have read, or `*`. 412 where it has changed since.")}
)
"""Headers where a request must have them."""

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
