"""Files, records of the audit trail, and health."""

from typing import Literal

from typing_extensions import TypedDict

from shared.api.response.shapes.formats import Counter, Instant
from shared.domain.audit.record import Outcome


class File(TypedDict):
    path: str
    bytes: Counter
    modified_at: Instant


class WrittenFile(TypedDict):
    path: str
    bytes: Counter


class FileVersion(TypedDict):
    version_id: str
    bytes: Counter
    modified_at: Instant
    current: bool
    deletion: bool
    """The file was deleted here. Such a version cannot be restored."""


class AuditRecord(TypedDict):
    """Who did what. A record is there before the action, as `begun`, and once more after it."""

    audit_id: str
    at: Instant
    ended_at: Instant | None
    who: str
    """The pseudonym of the caller, or `unknown`."""
    roles: list[str]
    source: str
    """The client's network, such as `192.0.2.0/24`."""
    action: str
    """`session.start`, `file.write` …"""
    details: dict[str, str]
    """What it was done to, by name."""
    outcome: Outcome
    code: str | None
    """Of the error that the caller was answered with."""


class Health(TypedDict):
    status: Literal["ok"]
