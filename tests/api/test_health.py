"""`GET /v1/admin/health`: which release answers, and what it allows the tenant."""

from datetime import timedelta

from acta.engine.recovery.store import LATE_AFTER, ROUNDS, RoundCounts, RoundResult
from acta.engine.settings import Settings
from tests.api.deployment import SETTINGS, AdminApi

LIMITED = Settings(
    env="prod",
    table="table",
    bucket="bucket",
    release="r-7",
    write_version=1,
    reads_version=2,
    audit_table="audit",
    event_sources={"inbox": {"kind": "files"}, "jobs": {"kind": "queue", "tenants": ["globex"]}},
    tenant_limits={"*": {"open_sessions": 100}, "acme": {"starts_per_minute": 60}},
)
PATH = "/v1/admin/health"


def test_an_admin_reads_the_release_and_the_limits_of_the_own_tenant() -> None:
    api = AdminApi(LIMITED)
    answer = api.admin.request("GET", PATH)
    assert answer.status == 200, answer.json
    assert answer.data == {
        "environment": "prod",
        "release": "r-7",
        "schema": {"reads": 2, "writes": 1},
        "audit": {"recorded": True},
        "limits": {
            "starts_per_minute": 60,
            "open_sessions": None,
            "requests_per_second": None,
            "long_polls": None,
            "tokens_per_hour": 5_000_000,
        },
        "event_sources": ["inbox"],
        "recovery": {"last_scan": None, "late": True},
    }
    others = api.stranger.request("GET", PATH).data["limits"]
    assert (others["starts_per_minute"], others["open_sessions"]) == (None, 100)


def test_what_is_not_limited_is_null_and_what_is_not_recorded_is_said() -> None:
    data = AdminApi(SETTINGS.but(tenant_tokens_per_hour=0)).admin.request("GET", PATH).data
    assert set(data["limits"].values()) == {None}
    assert data["audit"] == {"recorded": False}


def test_a_member_is_refused() -> None:
    answer = AdminApi(LIMITED).member.request("GET", PATH)
    assert (answer.status, answer.json["error"]["code"]) == (403, "FORBIDDEN")
    assert "r-7" not in str(answer.json)


def test_when_recovery_looked_last_is_told_with_what_it_did() -> None:
    api = AdminApi(LIMITED)
    now = api.root.clock.now()
    for round in ROUNDS:
        api.root.scans.put(round, RoundResult(now, RoundCounts()))
    api.root.scans.put("due", RoundResult(now - LATE_AFTER, RoundCounts(looked=3, restarted=2)))
    told = api.admin.request("GET", PATH).data["recovery"]
    assert told["late"] is False
    assert (
        told["last_scan"].pop("ended_at") == (now - LATE_AFTER).isoformat(timespec="milliseconds")[:-6] + "Z"
    )
    assert told["last_scan"] == RoundCounts(looked=3, restarted=2)._asdict()
    api.root.scans.put("woken", RoundResult(now - LATE_AFTER - timedelta(seconds=1), RoundCounts()))
    assert api.admin.request("GET", PATH).data["recovery"]["late"] is True
