"""`/v1/files/~/…`: the caller's own files."""

import pytest

from tests.api.deployment import AdminApi
from tests.api.gateway import Gateway


@pytest.fixture
def api() -> AdminApi:
    return AdminApi()


@pytest.fixture
def ann(api: AdminApi) -> Gateway:
    return api.as_caller(user="ann", roles="[member]")


def paths(caller: Gateway, prefix: str = "") -> list[str]:
    query = {"prefix": prefix} if prefix else {}
    return [item["path"] for item in caller.request("GET", "/v1/files", query=query).data["items"]]


def test_a_private_file_is_there_for_its_owner_and_nobody_else_not_even_an_admin(
    api: AdminApi, ann: Gateway
) -> None:
    written = ann.request("PUT", "/v1/files/~/plans/may.md", body=b"mine")
    assert (written.status, written.data) == (201, {"path": "~/plans/may.md", "bytes": 4})
    assert ann.request("GET", "/v1/files/~/plans/may.md").body == b"mine"
    assert ann.request("GET", "/v1/files/%7E/plans/may.md").body == b"mine"
    assert (paths(ann), paths(ann, "~/"), paths(ann, "~/plans/")) == (
        [],
        ["~/plans/may.md"],
        ["~/plans/may.md"],
    )
    (version,) = ann.request("GET", "/v1/files/~/plans/may.md", query={"versions": "1"}).data["items"]
    others = (api.as_caller(user="bob"), api.as_caller(user="Ann"), api.as_caller("other", "ann"))
    for other in others:
        restored = {"restore": version["version_id"]}
        assert other.request("GET", "/v1/files/~/plans/may.md").status == 404
        assert other.request("GET", "/v1/files/~/plans/may.md", query={"versions": "1"}).status == 404
        assert other.request("POST", "/v1/files/~/plans/may.md", query=restored).status == 404
        assert other.request("DELETE", "/v1/files/~/plans/may.md").status == 404
        assert (paths(other), paths(other, "~/")) == ([], [])
    assert ann.request("DELETE", "/v1/files/~/plans/may.md").status == 204
    assert ann.request("POST", "/v1/files/~/plans/may.md", query=restored).data["bytes"] == 4


@pytest.mark.parametrize("path", ["~", "~bob/plans.md", "~plans.md", "~%252e/x"])
def test_another_name_with_a_tilde_first_is_refused_with_what_to_do(ann: Gateway, path: str) -> None:
    answer = ann.request("PUT", f"/v1/files/{path}", body=b"x")
    assert (answer.status, list(answer.error["details"])) == (400, ["path"])


def test_what_a_release_before_stored_under_such_a_name_is_read_and_deleted(
    api: AdminApi, ann: Gateway
) -> None:
    api.root.files.write("acme", "~old.md", b"old")
    assert paths(ann) == ["~old.md"]
    assert ann.request("GET", "/v1/files/~old.md").body == b"old"
    assert ann.request("DELETE", "/v1/files/~old.md").status == 204


def test_the_audit_trail_says_that_somebody_wrote_a_private_file_and_not_which(
    api: AdminApi, ann: Gateway
) -> None:
    ann.request("PUT", "/v1/files/~/divorce.md", body=b"x")
    ann.request("DELETE", "/v1/files/~/divorce.md")
    ann.request("PUT", "/v1/files/shared.md", body=b"x")
    records = api.admin.request("GET", "/v1/audit").data["items"]
    assert sorted((one["action"], one["details"]["path"]) for one in records) == [
        ("file.delete", "~/…"),
        ("file.write", "shared.md"),
        ("file.write", "~/…"),
    ]
