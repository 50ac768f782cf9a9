"""The tool registry: `/v1/tools` (design §7). The builtins are there to read; admins add their tenant's own."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body

from shared.adapters.egress.address import Guard
from shared.adapters.tools.tenant.definition import Unusable, check_schema, to_config
from shared.api.app import Api
from shared.api.request.bodies import CreateTool, PutTool
from shared.api.request.idempotency import IdempotencyGuard
from shared.api.response.definition_views import tool_view
from shared.api.response.envelope import no_content, success
from shared.api.response.etag import admits, etag
from shared.domain.definitions.builtins import builtins
from shared.domain.definitions.tool import MAX_TENANT_TOOLS, ToolDefinition, ToolSpec
from shared.domain.errors import Conflict, NotFound, ValidationFailed
from shared.ports.clock import Clock
from shared.ports.definitions import ToolChanged, ToolExists, ToolStore
from shared.ports.log import IdempotencyRecord


def registered(store: ToolStore, tenant: str) -> dict[str, ToolSpec]:
    """Builtins first, then the tenant's, by name: what an agent of the tenant may be given."""
    added = {tool.name: tool for tool in store.all(tenant) if tool.name not in builtins()}
    return {**builtins(), **added}


def add_tools(api: Api, store: ToolStore, once: IdempotencyGuard, clock: Clock, guard: Guard) -> None:
    @api.get("/v1/tools")
    def list_tools() -> Response[str]:
        """All of them: a tenant's own are at most `MAX_TENANT_TOOLS`."""
        found = registered(store, api.caller.tenant)
        return success({"items": [tool_view(spec) for spec in found.values()], "next_cursor": None})

    @api.get("/v1/tools/{name}")
    def read_tool(name: str) -> Response[str]:
        if name in builtins():
            return success(tool_view(builtins()[name]))
        return _answer(_found(store, api.caller.tenant, name))

    @api.post("/v1/tools")
    def create_tool(body: Annotated[CreateTool, Body()]) -> Response[str]:
        tenant, now = api.caller.tenant, clock.now()
        tool = _definition(body, body.name, guard, 1, now, now)

        def act(record: Callable[[ToolDefinition], IdempotencyRecord] | None) -> dict[str, Any]:
            own = store.all(tenant)
            if tool.name in builtins() or any(tool.name == each.name for each in own):
                raise _taken()
            if len(own) >= MAX_TENANT_TOOLS:
                raise Conflict(f"There are {MAX_TENANT_TOOLS} tools already, which is the most. Delete one.")
            try:
                store.create(tenant, tool, record and record(tool))
            except ToolExists:
                raise _taken() from None
            return tool_view(tool)

        view, _ = once.answer(api.incoming, tenant, tool_view, act, status=201)
        return success(view, 201, {"Location": f"/v1/tools/{view['name']}"})

    @api.put("/v1/tools/{name}")
    def replace_tool(name: str, body: Annotated[PutTool, Body()]) -> Response[str]:
        tenant = api.caller.tenant
        old = _own(store, tenant, name)
        if body.version not in (None, old.version):
            raise _changed()
        _check_match(api, old)
        new = _definition(body, name, guard, old.version + 1, old.created_at, clock.now())
        try:
            store.replace(tenant, old, new)
        except ToolChanged:
            raise _changed() from None
        return _answer(new)

    @api.delete("/v1/tools/{name}")
    def delete_tool(name: str) -> Response[str]:
        """Agents that name it keep the name: it means nothing until a tool of that name is there again."""
        tenant = api.caller.tenant
        old = _own(store, tenant, name)
        _check_match(api, old)
        try:
            store.delete(tenant, old)
        except ToolChanged:
            raise _changed() from None
        return no_content()


def _definition(
    body: PutTool, name: str, guard: Guard, version: int, created_at: datetime, updated_at: datetime
) -> ToolDefinition:
    try:
        check_schema(body.input_schema)
        config = to_config(body.kind, body.config, guard)
    except Unusable as unusable:
        raise ValidationFailed(f"The request is not valid: {unusable}.", unusable.problems) from None
    return ToolDefinition(
        name=name,
        description=body.description.strip(),
        input_schema=body.input_schema,
        kind=body.kind,
        config=config,
        effect=body.effect,
        risk=body.risk,
        high_stakes=body.high_stakes,
        repeatable=body.repeatable,
        timeout_seconds=body.timeout_seconds,
        result_limit_bytes=body.result_limit_bytes,
        cache_seconds=body.cache_seconds,
        version=version,
        created_at=created_at,
        updated_at=updated_at,
    )


def _found(store: ToolStore, tenant: str, name: str) -> ToolDefinition:
    tool = store.get(tenant, name)
    if tool is None:
        raise NotFound("There is no tool of this name.")
    return tool


def _own(store: ToolStore, tenant: str, name: str) -> ToolDefinition:
    if name in builtins():
        raise Conflict("This tool is built in: it can be neither replaced nor deleted.")
    return _found(store, tenant, name)


def _tag(tool: ToolDefinition) -> str:
    return etag(tool.version, int(tool.created_at.timestamp() * 1_000))


def _check_match(api: Api, tool: ToolDefinition) -> None:
    if not admits(api.incoming.headers.get("if-match"), _tag(tool)):
        raise _changed()


def _changed() -> Conflict:
    return Conflict("The tool was changed meanwhile. Read it again and decide anew.")


def _taken() -> Conflict:
    message = "There is a tool of this name already."
    return Conflict(message, {"name": [message]})


def _answer(tool: ToolDefinition) -> Response[str]:
    return success(tool_view(tool), headers={"ETag": _tag(tool)})
