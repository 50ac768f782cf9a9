"""Agents with many tools: few are offered, the others are found by words and called through `use_tool` (ADR 199)."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from acta import tool
from acta.engine.models.anthropic import request as anthropic
from acta.engine.models.model import ModelRequest
from acta.engine.models.openai import chat, responses
from acta.engine.models.react import to_inner
from acta.engine.plans.plan import UPDATE_PLAN
from acta.engine.tools.builtin import builtins
from acta.engine.tools.builtin.search import (
    FIND_TOOLS,
    MAX_FOUND_BYTES,
    MAX_REMEMBERED,
    MOST_FOUND,
    USE_TOOL,
    best_matches,
    offered_tools,
    remembered,
    search,
)
from acta.engine.tools.tool import ToolSpec
from acta.engine.untrusted.validation_messages import NAMES_SHOWN
from acta.testing import CalledAgent, completes, run, says, uses
from acta.testing.python_tools import tools_of
from acta.testing.script import tool_call
from acta.testing.session import InProcessSession
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel
from tests.sessions.reader import WINDOW, Reading, compactions, script, text_of

ran: list[tuple[str, str]] = []


def work(name: str, does: str, **how: Any) -> Callable[..., Any]:
    def function(order: str, amount: int = 0) -> str:
        ran.append((name, order))
        return f"{name} of {order}: {amount}"

    function.__name__, function.__doc__ = name, does
    return tool(**{"effect": "read", **how})(function)


MANY = [
    *(work(f"ledger_{number}", f"Reads page {number} of the general ledger.") for number in range(198)),
    work("find_order", "Says where an order is."),
    work("refund_order", "Pays a customer's money back.", effect="once"),
]


def spec(name: str, does: str = "Does it.", **properties: Any) -> ToolSpec:
    return ToolSpec(name=name, description=does, input_schema={"type": "object", "properties": properties})


def specs(*more: ToolSpec) -> dict[str, ToolSpec]:
    return {**builtins(), **{each.name: each for each in more}}


# ---- what is offered


def test_few_tools_are_all_offered_and_nothing_is_there_to_be_found() -> None:
    tools = specs(*(spec(f"t{number}") for number in range(10)))
    assert [*offered_tools(tools, (), 40)] == [name for name in tools if name not in (FIND_TOOLS, USE_TOOL)]


BUILT_IN = [*builtins()]


@pytest.mark.parametrize(
    "more",
    [
        [spec(f"t{number}") for number in range(50)],
        [spec("large", "x" * 30_000)],
    ],
)
def test_where_they_are_too_many_or_too_large_the_built_in_ones_are_offered(more: list[ToolSpec]) -> None:
    assert [*offered_tools(specs(*more), (), 40)] == BUILT_IN


def test_the_first_tools_that_the_agent_names_are_offered_as_well_in_the_registry_s_order() -> None:
    tools = specs(*(spec(f"t{number}") for number in range(60)), spec("large", "x" * 30_000))
    most = len(BUILT_IN) + 3
    offered = offered_tools(tools, ("large", "t30", "t2", "gone", "t5", "t1"), most)
    assert [*offered] == [*BUILT_IN, "t2", "t5", "t30"]


def test_agents_that_the_agent_may_call_are_offered_directly_among_many_tools() -> None:
    agent = {"agents": [{"agent": "clerk", "as": "ask_clerk"}], "planning": "when_needed"}
    clerk = CalledAgent({"agent_id": "clerk", "name": "Clerk"}, [])
    session = run("Go", [says("Done.")], tools=MANY, agent=agent, agents=[clerk])
    offered = [tool.name for tool in session.requests[0].tools]
    assert {"ask_clerk", FIND_TOOLS} <= {*offered}
    assert "refund_order" not in offered


# ---- what is found

DESK = {
    each.name: each
    for each in (
        spec("orders_list", "Lists all orders of a customer."),
        spec("getInvoicePdf", "Returns the invoice of an order."),
        spec("refund_order", "Pays money back for an order.", order={}, reason={}),
        spec("refund", "Pays money back."),
        spec("weather", "The weather at a place.", latitude={}, longitude={}),
    )
}


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("refund an order", ["refund_order", "refund", "orders_list", "getInvoicePdf"]),
        ("refund", ["refund", "refund_order"]),
        ("INVOICES as pdf", ["getInvoicePdf"]),
        ("longitude", ["weather"]),
        ("give money back", ["refund_order", "refund"]),
        ("weather", ["weather"]),
        ("fly to the moon?!", ["getInvoicePdf", "weather"]),
        ("", []),
        ("日本", []),
    ],
)
def test_tools_are_found_by_words_of_their_names_descriptions_and_arguments(
    query: str, best: list[str]
) -> None:
    assert best_matches(DESK, query) == best


def test_a_result_has_what_a_model_needs_to_call_the_best_tools() -> None:
    told, names = search(DESK, "refund an order")
    first, *lines = told.split("\n")
    assert (first, len(lines), names[0]) == ("Call them through use_tool.", 4, "refund_order")
    assert json.loads(lines[0]) == {
        "name": "refund_order",
        "description": "Pays money back for an order.",
        "input_schema": DESK["refund_order"].input_schema,
    }


def test_a_result_is_bounded_in_tools_and_in_bytes() -> None:
    alike = {f"pay_{number}": spec(f"pay_{number}", "p" * 100) for number in range(50)}
    assert search(alike, "pay")[1] == [f"pay_{number}" for number in range(MOST_FOUND)]
    large = {f"pay_{number}": spec(f"pay_{number}", "p" * 9_000) for number in range(50)}
    told, names = search(large, "pay")
    assert names == ["pay_0"]
    assert len(told) < MAX_FOUND_BYTES
    assert search({"pay": spec("pay", "p" * 90_000)}, "pay")[1] == ["pay"]


def test_words_that_fit_no_tool_are_answered_with_some_names() -> None:
    tools = {f"t{number}": spec(f"t{number}") for number in range(200)}
    told, names = search(tools, "lunar module")
    assert names == []
    assert told.endswith(f"t{NAMES_SHOWN - 1} and {200 - NAMES_SHOWN} more.")


def test_a_head_carries_the_newest_names_each_once() -> None:
    known = remembered((), [f"t{number}" for number in range(50)])
    assert known == tuple(f"t{number}" for number in range(50 - MAX_REMEMBERED, 50))
    assert remembered(("a", "b", "c"), ["b", "d"]) == ("a", "c", "b", "d")


# ---- a run


def finding(*rest: Any, **how: Any) -> InProcessSession:
    ran.clear()
    plan = tool_call(UPDATE_PLAN, action="create", goal="g", steps=[{"description": "Do it"}])
    search_first = says("", plan, tool_call(FIND_TOOLS, query="where is my order, refund"))
    return run("Pay order 7 back", [search_first, *rest], tools=MANY, **how)


FIND = tool_call(USE_TOOL, tool="find_order", input={"order": "7"})
PAY = tool_call(USE_TOOL, tool="refund_order", input={"order": "7", "amount": 3})


def paid() -> InProcessSession:
    session = finding(says("", FIND), says("", PAY), uses("ledger_5", order="8"), completes("Paid."))
    assert session.state == "waiting_for_user"
    return session


def test_an_agent_with_200_tools_finds_calls_asks_and_goes_on() -> None:
    session = paid()
    (asked,) = session.interventions
    assert asked.tool_call is not None
    assert (asked.tool_call.name, asked.tool_call.input) == ("refund_order", {"order": "7", "amount": 3})
    assert ran == [("find_order", "7")]
    session.approve()
    assert session.goal_met
    assert ran == [("find_order", "7"), ("refund_order", "7"), ("ledger_5", "8")]
    found, *made = [use for use in session.tool_calls if use.name != UPDATE_PLAN]
    assert '"name":"refund_order"' in (found.told or "")
    assert [(use.name, use.input, use.ok) for use in made] == [
        ("find_order", {"order": "7"}, True),
        ("refund_order", {"order": "7", "amount": 3}, True),
        ("ledger_5", {"order": "8"}, True),
    ]
    requested = [event.data["name"] for event in session.events if event.type == "tool.requested"]
    assert requested == ["find_order", "refund_order", "ledger_5"]


def of_claude(request: ModelRequest) -> tuple[Any, list[Any]]:
    body = anthropic.to_body(request._replace(model="claude-opus-5-5", ended_turns=None))
    blocks = [block for message in body["messages"] for block in message["content"]]
    calls = [(each["name"], each["input"]) for each in blocks if each["type"] == "tool_use"]
    answered = [each["tool_use_id"] for each in blocks if each["type"] == "tool_result"]
    assert answered == [each["id"] for each in blocks if each["type"] == "tool_use"]
    return [body["system"], body["tools"]], calls


def of_responses(request: ModelRequest) -> tuple[Any, list[Any]]:
    body = responses.to_body(request._replace(model="gpt-6.2-sol", ended_turns=None), official=True)
    asked = [each for each in body["input"] if each.get("type") == "function_call"]
    answered = [each for each in body["input"] if each.get("type") == "function_call_output"]
    assert [each["call_id"] for each in asked] == [each["call_id"] for each in answered]
    return [body["input"][0], body["tools"]], [(one["name"], json.loads(one["arguments"])) for one in asked]


def of_chat(request: ModelRequest) -> tuple[Any, list[Any]]:
    body = chat.to_body(request._replace(ended_turns=None), official=False)
    asked = [one["function"] for each in body["messages"] for one in each.get("tool_calls", ())]
    return [body["messages"][0], body["tools"]], [
        (one["name"], json.loads(one["arguments"])) for one in asked
    ]


@pytest.mark.parametrize("wire", [of_claude, of_responses, of_chat])
def test_on_every_wire_system_and_tools_never_move_and_the_model_reads_its_own_calls(
    wire: Callable[[ModelRequest], tuple[Any, list[Any]]],
) -> None:
    session = paid()
    session.approve()
    prefixes = [json.dumps(wire(request)[0]) for request in session.requests]
    assert len(prefixes) > 4
    assert len(set(prefixes)) == 1
    assert len(prefixes[0]) < 12_000
    calls = [call for call in wire(session.requests[-1])[1] if call[0] != UPDATE_PLAN]
    assert calls[1:] == [
        (USE_TOOL, {"tool": "find_order", "input": {"order": "7"}}),
        (USE_TOOL, {"tool": "refund_order", "input": {"order": "7", "amount": 3}}),
        ("ledger_5", {"order": "8"}),
    ]


def test_a_model_without_tools_reads_its_own_calls_too() -> None:
    session = paid()
    session.approve()
    said = [entry.content.loaded for entry in to_inner(session.requests[-1]).entries]
    assert any('"action": "use_tool", "action_input": {"tool": "find_order"' in text for text in said)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (tool_call(USE_TOOL, tool="find_order"), "Error: "),
        (
            tool_call(USE_TOOL, tool="find_ordr", input={}),
            "There is no tool 'find_ordr'. Did you mean find_order",
        ),
        (tool_call(USE_TOOL, input={"order": "7"}), "tool"),
        (tool_call(USE_TOOL, tool="find_order", order="7"), "order"),
        (tool_call(USE_TOOL, tool=["find_order"], input={}), "tool"),
        (tool_call(USE_TOOL, tool=USE_TOOL, input={"tool": USE_TOOL, "input": {}}), "tool"),
    ],
)
def test_a_call_that_stands_for_no_usable_one_is_refused_with_words(call: Any, told: str) -> None:
    session = finding(says("", call), completes("Nothing."))
    (refused,) = [use for use in session.tool_calls if not use.ok]
    assert (refused.told or "").startswith("Error: ")
    assert told in (refused.told or "")
    assert ran == []


@pytest.mark.parametrize(
    "call",
    [
        tool_call(USE_TOOL, tool="find_order", input='{"order": "7"}'),
        tool_call(USE_TOOL, tool=USE_TOOL, input={"tool": "find_order", "input": {"order": "7"}}),
        tool_call("find_order", order="7"),
    ],
)
def test_other_ways_to_say_the_same_call_are_the_same_call(call: Any) -> None:
    session = finding(says("", call), completes("There."))
    assert session.goal_met
    assert ran == [("find_order", "7")]


def test_tools_can_be_looked_for_before_there_is_a_plan_and_that_counts_as_a_turn() -> None:
    model = ScriptedModel([says("", tool_call(FIND_TOOLS, query=f"ledger {number}")) for number in range(9)])
    house = House(model, tools=tools_of(MANY))
    session = house.start("Look", max_steps=5).session_id
    house.run()
    head = house.head(session)
    assert (head.state, head.plan, len(model.requests)) == ("completed", None, 5)
    assert head.result is not None
    assert not head.result.goal_met
    assert "plan.rejected" not in [seen.event.type for seen in house.poll(session).events]


def test_what_was_found_is_named_to_the_model_once_the_conversation_is_shortened() -> None:
    first, *reads, closes, ends = script(12)
    look = says("", tool_call(FIND_TOOLS, query="find order"))
    model = Reading([look, first, *reads, says("", FIND), closes, ends])
    house = House(model, context_tokens=WINDOW, tools=tools_of(MANY))
    for number in range(12):
        house.files.write(TENANT, f"f{number}.txt", text_of(number).encode())
    session = house.start("Read every file").session_id
    ran.clear()
    house.run()
    assert (house.head(session).state, ran) == ("completed", [("find_order", "7")])
    assert compactions(house, session)
    named = ["Tools that you have found, for use_tool: find_order" in one.suffix for one in model.requests]
    gone = ["find_order" not in "".join(map(str, one.entries)) for one in model.requests]
    assert any(gone[1:])
    assert all(is_named for is_named, is_gone in zip(named[1:], gone[1:], strict=True) if is_gone)
    assert not named[2]
    prefixes = {json.dumps([one.system, one.tools]) for one in model.requests}
    assert len(prefixes) == 1


def test_a_denied_tool_is_neither_found_nor_called() -> None:
    session = finding(says("", PAY), completes("No."), agent={"deny": ["refund_order"]})
    found, refused = [use for use in session.tool_calls if use.name != UPDATE_PLAN]
    assert "refund_order" not in (found.told or "")
    assert "There is no tool 'refund_order'" in (refused.told or "")
