"""The tools that `/mcp` offers: operations whose rows say so, and each agent (ADR 94).

A tool's arguments are what the operation's handler takes, with the words of the row and of the body's fields.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from acta.engine.agents.agent import AgentDefinition
from acta.engine.api.answer_schemas import field_docs
from acta.engine.api.app import Api
from acta.engine.api.arguments import Parameter, details_of, field_name
from acta.engine.api.incoming import Inner
from acta.engine.api.json_body import RequestBody
from acta.engine.api.operation import McpOffer, Operation
from acta.engine.api.operations import OPERATIONS
from acta.engine.errors import FieldsInvalid
from acta.engine.sessions.bodies import StartSession
from acta.engine.untrusted.quoting import quoted
from acta.engine.untrusted.visible import visible

Json = dict[str, Any]

AGENT = "agent_"
"""How the names of tools begin that are agents."""
NO_TEXT = "This is missing, or no text."
_LIMITS = tuple(
    name
    for name in StartSession.model_fields
    if name not in ("content", "agent_id", "review_every", "notify_url", "prompts")
)
"""The settings of a session that a call of an agent's tool may give."""


class OperationTool(NamedTuple):
    """An operation as a tool. `parameters`: what its handler takes."""

    row: Operation
    offer: McpOffer
    parameters: Sequence[Parameter]

    @property
    def body(self) -> type[RequestBody] | None:
        return next((one.type for one in self.parameters if one.where == "body"), None)

    @property
    def own(self) -> Mapping[str, Parameter]:
        """Its arguments that are part of path or query."""
        return {
            one.name: one
            for one in self.parameters
            if one.where != "body" and one.name not in self.offer.fixed
        }

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(name for name, one in self.own.items() if one.where == "path")

    def view(self) -> Json:
        properties = {
            name: {**_not_null(one.adapter.json_schema()), "description": self.row.words(name)}
            for name, one in self.own.items()
        }
        required = self.variables
        if self.body is not None:
            body = self.body.model_json_schema()
            properties |= _worded(self.body, body)
            required = (*required, *body.get("required", ()))
        reads = self.row.action is None
        return _view(
            self.offer.name,
            self.offer.title,
            self.offer.description,
            properties,
            required,
            reads,
            self.offer.destroys,
            reads or self.offer.repeats,
        )

    def request(self, arguments: Json, key: str | None) -> Inner:
        """Raises FieldsInvalid for arguments that are not the tool's, or of the path and no text."""
        wrong = {name: [NO_TEXT] for name in self.variables if not isinstance(arguments.get(name), str)}
        rest = {name: value for name, value in arguments.items() if name not in self.own}
        if self.body is None:
            wrong |= _strange(rest)
        if wrong:
            raise FieldsInvalid(wrong)
        said = {name: arguments[name] for name in self.own if name in arguments}
        return Inner(
            self.row.method,
            self.row.path,
            {name: said.pop(name) for name in self.variables},
            {**self.offer.fixed, **{name: str(value) for name, value in said.items()}},
            None if self.body is None else rest,
            key,
        )


OFFERED: Mapping[str, Operation] = {row.mcp.name: row for row in OPERATIONS if row.mcp is not None}
"""The operations that are tools, by the tools' names."""


def tool_of(api: Api, name: str) -> OperationTool:
    """`name`: of `OFFERED`. `api`: has the operation's handler."""
    row = OFFERED[name]
    assert row.mcp is not None
    return OperationTool(row, row.mcp, api.arguments(row).parameters)


def agent_tool(agent: AgentDefinition) -> Json:
    """The agent as a tool with a goal."""
    own = _worded(StartSession, StartSession.model_json_schema())
    words = "What the agent shall reach, in full sentences."
    made_at = str(agent.updated_at)  # set after whoever wrote the agent had written it
    goal = {"type": "string", "minLength": 1, "description": words}
    arguments = {"goal": goal, **{name: own[name] for name in _LIMITS}}
    about = quoted("agent", agent.agent_id, visible(f"{agent.name}\n{agent.goal.strip()}"), key=made_at)
    return _view(
        f"{AGENT}{agent.agent_id}",
        f"Agent {agent.agent_id}",
        "Hands a goal to this agent, which works on it on its own, for minutes or days. Its admin says of it:\n"
        + about,
        arguments,
        ("goal",),
        execution={"taskSupport": "optional"},
    )


def agent_request(name: str, arguments: Json, key: str | None) -> Inner:
    """`name`: of an agent's tool. Raises FieldsInvalid."""
    if not isinstance(arguments.get("goal"), str):
        raise FieldsInvalid({"goal": [NO_TEXT]})
    strange = [name for name in arguments if name not in ("goal", *_LIMITS)]
    if strange:
        raise FieldsInvalid(_strange(strange))
    said = {name: value for name, value in arguments.items() if name != "goal"}
    start = OFFERED["start_session"]
    body = {**said, "content": arguments["goal"], "agent_id": name.removeprefix(AGENT)}
    return Inner(start.method, start.path, body=body, idempotency_key=key)


def _view(
    name: str,
    title: str,
    description: str,
    properties: Json,
    required: Sequence[str],
    reads: bool = False,
    destroys: bool = False,
    repeats: bool = False,
    **more: object,
) -> Json:
    """`openWorldHint` is false only for tools that read: a session may use any tool that its agent has."""
    hints = {
        "readOnlyHint": reads,
        "destructiveHint": destroys,
        "idempotentHint": repeats,
        "openWorldHint": not reads,
    }
    schema: Json = {"type": "object", "properties": properties, "additionalProperties": False}
    schema |= {"required": list(required)} if required else {}
    told = {"name": name, "title": title, "description": description, "inputSchema": schema}
    return {**told, "annotations": hints, **more}


def _worded(body: type[RequestBody], schema: Json) -> Json:
    """The properties of a request body, with what is said under its fields, without the names that pydantic makes and
    without null: what may be null may be left out.
    """
    words = field_docs(body)
    return {
        name: {**_not_null(one), "description": words[name]} for name, one in schema["properties"].items()
    }


def _not_null(schema: Json) -> Json:
    options = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    one = options[0] if len(options) == 1 else schema
    return {name: value for name, value in one.items() if name not in ("title", "default")}


def _strange(names: Iterable[str]) -> dict[str, list[str]]:
    said = {"type": "unknown_argument", "msg": "There is no such argument."}
    return details_of((field_name([name]), said) for name in names)
