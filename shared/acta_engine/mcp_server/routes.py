"""`/mcp`: sessions for clients of the Model Context Protocol (docs/design/api.md, ADR 94).

A call of a tool is a request to a route of `/v1`, asked from within: the route's own checks, limits and records hold.
"""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from acta_engine.agents.agent import AgentDefinition
from acta_engine.api import error_answers as errors
from acta_engine.api.app import Api
from acta_engine.api.envelope import JSON, Response
from acta_engine.api.json_body import UnsupportedMediaType
from acta_engine.app import App
from acta_engine.errors import FieldsInvalid, Forbidden
from acta_engine.mcp_server.protocol import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    STATELESS,
    TASKS,
    VERSIONS,
    WITH_HANDSHAKE,
    RefusedByActa,
    RpcError,
    RpcMessage,
    accepted,
    answered,
    envelope,
    message_of,
    refused,
    server_info,
)
from acta_engine.mcp_server.tasks import (
    OVER,
    decisions,
    error_in,
    of_response,
    result_of,
    started,
    task_of,
)
from acta_engine.mcp_server.tools import AGENT, OFFERED, agent_request, agent_tool, tool_of
from acta_engine.people.policies import has_one_of
from acta_engine.people.routes import add_routes as add_intervene
from acta_engine.sessions.answers import session_view
from acta_engine.sessions.history import History, whole_answer
from acta_engine.sessions.routes import add_routes as add_status
from acta_engine.sessions.start_routes import add_routes as add_start

Json = dict[str, Any]

PAGE = 50
"""Agents in one page of tools."""
LIST_TTL_MS = 60_000
"""For so long a client may keep the list of tools. An agent that is new is missing for so long."""
DISCOVER_TTL_MS = 3_600_000
INSTRUCTIONS = (
    "Acta runs agents that work on goals on their own, for minutes or days. Each tool agent_… hands a goal to one "
    "agent. watch_session tells how far a session is. Agents ask people before risky calls: show such a question to "
    "the person you work for and decide as they say."
)


def build(deps: App) -> Api:
    api = Api("mcp", deps.settings, audit=deps.audit, limiter=deps.limiter)
    add_start(api, deps)
    add_status(api, deps)
    add_intervene(api, deps)

    @api.on("askOverMcp")
    def mcp() -> Response:
        _check_page(api.request.headers, deps.settings.cors_origins)
        _check_accept(api.request.headers.get("accept", ""))
        identity = None
        try:
            body, identity = envelope(api.request.text)
            message = message_of(body, api.request.headers)
            return accepted() if message.id is None else answer(message)
        except RpcError as error:
            return refused(identity, error)

    def answer(message: RpcMessage) -> Response:
        def act() -> Response:
            try:
                return answered(message, result(message), deps.settings.release)
            except RpcError as error:
                return refused(message.id, error)
            except RefusedByActa as refusal:
                return refusal.response

        response = api.told(act)
        error = None if response.code is None else as_error(response)
        return response if error is None else refused(message.id, error)

    def result(message: RpcMessage) -> Json:
        """Raises RpcError, and what a route of `/v1` would answer with an error."""
        method = methods[message.version].get(message.method)
        if method is None:
            status = 404 if message.is_stateless else 200
            raise RpcError(METHOD_NOT_FOUND, "There is no such method.", status=status)
        return method(message)

    def spend() -> None:
        """One request of the tenant's rate, for what is no request to a route of `/v1`. Raises LimitReached."""
        if api.limiter is not None:
            api.limiter.spend(api.caller.tenant)

    def discover(message: RpcMessage) -> Json:
        spend()
        capabilities: Json = {"tools": {}, "extensions": {TASKS: {}}}
        told: Json = {
            "supportedVersions": list(VERSIONS),
            "capabilities": capabilities,
            "instructions": INSTRUCTIONS,
        }
        return {**told, "ttlMs": DISCOVER_TTL_MS, "cacheScope": "public"}

    def initialize(message: RpcMessage) -> Json:
        spend()
        return {
            "protocolVersion": WITH_HANDSHAKE,
            "capabilities": {"tools": {}, "tasks": {"cancel": {}, "requests": {"tools": {"call": {}}}}},
            "serverInfo": server_info(deps.settings.release),
            "instructions": INSTRUCTIONS,
        }

    def ping(message: RpcMessage) -> Json:
        spend()
        return {}

    def list_tools(message: RpcMessage) -> Json:
        """On the first page Acta's own tools, then the agents that the caller may start, page by page."""
        spend()
        cursor = message.params.get("cursor")
        if cursor is not None and not isinstance(cursor, str):
            raise RpcError(INVALID_PARAMS, "params.cursor is a text.")
        try:
            found = deps.definitions.agents(api.caller.tenant, limit=PAGE, cursor=cursor)
        except ValueError:
            raise RpcError(INVALID_PARAMS, "params.cursor is none of this list's.") from None
        tools = [] if cursor else [tool_of(api, name).view() for name in OFFERED]
        tools += [agent_tool(agent) for agent in found.agents if may_start(agent)]
        told: Json = {"tools": tools}
        if found.cursor is not None:
            told["nextCursor"] = found.cursor
        if message.is_stateless:
            told |= {"ttlMs": LIST_TTL_MS, "cacheScope": "private"}
        return told

    def may_start(agent: AgentDefinition) -> bool:
        return not agent.start_roles or has_one_of(agent.start_roles, api.caller.roles)

    def call_tool(message: RpcMessage) -> Json:
        name, arguments = message.text("name"), message.params.get("arguments", {})
        if not isinstance(arguments, dict):
            raise RpcError(INVALID_PARAMS, "params.arguments is an object.")
        tool, key = tool_of(api, name) if name in OFFERED else None, message.idempotency_key
        if tool is None and not name.startswith(AGENT):
            raise RpcError(INVALID_PARAMS, "There is no such tool.")
        try:
            inner = agent_request(name, arguments, key) if tool is None else tool.request(arguments, key)
        except FieldsInvalid as wrong:
            return of_response(errors.answer(wrong))
        response = api.ask(inner)
        if tool is not None or response.code is not None:
            return of_response(response)
        if not message.takes_tasks:
            return started(response.data)
        task = task_of(response.data, message, deps.settings.poll_after_ms)
        return {"resultType": "task", **task} if message.is_stateless else {"task": task}

    def get_task(message: RpcMessage) -> Json:
        spend()
        session = session_of(message)
        told = task_of(session, message, deps.settings.poll_after_ms)
        if message.is_stateless and told["status"] == "completed":
            told["result"] = result_of(session)
        return told

    def task_result(message: RpcMessage) -> Json:
        """The version with a handshake says that this waits until the task is over. Behind a gateway that ends each
        request after half a minute it cannot: a client that asks too early is told to come again.
        """
        spend()
        session = session_of(message)
        if session["state"] not in OVER:
            raise RpcError(INVALID_PARAMS, "The task is not over. Poll tasks/get, and ask again when it is.")
        related = {"io.modelcontextprotocol/related-task": {"taskId": session["session_id"]}}
        return {**result_of(session), "_meta": related}

    def cancel_task(message: RpcMessage) -> Json:
        """The stateless version acknowledges the wish, also of a task that is over; the other one refuses it there."""
        session_id = message.text("taskId")
        is_over = session_of(message)["state"] in OVER
        if is_over and not message.is_stateless:
            raise RpcError(INVALID_PARAMS, "The task is over.")
        if is_over:
            spend()
        else:
            try:
                done(api.ask(tool_of(api, "cancel_session").request({"session_id": session_id}, None)))
            except RefusedByActa:  # it may have ended in this moment
                if not message.is_stateless or session_of(message)["state"] not in OVER:
                    raise
        if message.is_stateless:
            return {}
        return task_of(session_of(message), message, deps.settings.poll_after_ms)

    def update_task(message: RpcMessage) -> Json:
        spend()
        responses = message.params.get("inputResponses")
        if not isinstance(responses, dict):
            raise RpcError(INVALID_PARAMS, "params.inputResponses is an object.")
        session = session_of(message)
        for intervention_id, decision in decisions(session, responses):
            about = {"session_id": session["session_id"], "intervention_id": intervention_id}
            done(api.ask(tool_of(api, "decide").request({**about, **decision}, None)))
        return {}

    def session_of(message: RpcMessage) -> Json:
        """As the API shows it, with its whole answer. Raises SessionNotFound."""
        log, blobs = deps.log, deps.blobs
        head = History(log, blobs, api.caller.tenant, message.text("taskId")).head
        answer = whole_answer(log, blobs, head) if head.state == "completed" else None
        return dict(session_view(head, answer, deps.clock.now()))

    methods: Mapping[str, Mapping[str, Callable[[RpcMessage], Json]]] = {
        STATELESS: {
            "server/discover": discover,
            "tools/list": list_tools,
            "tools/call": call_tool,
            "tasks/get": get_task,
            "tasks/update": update_task,
            "tasks/cancel": cancel_task,
        },
        WITH_HANDSHAKE: {
            "initialize": initialize,
            "ping": ping,
            "tools/list": list_tools,
            "tools/call": call_tool,
            "tasks/get": get_task,
            "tasks/result": task_result,
            "tasks/cancel": cancel_task,
        },
    }
    return api


def done(response: Response) -> Response:
    """The same. Raises RefusedByActa."""
    if response.code is not None:
        raise RefusedByActa(response)
    return response


def as_error(response: Response) -> RpcError | None:
    """What is wrong with the request itself, as JSON-RPC has it. Acta's code is a word, so it is in `data`, and the
    number is the HTTP status. None: it is the caller or the time that is wrong (403, 429, 5xx), as HTTP says.
    """
    status = response.status
    if status in (403, 429) or status >= 500:
        return None
    error = error_in(response)
    return RpcError(INVALID_PARAMS if status in (400, 404) else status, error["message"], error)


def _check_page(headers: Mapping[str, str], allowed: str) -> None:
    """A web page may ask where it is one of the deployment's own, or of those that the environment names. Raises
    Forbidden. A program sends no `Origin`.
    """
    origin = headers.get("origin")
    if origin is None or allowed == "*" or origin in allowed.split(","):
        return
    if urlsplit(origin).netloc != headers.get("host"):
        raise Forbidden("Pages of this origin may not use this.")


def _check_accept(accepted_types: str) -> None:
    """Raises UnsupportedMediaType where the client takes no JSON. Nothing here is streamed."""
    kinds = {each.partition(";")[0].strip().lower() for each in accepted_types.split(",")} - {""}
    if kinds and not kinds & {JSON, "application/*", "*/*"}:
        raise UnsupportedMediaType("The answer is JSON: send Accept: application/json, text/event-stream.")
