"""Tools an admin added, on the deployed loop: a server and a function that count what is done to them."""

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from llmock.scenarios import Reply as ModelReply
from llmock.scenarios import ToolCall

from acta.engine.models.model import OfferedTool
from acta.engine.models.wire import CLAUDE_TOOLS, wire_tools
from acta.engine.untrusted.quoting import quoted
from tests.doubles.http_sink import Reply, Sink
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Json, Person, refused
from tests.e2e.support.script import Call, do, end, plan
from tests.e2e.support.stage import Stage

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "http-tools"
FUNCTION = "acta-local-tool-weigh"
CODE = """
import time

def handler(event, context):
    time.sleep(event["arguments"].get("seconds", 0))
    if event["arguments"]["order"] == 0:
        raise ValueError("order 0 is nobody's")
    odd = {101: {"name": "caf\\udce9"}, 102: "x" * 7_000_000, 103: {1, 2}}
    if event["arguments"]["order"] in odd:
        return odd[event["arguments"]["order"]]
    return {"weight": 12, "of": event["arguments"]["order"], "key": event["effect_id"][:4], "tenant": event["tenant"]}
"""
SCHEMA = {
    "type": "object", "required": ["order"],
    "properties": {"order": {"type": "integer"}, "seconds": {"type": "integer"}},
}  # fmt: skip


ODD = '{"a": "x\u2028y\u0085\u2029",\r\n\r\n\r\n\r\n"b": "\\ud83d"}\r'


@pytest.fixture(scope="module")
def sink() -> Iterator[Sink]:
    with Sink({"/refunds": Reply(body=b'{"refunded": 7}')}) as made:
        made.replies["/odd"] = Reply(body=ODD.encode())
        made.replies["/away"] = Reply(302, headers={"Location": "http://169.254.169.254/latest"})
        yield made


@pytest.fixture(scope="module")
def weigh(behind: Behind) -> Iterator[None]:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("weigh.py", CODE)
    lambdas = behind.client("lambda")
    python = lambdas.get_function_configuration(FunctionName="acta-local-tool")["Runtime"]
    lambdas.create_function(
        FunctionName=FUNCTION, Runtime=python, Handler="weigh.handler", Code={"ZipFile": data.getvalue()},
        Role=behind.role_of_a_function("weigh"), Timeout=30,
    )  # fmt: skip
    yield
    lambdas.delete_function(FunctionName=FUNCTION)


@pytest.fixture(scope="module")
def configured(behind: Behind, sink: Sink, weigh: None, llmock_server: Any) -> Iterator[None]:
    model = {
        "ACTA_PROVIDER": "anthropic",
        "ANTHROPIC_API_KEY": "sk-test",
        "ANTHROPIC_BASE_URL": llmock_server.base_url("anthropic"),
    }
    with (
        behind.configured("step", **model),
        behind.configured(
            "tool", "admin", ACTA_HTTP_TOOL_ALLOW=sink.at, ACTA_TENANT_TOOLS=json.dumps({"*": [FUNCTION]})
        ),
    ):
        yield


@pytest.fixture
def boss(configured: None, admit: Admit) -> Person:
    return admit(role="admin")


def tool_of(name: str, kind: str, effect: str = "once", timeout_seconds: int = 60, **config: str) -> Json:
    return {
        "name": name,
        "description": name,
        "input_schema": SCHEMA,
        "kind": kind,
        "effect": effect,
        "high_stakes": False,
        "timeout_seconds": timeout_seconds,
        "config": config,
    }


def add(
    boss: Person, name: str, kind: str, effect: str = "once", timeout_seconds: int = 60, **config: str
) -> None:
    answer = boss.post("/v1/tools", tool_of(name, kind, effect, timeout_seconds, **config))
    assert answer.status_code == 201, answer.text


def run(boss: Person, llmock: Any, *calls: ToolCall, **start: Any) -> list[str]:
    """What the calls came back with, in a run that ends well. `start`: fields of the session's start."""
    model = llmock.tool_mode("off")
    update = {"action": "create", "goal": "It", "steps": [{"description": "Do it"}]}
    done = {"action": "update_step", "step_number": 1, "step_status": "completed", "step_result": "Done"}
    model.add(ModelReply(text=None, tool_calls=(ToolCall("update_plan", update),)))
    model.add(ModelReply(text="I go.", tool_calls=calls))
    model.add(
        ModelReply(
            text="GOAL_COMPLETE\nDone.",
            tool_calls=(
                ToolCall("update_plan", done),
                ToolCall("update_plan", {"action": "complete", "reason": "Done."}),
            ),
        )
    )
    session_id = boss.start("Do it", **start)
    assert boss.finished(session_id).session["state"] == "completed"
    told = boss.data(f"/v1/sessions/{session_id}/messages")["items"]
    made = {call["call_id"]: call["name"] for m in told for call in m.get("tool_calls") or ()}
    names = {call.name for call in calls}
    return [m["content"] for m in told if m["role"] == "tool" and made[m["call_id"]] in names]


def test_an_http_tool_runs_once_under_its_key(boss: Person, llmock: Any, sink: Sink) -> None:
    before = len(sink.heard)
    add(boss, "refund", "http", url=sink.url("/refunds"), method="POST")
    (result,) = run(boss, llmock, ToolCall("refund", {"order": 7}))
    mark = result.rpartition("#")[2].split()[0]
    whole = quoted("answer", "", '{"refunded": 7}', key="")
    assert result == whole.replace(whole.rpartition("#")[2].split()[0], mark)
    (heard,) = sink.heard[before:]
    assert heard.body == {"order": 7}
    assert heard.headers["idempotency-key"].startswith("eff_")


def test_a_redirect_inside_goes_nowhere(boss: Person, llmock: Any, sink: Sink) -> None:
    add(boss, "away", "http", effect="read", url=sink.url("/away"), method="GET")
    (result,) = run(boss, llmock, ToolCall("away", {"order": 7}))
    assert result.startswith("Error: away may not go there")


def test_a_lambda_tool_gets_its_key_and_may_fail(boss: Person, llmock: Any) -> None:
    add(boss, "weigh", "lambda", function=FUNCTION)
    results = run(boss, llmock, ToolCall("weigh", {"order": 7}), ToolCall("weigh", {"order": 0}))
    weighed, failed = sorted(results)
    assert '"weight": 12' in weighed.replace('":12', '": 12')
    assert boss.tenant in weighed
    assert "order 0 is nobody" in failed


def test_what_tools_answer_is_told_as_it_came_and_what_cannot_be_passed_on_is_no_outage(
    boss: Person, llmock: Any, sink: Sink
) -> None:
    add(boss, "odd", "http", effect="read", url=sink.url("/odd"), method="GET")
    add(boss, "weigh", "lambda", effect="idempotent", function=FUNCTION)
    orders = (
        ToolCall("weigh", {"order": 101}),
        ToolCall("weigh", {"order": 102}),
        ToolCall("weigh", {"order": 103}),
    )
    told = run(boss, llmock, ToolCall("odd", {"order": 7}), *orders)
    (_,) = [each for each in told if f"\n{ODD}\n--- end #" in each]
    (_,) = [each for each in told if '"caf\\udce9"' in each]
    assert sum("Error: weigh has run, but its answer cannot be passed on." in each for each in told) == 2


OLDER = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {
        "$filter": {"type": "string"},
        "email": {"type": "string", "pattern": r"^(?!\.)(?!.*\.\.)[a-z.]+@[a-z.]+$"},
        "window": {
            "type": "array",
            "items": [{"type": "integer"}, {"type": "integer"}],
            "additionalItems": False,
        },
        "top": {"type": "integer", "minimum": 0, "exclusiveMinimum": True},
        "note": {"type": "string", "nullable": True},
        "skip": {"type": "integer"},
    },
    "required": ["$filter"],
}


def test_a_tool_of_an_older_dialect_is_called_as_it_is_meant_and_a_person_approves_just_that(
    boss: Person, llmock: Any, sink: Sink
) -> None:
    definition = tool_of("find", "http", url=sink.url("/find"), method="POST")
    assert (
        boss.post("/v1/tools", {**definition, "input_schema": OLDER, "high_stakes": True}).status_code == 201
    )
    (wired,) = wire_tools([OfferedTool("find", "find", OLDER)], CLAUDE_TOOLS)
    name = next(iter(wired.input_schema["properties"]))
    means = {"$filter": "a eq 1", "email": "a@b.example", "window": [1, 2], "top": 5, "note": None}
    sent = {
        name: "a eq 1",
        "email": "a@b.example",
        "window": "[1, 2]",
        "top": "5",
        "note": None,
        "skip": None,
    }
    stage = Stage(boss, llmock.tool_mode("off"))
    wrong = [Call("find", {"$filter": None}), Call("find", {"$filter": "x", "email": "a..b@c.example"})]
    stage.prepare(do(plan("Find")), do(*wrong), do(Call("find", sent)), end("Found.", 1))

    seen = boss.asked(boss.start("Find"))
    (asked,) = seen.session["interventions"]
    assert asked["tool_call"]["input"] == means
    before = len(sink.heard)
    session_id = seen.session["session_id"]
    boss.resolve(session_id, asked["intervention_id"], "approve")
    seen = boss.finished(session_id)

    assert seen.session["state"] == "completed"
    assert [heard.body for heard in sink.heard[before:]] == [means]
    first, second = [text for text in stage.results(seen) if text.startswith("Error:")]
    assert "$filter must be of type string" in first
    assert "email breaks the rule pattern" in second
    (offered,) = [tool for tool in stage.requests[1]["tools"] if tool["name"] == "find"]
    assert offered["input_schema"] == wired.input_schema


def test_of_many_tools_one_is_found_approved_and_run_while_requests_begin_alike(
    boss: Person, sink: Sink, behind: Behind, llmock: Any
) -> None:
    refund = {**tool_of("refund", "http", url=sink.url("/refunds"), method="POST"), "high_stakes": True}
    assert boss.post("/v1/tools", refund).status_code == 201
    stage = Stage(boss, llmock.tool_mode("off"))
    found = Call("use_tool", {"tool": "refund", "input": {"order": 7}})
    stage.prepare(do(plan("Refund"), Call("find_tools", {"query": "refund"})), do(found), end("Refunded.", 1))
    with behind.configured("step", ACTA_DIRECT_TOOLS="5"):
        seen = boss.asked(boss.start("Refund order 7"))
        (asked,) = seen.session["interventions"]
        call = asked["tool_call"]
        assert (call["name"], call["input"]) == ("refund", {"order": 7})
        before, session_id = len(sink.heard), seen.session["session_id"]
        boss.resolve(session_id, asked["intervention_id"], "approve")
        seen = boss.finished(session_id)
    assert seen.session["result"]["goal_met"] is True
    assert [heard.body for heard in sink.heard[before:]] == [{"order": 7}]
    assert len({json.dumps([body["system"], body["tools"]]) for body in stage.requests}) == 1
    assert "refund" not in {tool["name"] for tool in stage.requests[0]["tools"]}
    blocks = [block for message in stage.requests[-1]["messages"] for block in message["content"]]
    assert found.input in [block.get("input") for block in blocks if block.get("name") == "use_tool"]


@pytest.mark.thorough
def test_a_call_has_the_seconds_of_its_tool(boss: Person, llmock: Any) -> None:
    for name, seconds in (("hasty", 1), ("patient", 60)):
        add(boss, name, "lambda", effect="read", timeout_seconds=seconds, function=FUNCTION)
    slow = {"order": 7, "seconds": 3}
    hasty, patient = sorted(
        run(boss, llmock, ToolCall("patient", slow), ToolCall("hasty", slow)), reverse=True
    )
    assert hasty.startswith("Error: hasty did not answer in time")
    assert "12" in patient


@pytest.mark.thorough
def test_what_the_deployment_cannot_give_is_refused_and_one_of_before_gets_what_there_is(
    boss: Person, behind: Behind, llmock: Any
) -> None:
    add(boss, "patient", "lambda", effect="read", timeout_seconds=60, function=FUNCTION)
    with behind.configured("tool", "admin", ACTA_LONGEST_TOOL_SECONDS="1"):
        longer = tool_of("longer", "lambda", timeout_seconds=2, function=FUNCTION)
        error = refused(boss.post("/v1/tools", longer), 400, "VALIDATION_ERROR")
        assert list(error["details"]) == ["timeout_seconds"]
        (result,) = run(boss, llmock, ToolCall("patient", {"order": 7, "seconds": 3}))
    assert result.startswith("Error: patient did not answer in time")


def test_an_address_inside_is_refused_when_a_tool_is_made(boss: Person) -> None:
    for url in ("http://169.254.169.254/", "https://127.0.0.1/", "https://example.com/"):
        config = {"url": url, "method": "GET"}
        tool = {"name": "t", "description": "t", "input_schema": SCHEMA, "kind": "http", "config": config}
        assert list(refused(boss.post("/v1/tools", tool), 400, "VALIDATION_ERROR")["details"]) == [
            "config.url"
        ]


def example(sink: Sink, name: str) -> Json:
    """A file of `examples/http-tools`, whose server and function are those of this test."""
    text = (EXAMPLES / "tools" / f"{name}.yaml").read_text()
    text = text.replace("https://orders.example.com", sink.url("").rstrip("/"))
    definition: Json = yaml.safe_load(text.replace("acta-prod-tool-weigh-parcel", FUNCTION))
    return {"name": name, **definition}


def test_the_examples_are_defined_and_tried_without_a_model(boss: Person, sink: Sink) -> None:
    sink.replies["/v2/orders/A%201007"] = Reply(body=b'{"state": "sent", "said": "Bearer key-123456"}')
    secret = {"value": "Bearer key-123456", "hosts": [sink.at]}
    assert boss.http.put("/v1/tool-secrets/orders_key", json=secret).status_code == 201
    for name in ("read_order", "search_orders", "weigh_parcel"):
        answer = boss.post("/v1/tools", example(sink, name))
        assert answer.status_code == 201, answer.text
    before = len(sink.heard)

    read = tried(boss, "read_order", order_id="A 1007")
    assert (read["outcome"], read["status"]) == ("succeeded", 200)
    assert read["result"] == '{"state": "sent", "said": "[secret orders_key]"}'
    found = tried(boss, "search_orders", words="blue & green", states=["open", "sent"], language="de")
    assert found["outcome"] == "succeeded"
    weighed = tried(boss, "weigh_parcel", order_id="A-1007")
    assert (weighed["outcome"], weighed["status"]) == ("failed", None)  # the function here knows other orders

    first, second = sink.heard[before:]
    assert (first.path, first.headers["authorization"]) == ("/v2/orders/A%201007", secret["value"])
    assert first.headers["idempotency-key"] == read["effect_id"]
    query = "?page[size]=20&q=blue+%26+green&filter%5Bstate%5D=open&filter%5Bstate%5D=sent"
    assert (second.path, second.headers["x-language"]) == (f"/v2/orders{query}", "de")


def tried(boss: Person, name: str, **arguments: Any) -> Json:
    answer = boss.post(f"/v1/tools/{name}/call", {"input": arguments})
    assert answer.status_code == 200, answer.text
    trial: Json = answer.json()["data"]
    return trial


def test_what_cannot_be_tried_says_what_helps(boss: Person, behind: Behind, sink: Sink) -> None:
    add(boss, "pay", "http", url=sink.url("/pay"), method="POST")
    before = len(sink.heard)
    refused(boss.post("/v1/tools/pay/call", {"input": {"order": "seven"}}), 400, "VALIDATION_ERROR")
    refused(boss.post("/v1/tools/read_file/call", {"input": {"path": "x"}}), 409, "CONFLICT")
    refused(boss.post("/v1/tools/nobody/call", {}), 404, "NOT_FOUND")
    with behind.configured("tool", ACTA_HTTP_TOOL_ALLOW=""):
        trial = tried(boss, "pay", order=7)
    assert trial["outcome"] == "not_run"
    assert f"ACTA_HTTP_TOOL_ALLOW={sink.at}" in trial["error"]["remedy"]
    assert sink.heard[before:] == []


def test_an_admin_of_another_tenant_tries_no_tool_of_this_one(boss: Person, admit: Admit, sink: Sink) -> None:
    add(boss, "pay", "http", url=sink.url("/pay"), method="POST")
    stranger = admit(role="admin")
    assert stranger.tenant != boss.tenant
    refused(stranger.post("/v1/tools/pay/call", {"input": {"order": 7}}), 404, "NOT_FOUND")
