"""Python tools on the engine's side: who has them, what their function gets, and what its answers mean."""

import io
import json
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from acta.engine.aws.clients import Service
from acta.engine.errors import StoreUnavailable, ToolFailed, ToolLater, ToolNotRun, ToolUnanswered
from acta.engine.files.tool_credentials import FileCredentials
from acta.engine.tools.port import NOT_AWAITED, Callback, CallContext
from acta.engine.tools.registry import TenantRegistry
from acta.engine.tools.tenant.functions import PythonTools
from acta.engine.tools.tool import LaterRule, PythonTool, ToolSpec
from acta.engine.untrusted.path import private_folder
from acta.testing.clock import FakeClock
from acta.tools.run import WrongEnvironment, require_own_environment

CALL = CallContext("acme", "s-1", "a-1", "e-1", 20.0, rerun=True, user="u-1")


def tool(name: str = "find", **more: Any) -> PythonTool:
    said: dict[str, Any] = {
        "name": name,
        "description": "Finds.",
        "input_schema": {"type": "object"},
        "folder": "orders",
        "function": "acta-test-tool-orders",
        "tenants": ("*",),
        "digest": "d",
    }
    return PythonTool(**{**said, **more})


class Lambdas:
    """Answers each invocation with `said` as its result, and keeps what it was asked."""

    def __init__(self, said: Any = None) -> None:
        self.said: Mapping[str, Any] = {"result": said}
        self.failed: Mapping[str, str] = {}
        self.asked: list[dict[str, Any]] = []

    def invoke(self, **asked: Any) -> dict[str, Any]:
        self.asked.append({**asked, "Payload": json.loads(asked["Payload"])})
        return {"Payload": io.BytesIO(json.dumps(self.said).encode()), **self.failed}


def tools(lambdas: Any, versions: Mapping[str, str] | None = None, files: Any = None) -> PythonTools:
    return PythonTools(versions or {}, FakeClock(), files or (lambda *asked: asked), lambda seconds: lambdas)


def test_the_function_gets_the_call_and_answers_with_a_text_or_json() -> None:
    lambdas = Lambdas({"état": 1})

    said = tools(lambdas).run(tool(), {"order": 7}, CALL)

    assert said.text == '{"état": 1}'
    assert lambdas.asked[0]["FunctionName"] == "acta-test-tool-orders"
    payload = lambdas.asked[0]["Payload"]
    assert payload.pop("deadline").endswith("+00:00")
    assert payload == {
        "tool": "find",
        "arguments": {"order": 7},
        "effect_id": "e-1",
        "session_id": "s-1",
        "tenant": "acme",
        "user": "u-1",
        "private": False,
        "rerun": True,
    }
    assert tools(Lambdas("as it is")).run(tool(), {}, CALL).text == "as it is"


def test_each_tenant_and_each_private_person_has_execution_environments_of_its_own() -> None:
    others = [
        CALL,
        CALL._replace(tenant="globex"),
        CALL._replace(private=True),
        CALL._replace(private=True, user="u-2"),
        CALL._replace(tenant='acme", "u-1', user="u"),
        CALL._replace(tenant="Größe/1", private=True),
    ]
    lambdas = Lambdas("")
    for call in others:
        tools(lambdas).run(tool(), {}, call)
    tools(lambdas).run(tool(), {}, CALL._replace(user="u-2", session_id="s-2"))

    *asked, again = lambdas.asked
    ids = [each["TenantId"] for each in asked]
    assert len({*ids}) == len(others)
    assert all(re.fullmatch("[0-9a-f]{64}", each) for each in ids), "Lambda takes no other characters"
    assert again["TenantId"] == ids[0], "a session that is not private shares those of its tenant"
    for each in asked:
        require_own_environment(each["Payload"], each["TenantId"])
        for other in {*ids, None} - {each["TenantId"]}:
            with pytest.raises(WrongEnvironment):
                require_own_environment(each["Payload"], other)


def test_a_function_whose_processes_are_shared_is_told_no_tenant() -> None:
    lambdas = Lambdas("")
    shared = PythonTools({}, FakeClock(), lambda *asked: {}, lambda seconds: lambdas, isolated=False)

    shared.run(tool(), {}, CALL)

    assert "TenantId" not in lambdas.asked[0]


def test_the_version_that_belongs_to_the_release_is_called() -> None:
    lambdas = Lambdas("")

    tools(lambdas, {"orders": "12"}).run(tool(), {}, CALL)
    tools(lambdas, {"others": "12"}).run(tool(), {}, CALL)

    assert [asked["FunctionName"] for asked in lambdas.asked] == [
        "acta-test-tool-orders:12",
        "acta-test-tool-orders",
    ]


def test_what_a_tool_says_went_wrong_is_told_and_of_an_exception_the_type_alone() -> None:
    with pytest.raises(ToolFailed) as said:
        tools(Saying({"error": "no such order"})).run(tool(), {}, CALL)
    assert (str(said.value), said.value.outside and said.value.outside.text) == (
        "find failed.",
        "no such order",
    )

    raised = {"errorType": "KeyError", "errorMessage": "a password"}
    with pytest.raises(ToolFailed) as failed:
        tools(Failing(raised)).run(tool(), {}, CALL)
    assert failed.value.outside
    assert failed.value.outside.text == "KeyError"


@pytest.mark.parametrize("effect", ["read", "idempotent", "once"])
@pytest.mark.parametrize(
    "body", [b"", b"null", b'"error"', b"{}", b'{"error": 1}', b"[" * 90_000, b"\xff", b"[]"]
)
def test_an_answer_that_cannot_be_read_is_told_and_the_call_is_not_made_again(
    body: bytes, effect: str
) -> None:
    class Unreadable(Lambdas):
        def invoke(self, **asked: Any) -> dict[str, Any]:
            return {"Payload": io.BytesIO(body)}

    with pytest.raises(ToolFailed, match="find has run, but its answer cannot be read"):
        tools(Unreadable()).run(tool(effect=effect), {}, CALL)


def test_of_a_long_error_the_model_sees_the_beginning_and_how_long_it_is() -> None:
    with pytest.raises(ToolFailed) as failed:
        tools(Saying({"error": "é" * 3_000})).run(tool(), {}, CALL)
    assert failed.value.outside
    assert (len(failed.value.outside.text), failed.value.outside.size) == (1_000, 6_000)


class Saying(Lambdas):
    def __init__(self, said: Mapping[str, Any]) -> None:
        super().__init__()
        self.said = said


class Failing(Saying):
    def __init__(self, raised: Mapping[str, str]) -> None:
        super().__init__(raised)
        self.failed = {"FunctionError": "Unhandled"}


@pytest.mark.parametrize(
    ("effect", "means"), [("read", ToolFailed), ("idempotent", ToolUnanswered), ("once", ToolUnanswered)]
)
def test_a_function_that_dies_gave_no_answer(effect: str, means: type[Exception]) -> None:
    died = Failing({"errorType": "Runtime.ExitError", "errorMessage": "signal: killed"})

    with pytest.raises(means):
        tools(died).run(tool(effect=effect), {}, CALL)


def test_a_tool_that_declared_files_gets_those_of_the_sessions_visibility() -> None:
    lambdas = Lambdas("")
    reached = tools(lambdas)

    reached.run(tool(files="read"), {}, CALL)
    reached.run(tool(files="write"), {}, CALL._replace(private=True))
    reached.run(tool(), {}, CALL)

    assert [asked["Payload"].get("files") for asked in lambdas.asked] == [
        ["acme", None, "read", None],
        ["acme", "u-1", "write", None],
        None,
    ]


def test_without_credentials_for_the_files_the_function_is_not_run() -> None:
    def away(*_: Any) -> Mapping[str, Any]:
        raise StoreUnavailable("assume_role")

    lambdas = Lambdas("")
    with pytest.raises(ToolNotRun):
        tools(lambdas, files=away).run(tool(files="read", effect="once"), {}, CALL)
    assert lambdas.asked == []


class Sts:
    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def assume_role(self, **asked: Any) -> dict[str, Any]:
        self.asked.append(asked)
        keys = {"AccessKeyId": f"k{len(self.asked)}", "SecretAccessKey": "s", "SessionToken": "t"}
        return {"Credentials": keys}


def test_files_are_reached_with_keys_for_the_tenant_and_further_ones_for_a_private_session() -> None:
    sts = Sts()
    credentials = FileCredentials("arn:aws:iam::1:role/tenant", "b", 9, Service("sts", sts))

    shared = credentials.for_call("acme", None, "read")
    private = credentials.for_call("acme", "u-1", "write")

    keys = {"aws_access_key_id": "k1", "aws_secret_access_key": "s", "aws_session_token": "t"}
    assert shared == {
        "bucket": "b", "access": "read", "max_bytes": 9, "shared": {"prefix": "files/acme/", "keys": keys},
    }  # fmt: skip
    assert private["private"]["prefix"] == f"files/acme/{private_folder('u-1')}/"
    assert private["private"]["keys"] != private["shared"]["keys"]
    assert {asked["DurationSeconds"] for asked in sts.asked} == {900}
    assert ["s3:PutObject" in asked["Policy"] for asked in sts.asked] == [False, True, True]


class NoDefinitions:
    def tools(self) -> tuple[ToolSpec, ...]:
        raise AssertionError("the tenant's definitions were read")

    def agent(self, agent_id: str) -> None:
        return None


class Own(NoDefinitions):
    def tools(self) -> tuple[ToolSpec, ...]:
        schema: dict[str, Any] = {"type": "object"}
        return tuple(
            ToolSpec(name=name, description="mine", input_schema=schema) for name in ("find", "other")
        )

    def mcp_servers(self) -> tuple[ToolSpec, ...]:
        return ()


def registry(definitions: Any, *known: PythonTool) -> TenantRegistry:
    return TenantRegistry(
        lambda tenant: definitions,
        environment=lambda tenant: {each.name: each for each in known if each.is_for(tenant)},
    )


def test_an_environments_tool_is_found_without_reading_the_tenants_definitions() -> None:
    specs = registry(NoDefinitions(), tool()).specs("acme", "a")

    assert specs["find"].kind == "python"
    assert specs["find"].written == "d"


def test_a_tool_of_the_environment_wins_over_one_of_the_tenants_and_comes_before_it() -> None:
    specs = registry(Own(), tool(), tool("list_files")).specs("acme", "a")

    assert [*specs][-2:] == ["find", "other"]
    assert specs["find"].description == "Finds."
    assert specs["list_files"].kind == "builtin"


def test_tenants_that_a_folder_does_not_name_do_not_have_its_tools() -> None:
    specs = registry(Own(), tool(tenants=("shop",))).specs("acme", "a")

    assert specs["find"].description == "mine"
    assert "find" in registry(NoDefinitions(), tool(tenants=("shop",))).specs("shop", "a")


def test_a_tool_that_answers_later_gets_a_url_and_its_words_count_before_those_of_its_definition() -> None:
    clock = FakeClock()
    callback = Callback("https://acta.test/v1/callbacks/t", LaterRule(seconds=60), clock)
    lambdas = Lambdas()
    lambdas.said = {"later": {"seconds": None, "default": "none"}}
    with pytest.raises(ToolLater) as waits:
        tools(lambdas).run(tool(), {}, CALL._replace(callback=callback))
    assert lambdas.asked[0]["Payload"]["callback_url"] == callback.url
    later = waits.value.later
    assert (later.began, later.until, later.default) == (
        clock.now(),
        clock.now() + timedelta(seconds=60),
        "none",
    )


@pytest.mark.parametrize(
    "said",
    [{"seconds": 0}, {"seconds": 2_592_001}, {"seconds": "9"}, {"default": 7}, {"default": "x" * 10_001}],
)
def test_what_cannot_be_awaited_is_a_failed_call(said: dict[str, Any]) -> None:
    callback = Callback("https://acta.test/v1/callbacks/t", LaterRule(), FakeClock())
    lambdas = Lambdas()
    lambdas.said = {"later": said}
    with pytest.raises(ToolFailed, match="find has begun, but"):
        tools(lambdas).run(tool(), {}, CALL._replace(callback=callback))


def test_where_nobody_waits_a_later_answer_is_told_as_such() -> None:
    lambdas = Lambdas()
    lambdas.said = {"later": {"seconds": 60, "default": None}}
    said = tools(lambdas).run(tool(), {}, CALL)
    assert (said.text, said.note) == ("", NOT_AWAITED)
