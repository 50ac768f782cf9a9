"""Shared files are replaced, restored and deleted by the role that the environment names (ADR 152)."""

from typing import Any

import pytest

from tests.api.deployment import SETTINGS, AdminApi
from tests.api.gateway import Gateway

SHARED, MINE = "/v1/files/shared.txt", "/v1/files/~/mine.txt"
ROLE = "editor"


@pytest.fixture
def api() -> AdminApi:
    api = AdminApi(SETTINGS.but(file_change_role=ROLE))
    for path in ("shared.txt", "~/mine.txt"):
        api.root.files.seen_by("ann").write("acme", path, b"before")
    return api


def etag(gateway: Gateway, path: str) -> str:
    found: str = gateway.request("GET", path, query={"versions": "1"}).data["items"][0]["etag"]
    return found


def changes(gateway: Gateway, path: str) -> list[tuple[str, Any]]:
    """Each way to change what is there, the deletion last."""
    version = gateway.request("GET", path, query={"versions": "1"}).data["items"][0]["version_id"]
    return [
        ("put", lambda: gateway.request("PUT", path, body=b"after")),
        (
            "put with its etag",
            lambda: gateway.request("PUT", path, body=b"y", headers={"if-match": etag(gateway, path)}),
        ),
        ("restore", lambda: gateway.request("POST", path, query={"restore": version})),
        ("delete", lambda: gateway.request("DELETE", path)),
    ]


@pytest.mark.parametrize("roles", ["[member]", "[admin]"])
def test_without_the_role_what_is_there_stays_and_the_answer_names_the_role(
    api: AdminApi, roles: str
) -> None:
    caller = api.as_caller(user="bob", roles=roles)
    for way, act in changes(caller, SHARED):
        answer = act()
        assert (answer.status, answer.error["code"], answer.error["details"]) == (
            403,
            "FORBIDDEN",
            {"role": [ROLE]},
        ), way
    assert caller.request("GET", SHARED).body == b"before"
    assert caller.request("PUT", SHARED, body=b"x", headers={"if-none-match": "*"}).status == 412
    refused = [each for each in api.root.audit.trail.records["acme"] if each.outcome == "refused"]  # type: ignore[attr-defined]
    assert {each.action for each in refused} == {"file.write", "file.restore", "file.delete"}


def test_with_the_role_they_are_changed(api: AdminApi) -> None:
    editor = api.as_caller(user="eva", roles=["member", ROLE])
    for way, act in changes(editor, SHARED):
        assert act().status in (200, 204), way


def test_new_files_and_one_s_own_need_no_role(api: AdminApi) -> None:
    ann = api.member
    assert ann.request("PUT", "/v1/files/new.txt", body=b"x").status == 201
    assert ann.request("PUT", "/v1/files/newer.txt", body=b"x", headers={"if-none-match": "*"}).status == 201
    for way, act in changes(ann, MINE):
        assert act().status in (200, 204), way


def test_without_the_setting_every_member_changes_them() -> None:
    api = AdminApi()
    api.root.files.write("acme", "shared.txt", b"before")
    for way, act in changes(api.member, SHARED):
        assert act().status in (200, 204), way
