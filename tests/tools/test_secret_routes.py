"""`/v1/tool-secrets`, and definitions that refer to them (API8 and M10: no credential in the table)."""

from typing import Any

import pytest

from acta.engine.errors import StoreUnavailable
from acta.engine.settings import Settings
from acta.engine.tools.tool import (
    MAX_HEADERS,
    MAX_HOSTS,
    MAX_TOOL_SECRETS,
    MAX_VALUE_CHARS,
    HttpConfig,
    ToolDefinition,
)
from tests.api.deployment import AdminApi

VALUE = "Bearer sk-live-1234567890"
SETTINGS = Settings(env="test", table="t", bucket="b", http_tool_hosts="pay.example.com")
PATH = "/v1/tool-secrets/stripe"
HOSTS = ["pay.example.com"]


@pytest.fixture
def api() -> AdminApi:
    return AdminApi(SETTINGS)


def put(api: AdminApi, name: str = "stripe", value: str = VALUE) -> Any:
    return api.admin.request("PUT", f"/v1/tool-secrets/{name}", json_body={"value": value, "hosts": HOSTS})


def with_headers(headers: dict[str, Any], name: str = "refund") -> dict[str, Any]:
    config = {"url": "https://pay.example.com/refunds", "method": "POST", "headers": headers}
    return {
        "name": name, "description": "Pays an order back", "input_schema": {"type": "object"}, "kind": "http",
        "config": config,
    }  # fmt: skip


def define(api: AdminApi, headers: dict[str, Any], name: str = "refund") -> Any:
    return api.admin.request("POST", "/v1/tools", json_body=with_headers(headers, name))


def test_a_secret_is_set_replaced_listed_and_deleted_and_its_value_never_comes_back(api: AdminApi) -> None:
    made = put(api)
    at = "2026-01-01T00:00:00.000Z"
    shown = {"name": "stripe", "hosts": HOSTS, "created_at": at, "updated_at": at, "updated_by": "ann"}
    assert (made.status, made.data) == (201, shown)
    other = api.as_caller(user="bob").request("PUT", PATH, json_body={"value": f"{VALUE}2"})
    assert (other.status, other.data["updated_by"]) == (200, "bob")
    listed = api.admin.request("GET", "/v1/tool-secrets")
    assert listed.data == {"items": [other.data], "next_cursor": None}
    assert api.secret_values.values == {("acme", "stripe"): f"{VALUE}2"}
    assert VALUE not in str([made.json, other.json, listed.json])
    assert api.admin.request("DELETE", PATH).status == 204
    assert api.secret_values.values == {}
    assert api.admin.request("GET", "/v1/tool-secrets").data["items"] == []
    assert api.admin.request("DELETE", PATH).status == 404
    assert put(api).status == 201


def test_no_word_of_the_value_is_in_the_table_or_the_trail(api: AdminApi) -> None:
    put(api)
    assert VALUE not in str(vars(api.table))
    (begun, ended) = api.root.audit.trail.records["acme"]  # type: ignore[attr-defined]
    assert (begun.action, begun.details) == ("tool_secret.write", {"name": "stripe"})
    assert VALUE not in str([begun, ended])


def test_only_admins_and_only_those_of_the_tenant(api: AdminApi) -> None:
    put(api)
    for method, body in (("PUT", {"value": VALUE}), ("DELETE", None)):
        assert api.member.request(method, PATH, json_body=body).status == 403
    assert api.member.request("GET", "/v1/tool-secrets").status == 403
    assert api.stranger.request("GET", "/v1/tool-secrets").data["items"] == []
    assert api.stranger.request("DELETE", PATH).status == 404


@pytest.mark.parametrize(
    ("name", "body", "field"),
    [
        ("1a", {"value": VALUE}, "name"), ("a-b", {"value": VALUE}, "name"), ("a" * 65, {"value": VALUE}, "name"),
        ("stripe", {}, "value"), ("stripe", {"value": None}, "value"), ("stripe", {"value": 12345678}, "value"),
        ("stripe", {"value": "sk-1234"}, "value"), ("stripe", {"value": f"{VALUE}\r\nX: y"}, "value"),
        ("stripe", {"value": f" {VALUE}"}, "value"), ("stripe", {"value": f"{VALUE} "}, "value"),
        ("stripe", {"value": "Grüße, Grüße"}, "value"), ("stripe", {"value": "s" * (MAX_VALUE_CHARS + 1)}, "value"),
        ("stripe", {"value": VALUE, "more": VALUE}, "more"),
        ("stripe", {"value": VALUE, "hosts": ["https://a.example"]}, "hosts.0"),
        ("stripe", {"value": VALUE, "hosts": ["A.example"]}, "hosts.0"),
        ("stripe", {"value": VALUE, "hosts": ["*.example"]}, "hosts.0"),
        ("stripe", {"value": VALUE, "hosts": ["a.example."]}, "hosts.0"),
        ("stripe", {"value": VALUE, "hosts": ["ann@a.example"]}, "hosts.0"),
        ("stripe", {"value": VALUE, "hosts": ["bücher.example"]}, "hosts.0"),
        ("stripe", {"value": VALUE}, "hosts"),
        ("stripe", {"value": VALUE, "hosts": [f"h{n}.example" for n in range(MAX_HOSTS + 1)]}, "hosts"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_secret_is_refused_and_not_said_again(
    api: AdminApi, name: str, body: dict[str, Any], field: str
) -> None:
    answer = api.admin.request("PUT", f"/v1/tool-secrets/{name}", json_body=body)
    assert (answer.status, list(answer.error["details"])) == (400, [field])
    assert str(body.get("value")) not in str(answer.json) or body.get("value") is None
    assert api.secret_values.values == {}


def test_a_tenant_has_so_many_and_may_replace_each(api: AdminApi) -> None:
    for number in range(MAX_TOOL_SECRETS):
        assert put(api, f"s{number}").status == 201
    assert put(api, "s0").status == 200
    assert put(api, "one_more").status == 409


def test_where_the_value_could_not_be_stored_the_request_is_repeated(api: AdminApi) -> None:
    api.secret_values.away = [StoreUnavailable("away")]
    refused = put(api)
    assert (refused.status, refused.headers["Retry-After"]) == (503, "1")
    assert put(api).status == 200
    api.secret_values.away = [StoreUnavailable("away")]
    assert api.admin.request("DELETE", PATH).status == 503
    assert api.admin.request("DELETE", PATH).status == 204


def test_a_header_refers_to_a_secret_and_is_shown_so(api: AdminApi) -> None:
    put(api)
    headers = {"Authorization": {"secret": "stripe"}, "X-Caller": "acta"}
    made = define(api, headers)
    assert made.status == 201
    assert made.data["config"]["headers"] == {"Authorization": {"secret": "stripe"}, "X-Caller": "***"}
    assert "secret_headers" not in made.data["config"]
    (stored,) = api.root.tool_definitions.all("acme")
    assert isinstance(stored.config, HttpConfig)
    assert (stored.config.headers, stored.config.secret_headers) == (
        {"X-Caller": "acta"},
        {"Authorization": "stripe"},
    )
    body = {key: value for key, value in with_headers(headers).items() if key != "name"}
    assert api.admin.request("PUT", "/v1/tools/refund", json_body=body).status == 200


def test_a_secret_that_a_tool_refers_to_stays_and_the_answer_names_the_tools(api: AdminApi) -> None:
    put(api)
    for name in ("refund", "charge"):
        assert define(api, {"X-Api-Key": {"secret": "stripe"}}, name).status == 201
    refused = api.admin.request("DELETE", PATH)
    assert (refused.status, refused.error["details"]) == (409, {"tools": ["charge", "refund"]})
    assert api.secret_values.values
    for name in ("refund", "charge"):
        assert api.admin.request("DELETE", f"/v1/tools/{name}").status == 204
    assert api.admin.request("DELETE", PATH).status == 204


def test_a_tool_whose_secret_is_set_anew_is_another_tool_before_the_new_value_is_there(api: AdminApi) -> None:
    put(api)
    assert define(api, {"X-Api-Key": {"secret": "stripe"}}).status == 201
    assert define(api, {}, "charge").status == 201
    charge, refund = api.root.tool_definitions.all("acme")
    api.secret_values.away = [StoreUnavailable("away")]
    assert put(api, value="Bearer sk-live-other").status == 503
    during = api.root.tool_definitions.all("acme")[1]
    assert api.secret_values.values == {("acme", "stripe"): VALUE}
    assert put(api, value="Bearer sk-live-other").status == 200
    after = api.root.tool_definitions.all("acme")
    assert after[0] == charge
    assert len({refund.written, during.written, after[1].written}) == 3
    assert after[1].version == during.version + 2, (
        "once more after the value: calls may be asked for in between"
    )
    assert after[1].config == refund.config
    assert (
        api.admin.request("PUT", "/v1/tool-secrets/other", json_body={"value": VALUE, "hosts": HOSTS}).status
        == 201
    )
    assert api.root.tool_definitions.all("acme") == after


def set_for(api: AdminApi, *hosts: str, value: str = VALUE) -> Any:
    return api.admin.request("PUT", PATH, json_body={"value": value, "hosts": list(hosts)})


def test_a_secret_is_for_the_hosts_that_it_names(api: AdminApi) -> None:
    assert set_for(api, "other.example.com").data["hosts"] == ["other.example.com"]
    refused = define(api, {"X-Api-Key": {"secret": "stripe"}})
    ((field, (why,)),) = refused.error["details"].items()
    assert (refused.status, field) == (400, "config.headers")
    assert "secret stripe is not sent to the host of config.url: it is for other hosts." in why
    kept = api.admin.request("PUT", PATH, json_body={"value": VALUE})
    assert kept.data["hosts"] == ["other.example.com"], "who names none keeps those that it has"
    assert define(api, {"X-Api-Key": {"secret": "stripe"}}).status == 400
    assert set_for(api, "other.example.com", "pay.example.com").status == 200
    assert define(api, {"X-Api-Key": {"secret": "stripe"}}).status == 201


def test_a_secret_that_was_stored_without_hosts_goes_nowhere_until_it_has_some(api: AdminApi) -> None:
    put(api)
    assert define(api, {"X-Api-Key": {"secret": "stripe"}}).status == 201
    (stored,) = api.root.secret_names.all("acme")
    api.root.secret_names.put("acme", stored.model_copy(update={"hosts": ()}))
    refused = define(api, {"X-Api-Key": {"secret": "stripe"}}, "other")
    assert "names no hosts that may get it" in refused.error["details"]["config.headers"][0]
    assert "--host HOST" in refused.error["details"]["config.headers"][0]
    again = api.admin.request("PUT", PATH, json_body={"value": VALUE})
    assert (again.status, list(again.error["details"])) == (409, ["tools"])
    assert put(api).status == 200
    assert define(api, {"X-Api-Key": {"secret": "stripe"}}, "other").status == 201


@pytest.mark.parametrize(
    ("former", "wanted", "meanwhile"),
    [
        (["a.example"], ["a.example", "b.example"], ["a.example"]),
        (["a.example"], ["b.example"], ["a.example"]),
        (["a.example", "b.example"], ["b.example"], ["b.example"]),
        ([], ["a.example"], []),
    ],
)
def test_no_host_is_added_before_the_value_is_another_one(
    api: AdminApi, former: list[str], wanted: list[str], meanwhile: list[str]
) -> None:
    if former:
        set_for(api, *former)
    api.secret_values.away = [StoreUnavailable("away")]
    assert set_for(api, *wanted, value="Bearer sk-live-other").status == 503
    (listed,) = api.admin.request("GET", "/v1/tool-secrets").data["items"]
    assert listed["hosts"] == meanwhile
    assert set_for(api, *wanted, value="Bearer sk-live-other").data["hosts"] == wanted


def test_a_tool_that_sends_a_secret_elsewhere_is_changed_before_the_secret_is(api: AdminApi) -> None:
    put(api)
    assert define(api, {"X-Api-Key": {"secret": "stripe"}}).status == 201
    refused = set_for(api, "other.example.com", value="Bearer sk-live-other")
    assert (refused.status, refused.error["details"]) == (409, {"tools": ["refund"]})
    assert api.secret_values.values == {("acme", "stripe"): VALUE}
    assert set_for(api, "pay.example.com:443").status == 200
    elsewhere = with_headers({"X-Api-Key": {"secret": "stripe"}})
    elsewhere["config"]["url"] = "https://pay.example.com:8443/refunds"
    del elsewhere["name"]
    assert api.admin.request("PUT", "/v1/tools/refund", json_body=elsewhere).status == 400


def test_a_tool_refers_to_secrets_that_were_set_for_its_tenant(api: AdminApi) -> None:
    put(api)
    assert (
        api.stranger.request(
            "PUT", "/v1/tool-secrets/theirs", json_body={"value": VALUE, "hosts": HOSTS}
        ).status
        == 201
    )
    for headers in ({"X-Api-Key": {"secret": "theirs"}}, {"X-Api-Key": {"secret": "other"}}):
        answer = define(api, headers)
        ((field, (why,)),) = answer.error["details"].items()
        assert (answer.status, field) == (400, "config.headers")
        assert "acta tools secrets set" in why
    assert define(api, {"X-Api-Key": {"secret": "stripe"}}).status == 201
    body = {key: value for key, value in with_headers({"A": {"secret": "other"}}).items() if key != "name"}
    assert api.admin.request("PUT", "/v1/tools/refund", json_body=body).status == 400


@pytest.mark.parametrize(
    "name",
    [
        "Authorization", "x-api-key", "X-API-Key", "api-key", "ApiKey", "Cookie", "X-Auth-Token", "X-Auth", "Token",
        "X-Access-Token", "My_Secret", "X-Password", "Ocp-Apim-Subscription-Key", "x-functions-key",
        "X-Amz-Security-Token", "PRIVATE-TOKEN", "X-Session-Id", "X-JWT-Assertion", "X-Hub-Signature",
        "X-AppKey", "X-MasterKey", "X-ClientKey", "X-ServiceKey", "X-SessionId", "X-UserPwd", "X-Creds", "DPoP",
        "X-Hmac", "X-OTP", "X-Assertion", "X-AuthKey", "X-Authentication", "X-Custom", "X-Keyboard", "X-Version-Key",
    ],
)  # fmt: skip
def test_a_credential_is_not_written_into_a_definition(api: AdminApi, name: str) -> None:
    answer = define(api, {name: VALUE})
    ((field, (why,)),) = answer.error["details"].items()
    assert (answer.status, field) == (400, "config.headers")
    assert '{"secret": "NAME"}' in why
    assert "/v1/tool-secrets/NAME" in why
    assert VALUE not in str(answer.json)
    assert api.root.tool_definitions.all("acme") == ()


def test_a_name_that_nobody_knows_takes_no_plain_text_however_harmless_it_looks(api: AdminApi) -> None:
    assert define(api, {"X-Custom": "acta-desk"}).status == 400


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Accept", "application/vnd.github.v3+json"), ("Accept-Language", "de-AT, de;q=0.8"),
        ("X-GitHub-Api-Version", "2022-11-28"), ("x-tenant", "acme"), ("X-Team", "support"), ("X_REGION", "eu-west-1"),
        ("User-Agent", "acta/1.0 (support-desk; ops@example.com)"), ("Prefer", "return=minimal"),
        ("Accept", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ],
)  # fmt: skip
def test_headers_whose_names_say_that_they_are_plain_are_written_as_they_are(
    api: AdminApi, name: str, value: str
) -> None:
    assert define(api, {name: value}).status == 201


@pytest.mark.parametrize(
    "value",
    [
        VALUE, "bearer abc", "Basic dXNlcjpwdw==", "Token abc", "eyJhbGciOiJIUzI1NiJ9.e30.x", "sk-live-1", "ghp_abcdef",
        "1.0 sk-live-1", "AKIAIOSFODNN7EXAMPLE", "9f86d081884c7d659a2feaa0c55ad015", "v=xoxb-1-2",
    ],
)  # fmt: skip
def test_a_plain_name_takes_no_value_that_looks_like_a_credential(api: AdminApi, value: str) -> None:
    answer = define(api, {"X-Api-Version": value})
    assert (answer.status, list(answer.error["details"])) == (400, ["config.headers"])
    assert value not in str(answer.json)


@pytest.mark.parametrize(
    "headers",
    [
        {"A": {"secret": "stripe", "more": 1}}, {"A": {}}, {"A": {"Secret": "stripe"}}, {"A": {"secret": 1}},
        {"A": {"secret": "a/../b"}}, {"A": {"secret": ""}}, {"A": {"secret": "a" * 65}}, {"A": {"secret": "stripé"}},
        {"A": {"secret": ["stripe"]}}, {"Host": {"secret": "stripe"}}, {"A": "x", "a": {"secret": "stripe"}},
        {"Proxy-Authorization": {"secret": "stripe"}},
        {f"A{number}": ({"secret": "stripe"} if number else "x") for number in range(MAX_HEADERS + 1)},
    ],
)  # fmt: skip
def test_a_reference_that_cannot_be_meant_is_refused(api: AdminApi, headers: dict[str, Any]) -> None:
    put(api)
    answer = define(api, headers)
    assert answer.status == 400
    assert next(iter(answer.error["details"])) in ("config.headers", "config.secret_headers")
    assert api.root.tool_definitions.all("acme") == ()


def test_the_form_in_which_references_are_stored_is_none_that_is_taken(api: AdminApi) -> None:
    put(api)
    tool = with_headers({})
    tool["config"]["secret_headers"] = {"A": "stripe"}
    answer = api.admin.request("POST", "/v1/tools", json_body=tool)
    assert (answer.status, list(answer.error["details"])) == (400, ["config.secret_headers"])


def test_a_credential_that_was_stored_before_stays_with_its_tool_and_is_not_written_again(
    api: AdminApi,
) -> None:
    now = api.root.clock.now()
    config = HttpConfig(url="https://pay.example.com/", method="POST", headers={"Authorization": VALUE})
    old = ToolDefinition(
        name="refund", description="Pays", input_schema={"type": "object"}, kind="http", config=config,
        version=1, created_at=now, updated_at=now,
    )  # fmt: skip
    api.root.tool_definitions.create("acme", old)
    shown = api.admin.request("GET", "/v1/tools/refund").data
    assert shown["config"]["headers"] == {"Authorization": "***"}
    body = {key: value for key, value in with_headers({"Authorization": VALUE}).items() if key != "name"}
    assert api.admin.request("PUT", "/v1/tools/refund", json_body=body).status == 400
    assert api.root.tool_definitions.all("acme") == (old,)
