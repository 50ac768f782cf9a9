"""`/v1/admin/prompts`."""

from typing import Any

import pytest

from acta.engine.prompts.prompt import AGENT_PLANNING_SYSTEM, DESCRIPTIONS, NEEDED_WORDS, SEEDS
from tests.api.deployment import AdminApi
from tests.api.gateway import Answer

PROMPTS = "/v1/admin/prompts"
PROMPT = f"{PROMPTS}/{AGENT_PLANNING_SYSTEM}"
SEED = SEEDS[AGENT_PLANNING_SYSTEM]


@pytest.fixture
def api() -> AdminApi:
    return AdminApi()


def put(api: AdminApi, content: str, headers: dict[str, str] | None = None, **fields: Any) -> Answer:
    return api.admin.request("PUT", PROMPT, json_body={"content": content, **fields}, headers=headers)


def lacking(*words: str) -> list[str]:
    told = NEEDED_WORDS[AGENT_PLANNING_SYSTEM]
    return [
        f"The text does not have {word}: {told[word]}. Models that are not told of it need more turns, or stop to ask."
        for word in words
    ]


def versions(api: AdminApi) -> list[tuple[int, str]]:
    items = api.admin.request("GET", f"{PROMPT}/versions").data["items"]
    return [(item["version"], item["content"]) for item in items]


def test_the_product_s_text_is_in_force_until_somebody_writes_another(api: AdminApi) -> None:
    (listed,) = api.admin.request("GET", PROMPTS).data["items"]
    assert (listed["name"], listed["version"], listed["content"]) == (AGENT_PLANNING_SYSTEM, 1, SEED)
    read = api.admin.request("GET", PROMPT).data
    assert read == {**listed, "authors": ["acta"], "seed_content": SEED}
    assert read["description"].startswith("How agents plan")
    assert (read["active"], read["warnings"]) == (True, [])


def test_an_edit_is_a_new_version_that_says_who_when_and_why(api: AdminApi) -> None:
    answer = put(api, "Plan briefly.", comment="shorter")
    assert answer.status == 200
    assert answer.data == {
        "name": AGENT_PLANNING_SYSTEM,
        "description": DESCRIPTIONS[AGENT_PLANNING_SYSTEM],
        "active": True,
        "draft": False,
        "warnings": lacking("update_plan", "wait_for_user", "GOAL_COMPLETE"),
        "version": 2,
        "content": "Plan briefly.",
        "comment": "shorter",
        "created_by": "ann",
        "created_at": "2026-01-01T00:00:00.000Z",
        "applied": None,
    }
    read = api.admin.request("GET", PROMPT)
    assert read.data == {**answer.data, "authors": ["ann", "acta"], "seed_content": SEED}
    assert versions(api) == [(2, "Plan briefly."), (1, SEED)]


def test_a_word_that_goes_and_that_the_loop_depends_on_is_warned_of_and_the_text_is_stored(
    api: AdminApi,
) -> None:
    assert put(api, SEED + "\nBe brief.").data["warnings"] == []
    without = SEED.replace("GOAL_COMPLETE", "DONE")
    assert put(api, without).data["warnings"] == lacking("GOAL_COMPLETE")
    assert api.admin.request("GET", PROMPT).data["content"] == without
    assert api.admin.request("POST", f"{PROMPT}/versions/1/restore").data["warnings"] == []
    again = api.admin.request("POST", f"{PROMPT}/versions/3/restore").data
    assert again["warnings"] == lacking("GOAL_COMPLETE")


def test_one_version_is_active_the_one_in_force(api: AdminApi) -> None:
    for text in ("Second", "Third"):
        put(api, text)
    listed = api.admin.request("GET", f"{PROMPT}/versions").data["items"]
    assert [(one["version"], one["active"]) for one in listed] == [(3, True), (2, False), (1, False)]


def test_the_authors_are_told_once_each_the_latest_first(api: AdminApi) -> None:
    for user in ("ann", "bob", "ann"):
        body = {"content": f"By {user}, {len(versions(api))}"}
        assert api.as_caller(user=user).request("PUT", PROMPT, json_body=body).status == 200
    assert api.admin.request("GET", PROMPT).data["authors"] == ["ann", "bob", "acta"]


def test_a_tenant_s_edit_is_its_own(api: AdminApi) -> None:
    put(api, "Ours")
    assert api.stranger.request("GET", PROMPT).data["content"] == SEED


def test_the_same_text_again_is_no_new_version(api: AdminApi) -> None:
    first = put(api, "Ours")
    second = put(api, "Ours", comment="again")
    assert second.data == first.data
    assert len(versions(api)) == 2


def test_an_edit_of_another_version_than_the_one_seen_is_refused(api: AdminApi) -> None:
    seen = api.admin.request("GET", PROMPT).headers["ETag"]
    assert put(api, "First", headers={"If-Match": seen}, expected_version=1).data["version"] == 2
    for answer in (
        put(api, "Second", expected_version=1),
        put(api, "Second", expected_version=3),
        api.admin.request("POST", f"{PROMPT}/versions/1/restore", json_body={"expected_version": 1}),
    ):
        assert (answer.status, answer.error["code"]) == (409, "CONFLICT")
    assert put(api, "Second", headers={"If-Match": seen}).status == 412
    assert len(versions(api)) == 2
    assert put(api, "Second", expected_version=2).data["version"] == 3


def test_versions_are_listed_newest_first_in_pages(api: AdminApi) -> None:
    for number in range(2, 6):
        put(api, f"Version {number}")
    first = api.admin.request("GET", f"{PROMPT}/versions", query={"limit": "3"}).data
    assert [item["version"] for item in first["items"]] == [5, 4, 3]
    query = {"limit": "3", "cursor": first["next_cursor"]}
    rest = api.admin.request("GET", f"{PROMPT}/versions", query=query).data
    assert ([item["version"] for item in rest["items"]], rest["next_cursor"]) == ([2, 1], None)


def test_restoring_writes_the_old_text_as_a_new_version(api: AdminApi) -> None:
    put(api, "Second")
    put(api, "Third")
    restored = api.admin.request("POST", f"{PROMPT}/versions/2/restore").data
    assert (restored["version"], restored["content"]) == (4, "Second")
    assert restored["comment"] == "Restored from version 2"
    seed = api.admin.request("POST", f"{PROMPT}/versions/1/restore", json_body={"comment": "back"}).data
    assert (seed["version"], seed["content"], seed["comment"]) == (5, SEED, "back")
    assert versions(api) == [(5, SEED), (4, "Second"), (3, "Third"), (2, "Second"), (1, SEED)]


def test_restoring_what_is_in_force_changes_nothing(api: AdminApi) -> None:
    before = put(api, "Second").data
    assert api.admin.request("POST", f"{PROMPT}/versions/2/restore").data == before
    assert len(versions(api)) == 2


def test_a_repeated_restore_with_its_key_is_done_once(api: AdminApi) -> None:
    put(api, "Second")
    path, key = f"{PROMPT}/versions/1/restore", {"Idempotency-Key": "k"}
    first = api.admin.request("POST", path, headers=key)
    put(api, "Fourth")
    assert api.admin.request("POST", path, headers=key).data == first.data
    assert api.admin.request("GET", PROMPT).data["content"] == "Fourth"


@pytest.mark.parametrize("version", ["0", "-1", "3", "99999999999999999999"])
def test_a_version_that_never_was_is_not_found(api: AdminApi, version: str) -> None:
    put(api, "Second")
    answer = api.admin.request("POST", f"{PROMPT}/versions/{version}/restore")
    assert (answer.status, answer.error["code"]) == (404, "NOT_FOUND")


def test_an_unknown_name_is_not_found(api: AdminApi) -> None:
    for method, path, body in (
        ("GET", "", None),
        ("PUT", "", {"content": "x"}),
        ("GET", "/versions", None),
        ("POST", "/versions/1/restore", {}),
    ):
        answer = api.admin.request(method, f"{PROMPTS}/other{path}", json_body=body)
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
    api: AdminApi, body: dict[str, Any], field: str
) -> None:
    answer = api.admin.request("PUT", PROMPT, json_body=body)
    assert (answer.status, list(answer.error["details"])) == (400, [field])
    assert versions(api) == [(1, SEED)]


def test_only_admins_see_or_write_prompts(api: AdminApi) -> None:
    for method, path, body in (
        ("GET", PROMPTS, None),
        ("GET", PROMPT, None),
        ("PUT", PROMPT, {"content": "x"}),
        ("GET", f"{PROMPT}/versions", None),
        ("POST", f"{PROMPT}/versions/1/restore", {}),
    ):
        assert api.member.request(method, path, json_body=body).status == 403


def standing(api: AdminApi) -> list[tuple[int, bool, bool]]:
    items = api.admin.request("GET", f"{PROMPT}/versions").data["items"]
    return [(item["version"], item["active"], item["draft"]) for item in items]


def test_a_draft_is_in_force_nowhere_until_it_is_restored_as_a_new_version(api: AdminApi) -> None:
    drafted = put(api, "Try this.", active=False, comment="a try")
    assert (drafted.status, drafted.data["version"], drafted.data["active"]) == (200, 2, False)
    assert drafted.data["draft"] is True
    read = api.admin.request("GET", PROMPT)
    assert (read.data["version"], read.data["content"]) == (1, SEED)
    assert read.headers["ETag"] == drafted.headers["ETag"]
    assert standing(api) == [(2, False, True), (1, True, False)]
    done = api.admin.request("POST", f"{PROMPT}/versions/2/restore", json_body={"expected_version": 1})
    assert (done.data["version"], done.data["content"], done.data["draft"]) == (3, "Try this.", False)
    assert standing(api) == [(3, True, False), (2, False, True), (1, False, False)]
    assert put(api, "Another.").data["version"] == 4


def test_a_draft_that_is_sent_again_is_the_one_that_there_is(api: AdminApi) -> None:
    assert [put(api, text, active=False).data["version"] for text in ("One", "One", "Two", SEED)] == [
        2,
        2,
        3,
        1,
    ]
    assert put(api, "Two").data["version"] == 4
    assert put(api, "Two", active=False).data == put(api, "Two").data


def test_a_draft_is_refused_where_it_belongs_to_files_or_is_late(api: AdminApi) -> None:
    owned = put(api, "Try this.", active=False, applied={"set": "desk", "digest": "a:b"})
    assert (owned.status, list(owned.error["details"])) == (400, ["applied"])
    assert put(api, "Late", active=False, expected_version=2).status == 409
    assert [version for version, _ in versions(api)] == [1]
