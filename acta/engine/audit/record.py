"""What the audit trail says of one request that changes something: who did what, when, from where, and its outcome
(ADR 54). The trail is added to and read, and nothing else.

A record is written before the action, as `begun`, and once more after it. None is ever changed or deleted by Acta. It
has ids and names, and never a message, a prompt, a file's content or an input.
"""

from collections.abc import Mapping
from datetime import datetime
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Literal, NamedTuple, Protocol

from acta.engine.clock import Clock
from acta.engine.store.schema import FrozenModel

Via = Literal["api", "mcp", "mcp_form"]
"""The way by which a request came in, known from the route that took it and from no header. `api`: a request to `/v1`,
of whatever program, or an operator's command. `mcp`: a tool that a client's model called at `/mcp`. `mcp_form`: the
answer to a form that a client of `/mcp` was given for its person.
"""
OperatorAction = Literal[
    "tenant.backup", "tenant.restore", "tenant.erase", "user.erase", "user.add", "user.remove", "user.sign_out",
    "session.repair", "deployment.repair", "deployment.quarantine", "deployment.lift", "deployment.restored",
    "deployment.rollback", "deployment.verify",
]  # fmt: skip
"""What operators do with AWS credentials (`acta/infra/deployed/operator_trail.py`). The names are stored, so they
stay as they are.
"""
Outcome = Literal["begun", "done", "refused", "failed"]
"""`begun`: the outcome is not known, because the worker died or the store was unavailable afterwards. `refused`: the
caller was told why (4xx). `failed`: the mistake was on our side (5xx), and the action may have happened.
"""
V4_PREFIX, V6_PREFIX = 24, 48
"""What is kept of an address: a network of an organisation or a provider, and no single machine."""
UNKNOWN = "unknown"
"""Stands for a pseudonym, which begins with `p_`, if the key cannot be read and the request stops a session."""
MAX_ROLES = 20
MAX_CHARS = 200
"""The longest detail. A path of the storage has a limit of its own."""


class AuditRecord(FrozenModel):
    """`who`: the pseudonym of the caller, or `UNKNOWN`. `source`: the truncated address. `details`: what the action was
    on, by name: `session_id`, `path`, `version`, `option` … `at`: when the request began; `ended_at`: None while it is
    `begun`. `code`: of the error that the caller was answered with. `via`: the way by which the request came.
    """

    audit_id: str
    at: datetime
    ended_at: datetime | None = None
    who: str
    roles: tuple[str, ...] = ()
    source: str = ""
    via: Via = "api"
    action: str
    details: Mapping[str, str] = {}
    outcome: Outcome = "begun"
    code: str | None = None


def outcome_of(status: int) -> Outcome:
    """`status`: what the request was answered with over HTTP."""
    if status < 400:
        return "done"
    return "refused" if status < 500 else "failed"


def network_of(address: str) -> str:
    """`192.0.2.17` -> `192.0.2.0/24`, `2001:db8:1:2::3` -> `2001:db8:1::/48`. Empty for what is no address."""
    try:
        found = ip_address(address)
    except ValueError:
        return ""
    if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    prefix = V4_PREFIX if found.version == 4 else V6_PREFIX
    return str(ip_network((found.packed, prefix), strict=False))


def shortened(text: str, most: int = MAX_CHARS) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


class RecordExists(Exception):
    """There is another record under this id and outcome. It stays as it is."""


class AuditFilter(NamedTuple):
    """The records that are looked for. None: any value. `since` belongs to the span, `until` does not."""

    since: datetime | None = None
    until: datetime | None = None
    action: str | None = None
    who: str | None = None
    session_id: str | None = None


class AuditPage(NamedTuple):
    """Newest first, one record for each request: how it ended, where that is known. A page may have fewer than its
    limit and still have a cursor. `cursor` None: this is the last page.
    """

    records: tuple[AuditRecord, ...]
    cursor: str | None


class AuditTrail(Protocol):
    def put(self, tenant: str, record: AuditRecord) -> None:
        """The same record again is no error. Raises RecordExists, StoreThrottled, StoreUnavailable, AwsDenied."""

    def find(self, tenant: str, wanted: AuditFilter, *, limit: int, cursor: str | None) -> AuditPage:
        """Raises ValueError for a cursor that it did not make, and StoreThrottled, StoreUnavailable, AwsDenied."""


class Pseudonyms(Protocol):
    """Names for people that nobody can turn back without the deployment's key."""

    def of(self, tenant: str, user: str) -> str:
        """The same for the same user, as long as the key exists. Raises StoreThrottled, StoreUnavailable, AwsDenied."""


class Audit(NamedTuple):
    """What a function needs to record what it is asked to do."""

    trail: AuditTrail
    pseudonyms: Pseudonyms
    clock: Clock
