"""`/v1/agents`."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from acta.engine.agents.agent import built_in
from acta.engine.log.commit import IdempotencyRecord
from acta.engine.log.dynamodb_index import DynamoIndex
from acta.engine.settings import Settings
from tests.api.deployment import SETTINGS, AdminApi

AGENT = {
    "name": "Librarian",
    "system_prompt": "You keep books. Grüße 🪶",
    "goal": "Every book in its place",
    "provider": "anthropic",
    "model": "claude-x",
    "models": {"plan": "claude-y", "summary": "claude-z"},
    "effort": "high",
    "temperature": None,
    "fallbacks": [{"provider": "openai", "model": "gpt-x"}, {"model": "claude-z"}],
    "judge": {"provider": "openai", "model": "gpt-x", "times": 2},
    "tools": ["read_file", "list_files"],
    "deny": ["delete_file"],
    "agents": [],
    "limits": {"max_steps": 20, "token_budget": 9_000, "cost_budget_usd": 1, "context_tokens": 500_000},
    "caps": {"max_steps": 40, "token_budget": 90_000, "cost_budget_usd": 5},
    "high_stakes": ["create_file"],
    "start_roles": ["finance", "legal:eu"],
    "planning": "when_needed",
    "protocol": "react",
    "background": False,
    "output_schema": None,
    "interventions": {
        "approval_required": {"timeout_seconds": 60, "default_action": "reject", "role": "approver"},
        "checkpoint_review": {"default_action": "continue"},
    },
}


ANY_MODEL = {"env": "local", "is_local": True}
"""There a model may be called anything."""


@pytest.fixture
def api() -> AdminApi:
    return AdminApi()


def create(api: AdminApi, **fields: Any) -> Any:
    answer = api.admin.request("POST", "/v1/agents", json_body={**AGENT, **fields})
    assert answer.status == 201
    return answer.data


def test_an_agent_is_read_as_it_was_written(api: AdminApi) -> None:
    answer = api.admin.request("POST", "/v1/agents", json_body={"agent_id": "librarian", **AGENT})
    assert (answer.status, answer.headers["Location"]) == (201, "/v1/agents/librarian")
    times = {"created_at": "2026-01-01T00:00:00.000Z", "updated_at": "2026-01-01T00:00:00.000Z"}
    assert answer.data == {
        "agent_id": "librarian",
        **AGENT,
        "warnings": [],
        "applied": None,
        "version": 1,
        **times,
    }
    assert api.member.request("GET", "/v1/agents/librarian").data == answer.data


@pytest.mark.parametrize(
    ("named", "field"),
    [
        ({"provider": "offline"}, "provider"),
        ({"fallbacks": [{"model": "m"}, {"provider": "offline", "model": "m"}]}, "fallbacks.1.provider"),
        ({"judge": {"provider": "offline", "model": "m"}}, "judge.provider"),
    ],
)
def test_an_agent_may_name_the_offline_stand_in_only_where_it_is_there(
    api: AdminApi, named: dict[str, Any], field: str
) -> None:
    body = {"name": "Plain", **named}
    refused = api.admin.request("POST", "/v1/agents", json_body=body)
    assert (refused.status, refused.error["code"]) == (400, "VALIDATION_ERROR")
    assert "has no provider of that name. Name one of anthropic, openai" in refused.error["details"][field][0]
    create(api, agent_id="plain")
    assert api.admin.request("PUT", "/v1/agents/plain", json_body=body).status == 400

    local = AdminApi(SETTINGS.but(offline=True, is_local=True))
    assert local.admin.request("POST", "/v1/agents", json_body=body).status == 201


def test_a_name_is_enough_and_an_id_is_given(api: AdminApi) -> None:
    answer = api.admin.request("POST", "/v1/agents", json_body={"name": "Plain"})
    agent = answer.data
    assert answer.headers["Location"] == f"/v1/agents/{agent['agent_id']}"
    assert agent["agent_id"].startswith("agt_")
    assert (agent["tools"], agent["protocol"], agent["provider"]) == ("all", "native", None)
    assert agent["system_prompt"] == built_in().system_prompt


def test_the_default_agent_can_be_replaced_and_comes_back_when_deleted(api: AdminApi) -> None:
    path = "/v1/agents/default"
    built_in = api.member.request("GET", path).data
    assert (built_in["version"], built_in["created_at"]) == (0, None)
    assert api.admin.request("DELETE", path).error["code"] == "CONFLICT"

    assert api.admin.request("PUT", path, json_body=AGENT).data["version"] == 1
    assert api.member.request("GET", path).data["name"] == "Librarian"
    assert api.admin.request("DELETE", path).status == 204
    assert api.member.request("GET", path).data == built_in


def test_agents_are_listed_in_pages_with_the_default_among_them(api: AdminApi) -> None:
    for agent_id in ("a", "b", "z"):
        create(api, agent_id=agent_id)
    first = api.member.request("GET", "/v1/agents", query={"limit": "3"}).data
    assert [agent["agent_id"] for agent in first["items"]] == ["a", "b", "default"]
    rest = api.member.request("GET", "/v1/agents", query={"cursor": first["next_cursor"]}).data
    assert ([agent["agent_id"] for agent in rest["items"]], rest["next_cursor"]) == (["z"], None)
    forged = api.member.request("GET", "/v1/agents", query={"cursor": "x"})
    assert (forged.status, list(forged.error["details"])) == (400, ["cursor"])


def test_a_replacement_is_whole_what_it_leaves_out_takes_its_default(api: AdminApi) -> None:
    create(api, agent_id="a")
    changed = api.admin.request("PUT", "/v1/agents/a", json_body={"name": "Bare"}).data
    assert (changed["version"], changed["goal"], changed["tools"], changed["limits"]) == (2, "", "all", {})


@pytest.mark.parametrize("tools", [[], "all"])
def test_an_empty_list_of_tools_is_answered_as_the_word_for_all_of_them(api: AdminApi, tools: Any) -> None:
    assert create(api, agent_id="a", tools=tools)["tools"] == "all"
    assert api.member.request("GET", "/v1/agents/a").data["tools"] == "all"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("delete_fil", "There is no tool 'delete_fil'. Did you mean delete_file, "),
        ("update_plan", "Every agent has update_plan, because it works on the session itself."),
    ],
)
def test_only_tools_that_are_there_and_that_an_agent_can_be_without_are_denied(
    api: AdminApi, name: str, said: str
) -> None:
    create(api, agent_id="a")
    for method, path in (("POST", "/v1/agents"), ("PUT", "/v1/agents/a")):
        refused = api.admin.request(method, path, json_body={"name": "Careful", "deny": ["read_file", name]})
        assert (refused.status, list(refused.error["details"])) == (400, ["deny"])
        (sentence,) = refused.error["details"]["deny"]
        assert said in sentence


def test_a_replacement_of_another_version_than_the_one_seen_is_refused(api: AdminApi) -> None:
    create(api, agent_id="a")
    seen = api.admin.request("GET", "/v1/agents/a").headers["ETag"]
    first = api.admin.request("PUT", "/v1/agents/a", json_body=AGENT, headers={"If-Match": seen})
    assert (first.status, first.data["version"]) == (200, 2)

    stale: list[dict[str, Any]] = [
        {"json_body": {**AGENT, "name": "Mine"}, "headers": {"If-Match": seen}},
        {"json_body": {**AGENT, "name": "Mine"}, "headers": {"If-Match": f'"x", {seen}'}},
        {"json_body": {**AGENT, "name": "Mine", "version": 1}},
    ]
    for request in stale:
        refused = api.admin.request("PUT", "/v1/agents/a", **request)
        said = (412, "PRECONDITION_FAILED") if "headers" in request else (409, "CONFLICT")
        assert (refused.status, refused.error["code"]) == said
    assert api.admin.request("DELETE", "/v1/agents/a", headers={"If-Match": seen}).status == 412
    assert api.admin.request("GET", "/v1/agents/a").data["name"] == "Librarian"

    current = first.headers["ETag"]
    second = api.admin.request(
        "PUT", "/v1/agents/a", json_body={**AGENT, "version": 2}, headers={"If-Match": f'"x", {current}'}
    )
    assert second.data["version"] == 3
    assert api.admin.request("DELETE", "/v1/agents/a", headers={"If-Match": "*"}).status == 204


def test_an_id_is_given_once(api: AdminApi) -> None:
    create(api, agent_id="a")
    for agent_id in ("a", "default"):
        answer = api.admin.request("POST", "/v1/agents", json_body={"agent_id": agent_id, "name": "x"})
        assert (answer.status, answer.error["code"], list(answer.error["details"])) == (
            409,
            "CONFLICT",
            ["agent_id"],
        )


def test_a_repeated_request_with_its_key_makes_one_agent(api: AdminApi) -> None:
    key = {"Idempotency-Key": "k"}
    first = api.admin.request("POST", "/v1/agents", json_body=AGENT, headers=key)
    second = api.admin.request("POST", "/v1/agents", json_body=AGENT, headers=key)
    assert (second.status, second.data, second.headers["Location"]) == (
        201,
        first.data,
        first.headers["Location"],
    )
    other = api.admin.request("POST", "/v1/agents", json_body={"name": "Other"}, headers=key)
    assert (other.status, other.error["code"]) == (422, "IDEMPOTENCY_MISMATCH")
    assert len(api.admin.request("GET", "/v1/agents").data["items"]) == 2


class Overtaken(DynamoIndex):
    """Between a request's first look for its key and its write, the next of `meanwhile` happens."""

    def __init__(self, meanwhile: list[Callable[[], object]], *stored: Any) -> None:
        super().__init__(*stored)
        self._meanwhile = meanwhile

    def idempotency_record(self, tenant: str, route: str, key: str) -> IdempotencyRecord | None:
        found = super().idempotency_record(tenant, route, key)
        if self._meanwhile:
            self._meanwhile.pop()()
        return found


@pytest.mark.parametrize("body", [{**AGENT, "agent_id": "a"}, AGENT], ids=["its-own-id", "a-new-id"])
def test_of_two_requests_with_one_key_at_once_both_get_the_answer_of_the_first(body: dict[str, Any]) -> None:
    """The id that is taken by then is a conflict, and that of the same request is none."""
    meanwhile: list[Callable[[], object]] = []
    api, answers = AdminApi(index=partial(Overtaken, meanwhile)), []

    def create() -> None:
        answers.append(
            api.admin.request("POST", "/v1/agents", json_body=body, headers={"Idempotency-Key": "k"})
        )

    meanwhile.append(create)
    create()

    assert [answer.status for answer in answers] == [201, 201]
    assert answers[0].data == answers[1].data
    assert len(api.admin.request("GET", "/v1/agents").data["items"]) == 2


def test_of_two_requests_with_two_keys_at_once_the_second_finds_the_id_taken() -> None:
    meanwhile: list[Callable[[], object]] = []
    api, body = AdminApi(index=partial(Overtaken, meanwhile)), {**AGENT, "agent_id": "a"}
    meanwhile.append(lambda: create(api, agent_id="a"))
    answer = api.admin.request("POST", "/v1/agents", json_body=body, headers={"Idempotency-Key": "k"})
    assert (answer.status, answer.error["code"]) == (409, "CONFLICT")


def test_members_read_admins_write_and_strangers_see_nothing(api: AdminApi) -> None:
    create(api, agent_id="a")
    assert api.member.request("POST", "/v1/agents", json_body=AGENT).status == 403
    assert api.member.request("PUT", "/v1/agents/a", json_body=AGENT).status == 403
    assert api.member.request("DELETE", "/v1/agents/a").status == 403
    for method, body in (("GET", None), ("PUT", AGENT), ("DELETE", None)):
        assert api.stranger.request(method, "/v1/agents/a", json_body=body).status == 404
    assert [a["agent_id"] for a in api.stranger.request("GET", "/v1/agents").data["items"]] == ["default"]


def test_what_is_deleted_or_never_was_is_not_found(api: AdminApi) -> None:
    create(api, agent_id="a")
    assert api.admin.request("DELETE", "/v1/agents/a").status == 204
    for method, body in (("GET", None), ("PUT", AGENT), ("DELETE", None)):
        answer = api.admin.request(method, "/v1/agents/a", json_body=body)
        assert (answer.status, answer.error["code"]) == (404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"name": ""}, "name"), ({"name": "  "}, "name"), ({"name": "x" * 101}, "name"), ({"name": 7}, "name"),
        ({"name": "a\0"}, "name"),
        ({"system_prompt": ""}, "system_prompt"), ({"system_prompt": "x" * 20_001}, "system_prompt"),
        ({"goal": "x" * 4_001}, "goal"),
        ({"provider": "acme"}, "provider"), ({"provider": ""}, "provider"),
        ({"model": ""}, "model"), ({"model": "two words"}, "model"), ({"model": "x" * 201}, "model"),
        ({"models": {"chat": "m"}}, "models.chat"), ({"models": {"plan": 1}}, "models.plan"),
        ({"models": []}, "models"),
        ({"fallbacks": [{"model": f"m{n}"} for n in range(4)]}, "fallbacks"), ({"fallbacks": ["m"]}, "fallbacks.0"),
        ({"fallbacks": [{"provider": "openai"}]}, "fallbacks.0.model"),
        ({"fallbacks": [{"provider": "acme", "model": "m"}]}, "fallbacks.0.provider"),
        ({"fallbacks": [{"model": "m", "name": "n"}]}, "fallbacks.0.name"),
        ({"tools": ["reed_file"]}, "tools"), ({"tools": "read_file"}, "tools"), ({"tools": [None]}, "tools.0"),
        ({"high_stakes": ["send_email"]}, "high_stakes"),
        ({"caps": {"max_steps": 1_001}}, "caps.max_steps"), ({"caps": {"max_steps": "5"}}, "caps.max_steps"),
        ({"caps": {"max_output_tokens": 5}}, "caps.max_output_tokens"),
        ({"start_roles": ["two words"]}, "start_roles.0"), ({"start_roles": ["r"] * 21}, "start_roles"),
        ({"limits": {"max_steps": 0}}, "limits.max_steps"), ({"limits": {"max_steps": 1_001}}, "limits.max_steps"),
        ({"limits": {"max_steps": "9"}}, "limits.max_steps"), ({"limits": {"max_steps": True}}, "limits.max_steps"),
        ({"limits": {"token_budget": 0}}, "limits.token_budget"),
        ({"limits": {"cost_budget_usd": 0}}, "limits.cost_budget_usd"),
        ({"limits": {"max_output_tokens": 128_001}}, "limits.max_output_tokens"),
        ({"limits": {"approval_timeout_seconds": 2_592_001}}, "limits.approval_timeout_seconds"),
        ({"limits": {"steps": 5}}, "limits.steps"),
        ({"protocol": "xml"}, "protocol"),
        ({"default_action": "approve"}, "default_action"), ({"approve_by_default": True}, "approve_by_default"),
        ({"agent_id": ""}, "agent_id"), ({"agent_id": "a b"}, "agent_id"), ({"agent_id": "../a"}, "agent_id"),
        ({"agent_id": "x" * 65}, "agent_id"), ({"agent_id": "-a"}, "agent_id"), ({"agent_id": "ä"}, "agent_id"),
        ({"version": 1}, "version"), ({"created_at": "2026-01-01T00:00:00Z"}, "created_at"),
    ],
)  # fmt: skip
def test_a_definition_that_cannot_be_meant_is_refused_by_its_field(
    api: AdminApi, fields: dict[str, Any], field: str
) -> None:
    answer = api.admin.request("POST", "/v1/agents", json_body={**AGENT, **fields})
    assert (answer.status, answer.error["code"], list(answer.error["details"])) == (
        400,
        "VALIDATION_ERROR",
        [field],
    )
    assert len(api.admin.request("GET", "/v1/agents").data["items"]) == 1


def test_an_unknown_tool_is_refused_with_near_names(api: AdminApi) -> None:
    answer = api.admin.request("POST", "/v1/agents", json_body={**AGENT, "tools": ["reed_file", "zzzzzz"]})
    near, far = answer.error["details"]["tools"]
    assert "'reed_file'" in near
    assert "read_file" in near
    assert "update_plan" in far


def test_a_body_that_is_no_json_object_is_refused(api: AdminApi) -> None:
    for body in ("[]", "{", '{"name": "a", "name": "b"}'):
        assert api.admin.request("PUT", "/v1/agents/default", body=body).status == 400
    text = {"Content-Type": "text/plain"}
    assert api.admin.request("PUT", "/v1/agents/default", body="{}", headers=text).status == 415


CAPPED = {
    "cap_max_steps": 100,
    "cap_token_budget": 500_000,
    "cap_cost_budget_usd": 10,
    "cap_max_output_tokens": 8_000,
}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"caps": {"max_steps": 101}}, "caps.max_steps"), ({"caps": {"token_budget": 500_001}}, "caps.token_budget"),
        ({"caps": {"cost_budget_usd": 10.5}}, "caps.cost_budget_usd"),
        ({"limits": {"max_steps": 101}}, "limits.max_steps"),
        ({"limits": {"cost_budget_usd": 11}}, "limits.cost_budget_usd"),
        ({"caps": {"token_budget": 9_000}, "limits": {"token_budget": 9_001}}, "limits.token_budget"),
        ({"limits": {"max_output_tokens": 8_001}}, "limits.max_output_tokens"),
    ],
)  # fmt: skip
def test_an_agent_gives_no_more_than_its_caps_and_those_no_more_than_the_deployment_s(
    fields: dict[str, Any], field: str
) -> None:
    api = AdminApi(Settings(env="test", table="t", bucket="b", **CAPPED))
    for method, path in (("POST", "/v1/agents"), ("PUT", "/v1/agents/default")):
        refused = api.admin.request(method, path, json_body={"name": "A", **fields})
        assert (refused.status, list(refused.error["details"])) == (400, [field])
        assert "The most " in str(refused.error["details"])
    exact = {
        "caps": {"max_steps": 100, "token_budget": 500_000, "cost_budget_usd": 10},
        "limits": {"max_steps": 100, "cost_budget_usd": 10, "max_output_tokens": 8_000},
    }
    assert api.admin.request("POST", "/v1/agents", json_body={"name": "A", **exact}).status == 201


@pytest.mark.parametrize(
    ("fields", "field", "why"),
    [
        ({"effort": "xhigh", "model": "claude-opus-4-6"}, "effort", "low, medium, high, max"),
        ({"effort": "low", "model": "claude-haiku-4-5"}, "effort", "takes no effort"),
        ({"effort": "none"}, "effort", "low, medium, high, xhigh, max"),
        ({"effort": "high", "models": {"final": "claude-sonnet-4-5"}}, "effort", "claude-sonnet-4-5"),
        ({"temperature": 0.5}, "temperature", "takes no temperature"),
        ({"temperature": 0.5, "provider": "openai"}, "temperature", "only with the effort none"),
        ({"temperature": 0.5, "provider": "openai", "model": "gpt-6.2-sol", "effort": "low"}, "temperature", "no"),
        ({"temperature": 2.1}, "temperature", ""),
        ({"effort": "much"}, "effort", ""),
    ],
)  # fmt: skip
def test_an_effort_or_a_temperature_that_a_model_of_the_turns_does_not_take_is_refused(
    fields: dict[str, Any], field: str, why: str
) -> None:
    api = AdminApi(Settings(env="test", table="t", bucket="b", provider="anthropic"))
    refused = api.admin.request("POST", "/v1/agents", json_body={"name": "A", **fields})
    assert (refused.status, list(refused.error["details"])) == (400, [field])
    assert why in str(refused.error["details"])


@pytest.mark.parametrize(
    "fields",
    [
        {"effort": "max", "models": {"summary": "claude-haiku-4-5"}},
        {"effort": "high", "fallbacks": [{"model": "claude-haiku-4-5"}]},
        {"effort": "none", "temperature": 1.5, "provider": "openai"},
        {"temperature": 0, "provider": "openai", "model": "gpt-4.1"},
    ],
)
def test_summaries_and_fallbacks_need_not_take_what_the_turns_take(fields: dict[str, Any]) -> None:
    api = AdminApi(Settings(env="test", table="t", bucket="b", provider="anthropic"))
    made = api.admin.request("POST", "/v1/agents", json_body={"name": "A", **fields})
    assert made.status == 201
    named = ("effort", "temperature")
    assert {name: made.data[name] for name in named} == {name: fields.get(name) for name in named}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"model": "claude-b"}, "model"), ({"models": {"final": "claude-b"}}, "models.final"),
        ({"fallbacks": [{"model": "claude-a"}, {"model": "claude-b"}]}, "fallbacks.1.model"),
    ],
)  # fmt: skip
def test_an_agent_is_given_models_of_the_deployment_s_list_alone(fields: dict[str, Any], field: str) -> None:
    listed = {"allowed_models": "claude-a, gpt-a", "model": "claude-own", "provider": "anthropic"}
    api = AdminApi(Settings(env="test", table="t", bucket="b", **listed))
    for method, path in (("POST", "/v1/agents"), ("PUT", "/v1/agents/default")):
        refused = api.admin.request(method, path, json_body={"name": "A", **fields})
        assert (refused.status, list(refused.error["details"])) == (400, [field])
        assert "claude-a, gpt-a" in str(refused.error["details"])
    allowed = {"model": "claude-own", "models": {"plan": "gpt-a"}, "fallbacks": [{"model": "claude-a"}]}
    assert api.admin.request("POST", "/v1/agents", json_body={"name": "A", **allowed}).status == 201


def test_without_a_list_a_model_is_called_like_one_of_its_provider_s_and_locally_anything() -> None:
    strange = {"name": "A", "provider": "openai", "model": "claude-x"}
    refused = AdminApi().admin.request("POST", "/v1/agents", json_body=strange)
    assert (refused.status, list(refused.error["details"])) == (400, ["model"])
    assert "`models` of the environment" in str(refused.error["details"])
    local = AdminApi(SETTINGS.but(is_local=True))
    assert local.admin.request("POST", "/v1/agents", json_body=strange).status == 201


def test_only_questions_about_a_call_have_an_approver(api: AdminApi) -> None:
    for type, status in (("approval_required", 201), ("error_recovery", 201), ("budget_exceeded", 400)):
        policies = {type: {"approver_must_differ": True}}
        answer = api.admin.request("POST", "/v1/agents", json_body={"name": "A", "interventions": policies})
        assert answer.status == status


@pytest.mark.parametrize("method", ["POST", "PUT"])
@pytest.mark.parametrize("option", ["approve", "modify"])
def test_a_default_that_approves_high_stakes_calls_is_refused_where_the_agent_is_defined(
    api: AdminApi, method: str, option: str
) -> None:
    body = {**AGENT, "interventions": {"approval_required": {"default_action": option}}}
    answer = api.admin.request(
        method, "/v1/agents" if method == "POST" else "/v1/agents/default", json_body=body
    )
    assert answer.status == 400
    (why,) = answer.error["details"]["interventions.approval_required.default_action"]
    assert "never approves a high-stakes call" in why
    assert api.member.request("GET", "/v1/agents/default").data["version"] == 0


@pytest.mark.parametrize(
    ("policies", "field"),
    [
        (
            {"checkpoint_review": {"default_action": "approve"}},
            "interventions.checkpoint_review.default_action",
        ),
        (
            {"clarification_needed": {"default_action": "answer"}},
            "interventions.clarification_needed.default_action",
        ),
        (
            {"budget_exceeded": {"timeout_seconds": 2_592_001}},
            "interventions.budget_exceeded.timeout_seconds",
        ),
        ({"budget_exceeded": {"timeout_seconds": 0}}, "interventions.budget_exceeded.timeout_seconds"),
        ({"budget_exceeded": {"timeout_seconds": "60"}}, "interventions.budget_exceeded.timeout_seconds"),
        ({"error_recovery": {"role": "two words"}}, "interventions.error_recovery.role"),
        ({"error_recovery": {"approve": True}}, "interventions.error_recovery.approve"),
        ({"pause": {}}, "interventions.pause"),
    ],
)
def test_a_policy_that_means_nothing_is_refused_naming_the_field(
    api: AdminApi, policies: dict[str, Any], field: str
) -> None:
    answer = api.admin.request("POST", "/v1/agents", json_body={**AGENT, "interventions": policies})
    assert (answer.status, list(answer.error["details"])) == (400, [field])


WRITER = {"name": "Writer", "system_prompt": "You write."}
LONG = Settings(env="test", table="t", bucket="b", longest_model_seconds=840, output_tokens_per_second=50)
"""A model writes 40,500 tokens in 810 seconds, and has 30 to begin."""


@pytest.mark.parametrize(
    ("fields", "most"),
    [
        ({}, 40_500),
        ({"fallbacks": [{"model": "other"}, {"model": "third"}]}, 37_500),
    ],
)
def test_an_answer_may_be_as_long_as_a_call_has_time_for(fields: dict[str, Any], most: int) -> None:
    """Each model that is asked in vain before takes its time to begin."""
    api = AdminApi(LONG.but(**ANY_MODEL))
    body = {**WRITER, **fields}
    fits = {**body, "limits": {"max_output_tokens": most}}
    assert api.admin.request("POST", "/v1/agents", json_body={**fits, "agent_id": "fits"}).status == 201
    longer = {**body, "limits": {"max_output_tokens": most + 1}}
    for method, path in (("POST", "/v1/agents"), ("PUT", "/v1/agents/fits")):
        answer = api.admin.request(method, path, json_body=longer)
        assert (answer.status, list(answer.error["details"])) == (400, ["limits.max_output_tokens"])
        assert f"The most is {most}:" in str(answer.error["details"])


@pytest.mark.parametrize(
    ("fields", "most"),
    [
        ({"model": "claude-sonnet-5-5"}, 40_500),
        ({"model": "claude-opus-5-5"}, 32_400),
        ({"model": "somebody-s-own"}, 24_300),
        ({"model": "claude-sonnet-5-5", "models": {"final": "claude-opus-5-5"}}, 32_400),
        ({"model": "claude-sonnet-5-5", "models": {"summary": "somebody-s-own"}}, 40_500),
        ({"model": "claude-haiku-5-5", "fallbacks": [{"provider": "openai", "model": "gpt-6-sol"}]}, 39_000),
    ],
)
def test_the_slowest_model_that_may_write_the_answer_decides(fields: dict[str, Any], most: int) -> None:
    api = AdminApi(SETTINGS.but(**ANY_MODEL))
    for wanted, status in ((most, 201), (most + 1, 400)):
        body = {**WRITER, **fields, "limits": {"max_output_tokens": wanted}}
        assert api.admin.request("POST", "/v1/agents", json_body=body).status == status


def test_a_deployment_s_own_model_decides_where_the_agent_names_none() -> None:
    settings = Settings(env="test", table="t", bucket="b", provider="openai", model="somebody-s-own")
    body = {**WRITER, "limits": {"max_output_tokens": 24_301}}
    assert AdminApi(settings).admin.request("POST", "/v1/agents", json_body=body).status == 400
    other = {**body, "provider": "anthropic"}
    assert AdminApi(settings).admin.request("POST", "/v1/agents", json_body=other).status == 201


IN_BACKGROUND = {"name": "Patient", "provider": "openai", "model": "gpt-6-sol", "background": True}


def test_an_agent_may_have_its_model_answer_in_the_background(api: AdminApi) -> None:
    answer = api.admin.request("POST", "/v1/agents", json_body={"agent_id": "patient", **IN_BACKGROUND})
    assert (answer.status, answer.data["background"]) == (201, True)
    assert api.member.request("GET", "/v1/agents/patient").data["background"] is True


@pytest.mark.parametrize(
    ("fields", "settings"),
    [
        ({"provider": "anthropic", "model": "claude-sonnet-5-5"}, {}),
        ({"provider": "bedrock", "model": "anthropic.claude-sonnet-5-5"}, {}),
        ({"provider": None}, {}),
        ({"protocol": "react"}, {}),
        ({"fallbacks": [{"model": "gpt-6-luna"}]}, {}),
        ({}, {"openai_api": "chat"}),
        ({}, {"background_seconds": 0}),
    ],
)
def test_a_background_is_refused_where_a_worker_would_wait_all_the_same(
    fields: dict[str, Any], settings: dict[str, Any]
) -> None:
    api = AdminApi(SETTINGS.but(**settings))
    answer = api.admin.request("POST", "/v1/agents", json_body={**IN_BACKGROUND, **fields})
    assert answer.status == 400
    assert list(answer.error["details"]) == ["background"]


def test_the_deployment_s_own_provider_counts_for_the_background() -> None:
    api = AdminApi(SETTINGS.but(provider="openai"))
    answer = api.admin.request("POST", "/v1/agents", json_body={**IN_BACKGROUND, "provider": None})
    assert answer.status == 201


def test_an_agent_may_have_a_schema_for_answers(api: AdminApi) -> None:
    schema = {"type": "object", "required": ["total"]}
    answer = api.admin.request("POST", "/v1/agents", json_body={"name": "Adder", "output_schema": schema})
    assert (answer.status, answer.data["output_schema"]) == (201, schema)


@pytest.mark.parametrize("schema", [{"type": "nothing"}, {"$ref": "#/$defs/none"}, {"title": "x" * 9_000}])
def test_a_schema_for_answers_that_cannot_be_used_is_refused(api: AdminApi, schema: dict[str, Any]) -> None:
    answer = api.admin.request("POST", "/v1/agents", json_body={"name": "Adder", "output_schema": schema})
    assert answer.status == 400
    assert list(answer.error["details"]) == ["output_schema"]


def test_pages_of_large_definitions_are_bounded_in_bytes_and_leave_nothing_out(api: AdminApi) -> None:
    for n in range(15):
        body = {"agent_id": f"a{n:02}", "name": "A", "system_prompt": "\U0001f30d" * 20_000}
        assert api.admin.request("POST", "/v1/agents", json_body=body).status == 201
        prompt = {"content": "plan a step and go on " + f"{n:02}" + "\U0001f30d" * 19_900}
        assert (
            api.admin.request("PUT", "/v1/admin/prompts/agent_planning_system", json_body=prompt).status
            == 200
        )
    for path, key, most in (
        ("/v1/agents", "agent_id", 16),
        ("/v1/admin/prompts/agent_planning_system/versions", "version", 15),
    ):
        found: list[object] = []
        query = {"limit": "100"}
        while query:
            answer = api.admin.request("GET", path, query=query)
            assert len(answer.body) < 1_000_000
            found += [item[key] for item in answer.data["items"]]
            cursor = answer.data["next_cursor"]
            query = {} if cursor is None else {"limit": "100", "cursor": cursor}
        assert len(found) == len(set(found)) >= most
