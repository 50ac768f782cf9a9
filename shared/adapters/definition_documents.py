"""Agents and prompts as stored bytes; apart from the session's documents, which most functions need alone."""

from shared.adapters.documents import dump, load
from shared.domain.agent import AgentDefinition
from shared.domain.prompt import Prompt

AGENT_VERSION = 1
PROMPT_VERSION = 1


def from_agent(agent: AgentDefinition) -> bytes:
    return dump(agent)


def to_agent(version: int, data: bytes) -> AgentDefinition:
    return load("agent", AgentDefinition, version, AGENT_VERSION, data)


def from_prompt(prompt: Prompt) -> bytes:
    return dump(prompt)


def to_prompt(version: int, data: bytes) -> Prompt:
    return load("prompt", Prompt, version, PROMPT_VERSION, data)
