"""`GET /v1/audit`: an admin reads who did what in the tenant, and nobody else does."""

from typing import Any

import pytest

from tests.api.deployment import AdminApi
from tests.api.gateway import Gateway

MEMORY = {"agent_id": "default", "kind": "fact", "text": "marker"}


@pytest.fixture
def api() -> AdminApi:
    return AdminApi()


def audited(reader: Gateway, **query: str) -> list[dict[str, Any]]:
    answer = reader.request("GET", "/v1/audit", query={name.removesuffix("_"): query[name] for name in query})
    assert answer.status == 200, answer.json
    items: list[dict[str, Any]] = answer.data["items"]
    return items


def test_an_admin_reads_who_wrote_what_newest_first(api: AdminApi) -> None:
    bob = api.as_caller(user="bob", roles="[member]")
    assert bob.request("PUT", "/v1/files/notes/may.md", body=b"marker").status == 201
    made = bob.request("POST", "/v1/memories", json_body=MEMORY)
    assert made.status == 201
    remembered, written = audited(api.admin)
    assert written == {
        "audit_id": written["audit_id"],
        "at": "2026-01-01T00:00:00.000Z",
        "ended_at": "2026-01-01T00:00:00.000Z",
        "who": "p_acme_bob",
        "roles": ["member"],
        "source": "192.0.2.0/24",
        "via": "api",
        "action": "file.write",
        "details": {"path": "notes/may.md", "bytes": "6"},
        "outcome": "done",
        "code": None,
    }
    assert remembered["details"] == {"agent_id": "default", "memory_id": made.data["memory_id"]}
    assert "marker" not in str([remembered, written])


def test_a_definition_is_recorded_with_its_version_and_so_is_a_refusal(api: AdminApi) -> None:
    agent = {"agent_id": "librarian", "name": "Librarian"}
    assert api.admin.request("POST", "/v1/agents", json_body=agent).status == 201
    assert api.admin.request("PUT", "/v1/agents/librarian", json_body={"name": "Lib"}).status == 200
    assert api.admin.request("POST", "/v1/agents", json_body=agent).status == 409
    assert api.admin.request("DELETE", "/v1/agents/librarian").status == 204
    told = [(one["action"], one["details"], one["outcome"], one["code"]) for one in audited(api.admin)]
    assert told[::-1] == [
        ("agent.create", {"agent_id": "librarian", "version": "1"}, "done", None),
        ("agent.replace", {"agent_id": "librarian", "version": "2"}, "done", None),
        ("agent.create", {"agent_id": "librarian"}, "refused", "CONFLICT"),
        ("agent.delete", {"agent_id": "librarian"}, "done", None),
    ]


def test_a_restored_prompt_is_recorded_with_both_versions(api: AdminApi) -> None:
    path = "/v1/admin/prompts/agent_planning_system"
    for content in ("one", "two"):
        assert api.admin.request("PUT", path, json_body={"content": content}).status == 200
    assert api.admin.request("POST", f"{path}/versions/2/restore", json_body={}).status == 200
    (restored,) = audited(api.admin, action="prompt.restore")
    assert restored["details"] == {
        "name": "agent_planning_system",
        "restored_version": "2",
        "version": "4",
    }


def test_who_is_no_admin_reads_nothing_and_another_tenant_s_admin_nothing_of_this_one(api: AdminApi) -> None:
    api.admin.request("PUT", "/v1/files/a.txt", body=b"x")
    assert api.member.request("GET", "/v1/audit").status == 403
    assert audited(api.stranger) == []


def test_reading_is_not_recorded(api: AdminApi) -> None:
    audited(api.admin)
    api.admin.request("GET", "/v1/files")
    assert api.root.audit.trail.records == {}  # type: ignore[attr-defined]


def test_a_person_is_looked_for_by_the_name_the_identity_provider_has(api: AdminApi) -> None:
    for user in ("ann", "bob"):
        api.as_caller(user=user).request("PUT", f"/v1/files/{user}.txt", body=b"x")
    (found,) = audited(api.admin, user="bob")
    assert found["details"]["path"] == "bob.txt"
    assert audited(api.admin, who=found["who"]) == [found]
    assert audited(api.admin, user="bo") == []


def test_a_span_an_action_and_pages(api: AdminApi) -> None:
    clock: Any = api.root.clock
    for name in ("a", "b", "c"):
        api.admin.request("PUT", f"/v1/files/{name}", body=b"x")
        clock.advance(60)
    paths = [one["details"]["path"] for one in audited(api.admin, from_="2026-01-01T00:01:00Z")]
    assert paths == ["c", "b"]
    assert audited(api.admin, from_="2026-01-01T00:01:00Z", to="2026-01-01T01:02:00+01:00") == [
        one for one in audited(api.admin) if one["details"]["path"] == "b"
    ]
    assert audited(api.admin, action="file.delete") == []
    first = api.admin.request("GET", "/v1/audit", query={"limit": "2"}).data
    rest = api.admin.request("GET", "/v1/audit", query={"limit": "2", "cursor": first["next_cursor"]}).data
    assert [one["details"]["path"] for one in first["items"] + rest["items"]] == ["c", "b", "a"]
    assert rest["next_cursor"] is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("from", "yesterday"),
        ("to", "2026-01-01T00:00:00"),
        ("to", "0.5"),
        ("from", "1767225600"),
        ("action", "file.eat"),
        ("limit", "0"),
        ("user", ""),
    ],
)
def test_a_filter_that_cannot_be_used_is_refused_by_its_name(api: AdminApi, name: str, value: str) -> None:
    answer = api.admin.request("GET", "/v1/audit", query={name: value})
    assert (answer.status, list(answer.error["details"])) == (400, [name])


def test_a_cursor_that_is_not_of_the_trail_is_refused(api: AdminApi) -> None:
    assert api.admin.request("GET", "/v1/audit", query={"cursor": "x"}).status == 400


def test_a_path_is_recorded_whole_and_hidden_characters_are_shown(api: AdminApi) -> None:
    path = f"reports/{'x' * 300}"
    api.as_caller(roles=["member", "appr\u202eover"]).request("PUT", f"/v1/files/{path}", body=b"x")
    (found,) = audited(api.admin)
    assert (found["details"]["path"], found["roles"]) == (path, ["appr\\u202eover", "member"])


def test_a_file_that_was_written_again_is_recorded_with_the_version_that_was_asked_for(api: AdminApi) -> None:
    answer = api.admin.request("POST", "/v1/files/notes/may.md", query={"restore": "v-unknown"})
    assert answer.status == 404
    (found,) = audited(api.admin, action="file.restore")
    assert (found["outcome"], found["code"]) == ("refused", "NOT_FOUND")
    assert found["details"] == {"path": "notes/may.md", "restore": "v-unknown"}
