"""`/v1/notifications`: within the operator's list of hosts, signed with a secret that nobody is shown."""

from typing import Any

import pytest

from acta.engine.notifications.receiver import MAX_SECRET_CHARS
from acta.engine.settings import Settings
from tests.api.deployment import AdminApi

PATH = "/v1/notifications"
SETTINGS = Settings(env="test", table="t", bucket="b", notify_hosts="hooks.example.com")
URL, SECRET = "https://hooks.example.com/acta", "whsec_" + "c2l4dGVlbiBieXRlcyAhIQ=="
AT = "2026-01-01T00:00:00.000Z"


@pytest.fixture
def api() -> AdminApi:
    return AdminApi(SETTINGS)


def put(api: AdminApi, **body: Any) -> Any:
    return api.admin.request("PUT", PATH, json_body=body)


def test_they_are_set_read_changed_and_deleted_and_the_secret_never_comes_back(api: AdminApi) -> None:
    assert api.admin.request("GET", PATH).status == 404
    made = put(api, url=URL, secret=SECRET)
    shown = {"url": URL, "created_at": AT, "updated_at": AT, "updated_by": "ann"}
    assert (made.status, made.data) == (201, shown)
    assert api.receiver_secrets.values == {("acme", "webhook"): SECRET}

    changed = put(api, url=f"{URL}/2")
    assert (changed.status, changed.data["url"]) == (200, f"{URL}/2")
    assert api.receiver_secrets.values == {("acme", "webhook"): SECRET}, "the secret stays as it was"

    rotated = put(api, secret=f"{SECRET[:-4]}AA==")
    assert (rotated.status, rotated.data["url"]) == (200, None)
    assert api.receiver_secrets.values == {("acme", "webhook"): f"{SECRET[:-4]}AA=="}
    read = api.admin.request("GET", PATH)
    assert read.data == rotated.data
    assert SECRET[6:20] not in str([made.json, changed.json, rotated.json, read.json])

    assert api.admin.request("DELETE", PATH).status == 204
    assert (api.receiver_secrets.values, api.root.receivers.get("acme")) == ({}, None)
    assert api.admin.request("DELETE", PATH).status == 404


def test_no_word_of_the_secret_or_the_url_is_in_the_trail_and_the_table_has_no_secret(api: AdminApi) -> None:
    put(api, url=URL, secret=SECRET)
    (begun, ended) = api.root.audit.trail.records["acme"]  # type: ignore[attr-defined]
    assert (begun.action, ended.outcome) == ("notifications.write", "done")
    assert not any(word in str([begun, ended]) for word in (SECRET, "hooks.example.com"))
    assert SECRET not in str(vars(api.table))


def test_only_admins_and_only_those_of_the_tenant(api: AdminApi) -> None:
    put(api, url=URL, secret=SECRET)
    for method, body in (("GET", None), ("PUT", {"url": URL, "secret": SECRET}), ("DELETE", None)):
        assert api.member.request(method, PATH, json_body=body).status == 403
    assert api.stranger.request("GET", PATH).status == 404
    assert api.stranger.request("DELETE", PATH).status == 404


@pytest.mark.parametrize(
    "url",
    [
        "https://elsewhere.example/x", "http://hooks.example.com/x", "https://hooks.example.com:8443/x",
        "https://user:pass@hooks.example.com/x", "https://hooks.example.com/#x", "https://169.254.169.254/latest",
        "https://hooks.example.com.evil.example/", "hooks.example.com", "https://hooks.example.com/a b", "file:///etc",
        "",
    ],
)  # fmt: skip
def test_a_url_outside_the_operator_s_list_is_refused_and_nothing_is_stored(api: AdminApi, url: str) -> None:
    answer = put(api, url=url, secret=SECRET)
    assert (answer.status, answer.error["code"]) == (400, "VALIDATION_ERROR")
    assert list(answer.error["details"]) == ["url"]
    assert (api.root.receivers.get("acme"), api.receiver_secrets.values) == (None, {})


def test_without_a_list_no_host_is_allowed_and_the_answer_says_whom_to_ask() -> None:
    answer = put(AdminApi(), url=URL, secret=SECRET)
    assert answer.status == 400
    assert "its operator has to allow it" in answer.error["details"]["url"][0]
    assert "notify_hosts" not in answer.body.decode()


@pytest.mark.parametrize(
    "secret",
    ["short", "whsec_", "whsec_QQ==", "whsec_not base64 at all!", "x" * (MAX_SECRET_CHARS + 1), "a secret with spaces",
     "secret-with-ü-in-it", 12345678901234567],
)  # fmt: skip
def test_a_secret_that_cannot_sign_is_refused_without_being_repeated(api: AdminApi, secret: Any) -> None:
    answer = put(api, url=URL, secret=secret)
    assert (answer.status, list(answer.error["details"])) == (400, ["secret"])
    assert len(str(secret)) < 10 or str(secret) not in str(answer.json)


def test_the_first_time_a_secret_is_needed(api: AdminApi) -> None:
    answer = put(api, url=URL)
    assert (answer.status, list(answer.error["details"])) == (400, ["secret"])
    assert api.root.receivers.get("acme") is None
