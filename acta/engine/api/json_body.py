"""A request's body: how large it may be, the bytes that were sent, and the JSON object they spell.

What a body may have follows from the types of its fields. So a large body costs little: its bytes are counted before
they are decoded, its keys and values before any is built, and those of each field before pydantic makes an error for
each wrong one.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, ClassVar, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, create_model

from acta.engine.api.operation import Operation
from acta.engine.errors import CallerError, PayloadTooLarge, ValidationFailed
from acta.engine.settings import Settings
from acta.engine.untrusted.exact_json import InvalidJson, read_exactly, refuse_oversize
from acta.engine.untrusted.texts import BoundedBy, InRequests

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
        rules: Any = (field.annotation, *field.metadata)
        own: Any = next(
            (rule.type for rule in field.metadata if isinstance(rule, InRequests)),
            Annotated[rules] if field.metadata else field.annotation,
        )
        fields[name] = (own | None, None)
    made = create_model(model.__name__, __base__=base, __module__=model.__module__, **fields)
    setattr(made, WORDS_OF, model)
    return made


class UnsupportedMediaType(CallerError):
    """The body is of a type, a charset or a content encoding that this route does not take; the message says what to
    send. JSON is sent in UTF-8 with `Content-Type: application/json`, a file with `application/octet-stream`."""

    code = "UNSUPPORTED_MEDIA_TYPE"


EMPTY_BYTES = 1_024
"""For a body that nobody reads: some clients send `{}` or a line of their own with every request."""
CHAR_BYTES = 12
"""A character may be written as two escapes, `\\ud83c\\udf0d`."""
MEMBER_BYTES = 100
"""A number or the quotation marks of a text, its key, and the white space that lays them out for people."""
USUAL_CHARS, USUAL_MEMBERS = 512, 100
"""For a text or a list whose type names no maximum. A pattern or a rule of its own keeps it shorter."""
ANY_BYTES, ANY_VALUES = 1_048_576, 20_000
"""What all fields of a body that take any JSON may have together: the input of a call, a schema."""
SOME_WRONG = 20
"""Up to this many surplus values or unknown fields are left to pydantic, which makes an error for each of them."""


class Bounds(NamedTuple):
    """The most that a request's body may have. `values`: keys, and members of objects and lists."""

    bytes: int
    values: int
    fields: Mapping[str, int] = {}
    """The values of each field of the body's model."""
    texts: Mapping[str, int] = {}
    """The characters of texts that the deployment bounds further than their types."""


ANY = Bounds(ANY_BYTES, ANY_VALUES)


class Most(NamedTuple):
    """The most that a value of a type may have. `takes_any`: a part of it takes any JSON; the bounds of that (`ANY_…`)
    count once for the whole body. `chars`: the characters of a text that the deployment bounds; 0: it bounds none.
    """

    bytes: int
    values: int
    takes_any: bool = False
    chars: int = 0


def bounds_of(route: Operation, body: type[RequestBody] | None, settings: Settings) -> Bounds:
    """`body`: its model. Without one the route takes a file, any JSON and a text as long as a message, or nothing."""
    if route.takes_bytes:
        return Bounds(settings.max_file_bytes, 0)
    if body is None:
        text = ANY_BYTES + CHAR_BYTES * settings.max_message_chars
        return Bounds(EMPTY_BYTES + text * bool(route.sends), ANY_VALUES)
    each = {
        name: _most(field.annotation, field.metadata, settings) for name, field in body.model_fields.items()
    }
    whole = _together([*each.values()], 1)
    return Bounds(
        EMPTY_BYTES + whole.bytes + ANY_BYTES * whole.takes_any,
        SOME_WRONG * len(each) + whole.values + ANY_VALUES * whole.takes_any,
        {name: most.values + ANY_VALUES * most.takes_any for name, most in each.items()},
        {name: most.chars for name, most in each.items() if most.chars},
    )


def _most(type_: Any, rules: Sequence[Any], settings: Settings) -> Most:
    """`rules`: the metadata of the type, which may name a maximum."""
    origin, parts = get_origin(type_) or type_, get_args(type_)
    if origin is Annotated:
        return _most(parts[0], (*rules, *parts[1:]), settings)
    if origin in (Union, UnionType):
        options = [_most(part, rules, settings) for part in parts]
        # The largest of each field. One option that takes any JSON makes the whole do so: True is larger than False.
        return Most(*(max(each) for each in zip(*options, strict=True)))
    if Any in (origin, *parts):
        return Most(MEMBER_BYTES, 1, takes_any=True)
    if isinstance(origin, type) and issubclass(origin, BaseModel):
        fields = origin.model_fields.values()
        return _together([_most(field.annotation, field.metadata, settings) for field in fields], 1)
    if origin is str:
        bounded = [getattr(settings, rule.setting) for rule in rules if isinstance(rule, BoundedBy)]
        most = min([_maximum(rules, USUAL_CHARS), *bounded])
        return Most(MEMBER_BYTES + CHAR_BYTES * most, 1, chars=most if bounded else 0)
    if isinstance(origin, type) and issubclass(origin, Collection):
        members = [_most(part, (), settings) for part in parts if part is not Ellipsis]
        return _together(members, _maximum(rules, USUAL_MEMBERS))
    return Most(MEMBER_BYTES, 1)


def _together(parts: Sequence[Most], times: int) -> Most:
    """The most that an object or a list may have that contains these parts `times` times, each with its key."""
    return Most(
        times * sum(MEMBER_BYTES + part.bytes for part in parts),
        times * sum(1 + part.values for part in parts),
        any(part.takes_any for part in parts),
    )


def _maximum(rules: Sequence[Any], usual: int) -> int:
    """The smallest maximum that the rules name, of the characters of a text or the members of a list."""
    each = (rule for rules_of in rules for rule in (rules_of, *getattr(rules_of, "metadata", ())))
    said = (getattr(rule, "max_length", None) for rule in each)
    return min((most for most in said if isinstance(most, int)), default=usual)


def body_bytes(event: Mapping[str, Any], headers: Mapping[str, str], most: int, *, is_file: bool) -> bytes:
    """The bytes that the caller sent, at most `most` of them. `headers`: by lower-case name.

    The gateway passes most bodies in base64, but text and JSON as text, in which other characters stand for bytes that
    are not UTF-8 (ADR 168). Such a body counts only if nothing can have been replaced in it.

    Raises PayloadTooLarge, before anything is decoded if the length tells it already; UnsupportedMediaType for a form
    in the place of a file and for a content encoding; ValidationFailed where the bytes may not be those that were sent,
    or are only a part of a file.
    """
    body = str(event.get("body") or "")
    is_base64 = bool(event.get("isBase64Encoded"))
    _check_bytes(len(body) // 4 * 3 - body[-2:].count("=") if is_base64 else len(body), most)
    if is_file and headers.get("content-type", "").partition(";")[0].strip().lower() in FORMS:
        # What surrounds the file in a form would be stored with it, and `curl -d` leaves out its line ends.
        raise UnsupportedMediaType(
            "The body is the file itself and not a form with it. With curl: `-T FILE`, or `--data-binary @FILE` with "
            "`-H 'Content-Type: application/octet-stream'`."
        )
    if "content-range" in headers:  # of an upload that goes on: the part would take the whole's place
        raise ValidationFailed(
            "The body is the whole and never a part, so nothing was stored. Send all of it, without Content-Range.",
            {"Content-Range": ["Parts are not put together here."]},
        )
    if body and headers.get("content-encoding", "").strip().lower() not in ("", "identity"):
        raise UnsupportedMediaType(
            "Send the body without Content-Encoding: nothing is unpacked here. A compressed file is sent as it is, "
            "with Content-Type application/octet-stream."
        )
    unproven = UNPROVEN_FILE if is_file else NO_UTF8
    try:
        data = base64.b64decode(body, validate=True) if is_base64 else body.encode()
    except UnicodeEncodeError:  # half a surrogate pair: no UTF-8 spells it, so it stands for something else
        raise _malformed(unproven) from None
    except (binascii.Error, ValueError):
        raise _malformed("The body did not arrive whole. Send it again.") from None
    _check_bytes(len(data), most)
    if _is_proven(data, headers):
        return data
    arrived = str(len(data))
    length = headers.get("content-length", "" if is_file and data and not is_base64 else arrived)
    if length != arrived and (is_base64 or not data):
        raise _malformed(f"The body has {arrived} bytes and Content-Length is {length}. Send it again.")
    # A character that was put in place of three bytes is as long as they were, so the length alone proves nothing.
    if not is_base64 and (length != arrived or "\ufffd" in body):
        raise _malformed(unproven)
    return data


FORMS = ("multipart/form-data", "application/x-www-form-urlencoded")
DIGESTS = ("sha-256", "sha-512")
UNPROVEN_FILE = (
    "The gateway passes files of this Content-Type on as UTF-8 text, and nobody can tell whether every byte has "
    "arrived, so nothing was stored. Send the file with Content-Type application/octet-stream, or with its "
    "Content-Digest."
)
NO_UTF8 = (
    "The body is not UTF-8 text, or has the character U+FFFD, which stands where bytes were lost. Send JSON in UTF-8, "
    "and write this character as \\ufffd where you mean it."
)


def _is_proven(data: bytes, headers: Mapping[str, str]) -> bool:
    """Whether a digest of the body came with it (RFC 9530). One by another algorithm counts for nothing. Raises
    ValidationFailed where it is the digest of something else.
    """
    sent = f"{headers.get('content-digest', '')},{headers.get('repr-digest', '')}".split(",")
    # Parameters may follow a member (RFC 9651).
    members = (each.partition(";")[0].strip().partition("=") for each in sent)
    known = [(name, value) for name, _, value in members if name in DIGESTS]
    for name, value in known:
        digest = base64.b64encode(hashlib.new(name.replace("-", ""), data).digest()).decode()
        if value != f":{digest}:":
            raise _malformed(
                f"The body is not the one that was sent: its {name} is :{digest}: and not that of Content-Digest or "
                "Repr-Digest. Send it again, with Content-Type application/octet-stream if it is a file."
            )
    return bool(known)


def _check_bytes(size: int, most: int) -> None:
    if size > most:
        raise PayloadTooLarge(
            f"The body has {size:,} bytes; at most {most:,} are taken here. Shorten it, or put parts of it into files."
        )


def json_text(body: bytes, content_type: str | None) -> str:
    """The text to parse; an empty body counts as `{}`, a missing Content-Type as JSON's."""
    if not body:
        return "{}"
    kind, *parameters = (each.strip().lower() for each in (content_type or "application/json").split(";"))
    if kind != "application/json":
        raise UnsupportedMediaType("Send the body as JSON, with Content-Type application/json.")
    for name, _, value in (each.partition("=") for each in parameters):
        if name.strip() == "charset" and value.strip().strip('"') not in ("utf-8", "utf8", "us-ascii"):
            raise UnsupportedMediaType("Send the JSON in UTF-8, and no other charset in Content-Type.")
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise _malformed(NO_UTF8) from None


def parse_json(text: str, bounds: Bounds = ANY) -> dict[str, Any]:
    """One JSON object within the bounds. Refused: what `read_exactly` does not keep, and deep nesting."""
    try:
        refuse_oversize(text, bounds.values)
        value = read_exactly(text)
    except json.JSONDecodeError as error:
        raise _malformed(
            f"The body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        ) from None
    except InvalidJson as error:
        raise _malformed(f"The body is {error}.") from None
    except ValueError as error:
        raise _malformed(f"The body is not usable JSON: {error}.") from None
    if not isinstance(value, dict):
        raise _malformed("The body must be a JSON object.")
    return value


def _malformed(message: str) -> ValidationFailed:
    return ValidationFailed(message, {"body": [message]})
