"""Agents, prompts, memories and tools as JSON (design §3)."""

from shared.api.response.views import Json, instant, instant_or_none
from shared.domain.definitions.agent import AgentDefinition
from shared.domain.definitions.memory import Memory
from shared.domain.definitions.prompt import Prompt
from shared.domain.definitions.tool import HIDDEN, HttpConfig, ToolDefinition, ToolSpec
from shared.domain.definitions.tool_secret import ToolSecret


def agent_view(agent: AgentDefinition) -> Json:
    """The built-in agent has version 0 and no times."""
    return {
        "agent_id": agent.agent_id,
        "name": agent.name,
        "system_prompt": agent.system_prompt,
        "goal": agent.goal,
        "provider": agent.provider,
        "model": agent.model,
        "models": agent.models.model_dump(exclude_none=True),
        "fallbacks": [one.model_dump(exclude_none=True) for one in agent.fallbacks],
        "tools": list(agent.tools),
        "limits": agent.limits.model_dump(exclude_none=True),
        "caps": agent.caps.model_dump(exclude_none=True),
        "high_stakes": list(agent.high_stakes),
        "start_roles": list(agent.start_roles),
        "protocol": agent.protocol,
        "background": agent.background,
        "interventions": {
            type: policy.model_dump(exclude_none=True) for type, policy in agent.interventions.items()
        },
        "version": agent.version,
        "created_at": instant_or_none(agent.created_at),
        "updated_at": instant_or_none(agent.updated_at),
    }


def prompt_view(prompt: Prompt) -> Json:
    return {
        "name": prompt.name,
        "version": prompt.version,
        "content": prompt.content,
        "comment": prompt.comment,
        "created_by": prompt.created_by,
        "created_at": instant_or_none(prompt.created_at),
    }


def memory_view(memory: Memory) -> Json:
    return {
        "memory_id": memory.memory_id,
        "agent_id": memory.agent_id,
        "kind": memory.kind,
        "text": memory.text,
        "tags": list(memory.tags),
        "source": memory.source.model_dump(exclude_none=True),
        "origin": memory.origin,
        "shared": memory.only_for is None,
        "created_at": instant(memory.created_at),
        "updated_at": instant(memory.updated_at),
    }


def tool_view(spec: ToolSpec) -> Json:
    """A built-in tool has no `config`, version or times. Headers' values may be credentials and are not shown; the
    names of secrets are.
    """
    view = {
        "name": spec.name,
        "description": spec.description,
        "input_schema": spec.input_schema,
        "kind": spec.kind,
        "effect": spec.effect,
        "risk": spec.risk,
        "high_stakes": spec.high_stakes,
        "approver_role": spec.approver_role,
        "approver_must_differ": spec.wants_another_approver,
        "repeatable": spec.repeatable,
        "timeout_seconds": spec.timeout_seconds,
        "result_limit_bytes": spec.result_limit_bytes,
    }
    if isinstance(spec, ToolDefinition):
        config = spec.config.model_dump()
        if isinstance(spec.config, HttpConfig):
            references = {header: {"secret": name} for header, name in config.pop("secret_headers").items()}
            config["headers"] = dict.fromkeys(spec.config.headers, HIDDEN) | references
        view |= {
            "config": config,
            "version": spec.version,
            "created_at": instant(spec.created_at),
            "updated_at": instant(spec.updated_at),
        }
    return view


def tool_secret_view(secret: ToolSecret) -> Json:
    """Without its value, which nobody is shown."""
    return {
        "name": secret.name,
        "hosts": list(secret.hosts),
        "created_at": instant(secret.created_at),
        "updated_at": instant(secret.updated_at),
        "updated_by": secret.updated_by,
    }
