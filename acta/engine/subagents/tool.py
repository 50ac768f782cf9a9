"""The agents that an agent may call: each is offered to its model as a tool (docs/design/sub-agents.md)."""

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import islice
from typing import Any, NamedTuple

from acta.engine.agents.agent import (
    MAX_CHILDREN_AT_ONCE,
    MAX_SUB_AGENT_CHARS,
    AgentDefinition,
    AgentSettings,
    SubAgent,
)
from acta.engine.tools.tool import TOOL_NAME_PATTERN, Effect, Risk, ToolKind, ToolSpec, fields, text
from acta.engine.untrusted.validation_messages import did_you_mean

MAX_MAP = 100
"""The most entries of one call's `map`: each is a session."""
MAX_FILES = 20
"""The most paths that one child is given."""
MAX_SHAPE_CHARS = 1_500
"""A longer output schema is not shown to the parent's model."""
MAX_TREE = 200
"""The most agents that one agent may reach over those that it calls. Each is read when the agent is written."""

TOOL_NAME_RULE = "1 to 64 letters, digits, _ and -, of which the first is a letter"
MOST_IDS = 1_000
"""Among so many agents a similar id is looked for."""

FindAgent = Callable[[str], AgentDefinition | None]
"""The agent of an id; None: there is none."""


class AgentTool(ToolSpec):
    """An agent that another agent may call. A call starts a session of it, or one for each entry of `map`, and ends
    with what they answer.
    """

    kind: ToolKind = "agent"
    effect: Effect = "idempotent"
    """A child's id is made from the effect id, so a call that runs again finds its children."""
    risk: Risk = "write"
    """What a child may change depends on its own tools, which may change while the parent's plan is carried out."""
    entry: SubAgent
    """As the parent's definition has it."""
    agent_written: str
    """When the child's agent was made. One that was deleted and made again is another agent."""

    @property
    def written(self) -> str:
        """Without the words for the model, and without what may change of an agent in its running sessions anyway."""
        said = self.entry.model_dump_json(exclude={"as_", "description"})
        return f"{self.agent_written}/{hashlib.sha256(said.encode()).hexdigest()[:16]}"


class ChildTask(NamedTuple):
    """What one child of a call is to do."""

    goal: str
    files: tuple[str, ...]
    about: str
    """What tells it from its siblings: the text and the paths of its entry in `map`, or the paths of the call. May be
    empty.
    """


def child_tasks(arguments: Mapping[str, Any]) -> tuple[ChildTask, ...]:
    """The tasks of a call, in the order of its `map`. `arguments`: they fit the tool's schema."""
    goal, files = arguments["goal"], tuple(arguments.get("files", ()))
    if "map" not in arguments:
        return (ChildTask(goal, files, ", ".join(files)),)
    entries = [{"goal": each} if isinstance(each, str) else each for each in arguments["map"]]
    return tuple(
        ChildTask(
            goal="\n\n".join(filter(None, (goal, each.get("goal")))),
            files=(*files, *each.get("files", ())),
            about=", ".join(filter(None, (each.get("goal"), *each.get("files", ())))),
        )
        for each in entries
    )


def agent_tools(agent: AgentSettings, find: FindAgent) -> dict[str, AgentTool]:
    """By name, in the definition's order. An agent that was deleted is left out, as a deleted tool is."""
    return {
        entry.tool_name: _tool(entry, child)
        for entry in agent.agents
        if (child := find(entry.agent)) is not None
    }


def _tool(entry: SubAgent, child: AgentDefinition) -> AgentTool:
    about = f"{child.name}: {child.goal}" if child.goal.strip() else child.name
    if len(about) > MAX_SUB_AGENT_CHARS:
        about = f"{about[: MAX_SUB_AGENT_CHARS - 1]}…"
    shape = json.dumps(child.output_schema, ensure_ascii=False, separators=(",", ":"))
    if child.output_schema is None:
        answers = ""
    elif len(shape) > MAX_SHAPE_CHARS:
        answers = " It answers with JSON."
    else:
        answers = f" It answers with JSON of this schema: {shape}"
    return AgentTool(
        name=entry.tool_name,
        description=f"An agent. {(entry.description or about).strip()}{answers}",
        input_schema=input_schema(entry),
        entry=entry,
        agent_written="" if child.created_at is None else child.created_at.isoformat(),
    )


def input_schema(entry: SubAgent) -> dict[str, Any]:
    """Of the tool that the entry is."""
    paths = {"type": "array", "items": {"type": "string"}, "maxItems": MAX_FILES}
    seen = "Paths it should read" if entry.files == "parent" else "Paths it gets; it sees no other files"
    each = {"anyOf": [{"type": "string"}, fields(goal={"type": "string"}, files=paths)]}
    one_each = "One run for each, told this after the goal"
    return fields(
        ("goal",),
        goal=text("All it has to know: it does not see this conversation", minLength=1),
        files={**paths, "description": seen},
        map={"type": "array", "items": each, "minItems": 1, "maxItems": MAX_MAP, "description": one_each},
        at_once={"type": "integer", "minimum": 1, "maximum": MAX_CHILDREN_AT_ONCE},
    )


def family_of(agent: AgentDefinition, find: FindAgent) -> Iterable[AgentDefinition]:
    """The agent, and all that it can reach over those that it calls, each once."""
    met = {agent.agent_id: agent}
    waiting = [agent]
    while waiting and len(met) <= MAX_TREE:
        for entry in waiting.pop().agents:
            called = None if entry.agent in met else find(entry.agent)
            if called is not None:
                met[entry.agent] = called
                waiting.append(called)
    return met.values()


def wrong_names(agent: AgentSettings) -> dict[str, list[str]]:
    """By field, sentences about entries of `agents` whose tool has no name that a tool can have, or another's name."""
    wrong: dict[str, list[str]] = {}
    names: set[str] = set()
    for place, entry in enumerate(agent.agents):
        name, said = entry.tool_name, ""
        if name in names:
            said = f"Two entries are called {name}. Name one of them with `as`."
        elif not re.fullmatch(TOOL_NAME_PATTERN, name):
            said = f"{name!r} is no name of a tool: {TOOL_NAME_RULE}. Name it with `as`."
        if said:
            wrong[f"agents.{place}.as"] = [said]
        names.add(name)
    return wrong


def wrong_agents(
    agent_id: str | None,
    agent: AgentSettings,
    tools: Collection[str],
    find: FindAgent,
    ids: Iterable[str],
) -> dict[str, list[str]]:
    """By field, sentences about entries of `agents` that cannot be in this tenant: another agent that does not exist, a
    tool's name that is taken, and a circle.

    `agent_id`: of the agent that is written. None: it gets a new one. `tools`: names of the tenant's tools. `ids`: of
    the agents that there are. Only a sentence about one that does not exist takes them.
    """
    wrong: dict[str, list[str]] = {}
    unknown = {each.agent for each in agent.agents if each.agent != agent_id and find(each.agent) is None}
    known = [each for each in islice(ids, MOST_IDS) if each != agent_id] if unknown else []
    for place, entry in enumerate(agent.agents):
        if entry.agent in unknown:
            others = did_you_mean(entry.agent, known) if known else "There is no other one yet."
            wrong[f"agents.{place}.agent"] = [f"There is no agent {entry.agent}. {others}"]
        if entry.tool_name in tools:
            wrong[f"agents.{place}.as"] = [
                f"There is a tool {entry.tool_name} already. Name this one with `as`."
            ]
    # nobody can call an agent that has no id yet
    said = "" if wrong or agent_id is None else _circle_problem(agent_id, agent, find)
    return {"agents": [said]} if said else wrong


def _circle_problem(agent_id: str, agent: AgentSettings, find: FindAgent) -> str:
    """Why the agent may not call these: it would call itself in a circle, or they are too many. Empty: it may."""

    def called(name: str) -> Iterable[str]:
        found = find(name)
        return () if found is None else [each.agent for each in found.agents]

    way = circle(agent_id, [entry.agent for entry in agent.agents], called)
    if way is None:
        return f"With those that they call these are more than {MAX_TREE} agents. Name fewer."
    return f"The agent would call itself: {' -> '.join(way)}. Leave one of these out." if way else ""


def circle(
    agent_id: str, names: Iterable[str], called: Callable[[str], Iterable[str]]
) -> tuple[str, ...] | None:
    """The shortest way from the agent over those that it calls back to itself, such as a, b, a. Empty: there is none.
    None: they are more than `MAX_TREE`. `names`: whom it calls. `called`: whom an agent calls.
    """
    ways: list[tuple[str, ...]] = [(agent_id, name) for name in names]
    seen: set[str] = set()
    while ways:
        way, *ways = ways
        last = way[-1]
        if last == agent_id:
            return way
        if last in seen:
            continue
        seen.add(last)
        if len(seen) > MAX_TREE:
            return None
        ways += [(*way, each) for each in called(last)]
    return ()
