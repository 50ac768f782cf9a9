"""The agent of a test: none, a definition, its fields, or the file that defines it."""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from acta.yaml_text import NoYaml, read
from acta_engine.agents.agent import DEFAULT_AGENT, AgentDefinition, built_in, unknown_tools
from acta_engine.untrusted.validation_messages import error_sentence

Agent = AgentDefinition | Mapping[str, Any] | str | Path
"""Fields are those of `POST /v1/agents` and of `acta agents put`; `name` and `agent_id` may be left out. A file has
them as JSON, or is `agents/NAME.yaml` of `acta apply`; a relative path starts where pytest was called.
"""


class BadAgent(ValueError):
    """The definition cannot be used. The text says which field and why."""


def to_definition(agent: Agent | None) -> AgentDefinition:
    """None: the built-in agent, which has every tool. Raises BadAgent."""
    if agent is None:
        return built_in()
    if isinstance(agent, AgentDefinition):
        return agent
    fields = _fields_of(Path(agent)) if isinstance(agent, str | Path) else agent
    try:
        return AgentDefinition.model_validate(
            {"agent_id": DEFAULT_AGENT, "name": "Agent", "version": 1, **fields}
        )
    except ValidationError as invalid:
        said = "; ".join(
            f"{'.'.join(map(str, each['loc']))}: {error_sentence(each)}" for each in invalid.errors()
        )
        raise BadAgent(f"this agent's definition cannot be used: {said}") from None


def check_tools(agent: AgentDefinition, known: Collection[str]) -> None:
    """Raises BadAgent for a tool that nobody has."""
    wrong = unknown_tools([*agent.tools, *agent.high_stakes], list(known))
    if wrong:
        raise BadAgent(" ".join(wrong))


def _fields_of(path: Path) -> dict[str, Any]:
    """A YAML file's name is the agent's id."""
    is_yaml = path.suffix == ".yaml"
    try:
        text = path.read_text(encoding="utf-8")
        fields = read(text).value if is_yaml else json.loads(text)
    except OSError as error:
        raise BadAgent(f"{path}: {error.strerror}{_relative(path)}") from None
    except NoYaml as error:
        raise BadAgent(f"{path}:{error.line}: {error}") from None
    except ValueError as error:
        raise BadAgent(f"{path} is no JSON: {error}") from None
    if not isinstance(fields, dict):
        raise BadAgent(f"{path} does not define an agent: it has no fields")
    return {**({"agent_id": path.stem} if is_yaml else {}), **fields}


def _relative(path: Path) -> str:
    if path.is_absolute():
        return ""
    return f". It was looked for in {Path.cwd()}; beside the test it is Path(__file__).parent / {str(path)!r}"
