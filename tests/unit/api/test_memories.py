"""`/v1/memories`."""

from typing import Any

import pytest

from tests.unit.api.admin import MOST_MEMORIES, Office

MEMORY = {"kind": "preference", "text": "Answers in German, please 🪶", "tags": ["style"]}


@pytest.fixture
def office() -> Office:
    return Office()


def create(office: Office, **fields: Any) -> Any:
    answer = office.member.request("POST", "/v1/memories", json_body={**MEMORY, **fields})
    assert answer.status == 201
    return answer.data


def listed(office: Office, **query: str) -> list[str]:
    items = office.member.request("GET", "/v1/memories", query=query).data["items"]
    return [item["text"] for item in items]


def test_a_memory_is_read_as_it_was_written(office: Office) -> None:
    answer = office.member.request("POST", "/v1/memories", json_body=MEMORY)
    memory = answer.data
    assert (answer.status, answer.headers["Location"]) == (201, f"/v1/memories/{memory['memory_id']}")
    assert memory == {
        "memory_id": memory["memory_id"],
        "agent_id": "default",
        **MEMORY,
        "source": {"user": "ann"},
        "created_at": "2026-01-01T00:00:00.000Z",
        "updated_at": "2026-01-01T00:00:00.000Z",
    }
    assert office.member.request("GET", f"/v1/memories/{memory['memory_id']}").data == memory


def test_memories_are_listed_newest_first_by_agent_and_kind(office: Office) -> None:
    office.admin.request("POST", "/v1/agents", json_body={"agent_id": "a", "name": "A"})
    create(office, text="one", agent_id="a", kind="fact")
    create(office, text="two", kind="fact")
    create(office, text="three", kind="lesson")
    assert listed(office) == ["three", "two", "one"]
    assert listed(office, agent_id="a") == ["one"]
    assert listed(office, kind="fact") == ["two", "one"]
    assert listed(office, agent_id="default", kind="fact") == ["two"]
    assert listed(office, agent_id="never") == []

    first = office.member.request("GET", "/v1/memories", query={"limit": "2"}).data
    rest = office.member.request("GET", "/v1/memories", query={"cursor": first["next_cursor"]}).data
    assert ([item["text"] for item in rest["items"]], rest["next_cursor"]) == (["one"], None)


@pytest.mark.parametrize(
    ("query", "field"),
    [({"kind": "idea"}, "kind"), ({"limit": "0"}, "limit"), ({"limit": "201"}, "limit"), ({"cursor": "x"}, "cursor"),
     ({"agent_id": "x" * 65}, "agent_id")],
)  # fmt: skip
def test_a_listing_refuses_what_it_cannot_use(office: Office, query: dict[str, str], field: str) -> None:
    answer = office.member.request("GET", "/v1/memories", query=query)
    assert (answer.status, list(answer.error["details"])) == (400, [field])


def test_a_replacement_is_whole_and_keeps_id_agent_and_birth(office: Office) -> None:
    memory = create(office)
    path = f"/v1/memories/{memory['memory_id']}"
    other = office.as_caller(user="bob", roles="[member]")
    changed = other.request("PUT", path, json_body={"kind": "fact", "text": "In English"}).data
    assert changed == {**memory, "kind": "fact", "text": "In English", "tags": [], "source": {"user": "bob"}}
    assert office.member.request("GET", path).data == changed


def test_a_change_of_another_memory_than_the_one_seen_is_refused(office: Office) -> None:
    path = f"/v1/memories/{create(office)['memory_id']}"
    seen = {"If-Match": office.member.request("GET", path).headers["ETag"]}
    office.root.clock.sleep(1)
    assert office.member.request("PUT", path, json_body=MEMORY, headers=seen).status == 200
    assert office.member.request("PUT", path, json_body=MEMORY, headers=seen).status == 409
    assert office.member.request("DELETE", path, headers=seen).status == 409
    assert office.member.request("DELETE", path).status == 204


def test_what_is_deleted_or_another_tenant_s_is_not_found(office: Office) -> None:
    path = f"/v1/memories/{create(office)['memory_id']}"
    for method, body in (("GET", None), ("PUT", MEMORY), ("DELETE", None)):
        assert office.stranger.request(method, path, json_body=body).status == 404
    assert office.stranger.request("GET", "/v1/memories").data["items"] == []
    assert office.member.request("DELETE", path).status == 204
    for method, body in (("GET", None), ("PUT", MEMORY), ("DELETE", None)):
        assert office.member.request(method, path, json_body=body).status == 404


def test_a_memory_is_kept_for_an_agent_that_exists(office: Office) -> None:
    answer = office.member.request("POST", "/v1/memories", json_body={**MEMORY, "agent_id": "nobody"})
    assert (answer.status, list(answer.error["details"])) == (400, ["agent_id"])


def test_a_full_agent_takes_no_more_until_a_summary_can_go(office: Office) -> None:
    for number in range(MOST_MEMORIES - 1):
        create(office, text=f"fact {number}", kind="fact")
    create(office, text="old summary", kind="summary")
    create(office, text="newest", kind="fact")
    assert listed(office) == ["newest", "fact 1", "fact 0"]
    answer = office.member.request("POST", "/v1/memories", json_body=MEMORY)
    assert (answer.status, answer.error["code"]) == (409, "CONFLICT")


def test_a_repeated_request_with_its_key_makes_one_memory(office: Office) -> None:
    key = {"Idempotency-Key": "k"}
    first = office.member.request("POST", "/v1/memories", json_body=MEMORY, headers=key)
    second = office.member.request("POST", "/v1/memories", json_body=MEMORY, headers=key)
    assert (second.status, second.data) == (201, first.data)
    assert len(listed(office)) == 1


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
    office: Office, fields: dict[str, Any], field: str
) -> None:
    answer = office.member.request("POST", "/v1/memories", json_body={**MEMORY, **fields})
    assert (answer.status, list(answer.error["details"])) == (400, [field])
    assert listed(office) == []
