"""What the API answers about the deployment itself, and about who asks."""

from __future__ import annotations

from typing import Literal

from acta_engine.api.answers import TypedDict
from acta_engine.api.formats import Counter, Instant


class HealthView(TypedDict):
    status: Literal["ok"]


class SchemaVersionsView(TypedDict):
    """Of what is stored. They differ while a deployment takes a new version into use."""

    reads: int
    """The newest version that this release knows."""
    writes: int


class AuditStateView(TypedDict):
    """Whether this deployment records who did what."""

    recorded: bool


class LimitsInForceView(TypedDict):
    """What the tenant may use here. null: no such limit."""

    starts_per_minute: Counter | None
    open_sessions: Counter | None
    requests_per_second: Counter | None
    long_polls: Counter | None
    tokens_per_hour: Counter | None
    """Of all its sessions together."""


class RecoveryScanView(TypedDict):
    """What the last look for sessions that stand still did, in numbers of sessions of the whole deployment. It has
    three parts, each of which is made every minute: these are their sums, and the end of the oldest.
    """

    ended_at: Instant
    looked: Counter
    """That were read."""
    started: Counter
    """Whose execution had never begun."""
    restarted: Counter
    """Whose execution was gone: they go on in another one."""
    woken: Counter
    """Whose wake-up was lost."""
    unreadable: Counter
    """Whose data is damaged, or another release's."""
    put_off: Counter
    """That were unreadable before, and are looked at again later."""
    left: Counter
    """For which no time was left. The next scan begins with others."""
    unread: Counter
    """Parts of the index for which no time was left."""
    unanswered: Counter
    """Requests that AWS throttled or did not answer."""


class RecoveryStateView(TypedDict):
    """Recovery looks each minute."""

    last_scan: RecoveryScanView | None
    """null: one of its parts has never ended."""
    late: bool
    """One of its parts has not ended for three minutes."""


class DeploymentHealthView(TypedDict):
    """What this deployment is, and what it allows the tenant."""

    environment: str
    release: str
    """What the release is called, as the operator's commands name it."""
    schema: SchemaVersionsView
    audit: AuditStateView
    limits: LimitsInForceView
    recovery: RecoveryStateView


class MeView(TypedDict):
    """Who asks, as the token says."""

    tenant: str
    user: str
    """The subject."""
    roles: list[str]
    """As this deployment reads the claim. `admin` may do all that `member` may; any other role matters to policies."""


class PageSignInView(TypedDict):
    """Where the page for people sends whoever signs in."""

    issuer: str
    """An OpenID issuer, whose discovery document has the rest. Empty: nobody can sign in on the page."""
    client_id: str
    scope: str
    takes: Literal["access_token", "id_token"]
    """Which token of a sign-in the API takes."""
    environment: str
