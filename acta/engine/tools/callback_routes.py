"""The callback URL of a call: `POST /v1/callbacks/{token}` (docs/design/tools.md 60).

The token names the call, and it is checked before anything is read (ADR 214). It allows this one thing, once.
"""

from typing import Annotated, Any, ClassVar

from pydantic import Field

from acta.engine.api.answers import as_json
from acta.engine.api.app import Api
from acta.engine.api.envelope import Response, success
from acta.engine.api.json_body import RequestBody
from acta.engine.bound_tenant import bound_to, tenant_hash
from acta.engine.errors import FieldsInvalid
from acta.engine.tools.answers import AnsweredCallView
from acta.engine.tools.callbacks import answer_once
from acta.engine.untrusted.texts import NOT_BLANK, READABLE

MAX_ERROR_CHARS = 20_000
EXACTLY_ONE = "Send either `result`, which may be any JSON, or `error`, a text that says what went wrong."


class AnswerCall(RequestBody):
    """What came of the call. Exactly one of the two is given."""

    EXAMPLES: ClassVar = {
        "result": {"result": {"state": "green", "tests": 412}},
        "failure": {"error": "The build stopped: 3 of 412 tests failed."},
    }

    result: Any = None
    """What the call has brought: a text, or any JSON."""
    error: Annotated[str, Field(max_length=MAX_ERROR_CHARS), READABLE, NOT_BLANK] | None = None
    """Why the call has failed, for the model."""


def answer_callback(api: Api, token: str, body: AnswerCall) -> Response:
    signed = api.app.signed_urls.verify("callbacks", token)
    session_id, call_id = signed.ids
    if len(body.model_fields_set) != 1 or ("error" in body.model_fields_set and body.error is None):
        raise FieldsInvalid({"body": [EXACTLY_ONE]})
    with bound_to(signed.tenant):
        recorded = answer_once(api.app, signed.tenant, session_id, call_id, body.result, body.error)
    ids = {"session_id": session_id, "call_id": call_id, "tenant_hash": tenant_hash(signed.tenant)}
    api.telemetry.logger.info("callback", extra=ids)
    view: AnsweredCallView = {"ok": recorded.ok, "at": as_json(recorded.at), "by": "callback"}
    return success(view)
