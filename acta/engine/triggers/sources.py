"""The operator's event sources: what a trigger sees of each event, whose it is, and by which id it is known.

An operator declares sources by name (`Environment.event_sources`), and a tenant's admin writes triggers on the names
that the tenant may use. Everything here is pure; `delivery.py` receives the events.

| kind | what comes | the event that triggers see | its id |
|---|---|---|---|
| `bus` | an event of an EventBridge bus | the whole event with its `detail` | what `id` leads to, else its `id` |
| `queue` | a message of an SQS queue, a JSON object | that object | what `id` leads to, else the message's id |
| `bucket` | an object was created in a bucket | `OBJECT_FIELDS` | its key with its version |
| `files` | a file of Acta was written | `FILE_FIELDS` | its path with the id of the write |
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from acta.engine.bound_tenant import TENANT_PATTERN
from acta.engine.store.keys import FILES, part_text, tenant_part
from acta.engine.triggers.pattern import OR, value_at
from acta.engine.untrusted.path import PRIVATE

SourceKind = Literal["bus", "queue", "bucket", "files"]
EVERY_TENANT = "*"
SOURCE_PATTERN = r"[a-z0-9]+(-[a-z0-9]+)*"
MAX_SOURCE_CHARS = 32
MAX_SOURCES = 20
PATH_PATTERN = r"[A-Za-z0-9_-]{1,64}(\.[A-Za-z0-9_-]{1,64}){0,9}"
"""How a place in an event is named: keys, and places in lists from 0, separated by dots."""
TENANT_FOLDER = "{tenant}"
"""Stands in a bucket's prefix for the folder that is named after the tenant."""
FILE_FIELDS = ("path", "bytes", "etag", "at", "written_by")
OBJECT_FIELDS = ("bucket", "key", "bytes", "etag", "version", "at")
WRITTEN_BY = "written_by"
WRITTEN_BY_DEFAULT = ("api", "other")
"""A trigger that says nothing of `written_by` is not for files that agents write: an agent that answers each file with
another file would never come to an end."""


class EventUnreadable(ValueError):
    """The event cannot be used, however often it comes. The message says what is missing and quotes nothing."""


@dataclass(frozen=True)
class EventSource:
    """A source as the functions know it. `tenants`: whose triggers may name it; `*`: everybody's. `tenant`: the path in
    the event that leads to the tenant's name; empty: the key says whose the event is, or else it is for each of
    `tenants`. `id`: the path that leads to the event's id; empty: what AWS calls it by. `prefix`: of a bucket's keys,
    or of files' paths. `queue`: the queue's name.
    """

    kind: SourceKind
    tenants: tuple[str, ...] = (EVERY_TENANT,)
    tenant: str = ""
    id: str = ""
    prefix: str = ""
    queue: str = ""

    def is_for(self, tenant: str) -> bool:
        return EVERY_TENANT in self.tenants or tenant in self.tenants

    @property
    def as_setting(self) -> dict[str, Any]:
        """What differs from the defaults, as JSON has it."""
        given = {
            name: value for name, value in vars(self).items() if value != getattr(EventSource, name, None)
        }
        return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}


class Received(NamedTuple):
    """An event of a source. `tenants`: those whose triggers may be for it; empty: nobody's are. `session_id`: the
    session that wrote the file; empty: none did.
    """

    tenants: tuple[str, ...]
    event_id: str
    event: dict[str, Any]
    session_id: str = ""


def read_sources(value: Mapping[str, Any]) -> Mapping[str, EventSource]:
    """The setting `event_sources`. Raises ValueError."""
    try:
        found = {
            name: EventSource(**{**each, "tenants": tuple(each.get("tenants", (EVERY_TENANT,)))})
            for name, each in value.items()
        }
    except (AttributeError, TypeError):
        raise ValueError("an object by name, as `Environment.event_sources` makes it") from None
    return MappingProxyType(found)


def read_event(source: EventSource, raw: Mapping[str, Any]) -> Received:
    """`raw`: the event as EventBridge has it. The source is none of the kind `queue`. Raises EventUnreadable."""
    match source.kind:
        case "bucket":
            return _object(source, raw)
        case "files":
            return _file(source, raw)
        case _:
            event_id = _id(source, raw, raw.get("id"))
            return Received(_tenants(source, raw), event_id, dict(raw))


def read_message(source: EventSource, body: str, message_id: str) -> Received:
    """A message of the operator's queue. Raises EventUnreadable."""
    try:
        event = json.loads(body)
    except (ValueError, RecursionError):
        raise EventUnreadable("the message is not JSON") from None
    if not isinstance(event, dict):
        raise EventUnreadable("the message is not a JSON object")
    return Received(_tenants(source, event), _id(source, event, message_id), event)


def pattern_for(source: EventSource, pattern: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """What a trigger's pattern means for the events of a source. One that says nothing of who wrote a file is for those
    that were `WRITTEN_BY_DEFAULT`.
    """
    own = pattern or {}
    says = WRITTEN_BY in own or any(WRITTEN_BY in each for each in own.get(OR, ()))
    if source.kind != "files" or says:
        return pattern
    return {**own, WRITTEN_BY: list(WRITTEN_BY_DEFAULT)}


def _tenants(source: EventSource, event: Mapping[str, Any]) -> tuple[str, ...]:
    if not source.tenant:
        return source.tenants
    return _allowed(source, value_at(event, source.tenant), source.tenant)


def _allowed(source: EventSource, tenant: Any, where: str) -> tuple[str, ...]:
    if not isinstance(tenant, str) or not re.fullmatch(TENANT_PATTERN, tenant):
        raise EventUnreadable(f"{where} leads to no name of a tenant")
    return (tenant,) if source.is_for(tenant) else ()


def _id(source: EventSource, event: Mapping[str, Any], given: Any) -> str:
    found = value_at(event, source.id) if source.id else given
    is_number = isinstance(found, int) and not isinstance(found, bool)
    if not is_number and not (isinstance(found, str) and found):
        raise EventUnreadable(f"{source.id or 'id'} leads to no id of the event")
    return str(found)


def _object(source: EventSource, raw: Mapping[str, Any]) -> Received:
    key, event = _created(raw)
    before, has_tenant, after = source.prefix.partition(TENANT_FOLDER)
    if not key.startswith(before):
        return Received((), "", {})
    tenants = source.tenants
    if has_tenant:
        tenant, slash, rest = key.removeprefix(before).partition("/")
        if not slash or not rest.startswith(after.removeprefix("/")):
            return Received((), "", {})
        tenants = _allowed(source, tenant, "the key")
    shown = {"bucket": _text(value_at(raw, "detail.bucket.name")), "key": key, **event}
    version = event["version"] or _text(value_at(raw, "detail.object.sequencer"))
    return Received(tenants, f"{key}#{version}", shown)


def _file(source: EventSource, raw: Mapping[str, Any]) -> Received:
    """`written_by` is still missing, and the id is the path: both are known where the file is looked at."""
    key, event = _created(raw)
    kind, _, rest = key.partition("/")
    part, _, path = rest.partition("/")
    tenant = part_text(part)
    if tenant is None:  # a long name is hashed in keys, so the source has to name it
        tenant = next((each for each in source.tenants if tenant_part(each) == part), None)
    is_shared = not path.startswith(PRIVATE[0]) and not path.endswith("/")
    if kind != FILES or tenant is None or not is_shared or not path.startswith(source.prefix):
        return Received((), "", {})
    del event["version"]
    return Received(_allowed(source, tenant, "the key"), path, {"path": path, **event})


def _created(raw: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The key and what else is known of an object that was created. Source: Amazon S3 user guide, "EventBridge event
    message structure"; unlike in S3's other notifications, the key is not encoded there.
    """
    found = value_at(raw, "detail.object")
    key = found.get("key") if isinstance(found, dict) else None
    if not isinstance(key, str) or not key:
        raise EventUnreadable("detail.object.key is missing, which an event Object Created of S3 has")
    return key, {
        "bytes": found.get("size"),
        "etag": _text(found.get("etag")),
        "version": _text(found.get("version-id")),
        "at": _text(raw.get("time")),
    }


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
