"""Agents, prompts, memories and tools as JSON (design §3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from acta_engine.agents.agent import AgentDefinition
from acta_engine.agents.applied import Applied
from acta_engine.memories.memory import Memory
from acta_engine.notifications.receiver import TenantReceiver
from acta_engine.prompts.prompt import DESCRIPTIONS, Prompt
from acta_engine.sessions.views import instant, instant_or_none
from acta_engine.tools.mcp.server import ConfirmedTool, McpAuth, McpServer, offered_name
from acta_engine.tools.tool import HIDDEN, HttpConfig, LambdaConfig, Parameter, ToolDefinition, ToolSpec
from acta_engine.tools.tool_secret import ToolSecret

if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta_engine.agents import shapes as definitions


def agent_view(agent: AgentDefinition) -> definitions.Agent:
    """As it is when it is written: then there is nothing to warn of. The built-in agent has version 0 and no times."""
    return {
        "agent_id": agent.agent_id,
        "name": agent.name,
        "system_prompt": agent.system_prompt,
        "goal": agent.goal,
        "provider": agent.provider,
        "model": agent.model,
        "models": cast("definitions.ModelsByPurpose", agent.models.model_dump(exclude_none=True)),
        "fallbacks": [
            cast("definitions.FallbackModel", one.model_dump(exclude_none=True)) for one in agent.fallbacks
        ],
        "tools": list(agent.tools),
        "limits": cast("definitions.SessionLimits", agent.limits.model_dump(exclude_none=True)),
        "caps": cast("definitions.SessionCaps", agent.caps.model_dump(exclude_none=True)),
        "high_stakes": list(agent.high_stakes),
        "start_roles": list(agent.start_roles),
        "protocol": agent.protocol,
        "background": agent.background,
        "interventions": {
            type: cast("definitions.AskingPolicy", policy.model_dump(exclude_none=True))
            for type, policy in agent.interventions.items()
        },
        "output_schema": agent.output_schema,
        "warnings": [],
        "applied": applied_view(agent.applied),
        "version": agent.version,
        "created_at": instant_or_none(agent.created_at),
        "updated_at": instant_or_none(agent.updated_at),
    }


def prompt_view(prompt: Prompt, in_force: int | None = None) -> definitions.Prompt:
    """`in_force`: the number of the version that is; None: this one is."""
    return {
        "name": prompt.name,
        "description": DESCRIPTIONS[prompt.name],
        "active": in_force in (None, prompt.version),
        "draft": prompt.draft,
        "version": prompt.version,
        "content": prompt.content,
        "comment": prompt.comment,
        "created_by": prompt.created_by,
        "created_at": instant_or_none(prompt.created_at),
        "applied": applied_view(prompt.applied),
        "warnings": list(prompt.warnings),
    }


def memory_view(memory: Memory) -> definitions.Memory:
    return {
        "memory_id": memory.memory_id,
        "agent_id": memory.agent_id,
        "kind": memory.kind,
        "text": memory.text,
        "tags": list(memory.tags),
        "source": cast("definitions.MemorySource", memory.source.model_dump(exclude_none=True)),
        "origin": memory.origin,
        "shared": memory.only_for is None,
        "created_at": instant(memory.created_at),
        "updated_at": instant(memory.updated_at),
    }


def tool_view(spec: ToolSpec) -> definitions.Tool:
    """A built-in tool has no `config`, version or times. Headers' values may be credentials and are not shown; the
    names of secrets are.
    """
    view: definitions.Tool = {
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
        view["config"] = _tool_config(spec.config)
        view["applied"] = applied_view(spec.applied)
        view["version"] = spec.version
        view["created_at"] = instant(spec.created_at)
        view["updated_at"] = instant(spec.updated_at)
    return view


def who_approves_view(spec: ToolSpec) -> definitions.WhoApproves:
    return {
        "high_stakes": spec.high_stakes,
        "approver_role": spec.approver_role,
        "approver_must_differ": spec.wants_another_approver,
    }


def applied_view(applied: Applied | None) -> definitions.AppliedFrom | None:
    return None if applied is None else {"set": applied.set, "digest": applied.digest}


def _tool_config(
    config: HttpConfig | LambdaConfig,
) -> definitions.HttpToolConfig | definitions.LambdaToolConfig:
    if isinstance(config, LambdaConfig):
        return {"function": config.function}
    headers: dict[str, str | definitions.SecretReference] = dict.fromkeys(config.headers, HIDDEN)
    for header, name in config.secret_headers.items():
        headers[header] = {"secret": name}
    view: definitions.HttpToolConfig = {"url": config.url, "method": config.method, "headers": headers}
    if config.parameters:
        view["parameters"] = {name: _parameter(said) for name, said in config.parameters.items()}
    return view


def _parameter(said: Parameter) -> definitions.ToolParameter:
    return {"in": said.place} if said.name is None else {"in": said.place, "name": said.name}


def trial_view(name: str, effect_id: str, trial: Mapping[str, Any]) -> definitions.ToolTrial:
    """`trial`: the fields of `Trial` (`shared/acta_engine/tools/trial.py`)."""
    result = trial["result"]
    failed = trial["outcome"] != "succeeded"
    return {
        "name": name,
        "effect_id": effect_id,
        "outcome": trial["outcome"],
        "result": result,
        "bytes": trial["bytes"],
        "truncated": result is not None and len(result.encode()) < trial["bytes"],
        "status": trial["status"],
        "error": {"message": trial["message"], "remedy": trial["remedy"] or None} if failed else None,
        "duration_ms": trial["duration_ms"],
    }


def tool_secret_view(secret: ToolSecret) -> definitions.ToolSecret:
    """Without its value, which nobody is shown."""
    return {
        "name": secret.name,
        "hosts": list(secret.hosts),
        "created_at": instant(secret.created_at),
        "updated_at": instant(secret.updated_at),
        "updated_by": secret.updated_by,
    }


def notifications_view(receiver: TenantReceiver) -> definitions.Notifications:
    """Without the secret, which nobody is shown."""
    return {
        "url": receiver.url,
        "created_at": instant(receiver.created_at),
        "updated_at": instant(receiver.updated_at),
        "updated_by": receiver.updated_by,
    }


def mcp_server_view(server: McpServer) -> definitions.McpServer:
    return {
        "name": server.name,
        "url": server.url,
        "auth": _auth_view(server.auth),
        "timeout_seconds": server.timeout_seconds,
        "tools": [_confirmed_view(server.name, one) for one in server.tools],
        "applied": applied_view(server.applied),
        "version": server.version,
        "created_at": instant(server.created_at),
        "updated_at": instant(server.updated_at),
    }


def _auth_view(auth: McpAuth | None) -> definitions.SecretReference | definitions.McpCredentials | None:
    """Names of secrets: their values are nowhere here."""
    if auth is None:
        return None
    client = auth.client_credentials
    if client is None:
        return {"secret": auth.secret_name}
    return {
        "client_credentials": {
            "client_id": client.client_id,
            "secret": client.secret,
            "token_url": client.token_url,
            "issuer": client.issuer,
            "scope": client.scope,
        }
    }


def _confirmed_view(server: str, one: ConfirmedTool) -> definitions.ConfirmedMcpTool:
    return {
        "tool": one.tool,
        "name": offered_name(server, one.tool),
        "description": one.description,
        "input_schema": one.input_schema,
        "pin": one.pin,
        "confirmed_read": one.confirmed_read,
        "high_stakes": one.high_stakes,
        "approver_role": one.approver_role,
        "confirmed_at": instant(one.confirmed_at),
        "confirmed_by": one.confirmed_by,
    }


def listed_view(
    server: McpServer, listed: Mapping[str, Mapping[str, Any]]
) -> list[definitions.ListedMcpTool]:
    """`listed`: what the server says now, by the tools' names. Those that it no longer lists come last."""
    view = [_listed(server, one) for one in listed.values()]
    return view + [_gone(server, one) for one in server.tools if one.tool not in listed]


def _listed(server: McpServer, one: Mapping[str, Any]) -> definitions.ListedMcpTool:
    confirmed = server.confirmed(one["tool"])
    state: Any = "new" if confirmed is None else "confirmed" if confirmed.pin == one["pin"] else "changed"
    return {
        "tool": one["tool"],
        "name": offered_name(server.name, one["tool"]),
        "state": state if one["unusable"] is None else "unusable",
        "reason": one["unusable"],
        "title": one["title"],
        "description": one["description"],
        "input_schema": one["input_schema"],
        "annotations": one["annotations"],
        "pin": one["pin"],
        "confirmed": None if confirmed is None else _confirmed_view(server.name, confirmed),
    }


def _gone(server: McpServer, one: ConfirmedTool) -> definitions.ListedMcpTool:
    return {
        "tool": one.tool,
        "name": offered_name(server.name, one.tool),
        "state": "gone",
        "reason": None,
        "title": "",
        "description": "",
        "input_schema": {},
        "annotations": {},
        "pin": one.pin,
        "confirmed": _confirmed_view(server.name, one),
    }
