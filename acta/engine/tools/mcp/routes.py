"""MCP servers: `/v1/mcp-servers` (docs/design/tools.md 47). An admin names one, looks at what it says of its tools,
and confirms those that agents may have.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import ConfigDict, Field, WithJsonSchema

from acta.engine.agents.store import check_not_named
from acta.engine.api.app import Api
from acta.engine.api.envelope import Response, page, success
from acta.engine.api.json_body import RequestBody
from acta.engine.api.resource import Applicable, Resource, applied_after, version_tag
from acta.engine.app import App
from acta.engine.egress.address import AddressRefused
from acta.engine.errors import Conflict, FieldsInvalid
from acta.engine.people.policies import RoleName
from acta.engine.tools.mcp import server as mcp_server
from acta.engine.tools.mcp.answers import listed_view, mcp_server_view
from acta.engine.tools.mcp.server import (
    MAX_SERVER_TOOLS,
    MAX_SERVERS,
    SERVER_NAME_PATTERN,
    SERVER_NAME_RULE,
    ConfirmedTool,
    McpServer,
    Pin,
    Url,
    specs_of,
)
from acta.engine.tools.routes import HOW_TO_SET, unsendable
from acta.engine.tools.tool import MAX_TOOL_SECONDS, USUAL_TOOL_SECONDS

Name = Annotated[str, WithJsonSchema({"type": "string", "pattern": SERVER_NAME_PATTERN})]
"""The handler checks it, to say what is wrong in its own words."""

Listed = Mapping[str, Any]
"""A tool as `acta/engine/tools/operations.py` answers with it."""


class McpAuth(mcp_server.McpServerAuth):
    """One of both."""

    model_config = ConfigDict(strict=True)


class ConfirmMcpTool(RequestBody):
    """A tool that agents may have."""

    pin: Pin
    """Of what you have seen: a refresh shows it."""
    confirmed_read: bool = False
    """It only reads, as its server says."""
    high_stakes: bool | None = None
    """A person approves each call. Absent: unless it only reads."""
    approver_role: RoleName | None = None
    """Who decides on its calls."""


ConfirmedTools = Annotated[
    dict[Annotated[str, Field(min_length=1, max_length=128)], ConfirmMcpTool],
    Field(max_length=MAX_SERVER_TOOLS),
]


class PutMcpServer(Applicable):
    """A whole definition. Absent fields take their defaults."""

    EXAMPLES: ClassVar = {
        "bearer": {"url": "https://mcp.example.com/mcp", "auth": {"secret": "desk_key"}},
        "client credentials": {
            "url": "https://mcp.example.com/mcp",
            "auth": {
                "client_credentials": {
                    "client_id": "acta",
                    "secret": "desk_client",
                    "token_url": "https://login.example.com/token",
                }
            },
        },
    }

    name: str | None = None
    """The name in the path, or absent: a server cannot be renamed."""
    url: Url
    """Where it answers, streamable HTTP. https, of a host that the operator allows."""
    auth: McpAuth | None = None
    """How calls prove who they are. Absent: they do not."""
    timeout_seconds: Annotated[int, Field(ge=1, le=MAX_TOOL_SECONDS)] = USUAL_TOOL_SECONDS
    """The most seconds that one call may take."""
    tools: ConfirmedTools | None = None
    """The tools that agents may have, by the server's names. Absent: those that are confirmed already; none where the
    URL changes."""
    version: Annotated[int, Field(ge=1)] | None = None
    """The version that it replaces; with another one in force: 409."""


class ConfirmMcpTools(RequestBody):
    """Tools to confirm, beside those that are confirmed already."""

    EXAMPLES: ClassVar = {"read": {"tools": {"search": {"pin": "0" * 64, "confirmed_read": True}}}}

    tools: ConfirmedTools
    """By the server's names for them."""


def _servers(api: Api) -> Resource[McpServer]:
    return Resource[McpServer](
        api,
        find=api.app.server_definitions.get,
        view=mcp_server_view,
        tag=version_tag,
        missing="There is no MCP server of this name.",
        changed="The MCP server was changed meanwhile. Read it again and decide again.",
    )


def _listed(api: Api, server: McpServer) -> tuple[dict[str, Listed], str | None]:
    """What the server says of its tools now, by name, and why these are not all."""
    auth = None if server.auth is None else server.auth.model_dump(mode="json")
    given = {"name": server.name, "url": server.url, "auth": auth}
    answer = api.app.tool_function.ask("list_mcp_tools", api.caller.tenant, api.caller.user, given)
    if "refused" in answer:
        raise Conflict(answer["refused"])
    if "failed" in answer:
        named = (("server", "said"), ("token_url", "tokens_from"))
        said = {field: [answer[name]] for field, name in named if answer.get(name)}
        raise Conflict(f"The MCP server {server.name} {answer['failed']}.", said or None)
    return {one["tool"]: one for one in answer["tools"]}, answer.get("broken")


def _confirmed_by(
    api: Api, server: McpServer, wanted: Mapping[str, ConfirmMcpTool], known: McpServer | None
) -> tuple[ConfirmedTool, ...]:
    """`known`: the tools that were confirmed before at the same URL. The server is asked about all others."""
    asked: dict[str, Listed] | None = None
    tools, wrong = [], dict[str, list[str]]()
    for name, one in wanted.items():
        old = None if known is None else known.confirmed(name)
        if old is not None and (old.pin, old.confirmed_read or not one.confirmed_read) == (one.pin, True):
            tools.append(_with_wishes(old, one))
            continue
        asked = _listed(api, server)[0] if asked is None else asked
        problem = _problem(asked.get(name), one)
        if problem is None:
            said = {field: asked[name][field] for field in ("tool", "description", "input_schema", "pin")}
            new = ConfirmedTool(**said, confirmed_at=api.app.clock.now(), confirmed_by=api.caller.user)
            tools.append(_with_wishes(new, one))
        else:
            wrong[f"tools.{name}"] = [problem]
    if wrong:
        raise FieldsInvalid(wrong)
    return tuple(tools)


def list_mcp_servers(api: Api) -> Response:
    """All on one page: a tenant has at most `MAX_SERVERS`."""
    return page([mcp_server_view(each) for each in api.app.server_definitions.all(api.caller.tenant)], None)


def read_mcp_server(api: Api, name: str) -> Response:
    servers = _servers(api)
    return servers.answer(servers.get(name))


def write_mcp_server(
    api: Api,
    name: Name,
    body: PutMcpServer,
) -> Response:
    servers = _servers(api)
    tenant, now = api.caller.tenant, api.app.clock.now()
    old = api.app.server_definitions.get(tenant, name)
    if old is None:
        if not re.fullmatch(SERVER_NAME_PATTERN, name):
            raise FieldsInvalid({"name": [SERVER_NAME_RULE]})
        if len(api.app.server_definitions.all(tenant)) >= MAX_SERVERS:
            raise Conflict(f"There are {MAX_SERVERS} MCP servers already, which is the most. Delete one.")
        if body.version is not None or "if-match" in api.request.headers:
            raise servers.refusal()
    else:
        servers.check_as_read(old, body.version)
    _check(body, name, tenant, api.app)
    new = McpServer(
        name=name,
        url=body.url,
        auth=body.auth,
        timeout_seconds=body.timeout_seconds,
        applied=applied_after(body, None if old is None else old.applied),
        quotation_key=api.app.clock.new_id("mcp") if old is None else old.quotation_key,
        version=1 if old is None else old.version + 1,
        created_at=now if old is None else old.created_at,
        updated_at=now,
    )
    same = old if old is not None and old.url == new.url else None
    if body.tools is not None:
        new = new.model_copy(update={"tools": _confirmed_by(api, new, body.tools, same)})
    elif same is not None:
        new = new.model_copy(update={"tools": same.tools})
    if old is not None:
        return servers.replaced(api.app.server_definitions.replace, old, new)
    with servers.writing():
        api.app.server_definitions.create(tenant, new)
    return success(mcp_server_view(new), 201)


def delete_mcp_server(
    api: Api, name: str, version: Annotated[int | None, Field(ge=1)] = None, force: bool = False
) -> Response:
    """Its tools are gone with it. Agents that name them keep the names, so it takes `force` to delete such a server."""
    servers = _servers(api)
    old = servers.get_as_read(name, version)
    if not force:
        offered = [tool.name for tool in specs_of(old)]
        check_not_named(
            api.app.definitions,
            api.caller.tenant,
            lambda agent: agent.needs_one_of(offered),
            as_what="tools of this server",
        )
    return servers.deleted(api.app.server_definitions.delete, old)


def refresh_mcp_server(api: Api, name: str) -> Response:
    """Asks the server for its tools and shows them next to what was confirmed. Nothing is stored."""
    server = _servers(api).get(name)
    return success(listed_view(server, *_listed(api, server)))


def confirm_mcp_tools(api: Api, name: str, body: ConfirmMcpTools) -> Response:
    servers = _servers(api)
    old = servers.get_as_read(name)
    new = {one.tool: one for one in _confirmed_by(api, old, body.tools, old)}
    tools = (*(one for one in old.tools if one.tool not in new), *new.values())
    if len(tools) > MAX_SERVER_TOOLS:
        raise Conflict(f"A server has at most {MAX_SERVER_TOOLS} confirmed tools. Leave some out.")
    written = old.model_copy(
        update={"tools": tools, "version": old.version + 1, "updated_at": api.app.clock.now()}
    )
    return servers.replaced(api.app.server_definitions.replace, old, written)


def _check(body: PutMcpServer, name: str, tenant: str, deps: App) -> None:
    """Raises FieldsInvalid where no call could be made."""
    wrong: dict[str, list[str]] = {}
    if body.name not in (None, name):
        wrong["name"] = ["A server keeps its name. Leave it out, or give the one in the path."]
    if body.timeout_seconds > deps.settings.longest_tool_seconds:
        wrong["timeout_seconds"] = [
            f"A call has at most {deps.settings.longest_tool_seconds} seconds in this environment."
        ]
    client = None if body.auth is None else body.auth.client_credentials
    urls = {"url": body.url}
    if client is not None:
        urls["auth.client_credentials.token_url"] = client.token_url
    guard = deps.tool_hosts
    for field, url in urls.items():
        try:
            guard.check(url)
        except AddressRefused as refused:
            wrong[field] = [f"This URL cannot be used: {refused}."]
    if body.auth is not None and not wrong:
        secret = body.auth.secret_name
        known = next((each for each in deps.secret_names.all(tenant) if each.name == secret), None)
        if known is None:
            wrong["auth"] = [f"There is no secret called {secret}. {HOW_TO_SET}"]
        elif why := unsendable(
            known, body.auth.secret_sent_to(body.url), "url" if client is None else "token_url"
        ):
            wrong["auth"] = [why]
    if wrong:
        raise FieldsInvalid(wrong)


def _problem(listed: Listed | None, wanted: ConfirmMcpTool) -> str | None:
    """What keeps a tool from being confirmed."""
    if listed is None:
        return "The server has no such tool."
    if listed["unusable"] is not None:
        return f"No agent can have it: {listed['unusable']}"
    if listed["pin"] != wanted.pin:
        return (
            "The server describes it otherwise now. Look at it again and give the pin of what you have seen."
        )
    if wanted.confirmed_read and not listed["reads"]:
        return "The server does not say that it only reads (readOnlyHint), so nobody can confirm it."
    return None


def _with_wishes(tool: ConfirmedTool, wanted: ConfirmMcpTool) -> ConfirmedTool:
    """A person approves each call of a tool that does more than read, unless the admin says otherwise."""
    asks = wanted.approver_role is not None or not wanted.confirmed_read
    return tool.model_copy(
        update={
            "confirmed_read": wanted.confirmed_read,
            "high_stakes": asks if wanted.high_stakes is None else wanted.high_stakes,
            "approver_role": wanted.approver_role,
        }
    )
