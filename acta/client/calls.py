"""Made from the table of operations by `make generate`: change the row, not this file."""

# fmt: off
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from acta.client.callers import C, Calls, listing, operation
from acta.client.flows import Flow, HttpRequest, Stream, data, given, key, pages, path_of

if TYPE_CHECKING:
    from acta.client import shapes


class ApiCalls(Calls[C]):
    """Calls about sessions and about the deployment."""

    @operation
    def start(
        self, /, content: str | None = None, agent_id: str | None = None, *, max_steps: int | None = None,
        token_budget: int | None = None, cost_budget_usd: float | None = None, review_every: int | None = None,
        metadata: Mapping[str, str] | None = None, visibility: Literal["private", "tenant"] | None = None,
        prompts: Mapping[str, int] | None = None, notify_url: str | None = None,
        output_schema: Mapping[str, Any] | None = None, idempotency_key: str | None = None, **more: Any
    ) -> Flow[shapes.Session]:
        """Start a session. Gives an agent a goal and returns at once. Without `content` the session stays `idle`
        until somebody writes to it. For limits that you do not name, those of the agent apply, or else those of
        the deployment. Raises ConflictError, RateLimitError, TooManyOpenSessionsError.
        """
        return data(
            HttpRequest("POST", path_of("sessions"), body=given(content=content, agent_id=agent_id,
            max_steps=max_steps, token_budget=token_budget, cost_budget_usd=cost_budget_usd,
            review_every=review_every, metadata=metadata, visibility=visibility, prompts=prompts,
            notify_url=notify_url, output_schema=output_schema, **more), headers=key(idempotency_key))
        )

    @operation
    def fork(
        self, /, session_id: str, content: str | None = None, at: int | None = None, *, agent_id: str | None = None,
        max_steps: int | None = None, token_budget: int | None = None, cost_budget_usd: float | None = None,
        review_every: int | None = None, metadata: Mapping[str, str] | None = None,
        visibility: Literal["private", "tenant"] | None = None, prompts: Mapping[str, int] | None = None,
        notify_url: str | None = None, output_schema: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None, **more: Any
    ) -> Flow[shapes.ForkedSession]:
        """Fork a session. Creates a new session of yours that goes on from the end of a turn, with a copy of the
        conversation, the plan and the notes. It does not take over approvals, open calls, questions and costs.
        Files are as they are now. The original session does not change, and may be deleted. Admins may try
        versions of prompts (`prompts`); others get 403 for that. Raises SessionNotFoundError, ConflictError,
        RateLimitError, TooManyOpenSessionsError.
        """
        return data(
            HttpRequest("POST", path_of("sessions", session_id, "fork"), body=given(content=content, at=at,
            agent_id=agent_id, max_steps=max_steps, token_budget=token_budget, cost_budget_usd=cost_budget_usd,
            review_every=review_every, metadata=metadata, visibility=visibility, prompts=prompts,
            notify_url=notify_url, output_schema=output_schema, **more), headers=key(idempotency_key))
        )

    @listing
    def messages(self, session_id: str, limit: int | None = None) -> Stream[shapes.Message]:
        """Read the conversation. Raises SessionNotFoundError."""
        return pages(path_of("sessions", session_id, "messages"), limit=limit)

    @operation
    def plan(self, session_id: str, limit: int | None = None) -> Flow[shapes.Plans]:
        """Read the plan and its versions. The ETag names the version. Steps change their status within a version.
        Raises SessionNotFoundError, PlanNotFoundError.
        """
        return data(HttpRequest("GET", path_of("sessions", session_id, "plan"), {"limit": limit}))

    @operation
    def text_part(
        self, session_id: str, text_id: str, offset: int | None = None, limit: int | None = None
    ) -> Flow[shapes.TextPart]:
        """Read a long text, part by part. A message has only the beginning of a long result; this route has the
        whole text. Send `next_offset` as `offset` until it is null. Raises SessionNotFoundError.
        """
        return data(
            HttpRequest("GET", path_of("sessions", session_id, "texts", text_id), {"offset": offset, "limit": limit})
        )

    @operation
    def scratchpad(self, session_id: str) -> Flow[shapes.Scratchpad]:
        """Read the agent's notes. Raises SessionNotFoundError."""
        return data(HttpRequest("GET", path_of("sessions", session_id, "scratchpad")))

    @listing
    def steps(self, session_id: str, limit: int | None = None) -> Stream[shapes.Step]:
        """Read the step log: every model call, tool call and decision, with its cost. Raises SessionNotFoundError."""
        return pages(path_of("sessions", session_id, "steps"), limit=limit)

    @listing
    def trace(self, session_id: str, limit: int | None = None, include: str | None = None) -> Stream[shapes.TraceRow]:
        """Read the reasoning: thoughts, actions, inputs and observations. Raises SessionNotFoundError."""
        return pages(path_of("sessions", session_id, "trace"), limit=limit, include=include)

    @listing
    def tree(self, session_id: str, limit: int | None = None) -> Stream[shapes.TreeNode]:
        """Read the tree of sessions that its calls of agents have started. Each session comes before its children;
        `depth` and `parent_id` say where it belongs. What each one waits for, what it has used and which questions
        of it are open is as it is now. Raises SessionNotFoundError.
        """
        return pages(path_of("sessions", session_id, "tree"), limit=limit)

    @operation
    def receipt(self, session_id: str) -> Flow[shapes.Receipt]:
        """Read what the session has cost, up to its last commit. Counts, tokens and what models cost are exact.
        What AWS charges is an estimate from the counts. Raises SessionNotFoundError.
        """
        return data(HttpRequest("GET", path_of("sessions", session_id, "receipt")))

    @operation
    def limit(
        self, session_id: str, max_steps: int | None = None, token_budget: int | None = None, *,
        cost_budget_usd: float | None = None, review_every: int | None = None, idempotency_key: str | None = None
    ) -> Flow[shapes.Session]:
        """Raise or lower limits. The new limits apply to the present run and to later ones; `limits` of the answer
        shows them. A field that is absent or null does not change its limit; a limit cannot be removed. A limit
        above the caps gets 403, or 400 for an admin. A limit below what is used already is refused. A run that
        waits for tokens goes on at once with a higher budget. While a question about the budget is open, answer it
        with `raise` instead. Raises SessionNotFoundError, ConflictError.
        """
        return data(
            HttpRequest("PATCH", path_of("sessions", session_id), body=given(max_steps=max_steps,
            token_budget=token_budget, cost_budget_usd=cost_budget_usd, review_every=review_every),
            headers=key(idempotency_key))
        )

    @operation
    def say(
        self, session_id: str, content: str, output_schema: Mapping[str, Any] | None = None, *,
        idempotency_key: str | None = None
    ) -> Flow[shapes.Session]:
        """Say something to the session. The message answers the agent's open question, or else is read in its next
        turn. After a run has ended, it begins the next run. Raises SessionNotFoundError, ConflictError,
        RateLimitError, TooManyOpenSessionsError.
        """
        return data(
            HttpRequest("POST", path_of("sessions", session_id, "messages"), body=given(content=content,
            output_schema=output_schema), headers=key(idempotency_key))
        )

    @operation
    def rate(
        self, session_id: str, rating: Literal["up", "down"], run_id: str | None = None, comment: str | None = None,
        *, idempotency_key: str | None = None
    ) -> Flow[shapes.Session]:
        """Rate an answer. Says whether the answer of a completed run was good. Each person has one rating of each
        run; another one replaces it. Whoever may read the session may rate its newest ten answers and sees the
        ratings. The agent does not. Usage counts them. While no run has been completed, the answer is 409. Raises
        SessionNotFoundError, ConflictError.
        """
        return data(
            HttpRequest("POST", path_of("sessions", session_id, "rating"), body=given(rating=rating, run_id=run_id,
            comment=comment), headers=key(idempotency_key))
        )

    @operation
    def pause(self, session_id: str, *, idempotency_key: str | None = None) -> Flow[shapes.Session]:
        """Pause the session. Nothing new begins until the session is resumed. Work that has begun is finished, and
        its results are kept. Pausing a paused session changes nothing. Raises SessionNotFoundError, ConflictError.
        """
        return data(
            HttpRequest("POST", path_of("sessions", session_id, "pause"), body={}, headers=key(idempotency_key))
        )

    @operation
    def resume(self, session_id: str, *, idempotency_key: str | None = None) -> Flow[shapes.Session]:
        """Resume the session. Ends a pause or an open review. A session that waits for its next try makes it at
        once. Raises SessionNotFoundError, ConflictError.
        """
        return data(
            HttpRequest("POST", path_of("sessions", session_id, "resume"), body={}, headers=key(idempotency_key))
        )

    @operation
    def cancel(self, session_id: str, *, idempotency_key: str | None = None) -> Flow[shapes.CancelledSession]:
        """Cancel the session. Ends the run. No call begins after the answer. A second cancel also gets 202. Raises
        SessionNotFoundError, ConflictError.
        """
        return data(
            HttpRequest("POST", path_of("sessions", session_id, "cancel"), body={}, headers=key(idempotency_key))
        )

    @operation
    def delete(self, session_id: str) -> Flow[None]:
        """Delete the session. Cancels the session if it runs, then erases everything that was stored for it.
        Raises SessionNotFoundError, ConflictError.
        """
        return data(HttpRequest("DELETE", path_of("sessions", session_id)))

    @operation
    def intervention(self, session_id: str, intervention_id: str) -> Flow[shapes.Intervention]:
        """Read one question. Raises SessionNotFoundError, InterventionNotFoundError."""
        return data(HttpRequest("GET", path_of("sessions", session_id, "interventions", intervention_id)))

    @operation
    def call_input(self, session_id: str, intervention_id: str, call_id: str | None = None) -> Flow[shapes.CallInput]:
        """Read the whole input of the call that a question is about. Raises SessionNotFoundError,
        InterventionNotFoundError.
        """
        return data(
            HttpRequest("GET", path_of("sessions", session_id, "interventions", intervention_id, "input"), {"call_id":
            call_id})
        )

    @operation
    def decide(
        self, session_id: str, intervention_id: str, option: str, input: Mapping[str, Any] | None = None,
        comment: str | None = None, *, idempotency_key: str | None = None
    ) -> Flow[shapes.Intervention]:
        """Decide a question. `option` is one of the intervention's `options`. Some take an `input`: `modify` the
        tool's whole input, `answer` `{text}`, `record` `{result}`, `raise` `{token_budget?, cost_budget_usd?}`,
        `retry` `{hint?}`. A second or late decision gets 409 with the recorded one. Raises
        ApproverMustDifferError, SessionNotFoundError, InterventionNotFoundError, ConflictError.
        """
        return data(
            HttpRequest("POST", path_of("sessions", session_id, "interventions", intervention_id, "resolve"),
            body=given(option=option, input=input, comment=comment), headers=key(idempotency_key))
        )

    @operation
    def me(self) -> Flow[shapes.Me]:
        """Read who you are: tenant, subject and roles."""
        return data(HttpRequest("GET", path_of("me")))

    @operation
    def models(self) -> Flow[shapes.ConfiguredModels]:
        """List the models with their prices, who uses them, and whether there is a key. It is for admins."""
        return data(HttpRequest("GET", path_of("models")))

    @operation
    def check_models(self) -> Flow[shapes.CheckedKeys]:
        """Ask every provider whether its key works. It is for admins."""
        return data(HttpRequest("POST", path_of("models", "check"), body={}))

    @listing
    def audit(
        self, since: str | None = None, until: str | None = None, *, action: Literal["session.start", "session.fork",
        "plan.edit", "session.limits", "session.message", "answer.rate", "session.pause", "session.resume",
        "session.cancel", "session.delete", "intervention.read", "intervention.resolve", "file.read", "file.write",
        "file.restore", "file.delete", "agent.create", "agent.replace", "agent.delete", "tool.create", "tool.replace",
        "tool.delete", "tool.call", "mcp_server.write", "mcp_server.delete", "mcp_server.refresh",
        "mcp_server.confirm", "tool_secret.write", "tool_secret.delete", "notifications.write",
        "notifications.delete", "trigger.write", "trigger.delete", "trigger.pause", "trigger.resume", "trigger.send",
        "trigger.replay", "memory.create", "memory.replace", "memory.delete", "prompt.list", "prompt.write",
        "prompt.restore", "schedule.create", "schedule.replace", "schedule.change", "schedule.delete",
        "schedule.pause", "schedule.resume", "schedule.run", "models.check", "audit.read", "usage.read",
        "tenant.backup", "tenant.restore", "tenant.erase", "user.erase", "user.add", "user.remove", "user.sign_out",
        "session.repair", "deployment.repair", "deployment.quarantine", "deployment.lift", "deployment.restored",
        "deployment.rollback", "deployment.verify"] | None = None, user: str | None = None, who: str | None = None,
        session_id: str | None = None, limit: int | None = None
    ) -> Stream[shapes.AuditRecord]:
        """Read who did what, newest first. It is for admins."""
        return pages(
            path_of("audit"), **{"from": since}, to=until, action=action, user=user, who=who, session_id=session_id,
            limit=limit
        )

    @operation
    def health(self) -> Flow[shapes.DeploymentHealth]:
        """Read the release, the tenant's limits, and when recovery last ran. It is for admins."""
        return data(HttpRequest("GET", path_of("admin", "health")))


class AgentCalls(Calls[C]):
    """Who works: prompt, models, tools, limits."""

    @listing
    def list(self, limit: int | None = None) -> Stream[shapes.Agent]:
        """List agents."""
        return pages(path_of("agents"), limit=limit)

    @operation
    def create(self, definition: Mapping[str, Any], *, idempotency_key: str | None = None) -> Flow[shapes.Agent]:
        """Define an agent. It is for admins. Raises ConflictError."""
        return data(HttpRequest("POST", path_of("agents"), body=dict(definition), headers=key(idempotency_key)))

    @operation
    def get(self, agent_id: str) -> Flow[shapes.Agent]:
        """Read an agent. Raises NotFoundError."""
        return data(HttpRequest("GET", path_of("agents", agent_id)))

    @operation
    def replace(self, agent_id: str, definition: Mapping[str, Any]) -> Flow[shapes.Agent]:
        """Replace an agent's definition. The body is the whole definition: absent fields get their defaults. The
        agent `default` may be replaced, too. It is for admins. Raises NotFoundError, ConflictError,
        PreconditionFailedError.
        """
        return data(HttpRequest("PUT", path_of("agents", agent_id), body=dict(definition)))

    @operation
    def delete(self, agent_id: str, version: int | None = None, force: bool = False) -> Flow[None]:
        """Delete an agent. Its memories are kept. An agent that is created later with the same id has them. If
        other agents may call it, the answer is 409, and `details.agents` lists them. With `force=true` it is
        deleted, and they go on without it. It is for admins. Raises NotFoundError, ConflictError,
        PreconditionFailedError.
        """
        return data(HttpRequest("DELETE", path_of("agents", agent_id), {"version": version, "force": force or None}))


class ToolCalls(Calls[C]):
    """What agents can call, and the secrets that tools need."""

    @listing
    def list(self) -> Stream[shapes.Tool]:
        """List tools."""
        return pages(path_of("tools"))

    @operation
    def create(self, definition: Mapping[str, Any], *, idempotency_key: str | None = None) -> Flow[shapes.Tool]:
        """Add a tool. Its kind is `http` or `lambda`. The input is validated against `input_schema` before
        anything runs. A header's value is a text only if its name and value are clearly no credential; all others
        refer to a secret. `{name}` in the path of `url` is an argument; `parameters` says where other arguments
        go, as in OpenAPI. It is for admins. Raises ConflictError.
        """
        return data(HttpRequest("POST", path_of("tools"), body=dict(definition), headers=key(idempotency_key)))

    @operation
    def get(self, name: str) -> Flow[shapes.Tool]:
        """Read a tool. Raises NotFoundError."""
        return data(HttpRequest("GET", path_of("tools", name)))

    @operation
    def replace(self, name: str, definition: Mapping[str, Any]) -> Flow[shapes.Tool]:
        """Replace a tool's definition. It is for admins. Raises NotFoundError, ConflictError,
        PreconditionFailedError.
        """
        return data(HttpRequest("PUT", path_of("tools", name), body=dict(definition)))

    @operation
    def delete(self, name: str, version: int | None = None, force: bool = False) -> Flow[None]:
        """Delete a tool. If agents name the tool, the answer is 409, and `details.agents` lists them. With
        `force=true` it is deleted, and they go on without it. It is for admins. Raises NotFoundError,
        ConflictError, PreconditionFailedError.
        """
        return data(HttpRequest("DELETE", path_of("tools", name), {"version": version, "force": force or None}))

    @operation
    def call(
        self, name: str, input: Mapping[str, Any] | None = None, confirm: bool = False, *,
        idempotency_key: str | None = None
    ) -> Flow[shapes.ToolTrial]:
        """Try a tool. Calls the tool outside a session for at most 20 seconds, with the same checks as in a
        session. A tool of high stakes needs `confirm: true` (else 409), and one with an `approver_role` needs that
        role (else 403). A tool whose calls somebody else has to approve (403) and a built-in tool (409) cannot be
        tried. Invalid input gets 400. After 503 nothing was done. A repeat with the same `Idempotency-Key` makes
        no second call and gets 409. It is for admins. Raises NotFoundError, ConflictError.
        """
        return data(
            HttpRequest("POST", path_of("tools", name, "call"), body=given(input=input, confirm=confirm),
            headers=key(idempotency_key))
        )


class McpServerCalls(Calls[C]):
    """Servers whose tools agents may have, once they are confirmed."""

    @listing
    def list(self) -> Stream[shapes.McpServer]:
        """List the MCP servers. It is for admins."""
        return pages(path_of("mcp-servers"))

    @operation
    def get(self, name: str) -> Flow[shapes.McpServer]:
        """Read an MCP server. It is for admins. Raises NotFoundError."""
        return data(HttpRequest("GET", path_of("mcp-servers", name)))

    @operation
    def write(self, name: str, definition: Mapping[str, Any]) -> Flow[shapes.McpServer]:
        """Name an MCP server, or replace its definition. The answer is also 409 if you confirm a tool and the
        server does not answer. It is for admins. Raises ConflictError, PreconditionFailedError.
        """
        return data(HttpRequest("PUT", path_of("mcp-servers", name), body=dict(definition)))

    @operation
    def delete(self, name: str, version: int | None = None, force: bool = False) -> Flow[None]:
        """Delete an MCP server and its tools. If agents name one of its tools, the answer is 409, and
        `details.agents` lists them. With `force=true` the server is deleted, and the agents go on without its
        tools. It is for admins. Raises NotFoundError, ConflictError, PreconditionFailedError.
        """
        return data(HttpRequest("DELETE", path_of("mcp-servers", name), {"version": version, "force": force or None}))

    @operation
    def refresh(self, name: str) -> Flow[shapes.ListedMcpTools]:
        """Ask an MCP server how it describes its tools now. The answer is 409 if the server does not answer, or
        not as an MCP server does. It is for admins. Raises NotFoundError, ConflictError.
        """
        return data(HttpRequest("POST", path_of("mcp-servers", name, "refresh"), body={}))

    @operation
    def confirm(self, name: str, tools: Mapping[str, Mapping[str, Any]]) -> Flow[shapes.McpServer]:
        """Let agents have tools of an MCP server. The answer is 400 if the server's description of a tool no
        longer fits the pin. It is for admins. Raises NotFoundError, ConflictError, PreconditionFailedError.
        """
        return data(HttpRequest("POST", path_of("mcp-servers", name, "confirm"), body=given(tools=tools)))


class ToolSecretCalls(Calls[C]):
    """Credentials that tools send along. Nobody reads them."""

    @listing
    def list(self) -> Stream[shapes.ToolSecret]:
        """List the secrets that tools' headers refer to. It is for admins."""
        return pages(path_of("tool-secrets"))

    @operation
    def write(self, name: str, value: str, hosts: Sequence[str] | None = None) -> Flow[shapes.ToolSecret]:
        """Set a secret. It is for admins. Raises ConflictError."""
        return data(HttpRequest("PUT", path_of("tool-secrets", name), body=given(value=value, hosts=hosts)))

    @operation
    def delete(self, name: str) -> Flow[None]:
        """Delete a secret. The answer is 409 if a tool, an MCP server or a trigger refers to the secret. It is for
        admins. Raises NotFoundError, ConflictError.
        """
        return data(HttpRequest("DELETE", path_of("tool-secrets", name)))


class NotificationCalls(Calls[C]):
    """Where people are told of questions and ended sessions."""

    @operation
    def read(self) -> Flow[shapes.Notifications]:
        """Read where notifications of questions and ended sessions are sent. It is for admins. Raises
        NotFoundError.
        """
        return data(HttpRequest("GET", path_of("notifications")))

    @operation
    def write(self, url: str | None = None, secret: str | None = None) -> Flow[shapes.Notifications]:
        """Set the URL for notifications and the secret that signs them. The operator must allow the URL's host;
        otherwise the answer is 400. Notifications to sessions' own webhooks are signed with the same secret. It is
        for admins.
        """
        return data(HttpRequest("PUT", path_of("notifications"), body=given(url=url, secret=secret)))

    @operation
    def delete(self) -> Flow[None]:
        """Delete the URL and the secret. Sessions with their own webhook then send no notifications either. It is
        for admins. Raises NotFoundError.
        """
        return data(HttpRequest("DELETE", path_of("notifications")))


class TriggerCalls(Calls[C]):
    """Events from outside that start sessions."""

    @listing
    def list(self) -> Stream[shapes.Trigger]:
        """List the triggers. It is for admins."""
        return pages(path_of("triggers"))

    @operation
    def get(self, trigger_id: str) -> Flow[shapes.TriggerWithCounts]:
        """Read a trigger. It is for admins. Raises NotFoundError."""
        return data(HttpRequest("GET", path_of("triggers", trigger_id)))

    @operation
    def write(self, trigger_id: str, definition: Mapping[str, Any]) -> Flow[shapes.Trigger]:
        """Make a trigger, or replace it. Its sessions are yours: they may do what you may, with the roles that you
        have now. It is for admins. Raises ConflictError, PreconditionFailedError.
        """
        return data(HttpRequest("PUT", path_of("triggers", trigger_id), body=dict(definition)))

    @operation
    def delete(self, trigger_id: str, version: int | None = None) -> Flow[None]:
        """Delete a trigger. Its sessions go on. Events that wait end as `failed`. It is for admins. Raises
        NotFoundError, ConflictError, PreconditionFailedError.
        """
        return data(HttpRequest("DELETE", path_of("triggers", trigger_id), {"version": version}))

    @operation
    def pause(self, trigger_id: str) -> Flow[shapes.Trigger]:
        """Pause a trigger. Events are refused from now on, and kept for a replay. Its sessions go on. It is for
        admins. Raises NotFoundError, ConflictError.
        """
        return data(HttpRequest("POST", path_of("triggers", trigger_id, "pause"), body={}))

    @operation
    def resume(self, trigger_id: str) -> Flow[shapes.Trigger]:
        """Resume a trigger. It is for admins. Raises NotFoundError, ConflictError."""
        return data(HttpRequest("POST", path_of("triggers", trigger_id, "resume"), body={}))

    @listing
    def events(
        self, trigger_id: str, outcome: Literal["waiting", "started", "told", "refused", "failed"] | None = None,
        limit: int | None = None
    ) -> Stream[shapes.TriggerEvent]:
        """List the events of a trigger, newest first. Events of the last 90 days, without what they said. It is
        for admins. Raises NotFoundError.
        """
        return pages(path_of("triggers", trigger_id, "events"), outcome=outcome, limit=limit)

    @operation
    def send(
        self, trigger_id: str, event: Mapping[str, Any], event_id: str | None = None
    ) -> Flow[shapes.DeliveredEvent]:
        """Send an event to a trigger by hand. As its source would, to try it. It is for whoever wrote the trigger
        last. It is for admins. Raises NotFoundError.
        """
        return data(
            HttpRequest("POST", path_of("triggers", trigger_id, "events"), body=given(event=event, event_id=event_id))
        )

    @operation
    def replay(self, trigger_id: str, event_id: str) -> Flow[shapes.TriggerEvent]:
        """Replay an event that was refused or failed. It is tried in the next minute, as the trigger says now. It
        is for admins. Raises NotFoundError, ConflictError.
        """
        return data(HttpRequest("POST", path_of("triggers", trigger_id, "events", event_id, "replay"), body={}))


class PromptCalls(Calls[C]):
    """Managed prompts and their versions."""

    @listing
    def list(self) -> Stream[shapes.Prompt]:
        """List the managed prompts. It is for admins."""
        return pages(path_of("admin", "prompts"))

    @operation
    def get(self, name: str) -> Flow[shapes.PromptInForce]:
        """Read a prompt. It is for admins. Raises NotFoundError."""
        return data(HttpRequest("GET", path_of("admin", "prompts", name)))

    @operation
    def write(
        self, name: str, content: str, comment: str | None = None, expected_version: int | None = None, *,
        active: bool | None = None, applied: Mapping[str, Any] | None = None
    ) -> Flow[shapes.Prompt]:
        """Write a new version of a prompt. The text is in force at once for all agents of the tenant, so read the
        present text first and change only what you mean to change. An earlier version can be restored. The example
        is the release's own text, which changes nothing. With `active` false the version is a draft, which is not
        in force: name it in `prompts` of a start or a fork to try it, and restore it to put it in force. It is for
        admins. Raises NotFoundError, ConflictError, PreconditionFailedError.
        """
        return data(
            HttpRequest("PUT", path_of("admin", "prompts", name), body=given(content=content, comment=comment,
            expected_version=expected_version, active=active, applied=applied))
        )

    @listing
    def versions(self, name: str, limit: int | None = None) -> Stream[shapes.Prompt]:
        """List the versions of a prompt. It is for admins. Raises NotFoundError."""
        return pages(path_of("admin", "prompts", name, "versions"), limit=limit)

    @operation
    def restore(
        self, name: str, version: int, comment: str | None = None, expected_version: int | None = None, *,
        idempotency_key: str | None = None
    ) -> Flow[shapes.Prompt]:
        """Put another version of a prompt in force. It is for admins. Raises NotFoundError, ConflictError,
        PreconditionFailedError.
        """
        return data(
            HttpRequest("POST", path_of("admin", "prompts", name, "versions", str(version), "restore"),
            body=given(comment=comment, expected_version=expected_version), headers=key(idempotency_key))
        )


class MemoryCalls(Calls[C]):
    """What agents keep from one session to the next."""

    @listing
    def list(
        self, agent_id: str | None = None, kind: Literal["fact", "preference", "lesson", "summary"] | None = None, *,
        limit: int | None = None
    ) -> Stream[shapes.Memory]:
        """List memories, newest first."""
        return pages(path_of("memories"), agent_id=agent_id, kind=kind, limit=limit)

    @operation
    def create(
        self, kind: Literal["fact", "preference", "lesson", "summary"], text: str, agent_id: str | None = None,
        tags: Sequence[str] | None = None, *, idempotency_key: str | None = None
    ) -> Flow[shapes.Memory]:
        """Write a memory. A memory that a person writes is used in all sessions of the agent. Raises
        ConflictError.
        """
        return data(
            HttpRequest("POST", path_of("memories"), body=given(kind=kind, text=text, agent_id=agent_id, tags=tags),
            headers=key(idempotency_key))
        )

    @operation
    def get(self, memory_id: str) -> Flow[shapes.Memory]:
        """Read a memory. Raises NotFoundError."""
        return data(HttpRequest("GET", path_of("memories", memory_id)))

    @operation
    def replace(
        self, memory_id: str, kind: Literal["fact", "preference", "lesson", "summary"], text: str,
        shared: Literal[True] | None = None, tags: Sequence[str] | None = None
    ) -> Flow[shapes.Memory]:
        """Replace a memory. Raises NotFoundError, ConflictError, PreconditionFailedError."""
        return data(
            HttpRequest("PUT", path_of("memories", memory_id), body=given(kind=kind, text=text, shared=shared,
            tags=tags))
        )

    @operation
    def delete(self, memory_id: str) -> Flow[None]:
        """Delete a memory. Raises NotFoundError, ConflictError, PreconditionFailedError."""
        return data(HttpRequest("DELETE", path_of("memories", memory_id)))


class ScheduleCalls(Calls[C]):
    """Sessions that start at times."""

    @listing
    def list(self, limit: int | None = None) -> Stream[shapes.Schedule]:
        """List schedules. Admins also see other people's private schedules, without their goals."""
        return pages(path_of("schedules"), limit=limit)

    @operation
    def create(self, definition: Mapping[str, Any], *, idempotency_key: str | None = None) -> Flow[shapes.Schedule]:
        """Have sessions start at times. Each session is yours, and may be what you may start with your present
        roles. Limits and caps hold as for a start by a member. Raises ConflictError.
        """
        return data(HttpRequest("POST", path_of("schedules"), body=dict(definition), headers=key(idempotency_key)))

    @operation
    def get(self, schedule_id: str) -> Flow[shapes.Schedule]:
        """Read a schedule and its next five times. Raises NotFoundError."""
        return data(HttpRequest("GET", path_of("schedules", schedule_id)))

    @operation
    def replace(self, schedule_id: str, definition: Mapping[str, Any]) -> Flow[shapes.Schedule]:
        """Replace a schedule. For whoever wrote it last, and for admins, who may not replace somebody else's
        private one. It is yours from then on. Raises NotFoundError, ConflictError, PreconditionFailedError.
        """
        return data(HttpRequest("PUT", path_of("schedules", schedule_id), body=dict(definition)))

    @operation
    def change(self, schedule_id: str, definition: Mapping[str, Any]) -> Flow[shapes.Schedule]:
        """Change some of a schedule. As for a replacement, and what the body does not name stays as it is. Raises
        NotFoundError, ConflictError, PreconditionFailedError.
        """
        return data(HttpRequest("PATCH", path_of("schedules", schedule_id), body=dict(definition)))

    @operation
    def delete(self, schedule_id: str, version: int | None = None) -> Flow[None]:
        """Delete a schedule. Its sessions stay. Raises NotFoundError, ConflictError, PreconditionFailedError."""
        return data(HttpRequest("DELETE", path_of("schedules", schedule_id), {"version": version}))

    @operation
    def pause(self, schedule_id: str) -> Flow[shapes.Schedule]:
        """Pause a schedule. No time starts a session until somebody resumes it. Times that wait for the session
        before are left out. The session that runs goes on. Raises NotFoundError, ConflictError.
        """
        return data(HttpRequest("POST", path_of("schedules", schedule_id, "pause"), body={}))

    @operation
    def resume(self, schedule_id: str) -> Flow[shapes.Schedule]:
        """Resume a schedule. It goes on with the next time. Times that came while it was paused are not made up
        for. Raises NotFoundError, ConflictError.
        """
        return data(HttpRequest("POST", path_of("schedules", schedule_id, "resume"), body={}))

    @operation
    def run(self, schedule_id: str, *, idempotency_key: str | None = None) -> Flow[shapes.Session]:
        """Start a schedule's session now. Whatever else of it is open, and also while it is paused. Its times stay
        as they are. Raises NotFoundError, ConflictError, RateLimitError, TooManyOpenSessionsError.
        """
        return data(
            HttpRequest("POST", path_of("schedules", schedule_id, "run"), body={}, headers=key(idempotency_key))
        )

    @listing
    def runs(self, schedule_id: str, limit: int | None = None) -> Stream[shapes.ScheduleRun]:
        """Read what became of a schedule's times. Of the last 90 days. Raises NotFoundError."""
        return pages(path_of("schedules", schedule_id, "runs"), limit=limit)
