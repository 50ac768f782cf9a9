"""AG7, insecure communication between agent and tool: a call is to go to a function or with a parameter that is not the
tool's to choose.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.doubles.http_sink import Sink
from tests.e2e.support.behind import Behind
from tests.e2e.support.conversing import http_tool
from tests.e2e.support.person import Json, Person, refused
from tests.e2e.support.script import Call, do, end, plan
from tests.e2e.support.stage import Stage

FUNCTION = "acta-local-tool-payroll"
"""Of another tenant. It does not exist: no call of it may get as far as Lambda."""


@pytest.fixture(scope="module", autouse=True)
def named(configured: None, behind: Behind) -> Iterator[None]:
    """The operator has named it for the other tenant."""
    with behind.configured("tool", "admin", ACTA_TENANT_TOOLS=json.dumps({"payroll-department": [FUNCTION]})):
        yield


def calling(function: str) -> Json:
    return {
        "name": "payroll", "description": "Payroll", "kind": "lambda", "config": {"function": function},
        "effect": "read", "input_schema": {"type": "object"},
    }  # fmt: skip


def test_no_admin_names_a_function_of_another_tenant_another_environment_or_acta_itself(boss: Person) -> None:
    for function in (
        FUNCTION,
        "acta-prod-tool-payroll",
        "acta-tool-payroll",
        "acta-local-admin",
        "acta-local-tool",
    ):
        error = refused(boss.post("/v1/tools", calling(function)), 400, "VALIDATION_ERROR")
        assert list(error["details"]) == ["config.function"]


def test_a_tool_that_was_stored_before_calls_no_function_that_the_operator_has_taken_back(
    boss: Person, behind: Behind, llmock: Any
) -> None:
    with behind.configured("admin", ACTA_TENANT_TOOLS=json.dumps({boss.tenant: [FUNCTION]})):
        assert boss.post("/v1/tools", calling(FUNCTION)).status_code == 201
    stage = Stage(boss, llmock.tool_mode("off"))
    stage.prepare(do(plan("Look")), do(Call("payroll", {}), text="I look."), end("Not mine.", 1))
    seen = boss.finished(boss.start("Look at the payroll"))
    assert any("has not named the function for this tenant" in text for text in stage.results(seen))


def test_a_model_changes_no_parameter_that_the_admin_has_fixed(boss: Person, llmock: Any, sink: Sink) -> None:
    tool = http_tool("orders", sink.url("/orders?scope=own"), effect="read")
    tool["config"]["method"] = "GET"
    tool["input_schema"]["additionalProperties"] = True
    assert boss.post("/v1/tools", tool).status_code == 201
    stage = Stage(boss, llmock.tool_mode("off"))
    stage.prepare(
        do(plan("Look")),
        do(
            Call("orders", {"n": 1, "scope": "all"}),
            Call("orders", {"n": 2, "Scope[]": "all"}),
            text="All of them.",
        ),
        do(Call("orders", {"n": 3}), text="My own, then."),
        end("Done.", 1),
    )
    boss.finished(boss.start("Look at all orders"))
    assert [heard.path for heard in sink.heard] == ["/orders?scope=own&n=3"]
