"""`/v1/tools`: what a tenant's admins add to the registry."""

from typing import Any

import pytest

from acta.engine.settings import Settings
from acta.engine.tools.builtin import builtins, optional_tools
from acta.engine.tools.builtin.search import FIND_TOOLS, USE_TOOL
from acta.engine.tools.tool import MAX_SCHEMA_BYTES, MAX_TENANT_TOOLS, PythonTool, ToolSpec
from tests.api.deployment import AdminApi

SCHEMA = {"type": "object", "properties": {"order": {"type": "integer"}}, "required": ["order"]}
TOOL = {
    "name": "refund",
    "description": "Pays an order back. Grüße 🪶",
    "input_schema": SCHEMA,
    "kind": "http",
    "config": {
        "url": "https://pay.example.com/refunds?v=2",
        "method": "POST",
        "headers": {"X-Caller": "s3cret"},
    },
    "effect": "idempotent",
    "risk": "write",
    "high_stakes": True,
    "approver_role": "finance",
    "approver_must_differ": True,
    "repeatable": True,
    "timeout_seconds": 20,
    "result_limit_bytes": 4_096,
    "later": {"seconds": 3_600, "default": "not refunded"},
}
FUNCTION = {**TOOL, "kind": "lambda", "config": {"function": "acta-test-tool-refund"}}


SETTINGS = Settings(
    env="test", table="t", bucket="b", optional_tools=",".join(optional_tools()), http_tool_hosts="pay.example.com",
    tenant_tools={"acme": ("acta-test-tool-refund",), "*": ("acta-test-tool-weigh",)},
)  # fmt: skip


LISTED = [name for name in builtins() if name not in (FIND_TOOLS, USE_TOOL)]


@pytest.fixture
def api() -> AdminApi:
    return AdminApi(SETTINGS)


def without_name(tool: dict[str, Any], **different: Any) -> dict[str, Any]:
    return {name: value for name, value in {**tool, **different}.items() if name != "name"}


def create(api: AdminApi, **fields: Any) -> Any:
    answer = api.admin.request("POST", "/v1/tools", json_body={**TOOL, **fields})
    assert answer.status == 201
    return answer.data


def test_a_tool_is_read_as_it_was_written_but_for_its_headers_values(api: AdminApi) -> None:
    answer = api.admin.request("POST", "/v1/tools", json_body=TOOL)
    assert (answer.status, answer.headers["Location"]) == (201, "/v1/tools/refund")
    shown = {**TOOL, "config": {**TOOL["config"], "headers": {"X-Caller": "***"}}}  # type: ignore[dict-item]
    times = {"created_at": "2026-01-01T00:00:00.000Z", "updated_at": "2026-01-01T00:00:00.000Z"}
    assert answer.data == {**shown, "applied": None, "version": 1, **times}
    assert api.member.request("GET", "/v1/tools/refund").data == answer.data
    assert "s3cret" not in str(api.admin.request("GET", "/v1/tools").json)


def test_a_role_that_an_operator_has_named_is_shown_with_the_tool() -> None:
    named = {"*": {"delete_file": "records", "refund": "cashiers"}}
    api = AdminApi(SETTINGS.but(tool_approvers=named))
    made = create(api, approver_role=None, approver_must_differ=None, high_stakes=False)
    assert made == api.member.request("GET", "/v1/tools/refund").data
    shown = {tool["name"]: tool for tool in api.member.request("GET", "/v1/tools").data["items"]}
    assert shown["delete_file"] == api.member.request("GET", "/v1/tools/delete_file").data
    for name, role in named["*"].items():
        assert (shown[name]["approver_role"], shown[name]["approver_must_differ"]) == (role, True)
        assert shown[name]["high_stakes"]
    assert shown["recall"]["approver_role"] is None


def test_the_tools_that_find_others_are_listed_only_where_there_are_too_many_to_show() -> None:
    for most, search in ((40, []), (3, [FIND_TOOLS, USE_TOOL])):
        api = AdminApi(SETTINGS.but(direct_tools=most))
        create(api)
        tools = {tool["name"] for tool in api.member.request("GET", "/v1/tools").data["items"]}
        assert tools == {*LISTED, "refund", *search}


def test_who_approves_by_the_environment_is_shown_with_the_tools_of_high_stakes() -> None:
    api = AdminApi(SETTINGS.but(high_stakes_approver="second"))
    made = create(api, approver_role=None, approver_must_differ=False)
    assert (made["approver_role"], made["approver_must_differ"]) == ("second", True)
    assert made["as_defined"]["approver_role"] is None
    shown = {tool["name"]: tool for tool in api.member.request("GET", "/v1/tools").data["items"]}
    roles = {name: tool["approver_role"] for name, tool in shown.items() if tool["approver_must_differ"]}
    assert roles == dict.fromkeys(("create_file", "delete_file", "refund"), "second")


@pytest.mark.parametrize(("longest", "seconds"), [(600, 600), (112, 112)])
def test_a_call_may_have_what_the_deployment_can_give_it_and_not_a_second_more(
    longest: int, seconds: int
) -> None:
    hosts = "pay.example.com"
    api = AdminApi(
        Settings(env="test", table="t", bucket="b", http_tool_hosts=hosts, longest_tool_seconds=longest)
    )
    assert create(api, timeout_seconds=seconds)["timeout_seconds"] == seconds
    for path, method in (("/v1/tools", "POST"), ("/v1/tools/refund", "PUT")):
        tool = {**TOOL, "timeout_seconds": seconds + 1}
        answer = api.admin.request(method, path, json_body=tool if method == "POST" else without_name(tool))
        assert (answer.status, list(answer.error["details"])) == (400, ["timeout_seconds"])
        assert str(longest) in str(answer.error["details"])


def test_what_is_left_out_is_the_careful_choice(api: AdminApi) -> None:
    least = {name: TOOL[name] for name in ("name", "description", "input_schema", "kind", "config")}
    made = api.admin.request("POST", "/v1/tools", json_body=least).data
    assert (made["effect"], made["risk"], made["high_stakes"]) == ("once", "network", True)
    assert (made["approver_role"], made["approver_must_differ"]) == (None, False)


@pytest.mark.parametrize(
    ("fields", "high_stakes"),
    [
        ({}, True), ({"effect": "idempotent"}, True), ({"effect": "read"}, False),
        ({"effect": "read", "risk": "system"}, True), ({"effect": "read", "name": "send_email"}, True),
        ({"effect": "read", "name": "execute_code", "kind": "lambda", "config": FUNCTION["config"]}, True),
        ({"effect": "read", "approver_role": "finance"}, True),
        ({"effect": "read", "approver_must_differ": True}, True),
        ({"name": "send_email", "high_stakes": False}, False), ({"risk": "system", "high_stakes": False}, False),
    ],
)  # fmt: skip
def test_the_stakes_are_high_unless_the_tool_only_reads_or_an_admin_says_that_they_are_not(
    api: AdminApi, fields: dict[str, Any], high_stakes: bool
) -> None:
    least = {name: TOOL[name] for name in ("name", "description", "input_schema", "kind", "config")}
    made = api.admin.request("POST", "/v1/tools", json_body={**least, **fields})
    assert (made.status, made.data["high_stakes"]) == (201, high_stakes)
    body = without_name(least, **fields)
    replaced = api.admin.request("PUT", f"/v1/tools/{made.data['name']}", json_body=body)
    assert (replaced.status, replaced.data["high_stakes"]) == (200, high_stakes)


def test_a_tool_with_an_approver_is_one_that_people_are_asked_about(api: AdminApi) -> None:
    for named in ({"approver_role": "finance", "approver_must_differ": None}, {"approver_role": None}):
        answer = api.admin.request("POST", "/v1/tools", json_body={**TOOL, **named, "high_stakes": False})
        assert (answer.status, list(answer.error["details"])) == (400, ["high_stakes"])


def test_builtins_come_first_then_the_tenant_s_by_name(api: AdminApi) -> None:
    for name in ("zeta", "alpha"):
        create(api, name=name)
    listed = [tool["name"] for tool in api.member.request("GET", "/v1/tools").data["items"]]
    assert listed == [*LISTED, "alpha", "zeta"]
    strangers = api.stranger.request("GET", "/v1/tools").data["items"]
    assert [tool["name"] for tool in strangers] == LISTED


def test_a_tool_keeps_its_name_which_a_replacement_may_repeat(api: AdminApi) -> None:
    create(api)
    assert api.admin.request("PUT", "/v1/tools/refund", json_body=TOOL).status == 200
    for other in ("refunds", "Refund", "delete_file", ""):
        refused = api.admin.request("PUT", "/v1/tools/refund", json_body={**TOOL, "name": other})
        assert (refused.status, list(refused.error["details"])) == (400, ["name"])
    assert api.member.request("GET", "/v1/tools/refund").data["version"] == 2


def test_a_replacement_is_whole_and_of_the_version_that_was_seen(api: AdminApi) -> None:
    create(api)
    seen = api.admin.request("GET", "/v1/tools/refund").headers["ETag"]
    body = without_name(FUNCTION, description="Another")
    first = api.admin.request("PUT", "/v1/tools/refund", json_body=body, headers={"If-Match": seen})
    assert (first.status, first.data["version"], first.data["kind"]) == (200, 2, "lambda")
    stale: list[dict[str, Any]] = [
        {"headers": {"If-Match": seen}, "json_body": body},
        {"json_body": {**body, "version": 1}},
    ]
    for request in stale:
        refused = api.admin.request("PUT", "/v1/tools/refund", **request)
        said = (412, "PRECONDITION_FAILED") if "headers" in request else (409, "CONFLICT")
        assert (refused.status, refused.error["code"]) == said
    assert api.admin.request("DELETE", "/v1/tools/refund", headers={"If-Match": seen}).status == 412
    assert api.admin.request("DELETE", "/v1/tools/refund").status == 204
    assert api.admin.request("GET", "/v1/tools/refund").status == 404


@pytest.mark.parametrize(
    "name",
    [
        "Host",
        "transfer-encoding",
        "Transfer_Encoding",
        "Content_Length",
        "Idempotency.Key",
        "PROXY_Connection",
    ],
)
def test_a_header_that_acta_or_http_sets_is_refused_however_servers_may_read_it(
    api: AdminApi, name: str
) -> None:
    config = {"url": "https://pay.example.com/", "method": "GET", "headers": {name: {"secret": "key"}}}
    refused = api.admin.request("POST", "/v1/tools", json_body={**TOOL, "config": config})
    assert (refused.status, refused.error["details"]) == (
        400,
        {"config.headers": [f"These headers cannot be set: {name}."]},
    )


def test_two_headers_that_servers_may_take_for_one_are_refused(api: AdminApi) -> None:
    headers = {"X-Api-Version": "1", "X_Api_Version": "2"}
    config = {"url": "https://pay.example.com/", "method": "GET", "headers": headers}
    refused = api.admin.request("POST", "/v1/tools", json_body={**TOOL, "config": config})
    assert (refused.status, refused.error["details"]) == (
        400,
        {"config.headers": ["A header is named twice."]},
    )


def test_a_value_that_is_hidden_cannot_be_written_back(api: AdminApi) -> None:
    shown = create(api)
    body = without_name(TOOL, config=shown["config"])
    refused = api.admin.request("PUT", "/v1/tools/refund", json_body=body)
    assert (refused.status, list(refused.error["details"])) == (400, ["config.headers"])


def test_a_name_is_given_once_and_a_builtin_s_never(api: AdminApi) -> None:
    create(api)
    for name in ("refund", "read_file", "update_plan"):
        answer = api.admin.request("POST", "/v1/tools", json_body={**TOOL, "name": name})
        assert (answer.status, list(answer.error["details"])) == (409, ["name"])
    assert api.admin.request("PUT", "/v1/tools/read_file", json_body=without_name(TOOL)).status == 409
    assert api.admin.request("DELETE", "/v1/tools/read_file").status == 409


def test_a_repeated_request_with_its_key_makes_one_tool(api: AdminApi) -> None:
    key = {"Idempotency-Key": "k"}
    first = api.admin.request("POST", "/v1/tools", json_body=TOOL, headers=key)
    second = api.admin.request("POST", "/v1/tools", json_body=TOOL, headers=key)
    assert (second.status, second.data) == (201, first.data)
    other = api.admin.request("POST", "/v1/tools", json_body={**TOOL, "name": "b"}, headers=key)
    assert (other.status, other.error["code"]) == (422, "IDEMPOTENCY_MISMATCH")


def test_members_read_admins_write_and_strangers_see_nothing(api: AdminApi) -> None:
    create(api)
    assert api.member.request("POST", "/v1/tools", json_body=TOOL).status == 403
    assert api.member.request("PUT", "/v1/tools/refund", json_body=without_name(TOOL)).status == 403
    assert api.member.request("DELETE", "/v1/tools/refund").status == 403
    for method, body in (("GET", None), ("PUT", without_name(TOOL)), ("DELETE", None)):
        assert api.stranger.request(method, "/v1/tools/refund", json_body=body).status == 404


def test_a_tenant_has_so_many_tools_and_no_more(api: AdminApi) -> None:
    for number in range(MAX_TENANT_TOOLS):
        create(api, name=f"t{number}")
    assert api.admin.request("POST", "/v1/tools", json_body=TOOL).status == 409


def test_an_agent_may_be_given_its_tenant_s_tools_and_no_other_s(api: AdminApi) -> None:
    create(api)
    agent = {"name": "Clerk", "tools": ["refund", "read_file"], "high_stakes": ["refund"]}
    assert api.admin.request("POST", "/v1/agents", json_body=agent).status == 201
    assert api.stranger.request("POST", "/v1/agents", json_body=agent).status == 400


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"name": ""}, "name"), ({"name": "1a"}, "name"), ({"name": "a b"}, "name"), ({"name": "x" * 65}, "name"),
        ({"description": " "}, "description"), ({"description": "x" * 2_001}, "description"),
        ({"input_schema": {}}, "input_schema"), ({"input_schema": {"type": "string"}}, "input_schema"),
        ({"input_schema": {"type": "object", "properties": 1}}, "input_schema"),
        ({"input_schema": {"type": "object", "properties": {"a": {"type": "text"}}}}, "input_schema"),
        ({"input_schema": {"type": "object", "properties": {"a": {"$ref": "https://x.example/s"}}}}, "input_schema"),
        ({"input_schema": {"type": "object", "title": "x" * MAX_SCHEMA_BYTES}}, "input_schema"),
        ({"input_schema": "object"}, "input_schema"),
        ({"kind": "builtin"}, "kind"), ({"kind": "mcp", "config": {"url": "https://pay.example.com/"}}, "kind"),
        ({"config": {"method": "GET"}}, "config.url"),
        ({"config": {"url": "https://pay.example.com/"}}, "config.method"),
        ({"config": {"url": "https://pay.example.com/", "method": "TRACE"}}, "config.method"),
        ({"config": {"url": "https://pay.example.com/", "method": "GET", "verify": False}}, "config.verify"),
        ({"config": {"url": "http://pay.example.com/", "method": "GET"}}, "config.url"),
        ({"config": {"url": "https://evil.example.com/", "method": "GET"}}, "config.url"),
        ({"config": {"url": "https://169.254.169.254/", "method": "GET"}}, "config.url"),
        ({"config": {"url": "https://pay.example.com/", "method": "GET", "headers": {"Host": "x"}}},
         "config.headers"),
        ({"config": {"url": "https://pay.example.com/", "method": "GET", "headers": {"idempotency-key": "x"}}},
         "config.headers"),
        ({"config": {"url": "https://pay.example.com/", "method": "GET", "headers": {"A": "x", "a": "y"}}},
         "config.headers"),
        ({"config": {"url": "https://pay.example.com/", "method": "GET", "headers": {"A": "x\r\nB: y"}}},
         "config.headers.A"),
        ({"config": {"url": "https://pay.example.com/?Order=1", "method": "POST"}}, "input_schema"),
        ({"config": {"function": "acta-test-tool-refund"}}, "config.url"),
        *(({"kind": "lambda", "config": {"function": function}}, "config.function") for function in (
            "acta-test-admin", "acta-test-tool", "acta-test-tool-", "acta-test-tool-refund:1", "acta-tool-refund",
            "acta-prod-tool-refund", "arn:aws:lambda:us-east-1:1:function:acta-test-tool-refund", "acta-test-tool-x",
            "acta-test-tool-" + 50 * "x",
        )),
        ({"effect": "twice"}, "effect"), ({"risk": "none"}, "risk"), ({"high_stakes": "yes"}, "high_stakes"),
        ({"approver_role": "two words"}, "approver_role"), ({"approver_role": ""}, "approver_role"),
        ({"approver_must_differ": "no"}, "approver_must_differ"),
        ({"timeout_seconds": 0}, "timeout_seconds"), ({"timeout_seconds": 601}, "timeout_seconds"),
        ({"result_limit_bytes": 255}, "result_limit_bytes"), ({"cache_seconds": 60}, "cache_seconds"),
        ({"later": {"seconds": 0}}, "later.seconds"), ({"later": {"seconds": 2_592_001}}, "later.seconds"),
        ({"later": {"default": 7}}, "later.default"), ({"later": True}, "later"),
        ({"version": 1}, "version"), ({"tenant": "other"}, "tenant"),
    ],
)  # fmt: skip
def test_a_tool_that_cannot_be_meant_is_refused_by_its_field(
    api: AdminApi, fields: dict[str, Any], field: str
) -> None:
    answer = api.admin.request("POST", "/v1/tools", json_body={**TOOL, **fields})
    assert (answer.status, answer.error["code"]) == (400, "VALIDATION_ERROR")
    assert field in answer.error["details"]
    assert len(api.admin.request("GET", "/v1/tools").data["items"]) == len(LISTED)


def test_a_missing_field_of_the_config_is_named_in_the_words_of_every_other_field(api: AdminApi) -> None:
    answer = api.admin.request("POST", "/v1/tools", json_body={**TOOL, "config": {"method": "GET"}})
    assert answer.error["details"] == {"config.url": ["This field is required."]}


@pytest.mark.parametrize(
    "more",
    [{"default_action": "approve"}, {"interventions": {"approval_required": {"default_action": "approve"}}}],
)
def test_a_tool_brings_no_default_that_could_approve_it_and_the_answer_says_why(
    api: AdminApi, more: dict[str, Any]
) -> None:
    answer = api.admin.request("POST", "/v1/tools", json_body={**TOOL, **more})
    assert answer.status == 400
    ((field, (why,)),) = answer.error["details"].items()
    assert field == next(iter(more))
    assert "no default approves a call" in why
    create(api)
    path, body = "/v1/tools/refund", without_name({**TOOL, "config": FUNCTION["config"], "kind": "lambda"})
    assert api.admin.request("PUT", path, json_body={**body, **more}).status == 400


@pytest.mark.parametrize(
    ("tenant", "function", "status"),
    [
        ("acme", "acta-test-tool-refund", 201),
        ("globex", "acta-test-tool-refund", 400),
        ("globex", "acta-test-tool-weigh", 201),
    ],
)
def test_a_tenant_s_tools_call_the_functions_that_the_operator_has_named_for_it(
    api: AdminApi, tenant: str, function: str, status: int
) -> None:
    body = {**FUNCTION, "config": {"function": function}}
    assert api.as_caller(tenant=tenant).request("POST", "/v1/tools", json_body=body).status == status


def test_replacing_a_tool_is_no_way_to_another_tenant_s_function(api: AdminApi) -> None:
    other = api.as_caller(tenant="globex")
    other.request("POST", "/v1/tools", json_body={**FUNCTION, "config": {"function": "acta-test-tool-weigh"}})
    answer = other.request("PUT", "/v1/tools/refund", json_body=without_name(FUNCTION))
    assert (answer.status, list(answer.error["details"])) == (400, ["config.function"])


def test_an_optional_tool_is_there_only_where_the_deployment_names_it() -> None:
    api = AdminApi(SETTINGS.but(optional_tools=""))
    listed = [tool["name"] for tool in api.admin.request("GET", "/v1/tools").data["items"]]
    assert listed == [name for name in LISTED if name not in optional_tools()]
    for name in optional_tools():
        assert api.admin.request("GET", f"/v1/tools/{name}").status == 404
        body = {"name": "Clerk", "goal": "Go", "tools": [name]}
        assert "tools" in str(api.admin.request("POST", "/v1/agents", json_body=body).error["details"])
        assert api.admin.request("POST", "/v1/tools", json_body={**TOOL, "name": name}).status == 409


def test_an_agent_says_which_of_its_tools_are_not_there_any_more(api: AdminApi) -> None:
    create(api, name="refund")
    agent = {"name": "Cashier", "system_prompt": "You pay back.", "tools": ["read_file", "refund"]}
    assert api.admin.request("POST", "/v1/agents", json_body={"agent_id": "cashier", **agent}).status == 201
    assert api.member.request("GET", "/v1/agents/cashier").data["warnings"] == []
    assert api.admin.request("DELETE", "/v1/tools/refund", query="force=true").status == 204
    sentence = "There is no tool refund any more: sessions of this agent go on without it."
    assert api.member.request("GET", "/v1/agents/cashier").data["warnings"] == [sentence]
    listed = api.member.request("GET", "/v1/agents").data["items"]
    assert {one["agent_id"]: one["warnings"] for one in listed} == {"cashier": [sentence], "default": []}


def test_a_tool_that_agents_only_deny_is_deleted_and_they_say_that_it_stays_denied(api: AdminApi) -> None:
    create(api, name="refund")
    name_it(api, deny=["refund"])
    assert api.admin.request("DELETE", "/v1/tools/refund").status == 204
    (warning,) = api.member.request("GET", "/v1/agents/clerk-000").data["warnings"]
    assert warning.startswith("There is no tool refund any more, but it is still in `deny`")


ORDER = {
    **TOOL,
    "name": "order",
    "effect": "read",
    "high_stakes": False,
    "approver_role": None,
    "approver_must_differ": None,
    "input_schema": {
        "type": "object",
        "properties": {"order_id": {"type": "string"}, "term": {"type": "string"}},
        "required": ["order_id"],
    },
    "config": {
        "url": "https://pay.example.com/orders/{order_id}",
        "method": "GET",
        "headers": {},
        "parameters": {"term": {"in": "query", "name": "q"}},
    },
}


def test_where_arguments_go_is_read_as_it_was_written(api: AdminApi) -> None:
    made = api.admin.request("POST", "/v1/tools", json_body=ORDER)
    assert (made.status, made.data["config"]) == (201, ORDER["config"])
    assert api.admin.request("GET", "/v1/tools/order").data["config"] == ORDER["config"]


def test_a_tool_without_parameters_shows_none(api: AdminApi) -> None:
    assert "parameters" not in create(api)["config"]


OF_THE_ENVIRONMENT = PythonTool(
    name="refund",
    description="Ours",
    input_schema={"type": "object"},
    folder="orders",
    function="acta-test-tool-orders",
    tenants=("acme",),
    digest="d",
)


def test_a_tool_of_the_environment_is_shown_to_its_tenants_and_changed_by_none() -> None:
    api = AdminApi(SETTINGS, own_tools={"refund": OF_THE_ENVIRONMENT})

    listed = [tool["name"] for tool in api.admin.request("GET", "/v1/tools").data["items"]]

    assert listed == [*LISTED, "refund"]
    shown = api.admin.request("GET", "/v1/tools/refund").data
    assert (shown["kind"], shown["description"]) == ("python", "Ours")
    assert "config" not in shown
    assert api.admin.request("POST", "/v1/tools", json_body=TOOL).status == 409
    for method, body in (("PUT", without_name(TOOL)), ("DELETE", None)):
        refused = api.admin.request(method, "/v1/tools/refund", json_body=body)
        assert refused.status == 409
        assert "the environment's" in refused.error["message"]
    assert api.stranger.request("GET", "/v1/tools/refund").status == 404
    assert api.stranger.request("POST", "/v1/tools", json_body=TOOL).status == 201


def test_a_tenants_tool_that_one_of_the_environment_hides_can_still_be_deleted() -> None:
    later: dict[str, ToolSpec] = {}
    api = AdminApi(SETTINGS, own_tools=later)
    create(api)
    later["refund"] = OF_THE_ENVIRONMENT

    assert api.admin.request("GET", "/v1/tools/refund").data["kind"] == "python"


def name_it(api: AdminApi, count: int = 1, **fields: Any) -> list[str]:
    ids = [f"clerk-{number:03d}" for number in range(count)]
    for agent_id in ids:
        body = {"agent_id": agent_id, "name": "Clerk", **(fields or {"tools": ["refund"]})}
        assert api.admin.request("POST", "/v1/agents", json_body=body).status == 201
    return ids


@pytest.mark.parametrize("fields", [{"tools": ["read_file", "refund"]}, {"high_stakes": ["refund"]}])
def test_a_tool_that_an_agent_names_is_not_deleted_without_a_word(api: AdminApi, fields: Any) -> None:
    create(api)
    name_it(api, **fields)
    answer = api.admin.request("DELETE", "/v1/tools/refund")
    assert (answer.status, answer.error["details"]) == (409, {"agents": ["clerk-000"]})
    assert api.admin.request("GET", "/v1/tools/refund").status == 200
    assert api.admin.request("DELETE", "/v1/tools/refund", query="force=true").status == 204
    assert api.admin.request("GET", "/v1/tools/refund").status == 404


def test_of_many_agents_that_name_a_tool_the_first_are_named_and_the_others_counted(api: AdminApi) -> None:
    create(api)
    ids = name_it(api, 101)
    error = api.admin.request("DELETE", "/v1/tools/refund").error
    assert error["details"] == {"agents": ids[:20]}
    assert "and 81 more" in error["message"]


def test_agents_that_name_no_tool_or_another_one_or_are_another_tenant_s_stop_nothing(api: AdminApi) -> None:
    create(api)
    name_it(api, tools=["read_file"])
    body = {"agent_id": "theirs", "name": "Clerk"}
    assert api.stranger.request("POST", "/v1/agents", json_body=body).status == 201
    assert api.admin.request("DELETE", "/v1/tools/refund").status == 204
