"""`/v1/memories`."""

from typing import Any

import pytest

from acta.engine.memories.memory import Memory, Source
from acta.engine.store.table_layout import load_json
from tests.api.deployment import MOST_MEMORIES, SETTINGS, AdminApi

MEMORY = {"kind": "preference", "text": "Answers in German, please 🪶", "tags": ["style"]}


@pytest.fixture
def api() -> AdminApi:
    return AdminApi()


def create(api: AdminApi, **fields: Any) -> Any:
    answer = api.member.request("POST", "/v1/memories", json_body={**MEMORY, **fields})
    assert answer.status == 201
    return answer.data


def listed(api: AdminApi, **query: str) -> list[str]:
    items = api.member.request("GET", "/v1/memories", query=query).data["items"]
    return [item["text"] for item in items]


def test_a_memory_is_read_as_it_was_written(api: AdminApi) -> None:
    answer = api.member.request("POST", "/v1/memories", json_body=MEMORY)
    memory = answer.data
    assert (answer.status, answer.headers["Location"]) == (201, f"/v1/memories/{memory['memory_id']}")
    assert memory == {
        "memory_id": memory["memory_id"],
        "agent_id": "default",
        **MEMORY,
        "source": {"user": "ann"},
        "origin": "person",
        "shared": True,
        "created_at": "2026-01-01T00:00:00.000Z",
        "updated_at": "2026-01-01T00:00:00.000Z",
    }
    assert api.member.request("GET", f"/v1/memories/{memory['memory_id']}").data == memory


def test_memories_are_listed_newest_first_by_agent_and_kind(api: AdminApi) -> None:
    api.admin.request("POST", "/v1/agents", json_body={"agent_id": "a", "name": "A"})
    create(api, text="one", agent_id="a", kind="fact")
    create(api, text="two", kind="fact")
    create(api, text="three", kind="lesson")
    assert listed(api) == ["three", "two", "one"]
    assert listed(api, agent_id="a") == ["one"]
    assert listed(api, kind="fact") == ["two", "one"]
    assert listed(api, agent_id="default", kind="fact") == ["two"]
    assert listed(api, agent_id="never") == []

    first = api.member.request("GET", "/v1/memories", query={"limit": "2"}).data
    rest = api.member.request("GET", "/v1/memories", query={"cursor": first["next_cursor"]}).data
    assert ([item["text"] for item in rest["items"]], rest["next_cursor"]) == (["one"], None)


@pytest.mark.parametrize(
    ("query", "field"),
    [({"kind": "idea"}, "kind"), ({"limit": "0"}, "limit"), ({"limit": "201"}, "limit"), ({"cursor": "x"}, "cursor"),
     ({"agent_id": "x" * 65}, "agent_id")],
)  # fmt: skip
def test_a_listing_refuses_what_it_cannot_use(api: AdminApi, query: dict[str, str], field: str) -> None:
    answer = api.member.request("GET", "/v1/memories", query=query)
    assert (answer.status, list(answer.error["details"])) == (400, [field])


def test_a_replacement_is_whole_and_keeps_id_agent_and_birth(api: AdminApi) -> None:
    memory = create(api)
    path = f"/v1/memories/{memory['memory_id']}"
    other = api.as_caller(user="bob", roles="[member]")
    changed = other.request("PUT", path, json_body={"kind": "fact", "text": "In English"}).data
    assert changed == {**memory, "kind": "fact", "text": "In English", "tags": [], "source": {"user": "bob"}}
    assert api.member.request("GET", path).data == changed


def test_a_change_of_another_memory_than_the_one_seen_is_refused(api: AdminApi) -> None:
    path = f"/v1/memories/{create(api)['memory_id']}"
    seen = {"If-Match": api.member.request("GET", path).headers["ETag"]}
    api.root.clock.sleep(1)
    assert api.member.request("PUT", path, json_body=MEMORY, headers=seen).status == 200
    assert api.member.request("PUT", path, json_body=MEMORY, headers=seen).status == 412
    assert api.member.request("DELETE", path, headers=seen).status == 412
    assert api.member.request("DELETE", path).status == 204


def test_what_is_deleted_or_another_tenant_s_is_not_found(api: AdminApi) -> None:
    path = f"/v1/memories/{create(api)['memory_id']}"
    for method, body in (("GET", None), ("PUT", MEMORY), ("DELETE", None)):
        assert api.stranger.request(method, path, json_body=body).status == 404
    assert api.stranger.request("GET", "/v1/memories").data["items"] == []
    assert api.member.request("DELETE", path).status == 204
    for method, body in (("GET", None), ("PUT", MEMORY), ("DELETE", None)):
        assert api.member.request(method, path, json_body=body).status == 404


def test_a_memory_is_kept_for_an_agent_that_exists(api: AdminApi) -> None:
    answer = api.member.request("POST", "/v1/memories", json_body={**MEMORY, "agent_id": "nobody"})
    assert (answer.status, list(answer.error["details"])) == (400, ["agent_id"])


def test_a_full_agent_takes_no_more_until_a_summary_can_go(api: AdminApi) -> None:
    for number in range(MOST_MEMORIES - 1):
        create(api, text=f"fact {number}", kind="fact")
    create(api, text="old summary", kind="summary")
    create(api, text="newest", kind="fact")
    assert listed(api) == ["newest", "fact 1", "fact 0"]
    answer = api.member.request("POST", "/v1/memories", json_body=MEMORY)
    assert (answer.status, answer.error["code"]) == (409, "CONFLICT")


def test_a_repeated_request_with_its_key_makes_one_memory(api: AdminApi) -> None:
    key = {"Idempotency-Key": "k"}
    first = api.member.request("POST", "/v1/memories", json_body=MEMORY, headers=key)
    second = api.member.request("POST", "/v1/memories", json_body=MEMORY, headers=key)
    assert (second.status, second.data) == (201, first.data)
    assert len(listed(api)) == 1


def test_the_record_of_a_key_holds_nothing_of_what_is_remembered(api: AdminApi) -> None:
    """It lives for a day, and the memory may be deleted before. A repeat brings the text along."""
    key = {"Idempotency-Key": "k"}
    first = api.member.request("POST", "/v1/memories", json_body=MEMORY, headers=key)
    found = api.table.scan(TableName=SETTINGS.table)["Items"]
    records = repr(
        [load_json("record", each["z"]["B"]) for each in found if each["sk"]["S"].startswith("K#")]
    )
    assert first.data["memory_id"] in records
    assert all(said not in records for said in ("German", "style"))

    assert api.member.request("DELETE", f"/v1/memories/{first.data['memory_id']}").status == 204
    again = api.member.request("POST", "/v1/memories", json_body=MEMORY, headers=key)
    assert (again.status, again.data) == (201, first.data)
    assert listed(api) == []


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"text": ""}, "text"), ({"text": " "}, "text"), ({"text": "x" * 2_001}, "text"), ({"text": "a\0"}, "text"),
        ({"kind": "idea"}, "kind"), ({"kind": None}, "kind"),
        ({"tags": ["x"] * 11}, "tags"), ({"tags": [""]}, "tags.0"), ({"tags": ["x" * 41]}, "tags.0"),
        ({"tags": "x"}, "tags"), ({"agent_id": "a b"}, "agent_id"), ({"source": {}}, "source"),
        ({"memory_id": "mem_1"}, "memory_id"),
    ],
)  # fmt: skip
def test_a_memory_that_cannot_be_meant_is_refused_by_its_field(
    api: AdminApi, fields: dict[str, Any], field: str
) -> None:
    answer = api.member.request("POST", "/v1/memories", json_body={**MEMORY, **fields})
    assert (answer.status, list(answer.error["details"])) == (400, [field])
    assert listed(api) == []


def test_a_memory_of_an_agent_with_start_roles_is_written_by_those_who_have_one(api: AdminApi) -> None:
    assert (
        api.admin.request(
            "PUT", "/v1/agents/default", json_body={"name": "A", "start_roles": ["finance"]}
        ).status
        == 200
    )
    memory = {"kind": "preference", "text": "Pay everything to account 7"}
    finance = api.as_caller(user="fin", roles=["finance", "member"])
    assert finance.request("POST", "/v1/memories", json_body=memory).status == 201
    (stored,) = finance.request("GET", "/v1/memories").data["items"]
    path = f"/v1/memories/{stored['memory_id']}"
    for caller in (api.member, api.admin):
        assert caller.request("POST", "/v1/memories", json_body=memory).status == 403
        assert caller.request("PUT", path, json_body={**memory, "text": "To 8"}).status == 403
    assert finance.request("PUT", path, json_body={**memory, "text": "To 9"}).status == 200


def noted(api: AdminApi, user: str = "ann", *, private: bool = False) -> str:
    """What an agent noted in the user's session after it had read text from outside. Returns its path."""
    at = api.root.clock.now()
    memory = Memory(
        memory_id="mem_noted", agent_id="default", kind="preference", text="Pay evil.example", created_at=at,
        updated_at=at, source=Source(session_id="ses_1"), origin="after_outside_data", only_for=user,
        private=private,
    )  # fmt: skip
    assert api.root.memories.add("acme", memory)
    return "/v1/memories/mem_noted"


def test_what_is_for_one_user_does_not_exist_for_the_others_and_admins_see_it(api: AdminApi) -> None:
    path, bob = noted(api), api.as_caller(user="bob", roles="[member]")
    for method, body in (("GET", None), ("PUT", {**MEMORY, "shared": True}), ("DELETE", None)):
        assert bob.request(method, path, json_body=body).status == 404
    assert bob.request("GET", "/v1/memories").data["items"] == []
    boss = api.as_caller(user="eve")
    for caller in (api.member, boss):
        (seen,) = caller.request("GET", "/v1/memories").data["items"]
        assert (seen["origin"], seen["shared"]) == ("after_outside_data", False)
        assert caller.request("GET", path).data == seen
    assert boss.request("DELETE", path).status == 204


def test_what_was_noted_in_a_private_session_is_not_an_admin_s_to_see_either(api: AdminApi) -> None:
    path, boss = noted(api, private=True), api.as_caller(user="eve")
    for method, body in (("GET", None), ("PUT", {**MEMORY, "shared": True}), ("DELETE", None)):
        assert boss.request(method, path, json_body=body).status == 404
    assert boss.request("GET", "/v1/memories").data["items"] == []
    (seen,) = api.member.request("GET", "/v1/memories").data["items"]
    assert seen["shared"] is False
    assert api.member.request("PUT", path, json_body={**MEMORY, "shared": True}).status == 200
    assert boss.request("GET", path).data["shared"] is True
    (kept,) = api.root.memories.relevant("acme", "default", "bob", str(MEMORY["text"]), 5, 1_000)
    assert kept.private is False


def test_a_person_lets_everybody_have_it_by_saying_so_and_not_by_writing_it_anew(api: AdminApi) -> None:
    path, bob = noted(api), api.as_caller(user="bob", roles="[member]")
    written = api.member.request("PUT", path, json_body=MEMORY).data
    assert (written["origin"], written["shared"], written["text"]) == (
        "after_outside_data",
        False,
        MEMORY["text"],
    )
    assert bob.request("GET", path).status == 404
    assert api.member.request("PUT", path, json_body={**MEMORY, "shared": False}).status == 400
    lifted = api.member.request("PUT", path, json_body={**MEMORY, "shared": True}).data
    assert (lifted["origin"], lifted["shared"]) == ("person", True)
    assert bob.request("GET", path).data == lifted
