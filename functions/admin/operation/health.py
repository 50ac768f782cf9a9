"""What this deployment is and what it allows the tenant: `/v1/admin/health`, for admins (design §3)."""

from typing import TYPE_CHECKING

from shared.api.app import Api
from shared.api.response.envelope import Response, success
from shared.api.response.views import instant
from shared.ports.clock import Clock
from shared.ports.deployment.recovery_scans import RecoveryScans, is_late, together
from shared.settings import Settings

if TYPE_CHECKING:  # types alone: no cold start loads them
    from shared.api.response.shapes import records


def add_health(api: Api, settings: Settings, scans: RecoveryScans, clock: Clock) -> None:
    limits = settings.limits

    @api.get("/v1/admin/health")
    def read_health() -> Response:
        of_tenant = limits.of(api.caller.tenant)
        shown: records.DeploymentHealth = {
            "environment": settings.env,
            "release": settings.release,
            "schema": {"reads": settings.reads_version, "writes": settings.write_version},
            "audit": {"recorded": bool(settings.audit_table)},
            "limits": {
                "starts_per_minute": of_tenant.starts_per_minute,
                "open_sessions": of_tenant.open_sessions,
                "requests_per_second": of_tenant.requests_per_second,
                "long_polls": of_tenant.long_polls,
                "tokens_per_hour": settings.tenant_tokens_per_hour or None,
            },
            "recovery": recovery(),
        }
        return success(shown)

    def recovery() -> "records.RecoveryState":
        last = together(scans.last())
        late = is_late(last, clock.now())
        if last is None:
            return {"last_scan": None, "late": late}
        return {"last_scan": {"ended_at": instant(last.ended_at), **last.tally._asdict()}, "late": late}  # type: ignore[typeddict-item]
