"""`/v1/admin/prompts`."""

from typing import Any

import pytest

from shared.domain.definitions.prompt import AGENT_PLANNING_SYSTEM, SEEDS
from tests.unit.api.admin import Office
from tests.unit.api.gateway import Answer

PROMPTS = "/v1/admin/prompts"
PROMPT = f"{PROMPTS}/{AGENT_PLANNING_SYSTEM}"
SEED = SEEDS[AGENT_PLANNING_SYSTEM]


@pytest.fixture
def office() -> Office:
    return Office()


def put(office: Office, content: str, headers: dict[str, str] | None = None, **fields: Any) -> Answer:
    return office.admin.request("PUT", PROMPT, json_body={"content": content, **fields}, headers=headers)


def versions(office: Office) -> list[tuple[int, str]]:
    items = office.admin.request("GET", f"{PROMPT}/versions").data["items"]
    return [(item["version"], item["content"]) for item in items]


def test_the_product_s_text_is_in_force_until_somebody_writes_another(office: Office) -> None:
    (listed,) = office.admin.request("GET", PROMPTS).data["items"]
    assert (listed["name"], listed["version"], listed["content"]) == (AGENT_PLANNING_SYSTEM, 1, SEED)
    assert office.admin.request("GET", PROMPT).data == {**listed, "seed_content": SEED}


def test_an_edit_is_a_new_version_that_tells_who_when_and_why(office: Office) -> None:
    answer = put(office, "Plan briefly.", comment="shorter")
    assert answer.status == 200
    assert answer.data == {
        "name": AGENT_PLANNING_SYSTEM,
        "version": 2,
        "content": "Plan briefly.",
        "comment": "shorter",
        "created_by": "ann",
        "created_at": "2026-01-01T00:00:00.000Z",
    }
    read = office.admin.request("GET", PROMPT)
    assert read.data == {**answer.data, "seed_content": SEED}
    assert versions(office) == [(2, "Plan briefly."), (1, SEED)]


def test_a_tenant_s_edit_is_its_own(office: Office) -> None:
    put(office, "Ours")
    assert office.stranger.request("GET", PROMPT).data["content"] == SEED


def test_the_same_text_again_is_no_new_version(office: Office) -> None:
    first = put(office, "Ours")
    second = put(office, "Ours", comment="again")
    assert second.data == first.data
    assert len(versions(office)) == 2


def test_an_edit_of_another_version_than_the_one_seen_is_refused(office: Office) -> None:
    seen = office.admin.request("GET", PROMPT).headers["ETag"]
    assert put(office, "First", headers={"If-Match": seen}, expected_version=1).data["version"] == 2
    for answer in (
        put(office, "Second", expected_version=1),
        put(office, "Second", expected_version=3),
        put(office, "Second", headers={"If-Match": seen}),
        office.admin.request("POST", f"{PROMPT}/versions/1/restore", json_body={"expected_version": 1}),
    ):
        assert (answer.status, answer.error["code"]) == (409, "CONFLICT")
    assert len(versions(office)) == 2
    assert put(office, "Second", expected_version=2).data["version"] == 3


def test_versions_are_listed_newest_first_in_pages(office: Office) -> None:
    for number in range(2, 6):
        put(office, f"Version {number}")
    first = office.admin.request("GET", f"{PROMPT}/versions", query={"limit": "3"}).data
    assert [item["version"] for item in first["items"]] == [5, 4, 3]
    query = {"limit": "3", "cursor": first["next_cursor"]}
    rest = office.admin.request("GET", f"{PROMPT}/versions", query=query).data
    assert ([item["version"] for item in rest["items"]], rest["next_cursor"]) == ([2, 1], None)


def test_restoring_writes_the_old_text_as_a_new_version(office: Office) -> None:
    put(office, "Second")
    put(office, "Third")
    restored = office.admin.request("POST", f"{PROMPT}/versions/2/restore").data
    assert (restored["version"], restored["content"]) == (4, "Second")
    assert restored["comment"] == "Restored from version 2"
    seed = office.admin.request("POST", f"{PROMPT}/versions/1/restore", json_body={"comment": "back"}).data
    assert (seed["version"], seed["content"], seed["comment"]) == (5, SEED, "back")
    assert versions(office) == [(5, SEED), (4, "Second"), (3, "Third"), (2, "Second"), (1, SEED)]


def test_restoring_what_is_in_force_changes_nothing(office: Office) -> None:
    before = put(office, "Second").data
    assert office.admin.request("POST", f"{PROMPT}/versions/2/restore").data == before
    assert len(versions(office)) == 2


def test_a_repeated_restore_with_its_key_is_done_once(office: Office) -> None:
    put(office, "Second")
    path, key = f"{PROMPT}/versions/1/restore", {"Idempotency-Key": "k"}
    first = office.admin.request("POST", path, headers=key)
    put(office, "Fourth")
    assert office.admin.request("POST", path, headers=key).data == first.data
    assert office.admin.request("GET", PROMPT).data["content"] == "Fourth"


@pytest.mark.parametrize("version", ["0", "-1", "3", "99999999999999999999"])
def test_a_version_that_never_was_is_not_found(office: Office, version: str) -> None:
    put(office, "Second")
    answer = office.admin.request("POST", f"{PROMPT}/versions/{version}/restore")
    assert (answer.status, answer.error["code"]) == (404, "NOT_FOUND")


def test_an_unknown_name_is_not_found(office: Office) -> None:
    for method, path, body in (
        ("GET", "", None),
        ("PUT", "", {"content": "x"}),
        ("GET", "/versions", None),
        ("POST", "/versions/1/restore", {}),
    ):
        answer = office.admin.request(method, f"{PROMPTS}/other{path}", json_body=body)
        assert (answer.status, answer.error["code"]) == (404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "content"), ({"content": ""}, "content"), ({"content": " \n"}, "content"), ({"content": None}, "content"),
        ({"content": "x" * 20_001}, "content"), ({"content": "a\0b"}, "content"), ({"content": "\ud800"}, "content"),
        ({"content": "x", "comment": "x" * 501}, "comment"), ({"content": "x", "name": "y"}, "name"),
        ({"content": "x", "expected_version": 0}, "expected_version"),
        ({"content": "x", "expected_version": "1"}, "expected_version"),
    ],
)  # fmt: skip
def test_a_text_that_cannot_be_meant_is_refused_by_its_field(
    office: Office, body: dict[str, Any], field: str
) -> None:
    answer = office.admin.request("PUT", PROMPT, json_body=body)
    assert (answer.status, list(answer.error["details"])) == (400, [field])
    assert versions(office) == [(1, SEED)]


def test_only_admins_see_or_write_prompts(office: Office) -> None:
    for method, path, body in (
        ("GET", PROMPTS, None),
        ("GET", PROMPT, None),
        ("PUT", PROMPT, {"content": "x"}),
        ("GET", f"{PROMPT}/versions", None),
        ("POST", f"{PROMPT}/versions/1/restore", {}),
    ):
        assert office.member.request(method, path, json_body=body).status == 403
