"""Records of the audit trail as the API answers them."""

from __future__ import annotations

from acta.engine.api.answers import Instant, TypedDict
from acta.engine.audit.record import Outcome, Via


class AuditRecordView(TypedDict):
    """Who did what. A record is there before the action, as `begun`, and once more after it."""

    audit_id: str
    at: Instant
    ended_at: Instant | None
    who: str
    """The pseudonym of the caller, or `unknown`."""
    roles: list[str]
    source: str
    """The client's network, such as `192.0.2.0/24`."""
    via: Via
    """How the request came: `api`, or over MCP as a call of the client's model (`mcp`) or as the answer to a form for
    its person (`mcp_form`)."""
    action: str
    """`session.start`, `file.write` …"""
    details: dict[str, str]
    """What it was done to, by name."""
    outcome: Outcome
    code: str | None
    """The code of the error that the caller got."""
