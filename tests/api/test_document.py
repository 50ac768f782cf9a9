"""The OpenAPI document: everything that is there is in it, and what is in it holds together."""

import gzip
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import pytest
from jsonschema import Draft202012Validator

from acta.engine.api.app import Api
from acta.engine.api.envelope import takes_gzip
from acta.engine.api.error_answers import limit_headers
from acta.engine.api.fallback import DOCUMENT, PAGE, PARTS
from acta.engine.api.operations import OPERATIONS
from acta.engine.app import App
from acta.engine.errors import Quota
from acta.engine.notifications.notification import (
    EndNotification,
    NotificationEvent,
    QuestionNotification,
)
from acta.engine.notifications.webhooks import REFUSALS
from acta.engine.people.opening import PAUSED
from acta.engine.people.policies import InterventionType
from acta.engine.prompts.prompt import SEED_VERSION, SEEDS
from acta.engine.recovery.outage import DELAY_REASONS
from acta.engine.recovery.repair import REPAIRED
from acta.engine.settings import Settings
from acta.infra.document.__main__ import made
from acta.infra.document.openapi import document
from acta.infra.packaging.bundle import ROOT
from tests.api.gateway import Answer, Gateway

METHODS = ("get", "post", "put", "patch", "delete")
Json = dict[str, Any]


def operations() -> Iterator[tuple[str, Json]]:
    for path, each in document()["paths"].items():
        for method, operation in each.items():
            yield f"{method.upper()} {path}", operation


def inside(value: Any) -> Iterator[Json]:
    """Every object in it."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from inside(each)


def test_every_route_is_in_the_document_and_the_document_has_no_other() -> None:
    described = {key for key, _ in operations()}
    assert described == {str(route).replace("+}", "}") for route in OPERATIONS}
    assert len({operation["operationId"] for _, operation in operations()}) == len(OPERATIONS)


def test_what_needs_no_token_says_so_and_all_else_needs_one() -> None:
    opened = {str(route).replace("+}", "}") for route in OPERATIONS if route.role is None}
    assert {key for key, operation in operations() if operation.get("security") == []} == opened
    assert document()["security"] == [{"token": []}]


def test_limits_of_tenants_are_told_where_they_hold() -> None:
    """By the table of routes: on every answer of what a limit may refuse, and on no other. A wrong request may be
    refused on every route that has a caller.
    """
    named = {str(route).replace("+}", "}"): route for route in OPERATIONS}
    rated = {key: route.role is not None and route.rated != "never" for key, route in named.items()}
    for key, operation in operations():
        answers = operation["responses"]
        for status, each in answers.items():
            told = {"RateLimit", "RateLimit-Policy"} & each.get("headers", {}).keys()
            assert "$ref" in each or len(told) == 2 * rated[key], f"{key}: {status}"
        component = "TooManyRequests" if named[key].role else "TooManyRequestsToThisRoute"
        assert answers["429"] == {"$ref": f"#/components/responses/{component}"}
    refused = document()["components"]["responses"]["TooManyRequests"]
    assert refused["headers"].keys() == {"Retry-After", "RateLimit", "RateLimit-Policy"}
    for code in ("RATE_LIMITED", "TOO_MANY_OPEN_SESSIONS"):
        assert f"`{code}`: " in refused["description"]
    assert "headers" not in document()["components"]["responses"]["TooManyRequestsToThisRoute"]


def test_what_begins_a_run_says_that_it_may_be_one_too_many() -> None:
    beginnings = ("session.start", "session.fork", "session.message", "schedule.run")
    begins = {str(route) for route in OPERATIONS if route.action in beginnings}
    says = {key for key, operation in operations() if "`TOO_MANY_OPEN_SESSIONS`" in operation["description"]}
    assert says == begins


def test_the_headers_of_limits_are_as_they_are_made() -> None:
    quotas = [Quota("starts", 120, 60), Quota("open-sessions", 500)]
    made = limit_headers(quotas, {"requests": (480, 7)})
    assert made.keys() == {"RateLimit-Policy", "RateLimit"}
    for name, value in made.items():
        described = document()["components"]["headers"][name]
        assert re.search(described["schema"]["pattern"], value)
        assert re.search(described["schema"]["pattern"], described["example"])
        assert not re.search(described["schema"]["pattern"], "500")


def test_every_reference_leads_somewhere_and_every_schema_is_one() -> None:
    for each in inside(document()):
        reference = each.get("$ref")
        found: Any = document()
        for part in reference.removeprefix("#/").split("/") if reference else ():
            found = found[part]
    for name, schema in document()["components"]["schemas"].items():
        Draft202012Validator.check_schema(schema)
        assert schema.get("description") or name in UNTOLD, f"{name} says nothing"


UNTOLD = {
    "Agent", "AwsCost", "AwsPrices", "Budget", "CancelledSession", "CheckedKey", "CheckedKeys", "ConfiguredModel",
    "ConfiguredModels", "DefaultModel", "FallbackModel", "File", "FileVersion", "FunctionCost", "Health", "Memory",
    "MemorySource", "ModelCost", "ModelPrices", "ModelUse", "PlanStep", "PromptInForce", "ProviderKey", "Result",
    "SecretReference", "WrittenFile",
}  # fmt: skip
"""Their names and fields say enough."""


def test_every_parameter_and_every_field_of_a_body_is_explained() -> None:
    schemas = document()["components"]["schemas"]
    for key, operation in operations():
        for parameter in operation["parameters"]:
            assert parameter["description"], f"{key}: {parameter['name']}"
        body = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if body is not None and "$ref" not in body["schema"]:
            assert body["schema"]["description"], (
                f"{key}: its body"
            )  # another protocol's, and explained as a whole
        elif body is not None:
            name = body["schema"]["$ref"].rpartition("/")[2]
            assert schemas[name]["description"], f"{name} has no words"
            assert all(field["description"] for field in schemas[name]["properties"].values())


def test_an_example_fits_its_schema() -> None:
    for key, operation in operations():
        body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        schema = {**body.get("schema", {}), "components": document()["components"]}
        for name, example in body.get("examples", {}).items():
            assert not list(Draft202012Validator(schema).iter_errors(example["value"])), f"{key}: {name}"


def test_a_body_is_required_where_it_may_not_be_empty() -> None:
    for key, operation in operations():
        for kind, body in operation.get("requestBody", {}).get("content", {}).items():
            schema = {**body["schema"], "components": document()["components"]}
            may_be_empty = kind != "application/json" or Draft202012Validator(schema).is_valid({})
            assert operation["requestBody"]["required"] is not may_be_empty, key


def test_every_json_body_has_an_example() -> None:
    for key, operation in operations():
        body = (
            operation.get("requestBody", {}).get("content", {}).get("application/json", {"examples": "none"})
        )
        assert body.get("examples"), key


def test_a_body_names_all_its_fields_and_an_answer_may_get_more() -> None:
    schemas = document()["components"]["schemas"]
    assert schemas["StartSession"]["additionalProperties"] is False
    assert "additionalProperties" not in schemas["Session"]


def test_a_field_that_is_there_to_be_refused_is_not_described() -> None:
    schemas = document()["components"]["schemas"]
    assert "default_action" not in schemas["PutTool"]["properties"]
    assert "version" not in schemas["CreateTool"]["properties"]
    assert schemas["PutTool"]["properties"]["kind"]["enum"] == ["http", "lambda"]


def test_what_schemathesis_is_not_asked_for_is_about_operations_that_there_are() -> None:
    """An exception for an operation that is called otherwise would be none, and nobody would see it."""
    config = tomllib.loads((ROOT / "tests" / "e2e" / "api" / "schemathesis.toml").read_text(encoding="utf-8"))
    named = [name for each in config["operations"] for name in each.get("include-operation-id", ())]
    assert set(named) < {operation["operationId"] for _, operation in operations()}
    assert len(named) == len(set(named)), "the last of two would hold"


def test_a_notification_fits_what_the_document_says_of_it_and_is_described_whole() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    common: Json = {
        "notification_id": "ntf_1",
        "tenant": "acme",
        "session_id": "ses_1",
        "links": {"api": "/v1"},
    }
    question: Json = {"intervention_id": "int_1", "type": "approval_required", "role": None, "created_at": at}
    end: Json = {"run_id": None, "state": "cancelled", "reason": None, "goal_met": None, "updated_at": at}
    sent = (
        *(
            QuestionNotification(event=event, timeout_at=None, private_to="ann", **common, **question)
            for event in get_args(QuestionNotification.model_fields["event"].annotation)
        ),
        EndNotification(event="session.ended", private_to="ann", **common, **end),
    )
    described = document()["webhooks"]
    assert described.keys() == set(get_args(NotificationEvent)) == {each.event for each in sent}
    for each in sent:
        body = described[each.event]["post"]["requestBody"]["content"]["application/json"]["schema"]
        schema = document()["components"]["schemas"][body["$ref"].rpartition("/")[2]]
        told = json.loads(each.to_body())
        Draft202012Validator({**body, "components": document()["components"]}).validate(told)
        assert set(schema["properties"]) == set(schema["required"]) == set(told)


def test_a_webhook_says_how_it_is_signed_and_which_answers_refuse_it() -> None:
    for webhook in document()["webhooks"].values():
        post = webhook["post"]
        names = {each["name"] for each in post["parameters"]}
        assert names == {"webhook-id", "webhook-timestamp", "webhook-signature"}
        assert "HMAC-SHA256" in post["description"]
        assert post["responses"].keys() == {"2XX", "default", *map(str, REFUSALS)}


def test_the_example_of_a_prompt_changes_nothing_and_the_prompts_are_named() -> None:
    put = document()["paths"]["/v1/admin/prompts/{name}"]["put"]
    for name in SEEDS:
        assert f"`{name}`" in put["parameters"][0]["description"]
    (example,) = put["requestBody"]["content"]["application/json"]["examples"].values()
    assert example["value"]["content"] in SEEDS.values()
    assert example["value"]["expected_version"] == SEED_VERSION


def test_who_begins_is_told_that_completed_is_no_success() -> None:
    (first,) = (
        each
        for each in document()["info"]["description"].split("\n\n")
        if each.startswith("**First steps.**")
    )
    for field in ("result.goal_met", "result.answer", "result.reason", "plan.steps"):
        assert f"`{field}`" in first


def test_every_reason_of_a_state_and_of_an_end_is_told() -> None:
    schemas = document()["components"]["schemas"]
    told = schemas["Session"]["properties"]["state_reason"]["description"]
    for reason in (*get_args(InterventionType), *DELAY_REASONS, PAUSED, REPAIRED, "cancelled"):
        assert f"`{reason}`" in told
    told = schemas["Result"]["properties"]["reason"]["description"]
    for reason in ("goal_complete", "plan_completed", "max_steps", "budget_exceeded"):
        assert f"`{reason}`: " in told


def test_it_is_told_where_the_final_answer_is_and_that_a_limit_stays() -> None:
    schemas = document()["components"]["schemas"]
    events = schemas["Event"]["properties"]["data"]["description"]
    for word in ("message.assistant", "thought", "result.answer"):
        assert f"`{word}`" in events
    assert "null" in schemas["ChangeLimits"]["description"]
    patch = document()["paths"]["/v1/sessions/{session_id}"]["patch"]
    assert "`limits`" in patch["description"]


def test_every_shared_answer_and_schema_is_referred_to() -> None:
    referred = {each["$ref"] for each in inside(document()) if "$ref" in each}
    for kind in ("responses", "schemas"):
        for name in document()["components"][kind]:
            assert f"#/components/{kind}/{name}" in referred, name


def test_nothing_of_the_inside_is_in_it() -> None:
    text = json.dumps(document())
    for word in ("acta/", "functions/", "arn:aws", ".py"):
        assert word not in text.lower()


def test_two_processes_make_the_same_bytes(tmp_path: Path) -> None:
    for seed in ("1", "2"):
        (tmp_path / seed).mkdir()
        command = [sys.executable, "-m", "acta.infra.document", str(tmp_path / seed)]
        subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": seed})
    first, second = (sorted((tmp_path / seed).iterdir()) for seed in ("1", "2"))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert [path.name for path in first] == sorted(f"{name}.gz" for name in (DOCUMENT, PAGE, *PARTS))


def test_no_function_makes_schemas_of_its_answers_while_it_runs() -> None:
    """Typed dictionaries are for mypy and for the document; a cold start does not wait for them."""
    handlers = sorted((ROOT / "acta" / "engine").rglob("*routes.py"))
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in handlers]
    code = (
        f"import sys, {', '.join(names)}\n"
        "from typing_extensions import is_typeddict\n"
        "modules = {name: vars(module) for name, module in sys.modules.items() if name.endswith('answers')}\n"
        "made = [one for each in modules.values() for one in each.values() if is_typeddict(one)]\n"
        "print(len(modules) > 5, len(made) < 6)"  # a field that is called `as` needs a real one
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "True True"


@pytest.fixture
def stranger(tmp_path: Path) -> Gateway:
    for name, content in made().items():
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(content))
    return Gateway(
        Api("fallback", App(Settings(env="test", table="table", bucket="bucket"), made=tmp_path)).handler,
        token=None,
    )


def sent(answer: Answer) -> bytes:
    packed = answer.headers.get("Content-Encoding") == "gzip"
    return gzip.decompress(answer.body) if packed else answer.body


@pytest.mark.parametrize("accepted", ["", "gzip, deflate, br", "identity", "gzip;q=0"])
def test_the_document_needs_no_token_and_is_packed_for_who_takes_that(
    stranger: Gateway, accepted: str
) -> None:
    answer = stranger.request("GET", "/v1/openapi.json", headers={"Accept-Encoding": accepted})
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    assert ("Content-Encoding" in answer.headers) == (accepted == "gzip, deflate, br")
    assert answer.headers["Vary"] == "Accept-Encoding"
    assert json.loads(sent(answer)) == document()


def test_the_page_is_made_of_files_of_its_own_and_may_load_no_other(stranger: Gateway) -> None:
    page = stranger.request("GET", "/v1/docs")
    text = page.body.decode()
    assert (page.status, page.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "://" not in text
    assert "<script>" not in text
    for name, kind in PARTS.items():
        assert (f'"docs/{name}"' in text) is True
        part = stranger.request("GET", f"/v1/docs/{name}")
        assert (part.status, part.headers["Content-Type"]) == (200, kind)
        assert part.headers["Content-Security-Policy"] == page.headers["Content-Security-Policy"]
    policy = page.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "http" not in policy
    assert page.headers["X-Content-Type-Options"] == "nosniff"
    assert "validatorUrl: null" in stranger.request("GET", "/v1/docs/start.js").body.decode()


@pytest.mark.parametrize("name", ["page.html", "openapi.json", "start.js.gz", "..", "routes.py", "x"])
def test_no_other_file_is_answered(stranger: Gateway, name: str) -> None:
    answer = stranger.request("GET", f"/v1/docs/{name}")
    assert (answer.status, answer.error["code"]) == (404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("accepted", "taken"),
    [
        ("gzip", True), ("GZIP ; q=0.5", True), ("br, gzip;q=1.0", True), ("gzip; q=0", False),
        ("gzip;q=0.000", False), ("", False), ("*", False), ("x-gzip", False),
    ],
)  # fmt: skip
def test_who_takes_gzip_says_so(accepted: str, taken: bool) -> None:
    assert takes_gzip(accepted) is taken
