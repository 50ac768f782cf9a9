"""A person decides: exactly one decision per intervention, committed before the engine is woken
(docs/design/people.md).

First what a person may give with an option (`modify` takes a whole new input for the tool, checked like any input),
then the decision itself. Who may decide: `requester.py`; which options there are:
`acta/engine/people/policies.py`; what an option does: `effects.py`.
"""

import json
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from pydantic import AfterValidator, ConfigDict, Field, ValidationError

from acta.engine.agents.agent import AgentDefinition, agent_of_session
from acta.engine.clock import MESSAGE
from acta.engine.errors import Conflict, InterventionNotFound, ToolInputInvalid, ValidationFailed
from acta.engine.limits.caps import (
    MAX_COST_BUDGET_USD,
    MAX_TOKEN_BUDGET,
    LimitValues,
    refuse_beyond,
)
from acta.engine.log.head import Head
from acta.engine.people.effects import settle
from acta.engine.people.intervention import Intervention, is_hold
from acta.engine.people.policies import HIGH_STAKES, approval_reason
from acta.engine.people.requester import Requester, require_decider
from acta.engine.people.visibility import is_visible
from acta.engine.people.wait import attempts_in_time
from acta.engine.recovery.recover import align, wake_engine
from acta.engine.store.schema import FrozenModel
from acta.engine.tools.port import Registry
from acta.engine.tools.tool import ToolSpec
from acta.engine.turn.budget import spent_usd, tokens_used
from acta.engine.untrusted.validation_messages import error_sentence, too_long
from acta.engine.untrusted.visible import is_blank

if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta.engine.app import App

MAX_AMENDED_BYTES = 65_536
"""The most bytes of a person's input, which is part of the head until its call has run."""
MAX_TOGETHER_BYTES = 131_072
"""For all calls of one reply: the head has to fit into one item (docs/design/log.md 3)."""
INSTEAD = (
    "Reject the call instead, with a comment that says what to change: "
    "the agent reads it and can make the call anew."
)


def amended(
    registry: Registry, head: Head, one: Intervention, given: dict[str, Any], by: str
) -> dict[str, Any]:
    """The tool's whole input, given as `{"input": {…}}` or without the `input` around it. Raises ValidationFailed.

    `by`: who gives it. Only the owner of a private session may name another of their private files (ADR 50).
    """
    assert one.tool_call is not None
    spec = registry.specs(head.tenant, head.agent_id).get(one.tool_call.name)
    wanted = _reading(registry, spec, given)
    is_same_file = wanted.get("path") == one.tool_call.input.get("path")
    private = head.private_to is not None and (by == head.private_to or is_same_file)
    if not wanted:
        raise ValidationFailed("modify needs the new input.", {"input": ["the tool's whole input"]})
    size = len(json.dumps(wanted))
    if size > MAX_AMENDED_BYTES:
        details = {"input": [f"at most {MAX_AMENDED_BYTES} bytes as JSON"]}
        raise ValidationFailed(f"The input is too long. {INSTEAD}", details)
    left = MAX_TOGETHER_BYTES - sum(len(json.dumps(call.amended)) for call in head.calls if call.amended)
    if size > left:
        details = {"input": [f"at most {max(0, left)} bytes as JSON, beside what the other calls were given"]}
        raise ValidationFailed(f"The inputs changed in this turn are too long together. {INSTEAD}", details)
    wrong = spec and _misfit(registry, spec, wanted, private)
    if wrong:
        raise ValidationFailed("The input does not fit the tool.", {"input": [wrong]})
    needs = approval_reason(None, spec, wanted) if spec is not None else None
    was_asked = one.context.get("reason") in HIGH_STAKES
    if needs in HIGH_STAKES and not was_asked:  # that may be other people's to decide, and no file was shown
        details = {"input": ["nothing that has high stakes or replaces a file: nobody was asked about that"]}
        raise ValidationFailed(f"This input needs another approval than was asked for. {INSTEAD}", details)
    return wanted


def _reading(registry: Registry, spec: ToolSpec | None, given: dict[str, Any]) -> dict[str, Any]:
    """The input without the `input` around it, whichever form was given.

    Where the tool itself has a field `input`, its schema decides. An `input` within an `input` is always the nested
    form, so both forms can be given clearly.
    """
    nested = given.get("input")
    if len(given) != 1 or not isinstance(nested, dict):
        return given
    if spec is None or "input" not in spec.input_schema.get("properties", {}):
        return nested
    fits_nested = bool(nested) and _misfit(registry, spec, nested) is None
    if _misfit(registry, spec, given) is not None or (fits_nested and "input" in nested):
        return nested
    if not fits_nested:
        return given
    raise ValidationFailed(
        "The input can be read in two ways, because the tool has a field `input` itself.",
        {
            "input": [
                "If `input` is the tool's field: send the tool's whole input as the value of one more `input`.",
                "If its value is the tool's whole input: send its fields without `input` around them.",
            ]
        },
    )


def _misfit(registry: Registry, spec: ToolSpec, wanted: dict[str, Any], private: bool = True) -> str | None:
    """What does not fit the tool's schema; None: everything fits."""
    try:
        registry.check(spec, wanted, private=private)
    except ToolInputInvalid as wrong:
        return str(wrong)
    return None


MAX_ANSWER_CHARS = 10_000
MAX_FIELDS_BYTES = 8_192
"""The most bytes of an answer to a tool's server, which is part of the head until the call is done."""
MAX_RECORDED_CHARS = 10_000


def _seen(text: str) -> str:
    if is_blank(text):
        raise ValueError("The text has no visible character.")
    return text


class OptionInput(FrozenModel):
    """An option's input. Values of another JSON type are refused, as in every body."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)


class Answer(OptionInput):
    text: Annotated[str, Field(min_length=1), AfterValidator(_seen)]


class Raise(OptionInput):
    """The bounds are those that a session can be started with. `refuse_beyond` checks what its agent and the deployment
    allow.
    """

    token_budget: int | None = Field(default=None, ge=1, le=MAX_TOKEN_BUDGET)
    cost_budget_usd: float | None = Field(default=None, gt=0, le=MAX_COST_BUDGET_USD)


class RecordedResult(OptionInput):
    result: Annotated[str, Field(min_length=1, max_length=MAX_RECORDED_CHARS), AfterValidator(_seen)]


class Hint(OptionInput):
    hint: str | None = Field(default=None, max_length=2_000)


class Resolution(NamedTuple):
    """What the caller sends. `input`: its fields depend on the intervention's type and the option
    (docs/design/people.md 3)."""

    option: str
    input: dict[str, Any] | None
    comment: str | None


def resolve(
    app: "App", requester: Requester, session_id: str, intervention_id: str, chosen: Resolution
) -> tuple[Head, Intervention]:
    """Commits the decision, wakes the engine, and returns the head and the closed intervention.

    A decision that ends the run or a pause is one for the sessions below, too. Raises InterventionNotFound,
    RoleMissing, ApproverMustDiffer, Forbidden (a limit above the caps), ValidationFailed, TreeBusy, and Conflict where
    the agent was deleted, or where it was decided already; its details have the recorded decision.
    """
    session = app.repository.newest(requester.tenant, session_id)
    agent = agent_of_session(session.head, app.definitions.snapshot(requester.tenant).agent)
    message_id = app.repository.clock.new_id(MESSAGE)
    closed: Intervention | None = None

    try:
        for change in attempts_in_time(app.repository, session, f"resolve/{intervention_id}/{message_id}"):
            head = change.head
            one = next((it for it in head.interventions if it.intervention_id == intervention_id), None)
            if one is None or is_hold(one) or not is_visible(one):
                raise _decided(app, requester.tenant, session_id, intervention_id)
            tool, approver = _tool(app, head, one), app.settings.high_stakes_approver
            present = require_decider(head, one, agent, requester, chosen.option, tool, approver)
            given = _check(app, head, present, agent, chosen, requester)
            if head.parent is not None and chosen.option == "raise":
                from acta.engine.subagents.money import take_from_parent  # few sessions have a parent

                # repeated where this race is lost, which reserves nothing twice
                more = LimitValues(**given)
                take_from_parent(app.repository, app.definitions, requester, head, more, inside="input.")
            closed = settle(
                change,
                one,
                chosen.option,
                given,
                comment=chosen.comment,
                by=requester.user,
                roles=requester.roles,
                via=requester.via,
                message_id=message_id,
            )
            change.commit(idempotency=requester.key)
    except Conflict:  # whoever decided first may have died before the engine was woken
        wake_engine(app.repository, app.workflow, session)
        raise
    try:
        align(session, lambda: app.family)
    finally:
        wake_engine(app.repository, app.workflow, session)
    assert closed is not None  # the loop ran, else it raised
    return session.head, closed


def _tool(app: "App", head: Head, one: Intervention) -> ToolSpec | None:
    """The tool whose call is decided on, as it is now."""
    if one.tool_call is None:
        return None
    return app.registry.specs(head.tenant, head.agent_id).get(one.tool_call.name)


def _decided(app: "App", tenant: str, session_id: str, intervention_id: str) -> Exception:
    recorded = app.session_index.intervention(tenant, intervention_id)
    if recorded is None or recorded.session_id != session_id:
        return InterventionNotFound("There is no such intervention.")
    if recorded.state == "withdrawn":  # `resolved_by` then is whoever has ended the session
        return Conflict("The session ended before anybody decided this.", {"state": [recorded.state]})
    option = recorded.resolution or ""
    details: dict[str, list[str]] = {"state": [recorded.state], "resolution": [option]}
    if recorded.resolved_by is None:
        return Conflict(f"Nobody decided this in time, so {option} holds.", details)
    details["resolved_by"] = [recorded.resolved_by]
    return Conflict(f"This was decided already: {option}.", details)


def _check(
    app: "App",
    head: Head,
    one: Intervention,
    agent: AgentDefinition | None,
    chosen: Resolution,
    requester: Requester,
) -> dict[str, Any]:
    """The option's input, checked. Raises ValidationFailed, which names the field, Forbidden for a limit above the
    caps, and Conflict.
    """
    if chosen.option not in one.options:
        raise ValidationFailed("Unknown option.", {"option": [f"one of {', '.join(one.options)}"]})
    given = chosen.input or {}
    match one.type, chosen.option:
        case "approval_required", "modify":
            return {"input": amended(app.registry, head, one, given, requester.user)}
        case "clarification_needed", "answer" if one.tool_call is not None:
            return {"answers": _fields_of(app.registry, head, one.tool_call.call_id, given)}
        case "clarification_needed", "answer":
            answer = _parse(Answer, given)
            if len(answer["text"]) > app.settings.max_message_chars:
                too_much = too_long(answer["text"], app.settings.max_message_chars)
                raise ValidationFailed("input.text is too long.", {"input.text": [too_much]})
            return answer
        case "budget_exceeded", "finish" if head.has_unread_message:
            raise Conflict(
                "A message waits for the agent, and a run does not finish over one. Raise the budget, so that it can "
                "be answered, or cancel the run."
            )
        case "budget_exceeded", "raise":
            raised = _parse(Raise, given)
            if agent is not None:  # without an agent the option was refused
                is_admin = "admin" in requester.roles
                refuse_beyond(
                    LimitValues(**raised), agent.caps, app.settings.caps, is_admin=is_admin, inside="input."
                )
            return _raised(head, raised)
        case "error_recovery", "record":
            return _parse(RecordedResult, given)
        case "error_recovery", "retry" if one.tool_call is None:
            return _parse(Hint, given)
        case _ if given:
            raise ValidationFailed("This option takes no input.", {"input": ["must be left out"]})
    return {}


def _fields_of(
    registry: Registry, head: Head, call_id: str, given: dict[str, Any]
) -> dict[str, dict[str, Any]]:
    """The fields of each form that the server of a tool has asked with. For a single form they are the input itself,
    and for a single text `{"text": …}` is enough. Raises ValidationFailed.
    """
    open_call = head.open_call(call_id)
    asked = open_call.asked.requests if open_call is not None and open_call.asked is not None else {}
    forms = {key: one["schema"] for key, one in asked.items() if "schema" in one}
    if len(forms) == 1 and given.keys() != forms.keys():
        (key,) = forms
        names = list(forms[key]["properties"])
        is_text = given.keys() == {"text"} and len(names) == 1
        given = {key: {names[0]: given["text"]} if is_text else given}
    unknown = sorted(given.keys() - forms.keys())
    if unknown or len(json.dumps(given)) > MAX_FIELDS_BYTES:
        named = ", ".join(unknown)[:200]
        why = f"no such form: {named}" if unknown else f"at most {MAX_FIELDS_BYTES} bytes as JSON"
        raise ValidationFailed("The answer does not fit what is asked.", {"input": [why]})
    answers: dict[str, dict[str, Any]] = {}
    for key, schema in forms.items():
        fields = given.get(key, {})
        closed = {**schema, "additionalProperties": False}
        form = ToolSpec(name="answer", description="", input_schema=closed)
        wrong = _misfit(registry, form, fields) if isinstance(fields, dict) else "an object"
        if wrong:
            raise ValidationFailed("The answer does not fit what is asked.", {"input": [wrong]})
        answers[key] = fields
    return answers


def _raised(head: Head, raised: dict[str, Any]) -> dict[str, Any]:
    """Refuses a limit that is not raised, or is used up already: it would only lead back to the same question."""
    if not raised:
        raise ValidationFailed(
            "raise needs a limit.", {"input": ["name token_budget, cost_budget_usd or both"]}
        )
    limits = {"token_budget": head.budget.token_budget, "cost_budget_usd": head.budget.cost_budget_usd}
    used = {"token_budget": tokens_used(head), "cost_budget_usd": spent_usd(head)}
    not_above = {}
    for name, value in raised.items():
        limit = limits[name]
        if limit is None:
            not_above[f"input.{name}"] = ["The session has no such limit; leave it out."]
        elif value <= limit:
            not_above[f"input.{name}"] = [f"more than {limit}, the present limit"]
    if not_above:
        raise ValidationFailed("raise needs higher limits than there are.", not_above)
    low = {f"input.{name}": [f"more than {used[name]}"] for name in raised if raised[name] <= used[name]}
    if low:
        raise ValidationFailed("The limit is used up already.", low)
    return raised


def _parse(model: type[OptionInput], given: dict[str, Any]) -> dict[str, Any]:
    try:
        return model.model_validate(given).model_dump(exclude_none=True)
    except ValidationError as error:
        details = {
            f"input.{'.'.join(map(str, e['loc']))}": [error_sentence(e)]
            for e in error.errors(include_input=False)
        }
        raise ValidationFailed("The option's input is not valid.", details) from None
