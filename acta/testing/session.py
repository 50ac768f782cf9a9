"""A session of a user's test: an agent works on a goal with a scripted model, and the test looks at what became of it.

session = run("Where is order 7?", [uses("lookup_order", order_id="7"), completes("On its way.")])
assert session.goal_met
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Self

from pydantic import ValidationError

from acta.engine.agents.agent import DEFAULT_AGENT, AgentDefinition, built_in, wrong_tools
from acta.engine.agents.store import DefinitionChanged, DefinitionExists
from acta.engine.errors import Conflict
from acta.engine.limits.caps import DEFAULT_MAX_STEPS, LimitValues, chosen, usual
from acta.engine.log.commit import StepRecord
from acta.engine.log.conversation import AssistantEntry, Entry, ToolCall, ToolEntry
from acta.engine.log.events import Event
from acta.engine.log.head import Failure, Head, SessionState, Verdict
from acta.engine.models.model import ModelReply, ModelRequest, RequestedCall
from acta.engine.people.intervention import Intervention
from acta.engine.plans.plan import UPDATE_PLAN, ExecutionPlan
from acta.engine.sessions.history import HistoryCursor
from acta.engine.sessions.poll import Cursor, poll
from acta.engine.subagents.tool import wrong_agents
from acta.engine.turn.final_answer import schema_text
from acta.engine.untrusted.encodings import NotText, decoded
from acta.engine.untrusted.exact_json import read_exactly
from acta.engine.untrusted.quoting import unquoted
from acta.engine.untrusted.validation_messages import error_sentence
from acta.testing.in_process import TENANT, USER, InProcess
from acta.testing.python_tools import MOST_FILES, Tools, put_files, tools_of
from acta.testing.script import Reply, ScriptedModel, ScriptError, in_words, plans, says, step
from acta.yaml_text import NoYaml, read

Agent = AgentDefinition | Mapping[str, Any] | str | Path
"""Fields as in `POST /v1/agents` and `acta agents put`; `name` and `agent_id` may be left out. A path names a file with
them: JSON, or `agents/NAME.yaml` of `acta apply`. A relative path starts where pytest was called.
"""


class BadAgent(ValueError):
    """The definition cannot be used. The text says which field and why."""


def to_definition(agent: Agent | None) -> AgentDefinition:
    """The agent's definition. None: the built-in agent, which has every tool. Raises BadAgent."""
    if agent is None:
        return built_in()
    if isinstance(agent, AgentDefinition):
        return agent
    fields = _fields_of(Path(agent)) if isinstance(agent, str | Path) else agent
    try:
        return AgentDefinition.model_validate(
            {"agent_id": DEFAULT_AGENT, "name": "Agent", "version": 1, **fields}
        )
    except ValidationError as invalid:
        said = "; ".join(
            f"{'.'.join(str(part) for part in each['loc'] if part != '[names]')}: {error_sentence(each)}"
            for each in invalid.errors()
        )
        raise BadAgent(f"this agent's definition cannot be used: {said}") from None


class CalledAgent(NamedTuple):
    """An agent that another agent of the test may call."""

    agent: Agent
    """Its definition, with an `agent_id`."""
    script: Iterable[Reply] | Callable[[str, tuple[str, ...]], Iterable[Reply]]
    """What its model says, in each session of the agent from the beginning. Where the children of one `map` say
    different things: a function that makes the script of one child from its goal and the paths of the files that it
    was given.
    """


def define(acta: InProcess, *agents: AgentDefinition) -> None:
    """Stores the agents. Raises BadAgent if one of them names a tool or an agent that does not exist, denies a tool
    that every agent has, or would call itself.
    """
    for agent in agents:
        try:
            if agent.agent_id == DEFAULT_AGENT:
                acta.definitions.replace_agent(acta.tenant, built_in(), agent)
            else:
                acta.definitions.create_agent(acta.tenant, agent)
        except (DefinitionChanged, DefinitionExists):
            raise BadAgent(f"two agents of this test have the id {agent.agent_id}") from None
    known, find = acta.registry.specs(acta.tenant, ""), acta.definitions.snapshot(acta.tenant).agent
    ids = [agent.agent_id for agent in agents]
    for agent in agents:
        wrong = agent.wrong() or wrong_agents(agent.agent_id, agent, known, find, ids)
        wrong = wrong or wrong_tools(agent, acta.registry.specs(acta.tenant, agent.agent_id))
        if wrong:
            raise BadAgent(" ".join(chain.from_iterable(wrong.values())))


def _fields_of(path: Path) -> dict[str, Any]:
    """The fields in a file. The name of a YAML file is the agent's id."""
    is_yaml = path.suffix == ".yaml"
    try:
        text = path.read_text(encoding="utf-8")
        fields = read(text).value if is_yaml else read_exactly(text)
    except OSError as error:
        where = f". It was looked for in {Path.cwd()}; beside the test it is Path(__file__).parent / {str(path)!r}"
        raise BadAgent(f"{path}: {error.strerror}{'' if path.is_absolute() else where}") from None
    except NoYaml as error:
        raise BadAgent(f"{path}:{error.line}: {error}") from None
    except ValueError as error:
        raise BadAgent(f"{path} is no JSON: {error}") from None
    if not isinstance(fields, dict):
        raise BadAgent(f"{path} does not define an agent: it has no fields")
    return {**({"agent_id": path.stem} if is_yaml else {}), **fields}


class ToolUse(NamedTuple):
    """One tool call. `input`: what the tool ran with; a person may have changed it. `told`: the result as the model got
    it, None if there is none yet. `ok` False: the result is an error.
    """

    call_id: str
    name: str
    input: dict[str, Any] | None
    told: str | None
    ok: bool

    @property
    def result(self) -> str | None:
        """What the tool returned: `told` without the lines that mark text from outside Acta."""
        return None if self.told is None else unquoted(self.told)

    @property
    def data(self) -> Any:
        """The result's JSON value."""
        return json.loads(self.result or "null")


def run(
    goal: str,
    script: Iterable[Reply],
    *,
    tools: Tools = (),
    agent: Agent | None = None,
    agents: Iterable[CalledAgent] = (),
    secrets: Mapping[str, str] | None = None,
    files: Mapping[str, str | bytes] | None = None,
    user: str = USER,
    tenant: str = TENANT,
    roles: Iterable[str] = ("member",),
    private: bool = False,
    max_steps: int | None = None,
    token_budget: int | None = None,
    cost_budget_usd: float | None = None,
    review_every: int = 0,
    output_schema: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> "InProcessSession":
    """Has the agent work on the goal until the session ends or waits for a person. Nothing leaves the process.

    `script`: what the model says, reply by reply. The script may leave the plan out: the first reply that calls tools
    then makes one with one step, the goal, unless the agent plans when needed, and `completes` closes the open steps.
    `tools`: your Python tools, as functions or as the module of a folder (`load`). `agent`: its definition, its fields,
    or the file that defines it; None: the built-in agent. `agents`: those that it may call, with what their models say.
    `secrets`: those of your tools, by name. `files`: the tenant's. The limits, `private` and `output_schema` are those
    of `POST /v1/sessions`, `settings` those of an environment (docs/options.md).

    Raises ScriptError if the script does not fit, BadAgent and BadTool.
    """
    definition = to_definition(agent)
    model = _PlansByItself(script, goal, definition)
    scripts = {
        (one := to_definition(each.agent)).agent_id: (
            one,
            each.script if callable(each.script) else [*each.script],
        )
        for each in agents
    }
    acta = InProcess(model, tools=tools_of(tools), **(settings or {}))
    acta.secrets |= secrets or {}
    acta.tenant, acta.user, acta.roles = tenant, user, frozenset(roles)
    define(acta, definition, *(called for called, _ in scripts.values()))
    put_files(acta.files, tenant, user, files or {})
    deployment = LimitValues(
        DEFAULT_MAX_STEPS, acta.settings.token_budget, acta.settings.cost_budget_usd or None
    )
    limits = chosen(
        LimitValues(max_steps, token_budget, cost_budget_usd),
        usual(definition.limits, deployment),
        definition.caps,
        acta.settings.caps,
    )
    schema = definition.output_schema if output_schema is None else output_schema
    head = acta.start(
        goal,
        agent_id=definition.agent_id,
        agent_name=definition.name,
        review_every=review_every,
        visibility="private" if private else "tenant",
        output_schema="" if schema is None else schema_text(schema),
        **limits._asdict(),
    )
    models: dict[str, ScriptedModel] = {head.session_id: model}

    def model_of(session_id: str) -> ScriptedModel:
        if session_id not in models:
            child = acta.head(session_id)
            called, script = scripts[child.agent_id]
            given = (child.parent and child.parent.files) or ()
            said = script(child.goal, given) if callable(script) else script
            models[session_id] = _PlansByItself(said, child.goal, called)
        return models[session_id]

    acta.model_of = model_of
    return InProcessSession(acta, head.session_id, model_of)._work()


class InProcessSession:
    """What became of the goal so far. Every property says how things are now. `approve`, `answer`, `say` and the like
    have the agent work on, and return the same session.
    """

    def __init__(self, acta: InProcess, session_id: str, model_of: Callable[[str], ScriptedModel]) -> None:
        self.acta = acta
        self.session_id = session_id
        self._model_of = model_of

    def __repr__(self) -> str:
        """What a failing `assert` shows: how the session stands, and why."""
        return f"<the session of {self._head.agent_id}: {self._outcome()}>"

    def _outcome(self) -> str:
        """Its state, why, and which calls failed. No words of tools, people and files are in it."""
        head = self._head
        said = [head.state if head.state_reason is None else f"{head.state} ({head.state_reason})"]
        if head.state == "completed":
            said.append("goal met" if self.goal_met else "goal not met")
        if head.error is not None:
            said.append(f"{head.error.code}: {head.error.message}")
        for name, each in (
            (
                "failed calls",
                [each.name for each in self.tool_calls if each.told is not None and not each.ok],
            ),
            (
                "waits for a person",
                [one.tool_call.name if one.tool_call else one.type for one in head.interventions],
            ),
        ):
            said += [f"{name}: {', '.join(each)}"] if each else []
        return "; ".join(said)

    @property
    def _head(self) -> Head:
        return self.acta.head(self.session_id)

    @property
    def state(self) -> SessionState:
        """`completed`, `failed`, `cancelled`, or `waiting_for_user` (docs/design/api.md 28)."""
        return self._head.state

    @property
    def state_reason(self) -> str | None:
        return self._head.state_reason

    @property
    def goal_met(self) -> bool:
        result = self._head.result
        return result is not None and result.goal_met

    @property
    def verdict(self) -> Verdict | None:
        """What the agent's judge said of the answer: `met` and `reason`. None: nobody judged it."""
        result = self._head.result
        return None if result is None else result.verdict

    @property
    def answer(self) -> str | None:
        """The final answer; None if there is none."""
        result = self._head.result
        return None if result is None else result.answer

    @property
    def data(self) -> Any:
        """The JSON value of the final answer, if the session has an output schema."""
        result = self._head.result
        return None if result is None else result.answer_data

    @property
    def error(self) -> Failure | None:
        """Why the run failed: `code` and `message`."""
        return self._head.error

    @property
    def plan(self) -> ExecutionPlan | None:
        """`plan.steps` have `description`, `status` and `result`."""
        return self._head.plan

    @property
    def steps(self) -> list[StepRecord]:
        """The step log: all model calls, tool calls and decisions."""
        rows = self.acta.stored_history(self.session_id).steps(HistoryCursor())
        return [row.item for row in rows if row.item is not None]

    @property
    def entries(self) -> list[Entry]:
        """The conversation as the model got it: messages, replies, results."""
        rows = self.acta.stored_history(self.session_id).messages(HistoryCursor())
        return [row.item.entry for row in rows if row.item is not None]

    @property
    def events(self) -> list[Event]:
        """The events that anybody gets who polls the session."""
        seen: list[Event] = []
        after, more = Cursor(), True
        while more:
            page = poll(self.acta.log, self.acta.clock, self.acta.tenant, self.session_id, after, 0)
            seen += [one.event for one in page.events]
            after, more = page.cursor, page.has_more
        return seen

    @property
    def tool_calls(self) -> list[ToolUse]:
        """The tool calls in the order in which the model asked for them, without changes of the plan."""
        rows = list(self.acta.stored_history(self.session_id).messages(HistoryCursor()))
        found = [row.item for row in rows if row.item is not None]
        results = {one.entry.call_id: one.entry for one in found if isinstance(one.entry, ToolEntry)}
        uses = []
        for one in found:
            if isinstance(one.entry, AssistantEntry):
                for call in one.entry.calls:
                    if call.name != UPDATE_PLAN:
                        ran, result = one.amended.get(call.call_id, call.input), results.get(call.call_id)
                        told = None if result is None else result.content.loaded
                        ok = result is not None and result.ok
                        uses.append(ToolUse(call.call_id, call.name, ran, told, ok))
        return uses

    @property
    def children(self) -> "list[InProcessSession]":
        """The sessions of the agents that it has called, in the order of the calls and of their `map`."""
        found = [self.acta.head(each) for each in self.acta.log.children(self.acta.tenant, self.session_id)]
        calls = [call.call_id for call in self.tool_calls]
        asked = {head.session_id: head.parent for head in found if head.parent is not None}
        ordered = sorted(asked, key=lambda each: (calls.index(asked[each].call_id), asked[each].item))
        return [InProcessSession(self.acta, each, self._model_of) for each in ordered]

    @property
    def interventions(self) -> tuple[Intervention, ...]:
        """The questions that wait for a person: `type`, `options`, `context`, `tool_call`."""
        return self._head.interventions

    @property
    def files(self) -> dict[str, str]:
        """The tenant's files, by path, as agents read them. Bytes that are no text are shown as `�`."""
        found = {}
        for each in self.acta.files.list(self.acta.tenant, "", MOST_FILES).files:
            data = self.acta.files.read(self.acta.tenant, each.path)
            try:
                found[each.path] = decoded(data).text
            except NotText:
                found[each.path] = data.decode("utf-8", "replace")
        return found

    @property
    def requests(self) -> list[ModelRequest]:
        """What the model was asked, oldest first."""
        return self._model_of(self.session_id).requests

    def approve(
        self, comment: str | None = None, *, by: str | None = None, roles: Iterable[str] = ()
    ) -> Self:
        """Approves the call that waits. `by`: who decides; None: the person who started the session. `roles`: those of
        this person, in addition to `member`.
        """
        return self.decide("approve", comment=comment, by=by, roles=roles)

    def reject(self, comment: str | None = None, *, by: str | None = None, roles: Iterable[str] = ()) -> Self:
        return self.decide("reject", comment=comment, by=by, roles=roles)

    def decide(
        self,
        option: str,
        given: Mapping[str, Any] | None = None,
        *,
        comment: str | None = None,
        by: str | None = None,
        roles: Iterable[str] = (),
    ) -> Self:
        """Decides the oldest question that waits, with one of its options and with the input that the option takes,
        such as `decide("modify", {"input": {"order_id": "8"}})`. Then the agent works on.
        """
        if not self.interventions:
            raise Conflict(f"No question waits for anybody: the session is {self.state}.")
        acta, starter = self.acta, (self.acta.user, self.acta.roles)
        acta.user, acta.roles = by or acta.user, frozenset({*acta.roles, *roles})
        acta.comment = comment
        try:
            acta.resolve(self.session_id, self.interventions[0], option, **(given or {}))
        finally:
            (acta.user, acta.roles), acta.comment = starter, None
        return self._work()

    def answer_call(self, name: str, result: Any = None, *, error: str | None = None) -> Self:
        """Answers the oldest call of a tool that waits for its answer, as a program does at `call.callback_url`: with
        a result, which may be any JSON, or with what went wrong. Then the agent works on.
        """
        calls = [call for call in self._head.unfinished_calls if call.name == name and call.later is not None]
        if not calls:
            raise Conflict(f"No call of {name} waits for its answer: the session is {self.state}.")
        self.acta.answer_call(self.session_id, calls[0].call_id, result, error)
        return self._work()

    def wait_out(self) -> Self:
        """Moves time to the end of what the session waits for: the deadline of a call that nobody has answered. Then
        the agent works on.
        """
        self.acta.wait_out(self.session_id)
        return self._work()

    def say(self, text: str) -> Self:
        """Tells the agent something: the answer to its question if it has one. Then the agent works on."""
        self.acta.say(self.session_id, text)
        return self._work()

    def pause(self) -> Self:
        self.acta.pause(self.session_id)
        return self._work()

    def resume(self) -> Self:
        self.acta.resume(self.session_id)
        return self._work()

    def cancel(self) -> Self:
        self.acta.cancel(self.session_id)
        return self._work()

    def _work(self) -> Self:
        """Works until the session ends or waits. Raises ScriptError."""
        self.acta.run()
        for each in self._tree():
            head, left = each._head, self._model_of(each.session_id).left
            if left and (head.is_over if each is self else head.state in ("completed", "failed")):
                raise ScriptError(
                    f"The session of {head.agent_id} is {each._outcome()}, and its script has {len(left)} more to say. "
                    f"Next would have been {in_words(left[0])}."
                )
        return self

    def _tree(self) -> "Iterator[InProcessSession]":
        """The session and all below it."""
        yield self
        for child in self.children:
            yield from child._tree()


class _PlansByItself(ScriptedModel):
    """Adds what a script leaves out about the plan: the plan itself, and at the end that its steps are done. An agent
    that plans when needed answers without a plan, unless the script has one.
    """

    def __init__(self, script: Iterable[Reply], goal: str, agent: AgentDefinition) -> None:
        super().__init__(script, agent=agent.agent_id)
        self._goal, self._planning = goal, agent.planning

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        reply = super().complete(request, timeout=timeout)
        if all(tool.name != UPDATE_PLAN for tool in request.tools):  # the judge, or a summary
            return reply
        results = {entry.call_id: entry for entry in request.entries if isinstance(entry, ToolEntry)}
        made = [
            call for entry in request.entries if isinstance(entry, AssistantEntry) for call in entry.calls
        ]
        accepted = [call for call in made if call.call_id in results and results[call.call_id].ok]
        actions = [(call.input or {}).get("action") for call in reply.calls if call.name == UPDATE_PLAN]
        is_work = any(call.name != UPDATE_PLAN for call in reply.calls) or {"complete", "fail"} & {*actions}
        if is_work and "create" not in actions and _open_steps(accepted) is None:
            if self._planning == "when_needed" and "fail" not in actions:
                # Without a plan nothing is completed: the text is the answer.
                return says(
                    reply.text, *(one for one in reply.calls if (one.input or {}).get("action") != "complete")
                )
            reply = reply._replace(calls=(*plans(self._goal, goal=self._goal).calls, *reply.calls))
        if "complete" in actions:
            # A plan with open steps cannot be completed. So the steps that neither the script nor this reply has closed
            # are marked as completed first.
            still_open = sorted(_open_steps([*accepted, *reply.calls[:-1]]) or ())
            done = [step(number, "completed", "done") for number in still_open]
            created = sum((call.input or {}).get("action") == "create" for call in reply.calls)
            reply = reply._replace(calls=(*reply.calls[:created], *done, *reply.calls[created:]))
        return reply


def _open_steps(calls: Iterable[ToolCall | RequestedCall]) -> set[int] | None:
    """The open steps of the plan that the calls have made. None: there is no live plan."""
    found: set[int] | None = None
    for given in (call.input or {} for call in calls if call.name == UPDATE_PLAN):
        if given.get("action") == "create":
            found = set(range(1, len(given.get("steps", ())) + 1))
        elif given.get("action") in ("complete", "fail"):
            found = None
        elif found is not None and given.get("step_status") in ("completed", "failed", "skipped"):
            found.discard(given.get("step_number", 0))
    return found
