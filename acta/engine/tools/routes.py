"""The tool registry: `/v1/tools` (docs/design/tools.md). Built-in tools can only be read; admins add their tenant's
own."""

from functools import partial
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from acta.engine.agents.store import (
    DefinitionExists,
    ToolSecretNames,
    check_not_named,
)
from acta.engine.api.app import Api
from acta.engine.api.envelope import Response, page, success
from acta.engine.api.idempotency import Json, idempotency_key, record_of
from acta.engine.api.json_body import RequestBody
from acta.engine.api.resource import Applicable, Resource, applied_after, version_tag
from acta.engine.clock import EFFECT
from acta.engine.errors import AnswerLost, CallerError, Conflict, FieldsInvalid, TransientError
from acta.engine.log.commit import IdempotencyRecord, milliseconds
from acta.engine.people.policies import ANYONE, Policy, RoleName, who_decides
from acta.engine.settings import Settings
from acta.engine.tools.answers import tool_view, trial_view, who_approves_view
from acta.engine.tools.builtin import builtins, offered
from acta.engine.tools.builtin.search import FIND_TOOLS, offered_tools
from acta.engine.tools.mcp.server import SEPARATOR, with_servers
from acta.engine.tools.port import Trial
from acta.engine.tools.tenant.definition import (
    Unusable,
    check_fixed,
    check_schema,
    check_timeout,
    to_config,
)
from acta.engine.tools.tool import (
    HOW_TO_HOST,
    MAX_DESCRIPTION_CHARS,
    MAX_RESULT_LIMIT_BYTES,
    MAX_TENANT_TOOLS,
    MAX_TOOL_SECONDS,
    TOOL_NAME_PATTERN,
    USUAL_TOOL_SECONDS,
    Effect,
    HttpConfig,
    LaterRule,
    Risk,
    ToolDefinition,
    ToolSecret,
    ToolSpec,
    is_high_stakes_unless_said,
    with_approver,
)
from acta.engine.untrusted.texts import NOT_BLANK, READABLE, JsonObject

HOW_TO_SET = "Set it first: PUT /v1/tool-secrets/NAME, or `acta tools secrets set NAME --host HOST`."


def unsendable(secret: ToolSecret, url: str, host_of: str) -> str | None:
    """The sentence about a definition whose URL the secret may not be sent to. `host_of`: the field with the URL."""
    why = secret.refused_for(url)
    return why and f"The secret {secret.name} is not sent to the host of {host_of}: it {why}. {HOW_TO_HOST}"


def refuse_default(_: object) -> None:
    """Refuses a default action: in a tool's definition it could approve the tool's calls."""
    raise ValueError(
        "A tool has no default of its own: no default approves a call, and a call that nobody decides on is rejected. "
        "Deadlines and roles are in an agent's interventions."
    )


NoDefault = Annotated[None, BeforeValidator(refuse_default)]


class PutTool(Applicable):
    """A whole definition. Absent fields take their defaults."""

    EXAMPLES: ClassVar = {
        "http": {
            "description": "Finds orders by the customer's number, newest first.",
            "kind": "http",
            "config": {"url": "https://api.example.com/orders?sort=newest", "method": "GET"},
            "input_schema": {"type": "object", "properties": {"customer": {"type": "string"}}},
            "effect": "read",
        },
    }

    name: str | None = None
    """The name in the path, or absent: a tool cannot be renamed."""
    description: Annotated[str, Field(max_length=MAX_DESCRIPTION_CHARS), READABLE, NOT_BLANK]
    """What it does, for the model that chooses it."""
    input_schema: JsonObject
    """JSON Schema 2020-12 of an object. What it does not name is refused unless it says `additionalProperties` itself.
    """
    kind: Literal["http", "lambda", "mcp"]
    """How it is called."""
    config: JsonObject
    """Where it is: `{url, method, headers?, parameters?}` of kind `http`, `{function}` of kind `lambda`."""
    effect: Effect = "once"
    """What becomes of a call whose end is not known: `read` runs again, `idempotent` runs again under the same id,
    `once` never runs again without a person."""
    risk: Risk = "network"
    """What it touches."""
    high_stakes: bool | None = None
    """A person approves each call. Absent: by its name, effect and risk."""
    approver_role: RoleName | None = None
    """The role that decides on its calls, whichever agent makes them."""
    approver_must_differ: bool | None = None
    """Nobody who asked for a call may approve it. Absent: where it has an `approver_role`."""
    repeatable: bool = False
    """Identical calls do not mean that a run is stuck."""
    timeout_seconds: Annotated[int, Field(ge=1, le=MAX_TOOL_SECONDS)] = USUAL_TOOL_SECONDS
    """The most seconds that one call may take."""
    result_limit_bytes: Annotated[int, Field(ge=256, le=MAX_RESULT_LIMIT_BYTES)] = 65_536
    """The model gets the beginning of a longer result; all of it is stored."""
    later: LaterRule | None = None
    """Its calls may be answered later: each gets a callback URL."""
    version: Annotated[int, Field(ge=1)] | None = None
    """The version that it replaces; with another one in force: 409."""
    # These two are fields so that they are refused with the reason.
    default_action: NoDefault = None
    interventions: NoDefault = None


class CreateTool(PutTool):
    """A whole definition. Absent fields take their defaults."""

    EXAMPLES: ClassVar = {
        "http": {
            "name": "find_orders",
            "description": "Finds orders by the customer's number.",
            "kind": "http",
            "config": {"url": "https://api.example.com/orders", "method": "GET"},
            "input_schema": {
                "type": "object",
                "properties": {"customer": {"type": "string"}},
                "required": ["customer"],
            },
            "effect": "read",
        },
        "path and query": {
            "name": "order_lines",
            "description": "The lines of an order, those with a word in their text or all.",
            "kind": "http",
            "config": {
                "url": "https://api.example.com/orders/{order_id}/lines",
                "method": "GET",
                "parameters": {"word": {"in": "query", "name": "q"}},
            },
            "input_schema": {
                "type": "object",
                "properties": {"order_id": {"type": "string"}, "word": {"type": "string"}},
                "required": ["order_id"],
            },
            "effect": "read",
        },
    }

    name: Annotated[str, Field(pattern=TOOL_NAME_PATTERN)]
    """What agents call it."""
    version: None = None
    """The version that it replaces; with another one in force: 409."""


class CallTool(RequestBody):
    """A trial call."""

    EXAMPLES: ClassVar = {
        "read": {"input": {"customer": "7"}},
        "high stakes": {"input": {"order": "7", "cents": 1250}, "confirm": True},
    }

    input: JsonObject = Field(default_factory=dict)
    """The arguments, as the tool's `input_schema` has them."""
    confirm: bool = False
    """Confirms that a tool of high stakes is to run. Without it such a call is refused with 409."""


def _view(api: Api, tool: ToolSpec) -> Json:
    """The tool with the approver's role that holds, and with the definition's if an operator has named another."""
    chosen = api.app.settings
    holds = with_approver(tool, chosen.tool_approvers, api.caller.tenant)
    if holds.has_high_stakes and chosen.high_stakes_approver != ANYONE:
        roles, others_only = who_decides(holds, Policy(), chosen.high_stakes_approver)
        holds = holds.model_copy(
            update={"approver_role": next(iter(roles), None), "approver_must_differ": others_only}
        )
    if holds == tool or not isinstance(tool, ToolDefinition):
        return tool_view(holds)
    return {**tool_view(holds), "as_defined": who_approves_view(tool)}


def _tools(api: Api) -> Resource[ToolDefinition]:
    return Resource[ToolDefinition](
        api,
        find=api.app.tool_definitions.get,
        view=partial(_view, api),
        tag=version_tag,
        missing="There is no tool of this name.",
        changed="The tool was changed meanwhile. Read it again and decide again.",
    )


def list_tools(api: Api) -> Response:
    """All on one page: a tenant has at most `MAX_TENANT_TOOLS`."""
    tenant = api.caller.tenant
    first = offered(api.app.settings.offered_tools, api.app.own_tools(tenant))
    added = with_servers(api.app.tool_definitions.all(tenant), api.app.server_definitions.all(tenant))
    own = {name: tool for name, tool in added.items() if name not in {*builtins(), *first}}
    tools = {**first, **own}
    direct = offered_tools(tools, (), api.app.settings.direct_tools)
    if FIND_TOOLS not in direct:  # an agent that has all of them is offered all of them, and needs no search
        tools = direct
    return page([_view(api, spec) for spec in tools.values()], None)


def read_tool(api: Api, name: str) -> Response:
    tools = _tools(api)
    first = offered(api.app.settings.offered_tools, api.app.own_tools(api.caller.tenant))
    if name in first:
        return success(_view(api, first[name]))
    if SEPARATOR in name:
        of_server = with_servers((), api.app.server_definitions.all(api.caller.tenant)).get(name)
        if of_server is not None and api.app.tool_definitions.get(api.caller.tenant, name) is None:
            return success(_view(api, of_server))
    return tools.answer(tools.get(name))


def create_tool(api: Api, body: CreateTool) -> Response:
    tenant, now = api.caller.tenant, api.app.clock.now()
    applied = applied_after(body, None)
    tool = _definition(
        body,
        tenant,
        api.app.settings,
        name=body.name,
        applied=applied,
        version=1,
        created_at=now,
        updated_at=now,
    )

    key = idempotency_key(api.request, 201)

    def create() -> Json:
        made = _view(api, tool)
        _check_secrets(tool, tenant, api.app.secret_names)
        own = api.app.tool_definitions.all(tenant)
        if tool.name in {*builtins(), *api.app.own_tools(tenant), *(each.name for each in own)}:
            raise _taken()
        if len(own) >= MAX_TENANT_TOOLS:
            raise Conflict(f"There are {MAX_TENANT_TOOLS} tools already, which is the most. Delete one.")
        try:
            api.app.tool_definitions.create(tenant, tool, record_of(key, made, now))
        except DefinitionExists:
            raise _taken() from None
        return made

    answer = api.app.idempotency.answer(key, create)
    return success(answer, 201, {"Location": f"/v1/tools/{answer['name']}"})


def replace_tool(api: Api, name: str, body: PutTool) -> Response:
    tools = _tools(api)
    _refuse_built_in(name)
    if body.name not in (None, name):
        raise FieldsInvalid({"name": ["A tool keeps its name. Leave it out, or give the one in the path."]})
    tenant = api.caller.tenant
    if name in api.app.own_tools(tenant):
        raise _of_the_environment()
    old = tools.get_as_read(name, body.version)
    applied = applied_after(body, old.applied)
    new = _definition(
        body, tenant, api.app.settings, name=name, applied=applied,
        version=old.version + 1, created_at=old.created_at, updated_at=api.app.clock.now(),
    )  # fmt: skip
    _check_secrets(new, tenant, api.app.secret_names)
    return tools.replaced(api.app.tool_definitions.replace, old, new)


def delete_tool(
    api: Api, name: str, version: Annotated[int | None, Field(ge=1)] = None, force: bool = False
) -> Response:
    """Agents that name the tool keep its name, which means nothing until there is a tool of that name again. So
    it takes `force` to delete it.
    """
    tools = _tools(api)
    _refuse_built_in(name)
    tenant = api.caller.tenant
    if name in api.app.own_tools(tenant) and api.app.tool_definitions.get(tenant, name) is None:
        raise _of_the_environment()
    old = tools.get_as_read(name, version)
    if not force:
        check_not_named(api.app.definitions, tenant, lambda agent: agent.needs_one_of((name,)))
    return tools.deleted(api.app.tool_definitions.delete, old)


def call_tool(api: Api, name: str, body: CallTool) -> Response:
    """`tool` makes the call. A repeat under the same key makes no second call, and no result is kept."""
    key, effect_id = idempotency_key(api.request, 200), api.app.clock.new_id(EFFECT)
    caller = api.caller
    record = record_of(key, {"effect_id": effect_id}, api.app.clock.now())
    given = {
        "name": name,
        "input": body.input,
        "confirm": body.confirm,
        "effect_id": effect_id,
        "roles": sorted(caller.roles),
    }

    def call() -> Json:
        if record is not None:
            api.app.tool_definitions.take_key(record)
        started = api.app.clock.now()
        try:
            trial = api.app.tool_function.ask("try_tool", caller.tenant, caller.user, given)
        except AnswerLost as lost:
            trial = Trial("unknown", milliseconds(started, api.app.clock.now()), message=str(lost))._asdict()
        except (CallerError, TransientError):  # nothing was done
            if record is not None:
                api.app.tool_definitions.leave_key(record)
            raise
        return trial_view(name, effect_id, trial)

    return success(api.app.idempotency.answer(key, call, _made_already))


def _made_already(record: IdempotencyRecord) -> Json:
    raise Conflict(
        f"This call was made already, with the effect id {record.answer['effect_id']}. What it answered is not kept: "
        "look before you make it again, with a new Idempotency-Key."
    )


AS_WRITTEN = (
    "input_schema", "kind", "effect", "risk", "approver_role", "approver_must_differ", "repeatable", "timeout_seconds",
    "result_limit_bytes", "later",
)  # fmt: skip
"""Fields of the body that a definition has as they are."""


def _definition(body: PutTool, tenant: str, settings: Settings, *, name: str, **known: Any) -> ToolDefinition:
    """`known`: the other fields that the body does not have. Raises FieldsInvalid."""
    try:
        check_timeout(body.timeout_seconds, settings.longest_tool_seconds)
        check_schema(body.input_schema)
        config = to_config(body.kind, body.config, settings, tenant)
        check_fixed(config, body.input_schema)
        high_stakes = _stakes(body, name)
    except Unusable as unusable:
        raise FieldsInvalid(unusable.problems) from None
    said = {field: getattr(body, field) for field in AS_WRITTEN}
    description = body.description.strip()
    return ToolDefinition(
        **said, **known, name=name, description=description, config=config, high_stakes=high_stakes
    )


def _stakes(body: PutTool, name: str) -> bool:
    """Whether a person approves each call. Raises Unusable."""
    named = bool(body.approver_role) or body.approver_must_differ
    if named and body.high_stakes is False:
        sentence = "Who approves is named, and nobody is asked about a tool that is not of high stakes. Leave one out."
        raise Unusable({"high_stakes": [sentence]})
    if body.high_stakes is not None:
        return body.high_stakes
    return named or is_high_stakes_unless_said(name, body.effect, body.risk)


def _check_secrets(tool: ToolDefinition, tenant: str, secrets: ToolSecretNames) -> None:
    """Raises FieldsInvalid where a secret that the tool refers to was never set: every call would fail. Also where it
    is for other hosts, so an admin who does not know its value cannot have it sent to a host of theirs.
    """
    if not tool.secrets or not isinstance(tool.config, HttpConfig):
        return
    known = {each.name: each for each in secrets.all(tenant)}
    missing = sorted(tool.secrets - known.keys())
    if missing:
        sentence = f"There is no secret called {', '.join(missing)}. {HOW_TO_SET}"
        raise FieldsInvalid({"config.headers": [sentence]})
    url = tool.config.url
    elsewhere = [unsendable(known[name], url, "config.url") for name in sorted(tool.secrets)]
    if said := [sentence for sentence in elsewhere if sentence is not None]:
        raise FieldsInvalid({"config.headers": said})


def _refuse_built_in(name: str) -> None:
    if name in builtins():
        raise Conflict("This tool is built in: it can be neither replaced nor deleted.")


def _of_the_environment() -> Conflict:
    return Conflict("This tool is the environment's: an operator changes its folder and deploys it.")


def _taken() -> Conflict:
    message = "There is a tool of this name already."
    return Conflict(message, {"name": [message]})
