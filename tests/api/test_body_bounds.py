"""What a request's body may have is counted before anything is built from it, and the largest real bodies pass."""

import base64
import json
import tracemalloc
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from acta.engine.api.arguments import Arguments
from acta.engine.api.incoming import Request
from acta.engine.api.json_body import ANY_VALUES
from acta.engine.api.operations import OPERATIONS
from acta.engine.errors import FieldsInvalid, PayloadTooLarge, ValidationFailed
from acta.engine.limits.tenant_limits import budget
from acta.engine.settings import Settings
from acta.engine.untrusted.exact_json import MAX_DEPTH, InvalidJson, parse_value, refuse_oversize
from tests.api.samples import SETTINGS
from tests.api.session_functions import functions_of
from tests.in_process.house import House
from tests.in_process.scripted import ScriptedModel

BY_NAME = {row.name: row for row in OPERATIONS}
WITH_BODY = [row.name for row in OPERATIONS if row.method in ("POST", "PUT", "PATCH") and not row.takes_bytes]
EMOJI = "\U0001f30d"
"""Two escapes of six bytes each."""
NAMES = [f"{n:03}" + EMOJI * 61 for n in range(100)]
MCP_TOOL = {"pin": "0" * 64, "confirmed_read": True, "high_stakes": True, "approver_role": "r" * 64}
SCHEMA = {"type": "object", "properties": {f"p{n}": {"enum": [*range(20)]} for n in range(100)}}

LARGEST: dict[str, Any] = {
    "startSession": {
        "content": EMOJI * 10_000, "agent_id": "a" * 64, "max_steps": 1_000, "token_budget": 10**12,
        "cost_budget_usd": 0.1, "review_every": 0, "visibility": "private", "notify_url": "https://" + "u" * 992,
        "metadata": dict.fromkeys(NAMES[:16], EMOJI * 256), "prompts": dict.fromkeys(NAMES[:16], 10 ** 9),
        "output_schema": SCHEMA,
    },
    "forkSession": {"content": EMOJI * 10_000, "metadata": dict.fromkeys(NAMES[:16], EMOJI * 256), "at": 10**9},
    "editPlan": {
        "operations": [
            {"op": "add", "description": EMOJI * 500, "tool": EMOJI * 64, "input": {"text": "x" * 1_900}, "before": 1}
        ] * 20,
        "comment": EMOJI * 2_000,
    },
    "changeLimits": {"max_steps": 1_000, "token_budget": 10**12, "cost_budget_usd": 0.1, "review_every": 1_000},
    "postMessage": {"content": EMOJI * 10_000, "output_schema": SCHEMA},
    "resolveIntervention": {
        "option": "modify", "input": {"path": "a.md", "content": EMOJI * 80_000}, "comment": EMOJI * 2_000,
    },
    "createAgent": {
        "agent_id": "a" * 64, "name": EMOJI * 100, "system_prompt": EMOJI * 20_000, "goal": EMOJI * 4_000,
        "models": {"plan": "m" * 200, "think": "m" * 200}, "fallbacks": [{"model": "m" * 200}] * 3, "tools": NAMES,
        "high_stakes": NAMES, "start_roles": [f"{n}r" + "r" * 60 for n in range(20)], "output_schema": SCHEMA,
        "interventions": {"approval_required": {"timeout_seconds": 60, "role": "r" * 64}},
        "applied": {"set": "s" * 64, "digest": "d" * 100},
    },
    "createTool": {
        "name": "n" * 64, "description": EMOJI * 2_000, "kind": "http", "input_schema": SCHEMA,
        "config": {
            "url": "https://" + "u" * 1_992, "method": "POST", "headers": {f"h{n}": "v" * 500 for n in range(10)},
            "parameters": {f"p{n}": {"in": "query", "name": "q" * 64} for n in range(40)},
        },
    },
    "callTool": {"input": {"rows": [{"a": n, "b": EMOJI} for n in range(3_000)]}, "confirm": True},
    "writeMcpServer": {"url": "https://" + "u" * 1_992, "tools": {f"{n:03}" + "t" * 125: MCP_TOOL for n in range(40)}},
    "confirmMcpTools": {"tools": {f"{n:03}" + "t" * 125: MCP_TOOL for n in range(40)}},
    "setToolSecret": {"value": "v" * 4_096, "hosts": [f"{n}.example.com:65535" for n in range(10)]},
    "setNotifications": {"url": "https://" + "u" * 992, "secret": "s" * 512},
    "createMemory": {"kind": "fact", "text": EMOJI * 1_000, "tags": [f"{n}" + EMOJI * 30 for n in range(8)]},
    "writePrompt": {"content": EMOJI * 20_000, "comment": EMOJI * 500, "expected_version": 1},
    "restorePrompt": {"comment": EMOJI * 500},
}  # fmt: skip
LARGEST |= {
    f"replace{kind}": {
        name: value for name, value in LARGEST[f"create{kind}"].items() if name not in ("agent_id", "name")
    }
    for kind in ("Tool", "Memory")
}
LARGEST["replaceAgent"] = {
    name: value for name, value in LARGEST["createAgent"].items() if name != "agent_id"
}


@cache
def arguments(name: str) -> Arguments:
    return Arguments(BY_NAME[name], BY_NAME[name].load(), SETTINGS)


def sent(
    name: str, text: str, *, in_base64: bool = False, settings: Settings = SETTINGS
) -> Mapping[str, Any]:
    """The handler's arguments, of a request with this body."""
    row = BY_NAME[name]
    variables = {part.strip("{}"): "1" for part in row.path.split("/") if part.startswith("{")}
    request = Request(row, row.path, variables, {}, {}, None)
    took = arguments(name) if settings is SETTINGS else Arguments(row, row.load(), settings)
    body = base64.b64encode(text.encode()).decode() if in_base64 else text
    return took.bind(request.with_body({"body": body, "isBase64Encoded": in_base64}, took.bounds))


def pairs(many: int) -> str:
    return "{" + ",".join(f'"{n:x}":0' for n in range(many)) + "}"


@pytest.mark.parametrize("name", LARGEST)
@pytest.mark.parametrize("indent", [None, 4])
def test_the_largest_body_that_the_fields_allow_is_taken_however_it_is_written(
    name: str, indent: int | None
) -> None:
    assert sent(name, json.dumps(LARGEST[name], indent=indent))["body"] is not None


def test_a_deployment_with_longer_messages_takes_larger_bodies() -> None:
    chars = arguments("postMessage").bounds.bytes // 12  # the bytes of its two escapes
    body = json.dumps({"content": EMOJI * chars})
    with pytest.raises(PayloadTooLarge):
        sent("postMessage", body)
    longer = Settings(env="test", table="table", bucket="bucket", max_message_chars=chars)
    assert sent("postMessage", body, settings=longer)["body"].content == EMOJI * chars


@pytest.mark.parametrize("in_base64", [False, True])
@pytest.mark.parametrize("name", WITH_BODY)
def test_a_body_with_more_bytes_than_the_route_takes_is_refused_and_told_how_many(
    name: str, in_base64: bool
) -> None:
    most = arguments(name).bounds.bytes
    assert most < 3_100_000
    with pytest.raises(PayloadTooLarge, match=f"at most {most:,} are taken here"):
        sent(name, "{" + " " * most + "}", in_base64=in_base64)


def test_the_bytes_are_counted_before_they_are_decoded() -> None:
    row = BY_NAME["postMessage"]
    request, most = Request(row, row.path, {}, {}, {}, None), arguments(row.name).bounds
    not_base64 = {"body": "!" * 2_000_000, "isBase64Encoded": True}
    with pytest.raises(PayloadTooLarge):
        request.with_body(not_base64, most)
    with pytest.raises(ValidationFailed, match="did not arrive whole"):
        request.with_body({**not_base64, "body": "!" * 2_000}, most)


@pytest.mark.parametrize("name", [name for name in LARGEST if arguments(name).bounds.bytes > 1_048_576])
def test_values_are_counted_before_any_is_built(name: str) -> None:
    """The text has no end, so a parser would say that it is no JSON."""
    most = arguments(name).bounds.values
    assert most < 25_000
    with pytest.raises(ValidationFailed, match=f"at most {most:,} are taken"):
        sent(name, '{"metadata":' + pairs(60_000))


def test_a_field_with_far_too_many_values_is_named_and_pydantic_makes_no_error_of_them() -> None:
    with pytest.raises(FieldsInvalid) as refused:
        sent("startSession", f'{{"content": 1, "metadata": {pairs(5_000)}}}')
    assert refused.value.details == {
        "metadata": ["It has 10,000 keys and values, far more than this field takes."]
    }


def test_fields_that_do_not_exist_are_refused_before_pydantic_and_the_first_ones_are_named() -> None:
    with pytest.raises(FieldsInvalid) as refused:
        sent("startSession", f'{{"content": 1, {pairs(5_000)[1:]}')
    details = refused.value.details or {}
    assert len(details) == 20
    assert "content" not in details
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize("name", [name for name in LARGEST if arguments(name).bounds.values < ANY_VALUES])
def test_a_body_whose_fields_are_all_known_makes_few_errors_at_most(name: str) -> None:
    """A value makes one error as a rule, so their number is the bound of the errors."""
    assert arguments(name).bounds.values < 700


def test_refusing_the_largest_event_that_lambda_takes_allocates_less_than_the_event() -> None:
    text = f'{{"content":"x","metadata":{pairs(480_000)}}}'
    sent("startSession", "{}")
    tracemalloc.start()
    try:
        with pytest.raises(PayloadTooLarge):
            sent("startSession", text)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "text", ['["a\\"[,{", "\\\\", {"[[": 1}]', '{"a": [], "b": {}}', '"[,:{"', "[]", "1"]
)
def test_what_stands_in_texts_is_not_counted(text: str) -> None:
    refuse_oversize(text, most=10)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("[1,2,3]", 3),
        ('{"a":1,"b":2}', 4),
        ('{"a":[1,2]}', 4),
        ('["\\\\",","]', 2),
        ('["\\\\\\"",1]', 2),
        ("[[],[]]", 4),
    ],
)
def test_keys_and_members_are_counted(text: str, values: int) -> None:
    refuse_oversize(text, most=values)
    with pytest.raises(InvalidJson, match=f"it has {values} keys and values"):
        refuse_oversize(text, most=values - 1)


@pytest.mark.parametrize("one", ['{"a":', "[", '[{"a":"]]","b":'])
def test_a_text_is_nested_as_deep_as_the_store_reads_and_no_deeper(one: str) -> None:
    levels = sum(one.count(each) for each in "[{")
    ends = "".join({"[": "]", "{": "}"}[each] for each in reversed(one) if each in "[{")
    times = MAX_DEPTH // levels
    parse_value(one * times + "1" + ends * times)
    with pytest.raises(InvalidJson, match="nested more than 100 deep"):
        parse_value("[" + one * times + "1" + ends * times + "]")
    parse_value("[" + ",".join(["[]"] * 500) + "]")


WRONG: Mapping[str, tuple[str, str]] = {
    "too many bytes": ("/v1/sessions/ses_1/interventions/int_1/resolve", "{" + " " * 2_000_000 + "}"),
    "too many values": ("/v1/sessions/ses_1/interventions/int_1/resolve", f'{{"input": {pairs(20_000)}}}'),
    "no such field": ("/v1/sessions/ses_1/interventions/int_1/resolve", '{"option": "approve", "why": 1}'),
    "a body where none is taken": ("/v1/sessions/ses_1/cancel", " " * 2_000),
    "over mcp": ("/mcp", "{" + " " * 2_000_000 + "}"),
    "no message of mcp": ("/mcp", "{}"),
    "no method of mcp": ("/mcp", '{"jsonrpc": "2.0", "id": 1, "method": "none"}'),
    "no tool of mcp": (
        "/mcp",
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "none"}}',
    ),
    "a notification": ("/mcp", '{"jsonrpc": "2.0", "method": "notifications/initialized"}'),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_requests_count_on_routes_that_are_never_refused_for_a_rate_and_over_mcp(case: str) -> None:
    """And what stops something is let through for all that."""
    path, body = WRONG[case]
    house = House(ScriptedModel([]), tenant_limits={"*": {"requests_per_second": 1}})
    functions = functions_of(house)
    function = functions.mcp if path == "/mcp" else functions.intervene
    statuses = [function.request("POST", path, body=body).status for _ in range(budget(1) + 1)]
    assert 429 not in statuses[:-1]
    assert statuses[-1] == 429
    assert functions.intervene.request("POST", "/v1/sessions/ses_1/cancel").status == 404
