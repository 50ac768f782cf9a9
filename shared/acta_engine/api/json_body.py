"""A request's body: its bytes, and the JSON object they spell.

Fields are limited in `bodies.py`, files by `Settings.max_file_bytes`. The gateway takes at most 10 MB.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any, ClassVar, NoReturn

from pydantic import BaseModel, ConfigDict, create_model

from acta_engine.errors import CallerError, ValidationFailed
from acta_engine.untrusted.exact_json import MAX_DEPTH, is_too_deep, read_exactly
from acta_engine.untrusted.texts import InRequests

WORDS_OF = "words_of"
"""The attribute that names the class whose field docstrings count, if it is not the class itself."""


class RequestBody(BaseModel):
    """What an operation takes. It stands beside the handler; those about sessions are in `sessions/bodies.py`."""

    EXAMPLES: ClassVar[Mapping[str, Any]] = {}
    """Examples of bodies for the document, by name. A test sends each of them."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True, allow_inf_nan=False)


def optional(model: type[BaseModel], base: type[RequestBody]) -> type[RequestBody]:
    """`base` with the model's fields, each of which may be absent or null; both mean the same."""
    fields: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        own: Any = next(
            (rule.type for rule in field.metadata if isinstance(rule, InRequests)), field.annotation
        )
        fields[name] = (own | None, None)
    made = create_model(model.__name__, __base__=base, __module__=model.__module__, **fields)
    setattr(made, WORDS_OF, model)
    return made


class UnsupportedMediaType(CallerError):
    """The body is not JSON. Send it with `Content-Type: application/json`."""

    code = "UNSUPPORTED_MEDIA_TYPE"


def body_bytes(event: Mapping[str, Any]) -> bytes:
    """What the caller sent. The gateway passes text as it is and everything else in base64."""
    body = event.get("body") or ""
    if not event.get("isBase64Encoded"):
        return str(body).encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        raise ValidationFailed("The body did not arrive whole.") from None


def json_text(body: bytes, content_type: str | None) -> str:
    """The text to parse; an empty body counts as `{}`, a missing Content-Type as JSON's."""
    if not body:
        return "{}"
    kind = (content_type or "application/json").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise UnsupportedMediaType("Send the body as JSON, with Content-Type application/json.")
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise ValidationFailed("The body is not UTF-8 text.", {"body": ["This is not UTF-8 text."]}) from None


def parse_json(text: str) -> dict[str, Any]:
    """One JSON object. Refused: what `read_exactly` does not keep, and nesting too deep to be stored."""
    try:
        value = read_exactly(text)
    except json.JSONDecodeError as error:
        _malformed(f"The body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}.")
    except RecursionError:
        _malformed("The body is nested too deeply.")
    except ValueError as error:
        _malformed(f"The body is not usable JSON: {error}.")
    if not isinstance(value, dict):
        _malformed("The body must be a JSON object.")
    if is_too_deep(value):
        _malformed(f"The body is nested more than {MAX_DEPTH} deep.")
    return value


def _malformed(message: str) -> NoReturn:
    raise ValidationFailed(message, {"body": [message]}) from None
