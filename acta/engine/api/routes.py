"""Who asks, `/v1/me`; who did what, `/v1/audit`; what this deployment is and allows, `/v1/admin/health`
(docs/design/api.md)."""

from typing import TYPE_CHECKING, Annotated, Literal, get_args

from pydantic import Field

from acta.engine.api.answers import instant, instant_or_none
from acta.engine.api.app import Api
from acta.engine.api.envelope import Response, page, success
from acta.engine.api.listing_cursor import MAX_PAGE, Instant, ListingCursor, listing_cursor
from acta.engine.api.operations import OPERATIONS
from acta.engine.audit.record import AuditFilter, AuditRecord, OperatorAction
from acta.engine.recovery.store import is_late, together
from acta.engine.untrusted.visible import visible

if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta.engine.api import deployment_answers as records
    from acta.engine.audit import answers

    Action = str
else:
    Action = Literal[
        (*(row.action for row in OPERATIONS if row.action is not None), *get_args(OperatorAction))
    ]


Name = Annotated[str | None, Field(min_length=1, max_length=200)]


def read_me(api: Api) -> Response:
    """What a page needs to know to show what this person may do, and nothing else."""
    tenant, user, roles, decides = api.caller
    changes = api.settings.file_change_role or None
    return success(
        {
            "tenant": tenant,
            "user": user,
            "roles": sorted(roles),
            "decides": decides,
            "file_change_role": changes,
        }
    )


def list_audit_records(
    api: Api,
    from_: Instant | None = None,
    to: Instant | None = None,
    action: Action | None = None,
    user: Name = None,
    who: Name = None,
    session_id: Name = None,
    limit: Annotated[int, Field(ge=1, le=MAX_PAGE)] = 50,
    cursor: ListingCursor = None,
) -> Response:
    """`user`: a subject as the identity provider names it. From it alone comes the pseudonym that is looked for;
    there is no way from a pseudonym to its user.
    """
    tenant = api.caller.tenant
    pseudonym = who if user is None else api.app.audit.pseudonyms.of(tenant, user)
    wanted = AuditFilter(from_, to, action, pseudonym, session_id)
    with listing_cursor():
        found = api.app.audit.trail.find(tenant, wanted, limit=limit, cursor=cursor)
    looked_for = {"action": action, "who": pseudonym, "session_id": session_id}
    recorded = {name: value for name, value in looked_for.items() if value} or {"records": "all"}
    return page([record_view(record) for record in found.records], found.cursor)._replace(recorded=recorded)


def record_view(record: AuditRecord) -> "answers.AuditRecordView":
    """Invisible characters of what callers named are made visible."""
    return {
        "audit_id": record.audit_id,
        "at": instant(record.at),
        "ended_at": instant_or_none(record.ended_at),
        "who": record.who,
        "roles": [visible(role) for role in record.roles],
        "source": record.source,
        "via": record.via,
        "action": record.action,
        "details": {name: visible(value) for name, value in record.details.items()},
        "outcome": record.outcome,
        "code": record.code,
    }


def read_deployment(api: Api) -> Response:
    of_tenant = api.app.settings.limits.of(api.caller.tenant)
    last = together(api.app.scans.last())
    scan = None if last is None else {"ended_at": instant(last.ended_at), **last.tally._asdict()}
    shown: records.DeploymentHealthView = {
        "environment": api.app.settings.env,
        "release": api.app.settings.release,
        "schema": {"reads": api.app.settings.reads_version, "writes": api.app.settings.write_version},
        "audit": {"recorded": bool(api.app.settings.audit_table)},
        "limits": {
            "starts_per_minute": of_tenant.starts_per_minute,
            "open_sessions": of_tenant.open_sessions,
            "requests_per_second": of_tenant.requests_per_second,
            "long_polls": of_tenant.long_polls,
            "tokens_per_hour": api.app.settings.tenant_tokens_per_hour or None,
        },
        "event_sources": api.app.settings.sources_for(api.caller.tenant),
        "recovery": {"last_scan": scan, "late": is_late(last, api.app.clock.now())},  # type: ignore[typeddict-item]
    }
    return success(shown)
