"""A model's reply is applied to the session: plan updates at once, other calls to be run, refusals explained.
And the final answer that it gives, and whether that fits the session's schema (ADR 69).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from acta_engine.clock import Clock
from acta_engine.errors import ModelFeedback, PlanRefused
from acta_engine.ids import CALL, EFFECT, MESSAGE
from acta_engine.log.change import Change
from acta_engine.log.conversation import AssistantEntry, Content, ToolCall, ToolEntry
from acta_engine.log.events import PlanRejected, Reply, Thought, ToolRequested
from acta_engine.log.head import MAX_CALLS, MAX_NOTE_CHARS, Head, OpenCall
from acta_engine.models.model import ModelReply
from acta_engine.people import approval
from acta_engine.plans import update as plan_update
from acta_engine.plans.update import MAX_NAME_CHARS
from acta_engine.tools.builtin.specs import REMEMBER, UPDATE_PLAN
from acta_engine.tools.port import Registry
from acta_engine.tools.tool import ToolSpec, written_as
from acta_engine.turn.cut_off_replies import continued
from acta_engine.turn.goal_marker import claims_completion, value_after_marker, without_marker
from acta_engine.turn.structured_answer import AnswerCheck, told
from acta_engine.untrusted.validation_messages import did_you_mean

NOTHING = "there is no text."


class FinalAnswer(NamedTuple):
    """`text`: without the marker; None: there is none. `data`: its JSON value. `problem`: what the model is told of one
    that does not fit; empty: it fits, or the session has no schema.
    """

    text: str | None
    data: Any = None
    problem: str = ""


class Answers(NamedTuple):
    """`schema`: the session's; empty: it has none."""

    check: AnswerCheck
    schema: str

    def of(self, text: str, closing: str | None) -> FinalAnswer:
        """`text`: of the whole reply. `closing`: the reason with which it completes the plan, which is the answer where
        the text is none: without a schema an empty one, with it one that does not fit.
        """
        if not self.schema:
            return FinalAnswer(without_marker(text) or closing or None)
        written = [one for one in (value_after_marker(text), closing) if one]
        problems = []
        for one in written:
            value, problem = self.check(self.schema, one)
            if not problem:
                return FinalAnswer(one, value)
            problems.append(problem)
        return FinalAnswer(
            written[0] if written else None, problem=told(problems[0] if problems else NOTHING)
        )

    def in_text(self, head: Head, text: str, *, called: bool) -> FinalAnswer | None:
        """The answer that a reply without calls to run gives with its text alone. None: it gives none, or something
        else is to be done first, or the session has no schema. `called`: as in `AppliedReply`.
        """
        is_open = head.plan is not None and head.plan.is_live and head.plan.open_steps
        if not self.schema or not text.strip() or head.undelivered or is_open:
            return None
        found = self.of(text, None)
        is_meant = claims_completion(text) or (not called and not found.problem)
        return found if is_meant else None


PLAN_EDITED = (
    "A person has changed the plan after this call of {name} was written, so it was not run. Read what they changed; "
    "make the call again if it is still right."
)


class AppliedReply(NamedTuple):
    """`text`: of the whole answer, the half that was cut off before included. `calls`: those that have to run, withheld
    ones included. `called`: whether the reply had any call. `question`, `closing`: see `Facts`. `answer`: what it
    wanted to complete the plan with, where the session has a schema for answers.
    """

    message_id: str
    text: str
    calls: tuple[ToolCall, ...]
    called: bool
    plan_changed: bool
    question: str | None
    closing: str | None
    answer: FinalAnswer | None = None


class IdentifiedReply(NamedTuple):
    """A reply whose message and calls have their ids: issued once, however often the commit is built again.

    `first`: the reply before it, whose text this one goes on with; None: it stands alone.
    """

    reply: ModelReply
    provider: str
    message_id: str
    calls: tuple[ToolCall, ...]
    first: AssistantEntry | None


def with_ids(
    reply: ModelReply, provider: str, clock: Clock, first: AssistantEntry | None = None
) -> IdentifiedReply:
    """`provider`: who answered. `first`: the reply that was cut off and that this one was asked to go on with."""
    message_id = clock.new_id(MESSAGE)
    calls = tuple(
        ToolCall(
            call_id=clock.new_id(CALL),
            effect_id=clock.new_id(EFFECT),
            name=call.name,
            input=call.input,
            malformed=call.malformed,
        )
        for call in reply.calls
    )
    return IdentifiedReply(reply, provider, message_id, calls, continued(first, reply))


def apply_reply(
    identified: IdentifiedReply,
    change: Change,
    registry: Registry,
    specs: Mapping[str, ToolSpec],
    answers: Answers,
    *,
    planning: bool,
) -> AppliedReply:
    """Adds entries, events and plan changes to `change`. State and interventions are the caller's."""
    reply, first = identified.reply, identified.first
    text = reply.text
    whole = first.content.loaded + text if first is not None else text
    change.entry(
        AssistantEntry(
            message_id=identified.message_id,
            content=Content.of(text),
            thinking=reply.thinking,
            calls=identified.calls,
            provider=identified.provider,
            raw=reply.raw,
            continues=first.message_id if first is not None else "",
        )
    )
    if text.strip():
        said = Thought if identified.calls else Reply
        if first is not None:
            change.event(said(message_id=identified.message_id, continues=first.message_id))
        else:
            change.event(said(message_id=identified.message_id))
    elif reply.thinking.strip():
        change.event(Thought(message_id=identified.message_id))
    plan_before = change.head.plan
    outcome = _Outcome()
    for call in identified.calls:
        try:
            if call.malformed is not None or call.input is None:
                raise ModelFeedback(call.malformed or "The input is not a JSON object. Send the call again.")
            if call.name == UPDATE_PLAN:
                applied = _updated(identified, change, call, registry, specs, planning)
                _check_answer(applied.update, answers, whole, outcome)
                _take(applied, change, call, outcome)
                continue
            if planning:
                raise ModelFeedback("Only update_plan can be called while planning. Make the plan first.")
            is_private = change.head.private_to is not None
            tool = requested_tool(call, specs)
            registry.check(tool, call.input, private=is_private)
            if _is_note(call):
                note = call.input["text"]
                change.set(scratchpad=change.head.scratchpad.with_note(note))
                cut = f" The first {MAX_NOTE_CHARS} characters of it." if len(note) > MAX_NOTE_CHARS else ""
                change.entry(own_result(call, f"Noted for the rest of this session.{cut}"))
                continue
            if tool.effect != "read" and change.head.has_unread_plan_edit:
                raise ModelFeedback(PLAN_EDITED.format(name=tool.name))
            if len(outcome.to_run) >= MAX_CALLS:
                raise ModelFeedback(f"At most {MAX_CALLS} calls run in one reply. Call this one again later.")
        except ModelFeedback as refusal:
            refuse(change, call, refusal)
        else:
            outcome.to_run.append(call)
            change.event(ToolRequested(**call.event_data))
    change.set(calls=tuple(_opened(change, call, specs) for call in outcome.to_run))
    return AppliedReply(
        message_id=identified.message_id,
        text=whole,
        calls=tuple(outcome.to_run),
        called=bool(identified.calls),
        plan_changed=change.head.plan != plan_before,
        question=outcome.question,
        closing=outcome.closing,
        answer=outcome.answer,
    )


def _updated(
    identified: IdentifiedReply,
    change: Change,
    call: ToolCall,
    registry: Registry,
    specs: Mapping[str, ToolSpec],
    planning: bool,
) -> plan_update.AppliedUpdate:
    """The plan as the call wants it: a pure state change of this commit, whatever else the reply asks for (design §2).

    Raises PlanRefused.
    """
    arguments = call.input or {}
    action = arguments.get("action")
    if change.head.has_unread_plan_edit:
        raise PlanRefused(
            "PLAN_EDITED",
            "A person has changed the plan meanwhile. Read what they changed, and update the plan as it is now.",
        )
    if action == "complete" and planning:
        raise PlanRefused(
            "STILL_PLANNING",
            "Now only a plan is made. Complete it in your next reply, if nothing is left to do.",
        )
    if action == "complete" and identified.reply.stop == "max_tokens":
        raise PlanRefused(
            "CUT_OFF", "Your reply was cut off at its length limit. Complete the plan in one that is whole."
        )
    if action in ("complete", "fail") and any(map(_has_to_run, identified.calls)):
        raise PlanRefused(
            "CALLS_PENDING",
            "Other calls of this reply still have to run. Close the plan when you have seen their results.",
        )
    if action == "fail" and change.head.undelivered:
        raise PlanRefused(
            "NEW_MESSAGE",
            "The user has written meanwhile. Read that first; then go on, or close the plan as failed again.",
        )
    return plan_update.apply(change.head.plan, arguments, specs, change.now, registry.check)


def _check_answer(update: plan_update.PlanUpdate, answers: Answers, text: str, outcome: "_Outcome") -> None:
    """Raises PlanRefused where the plan would be completed with an answer that does not fit the session's schema: it
    stays open for another one. `text`: the whole reply's.
    """
    if update.action != "complete" or not answers.schema:
        return
    outcome.answer = answers.of(text, update.reason)
    if outcome.answer.problem:
        raise PlanRefused("ANSWER_INVALID", outcome.answer.problem)


def _take(applied: plan_update.AppliedUpdate, change: Change, call: ToolCall, outcome: "_Outcome") -> None:
    if applied.update.action == "wait_for_user":
        outcome.question = applied.update.reason
    elif applied.update.action in ("complete", "fail"):
        outcome.closing = applied.update.reason
    change.set(plan=applied.plan)
    for event in applied.events:
        change.event(event)
    change.entry(own_result(call, applied.result))


class _Outcome:
    """Collects what the reply's calls lead to."""

    def __init__(self) -> None:
        self.to_run: list[ToolCall] = []
        self.question: str | None = None
        self.closing: str | None = None
        self.answer: FinalAnswer | None = None


def _is_note(call: ToolCall) -> bool:
    """A note for this session only is kept in the head; it needs no tool."""
    return call.name == REMEMBER and call.input is not None and call.input.get("scope") == "session"


def _has_to_run(call: ToolCall) -> bool:
    return call.name != UPDATE_PLAN and call.malformed is None and not _is_note(call)


def _opened(change: Change, call: ToolCall, specs: Mapping[str, ToolSpec]) -> OpenCall:
    spec = specs[call.name]
    asks = approval.approval_reason(change.head.plan, spec, call.input or {}) is not None
    return OpenCall(
        call_id=call.call_id, name=call.name, approval="needed" if asks else "", tool_written=written_as(spec)
    )


MAX_UNKNOWN_NAME_CHARS = 64
"""The refusal repeats so much of a name that the model made up: as much as a tool's name may have."""


def requested_tool(call: ToolCall, specs: Mapping[str, ToolSpec]) -> ToolSpec:
    """The tool that the call names. Raises ModelFeedback, with near names, where the agent has none of that name."""
    spec = specs.get(call.name)
    if spec is not None:
        return spec
    name = call.name[:MAX_UNKNOWN_NAME_CHARS]
    raise ModelFeedback(f"There is no tool {name!r}. {did_you_mean(name, specs)}")


def own_result(call: ToolCall, text: str, ok: bool = True) -> ToolEntry:
    """The result of a call that needs no tool: an update of the plan, a note, a refusal."""
    return ToolEntry(call_id=call.call_id, name=call.name, content=Content.of(text), ok=ok)


def refuse(change: Change, call: ToolCall, refusal: ModelFeedback) -> None:
    """Makes the refusal the call's result, which the model reads. A refused plan update is an event as well."""
    change.entry(own_result(call, f"Error: {refusal}", ok=False))
    if call.name == UPDATE_PLAN:
        action = call.input.get("action") if isinstance(call.input, dict) else None
        code = refusal.code if isinstance(refusal, PlanRefused) else "SCHEMA"
        # a model can make up an action of any length
        shown = action[:MAX_NAME_CHARS] if isinstance(action, str) else None
        change.event(PlanRejected(action=shown, code=code, message=str(refusal)))
