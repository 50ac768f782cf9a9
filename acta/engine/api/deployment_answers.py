"""What the API answers about the deployment itself, and about who asks."""

from __future__ import annotations

from typing import Literal

from acta.engine.api.answers import Counter, Instant, TypedDict


class HealthView(TypedDict):
    status: Literal["ok"]
    version: str
    """The version of Acta that is deployed, such as `0.1.0`."""


class SchemaVersionsView(TypedDict):
    """The schema versions of what is stored. They differ while a deployment takes a new version into use."""

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
    """The most tokens that all its sessions together may use in an hour."""


class RecoveryScanView(TypedDict):
    """What the last scan for stuck sessions did, in numbers of sessions of the whole deployment. A scan has three
    parts, each of which runs every minute. The numbers are their sums; `ended_at` is when the oldest ended.
    """

    ended_at: Instant
    looked: Counter
    """Sessions that were read."""
    started: Counter
    """Sessions whose execution had never begun."""
    restarted: Counter
    """Sessions whose execution was gone. They go on in another one."""
    woken: Counter
    """Sessions whose wake-up was lost."""
    unreadable: Counter
    """Sessions whose data is damaged, or was written by another release."""
    put_off: Counter
    """Sessions that were unreadable before, and are read again later."""
    left: Counter
    """Sessions for which no time was left. The next scan begins with others."""
    unread: Counter
    """Parts of the index for which no time was left."""
    unanswered: Counter
    """Requests that AWS throttled or did not answer."""


class RecoveryStateView(TypedDict):
    """Recovery looks each minute."""

    last_scan: RecoveryScanView | None
    """null: one of its parts has never ended."""
    late: bool
    """Whether one of its parts has not ended for three minutes."""


class DeploymentHealthView(TypedDict):
    """What this deployment is, and what it allows the tenant."""

    environment: str
    release: str
    """What the release is called, as the operator's commands name it."""
    schema: SchemaVersionsView
    audit: AuditStateView
    limits: LimitsInForceView
    event_sources: list[str]
    """The operator's event sources that the tenant's triggers may name."""
    recovery: RecoveryStateView


class MeView(TypedDict):
    """Who asks, as the token says."""

    tenant: str
    user: str
    """The subject."""
    roles: list[str]
    """As this deployment reads the claim. `admin` may do all that `member` may; any other role matters to policies."""
    decides: bool
    """false: this is a program's token, and here people alone decide what sessions ask."""
    file_change_role: str | None
    """The role that replaces, restores and deletes shared files over the API. null: every member does."""


class PageSignInView(TypedDict):
    """Where the page for people sends whoever signs in."""

    issuer: str
    """An OpenID issuer, whose discovery document has the rest. Empty: nobody can sign in on the page."""
    client_id: str
    scope: str
    takes: Literal["access_token", "id_token"]
    """Which token of a sign-in the API takes."""
    tenant_claim: str
    """The claim of that token that names the tenant."""
    environment: str
