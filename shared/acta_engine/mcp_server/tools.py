"""The tools that `/mcp` offers: each is a route of `/v1`, with the route's own body as its schema (ADR 94)."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from acta_engine.agents.agent import AgentDefinition
from acta_engine.api.incoming import Inner
from acta_engine.api.json_body import RequestBody
from acta_engine.errors import FieldsInvalid
from acta_engine.sessions.bodies import PostMessage, Resolve, StartSession

Json = dict[str, Any]

AGENT = "agent_"
"""How the names of tools begin that are agents."""
_LIMITS = ("max_steps", "token_budget", "cost_budget_usd", "visibility", "metadata", "output_schema")
"""What may be said of a session that an agent's tool starts."""

_SESSION: Json = {"type": "string", "description": "The id of the session, ses_…"}
_QUESTION: Json = {"type": "string", "description": "The id of the question, int_…"}
WORDS: Mapping[str, str] = MappingProxyType(
    {
        "content": "What is said to the agent: at a start the goal.",
        "goal": "What the agent shall reach, in full sentences.",
        "agent_id": "Which agent works. Without it the default one.",
        "max_steps": "The most turns of the run.",
        "token_budget": "Tokens that the session may use in its window.",
        "cost_budget_usd": "US dollars that the session may cost.",
        "review_every": "A person reviews after so many turns. 0: never.",
        "metadata": "Names and values of your own, to find the session by.",
        "visibility": "Who sees the session: its starter alone, or the tenant.",
        "notify_url": "Where the session's questions and its end are told.",
        "output_schema": "The JSON Schema that the final answer has to fit.",
        "prompts": "For admins: versions of managed prompts to try, by name.",
        "option": "One of the question's options.",
        "input": "What the option needs: answer {text}, modify {input}, raise {token_budget?, cost_budget_usd?}, "
        "record {result}, retry {hint?}.",
        "comment": "Why, for whoever reads it later. The agent is told the reason of a rejection.",
    }
)
"""Of arguments, for the model that calls."""


class Tool(NamedTuple):
    """`method`, `path`: the route. `arguments`: those that are part of path or query, as JSON Schema; those of `body`
    are its own. `fixed`: what the query always says. `reads`, `destroys`, `repeats`: the annotations, all of them true.
    """

    name: str
    title: str
    description: str
    method: str
    path: str
    arguments: Mapping[str, Json]
    body: type[RequestBody] | None = None
    fixed: Mapping[str, str] = MappingProxyType({})
    reads: bool = False
    destroys: bool = False
    repeats: bool = False

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(name for name in self.arguments if f"{{{name}}}" in self.path)

    def view(self) -> Json:
        schema = _schema(dict(self.arguments), self.variables)
        if self.body is not None:
            own = self.body.model_json_schema()
            schema = _schema({**self.arguments, **_worded(own)}, (*self.variables, *own.get("required", ())))
        return _view(self.name, self.title, self.description, schema, self.reads, self.destroys, self.repeats)

    def request(self, arguments: Json, key: str | None) -> Inner:
        """Raises FieldsInvalid for arguments that are not the tool's, or of the path and no text."""
        wrong = {
            name: ["This is missing, or no text."] for name in self.variables if not _is_text(arguments, name)
        }
        own = {name: value for name, value in arguments.items() if name not in self.arguments}
        if self.body is None:
            wrong |= {name: ["There is no such argument."] for name in own}
        if wrong:
            raise FieldsInvalid(wrong)
        said = {name: arguments[name] for name in self.arguments if name in arguments}
        return Inner(
            self.method,
            self.path,
            {name: said.pop(name) for name in self.variables},
            {**self.fixed, **{name: str(value) for name, value in said.items()}},
            None if self.body is None else own,
            key,
        )


TOOLS: Sequence[Tool] = (
    Tool(
        "start_session",
        "Start a session",
        "Starts a session: an agent works on the goal in `content` on its own, for minutes or days. The answer has "
        "`session_id`. Follow it with watch_session; questions of the agent are decided with decide.",
        "POST",
        "/v1/sessions",
        {},
        StartSession,
    ),
    Tool(
        "watch_session",
        "Watch a session",
        "The session as it is now, and its events since the cursor `after`. With `wait` the answer comes as soon as "
        "something happens, at the latest after so many seconds. Go on with the `cursor` of the answer. It is over in "
        "the states completed, failed and cancelled; `session.interventions` has the questions that wait for a person.",
        "GET",
        "/v1/sessions/{session_id}",
        {
            "session_id": _SESSION,
            "after": {"type": "string", "description": "The cursor of the last answer; 0: from the start."},
            "wait": {
                "type": "number",
                "minimum": 0,
                "maximum": 20,
                "description": "Seconds to wait for events.",
            },
        },
        reads=True,
        repeats=True,
    ),
    Tool(
        "say",
        "Say something to a session",
        "A message to the agent: it answers an open question of the agent, else is read before the next turn, else "
        "begins a new run in the same conversation.",
        "POST",
        "/v1/sessions/{session_id}/messages",
        {"session_id": _SESSION},
        PostMessage,
    ),
    Tool(
        "list_waiting",
        "List what waits for a person",
        "The questions of all sessions you may see that wait for a person: approvals of calls, clarifications, "
        "errors, reviews, budgets. Each has `session_id`, `intervention_id`, `options` and what it is about.",
        "GET",
        "/v1/interventions",
        {
            "limit": {"type": "integer", "minimum": 1, "maximum": 100},
            "cursor": {"type": "string", "description": "The `next_cursor` of the page before."},
        },
        fixed={"state": "pending"},
        reads=True,
        repeats=True,
    ),
    Tool(
        "decide",
        "Decide a question",
        "Decides a question that waits for a person, once and in the name of the person whose token this is: approve "
        "only what that person has seen and wants. A second decision is refused.",
        "POST",
        "/v1/sessions/{session_id}/interventions/{intervention_id}/resolve",
        {"session_id": _SESSION, "intervention_id": _QUESTION},
        Resolve,
        destroys=True,
    ),
    Tool(
        "read_input",
        "Read the whole input of a call",
        "The whole input of the call that a question is about, where the question shows its beginning only.",
        "GET",
        "/v1/sessions/{session_id}/interventions/{intervention_id}/input",
        {
            "session_id": _SESSION,
            "intervention_id": _QUESTION,
            "call_id": {"type": "string", "description": "Which call, of a review of several."},
        },
        reads=True,
        repeats=True,
    ),
    Tool(
        "cancel_session",
        "Cancel a session",
        "Ends the session's run. No further call is started; `in_flight` names those that had begun and may still act.",
        "POST",
        "/v1/sessions/{session_id}/cancel",
        {"session_id": _SESSION},
        destroys=True,
        repeats=True,
    ),
    Tool(
        "session_receipt",
        "What a session has cost",
        "Tokens by model, requests and times of a session, in dollars.",
        "GET",
        "/v1/sessions/{session_id}/receipt",
        {"session_id": _SESSION},
        reads=True,
        repeats=True,
    ),
)
BY_NAME: Mapping[str, Tool] = MappingProxyType({tool.name: tool for tool in TOOLS})
_START = BY_NAME["start_session"]


def agent_tool(agent: AgentDefinition) -> Json:
    """The agent as a tool with a goal."""
    own = _worded(StartSession.model_json_schema())
    goal = {"type": "string", "minLength": 1, "description": WORDS["goal"]}
    arguments = {"goal": goal, **{name: own[name] for name in _LIMITS}}
    does = agent.goal.strip() or "An agent that reaches a goal on its own, with the tools that it has."
    return _view(
        f"{AGENT}{agent.agent_id}",
        agent.name,
        f"Hands a goal to the agent {agent.name}, which works on it on its own, for minutes or days.\n\n{does}",
        _schema(arguments, ("goal",)),
        execution={"taskSupport": "optional"},
    )


def agent_request(name: str, arguments: Json, key: str | None) -> Inner:
    """`name`: of an agent's tool. Raises FieldsInvalid."""
    if not _is_text(arguments, "goal"):
        raise FieldsInvalid({"goal": ["This is missing, or no text."]})
    strange = [name for name in arguments if name not in ("goal", *_LIMITS)]
    if strange:
        raise FieldsInvalid({name: ["There is no such argument."] for name in strange})
    said = {name: value for name, value in arguments.items() if name != "goal"}
    body = {**said, "content": arguments["goal"], "agent_id": name.removeprefix(AGENT)}
    return Inner(_START.method, _START.path, body=body, idempotency_key=key)


def _view(
    name: str,
    title: str,
    description: str,
    schema: Json,
    reads: bool = False,
    destroys: bool = False,
    repeats: bool = False,
    **more: object,
) -> Json:
    """A session works with whatever tools its agent has, so only what is read alone stays within Acta."""
    hints = {
        "readOnlyHint": reads,
        "destructiveHint": destroys,
        "idempotentHint": repeats,
        "openWorldHint": not reads,
    }
    told = {"name": name, "title": title, "description": description, "inputSchema": schema}
    return {**told, "annotations": hints, **more}


def _schema(properties: Json, required: Sequence[str]) -> Json:
    made: Json = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**made, "required": list(required)} if required else made


def _worded(schema: Json) -> Json:
    """The properties of a request body, with words, without the names that pydantic makes and without null: what may
    be null may be left out.
    """
    return {
        name: {**_not_null(one), **({"description": WORDS[name]} if name in WORDS else {})}
        for name, one in schema["properties"].items()
    }


def _not_null(schema: Json) -> Json:
    options = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    one = options[0] if len(options) == 1 else schema
    return {name: value for name, value in one.items() if name not in ("title", "default")}


def _is_text(arguments: Json, name: str) -> bool:
    return isinstance(arguments.get(name), str)
