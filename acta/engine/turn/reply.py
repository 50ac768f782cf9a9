"""A model's reply becomes changes of the session (docs/design/engine.md, plans.md 23): plan updates are made at once,
other calls are to be run, and what is refused is explained to the model. A reply may also give the final answer, which
has to fit the session's schema if it has one (ADR 69).

Replies that are cut off at their length limit (docs/design/turn.md 3): a call whose JSON is whole counts like any
other, and the model is told so. A call that was cut off never runs and is asked for again. A text is continued once,
in the next reply. After a second cut-off in a row the model is told to work in smaller pieces.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from acta.engine.clock import CALL, EFFECT, MESSAGE
from acta.engine.errors import ModelFeedback, PlanRefused
from acta.engine.files.given import GivenFiles
from acta.engine.log.commit import Change
from acta.engine.log.conversation import AssistantEntry, Content, Entry, ToolCall, ToolEntry
from acta.engine.log.events import PlanCreated, PlanRejected, Reply, Thought, ToolRequested
from acta.engine.log.head import MAX_CALLS, MAX_NOTE_CHARS, Head, OpenCall
from acta.engine.log.repository import Session
from acta.engine.models.model import ModelReply, RequestedCall
from acta.engine.people.intervention import SeenFile
from acta.engine.people.policies import ApprovalReason, approval_reason
from acta.engine.plans import update as plan_update
from acta.engine.plans.plan import UPDATE_PLAN, plan_of_acta
from acta.engine.plans.update import MAX_NAME_CHARS
from acta.engine.tools.builtin.search import FIND_TOOLS, inner_call, remembered, search
from acta.engine.tools.tool import BuiltinTool, ToolSpec
from acta.engine.turn.context import Turn
from acta.engine.turn.final_answer import (
    AnswerCheck,
    FinalAnswer,
    claims_completion,
    final_answer,
    said,
    without_marker,
)
from acta.engine.untrusted.path import PathRefused
from acta.engine.untrusted.validation_messages import did_you_mean

PLAN_FIRST = (
    "Not run, because there is no plan yet. Make the plan with update_plan (action create), and make this call in the "
    "same reply or later."
)
PLAN_WAS_REFUSED = (
    "Not run, because the plan of this reply was refused. Send the corrected plan, and make this call in the same "
    "reply or later."
)
PLAN_EDITED = (
    "A person has changed the plan after this call of {name} was written, so it was not run. Read what they changed; "
    "make the call again if it is still right."
)
NO_OBJECT = "The input is not a JSON object. Send the call again."
MAX_UNKNOWN_NAME_CHARS = 64
"""At most this much is kept of a name that the model made up. It is the longest name a tool may have."""
OPENAI_NAMESPACE = "functions."
"""OpenAI's models are shown all tools in it. Some write it before a call's name."""

GO_ON = (
    "Your last reply was cut off at its length limit. Go on exactly where it stopped, with the very next character: "
    "repeat nothing, begin with no preamble. Both parts are read as one."
)
AGAIN = (
    "Your last reply was cut off at its length limit, and a call that was cut off was not run. Make that call again, "
    "whole and with little text before it."
)
CALLS_STAND = (
    "Your last reply was cut off at its length limit, after its last call. All its calls were taken as they stand and "
    "have their results: repeat none because of the cut, and go on with what is missing."
)
SMALLER = (
    "Your replies are cut off at their length limit; what was cut off was not run and is no part of an answer. Work in "
    "smaller pieces: a shorter answer, given whole, and large content in several calls."
)


class TurnReply(NamedTuple):
    """A model's reply with the ids that it has in the log. They are issued once, however often its commit is tried."""

    answer: ModelReply
    provider: str
    """Who answered."""
    message_id: str
    calls: tuple[ToolCall, ...]
    first: AssistantEntry | None
    """The reply that was cut off and that this one continues. None: this one stands alone."""
    answered: AssistantEntry | None
    """The reply before, which has the answer if this one is nothing but the marker. None: this one has more."""

    @property
    def text(self) -> str:
        """The text of both halves, where this reply continues another; the answer behind its marker, where the reply
        before has that.
        """
        if self.answered is not None:
            return f"{self.answer.text}\n\n{without_marker(self.answered.content.loaded)}"
        return self.answer.text if self.first is None else self.first.content.loaded + self.answer.text


@dataclass(eq=False, repr=False)
class ReplyOutcome:
    """What a reply's calls lead to."""

    to_run: list[ToolCall] = field(default_factory=list)
    """The calls that have to run, withheld ones included."""
    approvals: dict[str, ApprovalReason] = field(default_factory=dict)
    """Why a person has to approve a call, by its id."""
    plan_changed: bool = False
    plan_failed: bool = False
    """There is still no plan: the reply's own was refused, or its calls, because there is none."""
    calls_refused: bool = False
    """Its calls do not run, because there is no plan."""
    has_searched: bool = False
    """It has looked for tools."""
    question: str | None = None
    """The reason of the reply's `wait_for_user`."""
    closing: str | None = None
    """The reason with which it completes or fails the plan."""
    answer: FinalAnswer | None = None
    """The answer with which it wanted to complete the plan, if the session has a schema for answers."""


def with_ids(turn: Turn, answer: ModelReply) -> TurnReply:
    new_id, session = turn.deps.clock.new_id, turn.session
    message_id = new_id(MESSAGE)
    asked = [
        call if call.name in turn.specs else call._replace(name=call.name.removeprefix(OPENAI_NAMESPACE))
        for call in answer.calls
    ]
    counting = [inner_call(call, turn.specs, turn.deps.registry.bent) for call in asked]
    calls = tuple(
        ToolCall(
            call_id=new_id(CALL),
            effect_id=new_id(EFFECT),
            name=call.name[:MAX_UNKNOWN_NAME_CHARS],
            input=_bent(turn, call),
            malformed=call.malformed,
            through=made.name if call is not made else "",
        )
        for made, call in zip(asked, counting, strict=True)
    )
    first = first_half(session.head, session.entries)
    if first is not None and (not answer.text or said(answer.text).marker == "first"):
        first = None  # a reply that claims completion again has started anew, so it continues nothing
    answered = None
    if (
        first is None
        and not answer.calls
        and claims_completion(answer.text)
        and not without_marker(answer.text)
    ):
        answered = _answer_before(session)
    return TurnReply(answer, answer.provider or turn.model.provider, message_id, calls, first, answered)


def _answer_before(session: Session) -> AssistantEntry | None:
    """The model's reply that nothing came after: after a reminder, models send the marker without the answer again."""
    last = session.entries[-1] if session.entries and not session.waiting else None
    if not isinstance(last, AssistantEntry) or last.calls or not without_marker(last.content.loaded):
        return None
    return last


def _bent(turn: Turn, call: RequestedCall) -> dict[str, Any] | None:
    """The input that the log has, people approve, and that runs. The steps of a plan name inputs of other tools."""
    spec, bent = turn.specs.get(call.name), turn.deps.registry.bent
    if spec is None or call.input is None:
        return call.input
    made = {**bent(spec, call.input)}
    if call.name == UPDATE_PLAN and isinstance(made.get("steps"), list):
        made["steps"] = [
            {**step, "input": bent(tool, step["input"])}
            if isinstance(step, dict)
            and isinstance(step.get("input"), dict)
            and (tool := turn.specs.get(str(step.get("tool")))) is not None
            else step
            for step in made["steps"]
        ]
    return made


def first_half(head: Head, entries: Sequence[Entry]) -> AssistantEntry | None:
    """The reply that the next one was asked to continue. `entries`: as the model was shown them, texts loaded."""
    asked_for = head.progress.continues
    if not asked_for:
        return None
    replies = (entry for entry in reversed(entries) if isinstance(entry, AssistantEntry))
    return next((reply for reply in replies if reply.message_id == asked_for), None)


def is_first_half(reply: ModelReply, cut_offs: int) -> bool:
    """Whether the next reply is asked to be the rest of this one: it is the first cut off in a row, and all text."""
    return cut_offs == 1 and bool(reply.text.strip()) and not reply.calls


def cut_off_advice(reply: ModelReply, cut_offs: int) -> str:
    """What the next turn tells the model of a cut-off reply. `cut_offs`: replies cut off in a row, this one included;
    0: it is whole.
    """
    if not cut_offs:
        return ""
    if cut_offs > 1:
        return SMALLER
    if is_first_half(reply, cut_offs):
        return GO_ON
    if not reply.calls:
        return SMALLER
    return AGAIN if reply.calls[-1].input is None else CALLS_STAND


def apply_reply(turn: Turn, reply: TurnReply, change: Change) -> ReplyOutcome:
    """Adds the reply's entries, events and plan changes to `change`. State and interventions are the caller's.

    All updates of the plan come first, so that a reply can make the plan and begin.
    """
    _add_message(reply, change)
    plan_before, specs, outcome = change.head.plan, turn.specs, ReplyOutcome()
    refused: list[Mapping[str, Any]] = []
    for call in reply.calls:
        if call.name == UPDATE_PLAN:
            try:
                if call.malformed is not None or call.input is None:
                    raise ModelFeedback(call.malformed or NO_OBJECT)
                _update_plan(turn, reply, change, call, outcome)
            except ModelFeedback as refusal:
                _refuse(change, call, refusal)
                refused.append(call.input or {})
    others = [call for call in reply.calls if call.name != UPDATE_PLAN]
    why_not = _why_nothing_runs(turn, change, outcome, others, refused)
    for call in others:
        try:
            _take_call(turn, change, call, outcome, why_not)
        except ModelFeedback as refusal:
            _refuse(change, call, refusal)
    outcome.plan_changed = change.head.plan != plan_before
    for call in outcome.to_run:  # after all plan updates of the reply, which may lift what the plan asks for
        reason = approval_reason(change.head.plan, specs[call.name], call.input or {})
        if reason is not None:
            outcome.approvals[call.call_id] = reason
    change.set(
        calls=tuple(
            OpenCall(
                call_id=call.call_id,
                name=call.name,
                approval="needed" if call.call_id in outcome.approvals else "",
                tool_written=specs[call.name].written,
                seen_file=_seen_file(turn, change.head, call) if call.call_id in outcome.approvals else None,
            )
            for call in outcome.to_run
        )
    )
    return outcome


def _take_call(turn: Turn, change: Change, call: ToolCall, outcome: ReplyOutcome, why_not: str) -> None:
    """Answers a note or a search of tools at once, and has any other call run. Raises ModelFeedback if it may not."""
    if call.malformed is not None or call.input is None:
        raise ModelFeedback(call.malformed or NO_OBJECT)
    head, specs = change.head, turn.specs
    tool = specs.get(call.name)
    if tool is None:
        raise ModelFeedback(f"There is no tool {call.name!r}. {did_you_mean(call.name, specs)}")
    turn.deps.registry.check(tool, call.input, private=head.private_to is not None)
    if (note := _note_of(call, specs)) is not None:
        change.set(scratchpad=head.scratchpad.with_note(note))
        cut = f" The first {MAX_NOTE_CHARS} characters of it." if len(note) > MAX_NOTE_CHARS else ""
        change.entry(own_result(call, f"Noted for the rest of this session.{cut}"))
        return
    if call.name == FIND_TOOLS:
        hidden = {name: spec for name, spec in specs.items() if name not in turn.offered}
        told, found = search(hidden, call.input["query"])
        change.set(found_tools=remembered(head.found_tools, found))
        change.entry(own_result(call, told))
        outcome.has_searched = True
        return
    if why_not:
        raise ModelFeedback(why_not)
    if tool.effect != "read" and head.has_unread_plan_edit:
        raise ModelFeedback(PLAN_EDITED.format(name=tool.name))
    if len(outcome.to_run) >= MAX_CALLS:
        raise ModelFeedback(f"At most {MAX_CALLS} calls run in one reply. Call this one again later.")
    outcome.to_run.append(call)
    change.event(ToolRequested(**call.event_data))


def _why_nothing_runs(
    turn: Turn,
    change: Change,
    outcome: ReplyOutcome,
    others: Sequence[ToolCall],
    refused: Sequence[Mapping[str, Any]],
) -> str:
    """What the model is told of its other calls, if none of them may run; empty: they may. `refused`: the reply's
    updates that the plan did not take.

    A model that was told so and calls tools again without a plan makes none. Acta makes one for it, of a single step,
    so that the work goes on and people still see a plan.
    """
    head, is_asking = change.head, outcome.question is not None
    is_live = head.plan is not None and head.plan.is_live
    calls = [
        call.name
        for call in others
        if call.name in turn.specs and call.name != FIND_TOOLS and _note_of(call, turn.specs) is None
    ]
    are_calls = bool(calls)
    needs_plan = are_calls and turn.agent.planning == "always"
    outcome.plan_failed = not is_live and not is_asking and bool(refused or needs_plan)
    # While the run works on a plan, its calls go on beside a new plan that was refused, unless that plan wanted a
    # person to permit a step: the live one may not ask for it.
    plans = [update for update in refused if update.get("action", "create") == "create"]
    steps = [step for plan in plans if isinstance(plan.get("steps"), list) for step in plan["steps"]]
    wants_permission = any(isinstance(step, dict) and step.get("requires_permission") for step in steps)
    if plans and (not is_live or head.has_left_plan or wants_permission):
        outcome.calls_refused = are_calls
        return PLAN_WAS_REFUSED
    if is_live or not needs_plan:
        return ""
    if is_asking or not head.progress.planning_attempts:
        if not refused and not is_asking:
            named = [*dict.fromkeys(calls)]
            change.event(PlanRejected(action="none", code="NO_PLAN", message=PLAN_FIRST, calls=named))
        outcome.calls_refused = True
        return PLAN_FIRST
    made = plan_of_acta(head.plan, head.goal, change.now)
    change.set(plan=made)
    change.event(PlanCreated(version=made.version, plan=made.as_event()))
    outcome.plan_failed = False
    return ""


def _seen_file(turn: Turn, head: Head, call: ToolCall) -> SeenFile | None:
    """The file that a call would replace or delete, as a person who is asked about it is shown it."""
    tool, files = turn.specs[call.name], turn.deps.files
    path = tool.lost_path(call.input or {}) if isinstance(tool, BuiltinTool) else None
    if path is None or files is None:
        return None
    try:
        seen = files.seen_by(head.private_to)
        if head.seen_files is not None:
            seen = GivenFiles(seen, head.seen_files)
        return SeenFile(path=path, etag=seen.etag(head.tenant, path))
    except PathRefused:  # longer than the store's keys, or not given to the session: the call will be told so
        return None


def _add_message(reply: TurnReply, change: Change) -> None:
    answer, first = reply.answer, reply.first
    change.entry(
        AssistantEntry(
            message_id=reply.message_id,
            content=Content.of(answer.text),
            thinking=answer.thinking,
            calls=reply.calls,
            provider=reply.provider,
            raw=answer.raw,
            continues=first.message_id if first is not None else "",
        )
    )
    if answer.text.strip():
        event = Thought if reply.calls else Reply
        if first is not None:
            change.event(event(message_id=reply.message_id, continues=first.message_id))
        else:
            change.event(event(message_id=reply.message_id))
    elif answer.thinking.strip():
        change.event(Thought(message_id=reply.message_id))


def _update_plan(turn: Turn, reply: TurnReply, change: Change, call: ToolCall, outcome: ReplyOutcome) -> None:
    """Makes the plan what the call wants it to be: a pure state change of this commit, whatever else the reply asks for
    (docs/design/turn.md 2). Raises PlanRefused.
    """
    arguments, head = call.input or {}, change.head
    action = arguments.get("action")
    if head.has_unread_plan_edit:
        raise PlanRefused(
            "PLAN_EDITED",
            "A person has changed the plan meanwhile. Read what they changed, and update the plan as it is now.",
        )
    if outcome.closing is not None:
        raise PlanRefused(
            "PLAN_CLOSED", "This reply has closed the plan already, so nothing more of it is changed."
        )
    if action == "complete" and reply.answer.stop == "max_tokens":
        raise PlanRefused(
            "CUT_OFF", "Your reply was cut off at its length limit. Complete the plan in one that is whole."
        )
    others = (one for one in reply.calls if one.name != UPDATE_PLAN and one.malformed is None)
    if action in ("complete", "fail") and any(_note_of(one, turn.specs) is None for one in others):
        raise PlanRefused(
            "CALLS_PENDING",
            "Other calls of this reply still have to run. Close the plan when you have seen their results.",
        )
    if action in ("complete", "fail") and head.undelivered:
        raise PlanRefused(
            "NEW_MESSAGE",
            "The user has written meanwhile. Read that first; then go on, or close the plan again.",
        )
    applied = plan_update.apply(head.plan, arguments, turn.specs, change.now, turn.deps.registry.check)
    reason = applied.update.reason or ""
    if applied.update.action == "complete" and not (reason.strip() or without_marker(reply.text)):
        raise PlanRefused("NO_REASON", "complete needs the answer: write it as your text, or as `reason`.")
    if applied.update.action == "complete" and head.output_schema:
        # If this answer does not fit, the plan stays open for another one.
        outcome.answer = final_answer(turn.deps.check_answer, head.output_schema, reply.text, reason)
        if outcome.answer.problem:
            raise PlanRefused("ANSWER_INVALID", outcome.answer.problem)
    if applied.update.action == "wait_for_user":
        outcome.question = reason
    elif applied.update.action in ("complete", "fail"):
        outcome.closing = reason
    change.set(plan=applied.plan)
    for event in applied.events:
        change.event(event)
    change.entry(own_result(call, applied.result))


def answer_in_text(
    check: AnswerCheck, head: Head, text: str, *, called: bool, ends_run: bool
) -> FinalAnswer | None:
    """The answer that a reply without calls to run gives with its text alone. None: it gives none, or something else is
    to be done first, or the session has no schema. `called`: whether the reply had any call. `ends_run`: whether the
    run would end with this text in a session without a schema.
    """
    if not head.output_schema or not text.strip() or head.undelivered:
        return None
    found = final_answer(check, head.output_schema, text, None)
    # After an answer that did not fit, the provider may have been given the schema, which leaves no room for a marker.
    is_value = not called and found.is_alone and (not found.problem or head.progress.wrong_answers > 0)
    is_meant = ends_run or claims_completion(text) or is_value
    return found if is_meant else None


def _note_of(call: ToolCall, specs: Mapping[str, ToolSpec]) -> str | None:
    """The note that the call leaves in the head; then nothing has to run. None: it leaves none."""
    tool = specs.get(call.name)
    return tool.note_of(call.input) if isinstance(tool, BuiltinTool) and call.input is not None else None


def own_result(call: ToolCall, text: str, ok: bool = True) -> ToolEntry:
    """The result of a call that needs no tool: an update of the plan, a note, a refusal."""
    return ToolEntry(call_id=call.call_id, name=call.name, content=Content.of(text), ok=ok)


def _refuse(change: Change, call: ToolCall, refusal: ModelFeedback) -> None:
    """Makes the refusal the call's result, which the model reads. A refused plan update is an event as well."""
    change.entry(own_result(call, f"Error: {refusal}", ok=False))
    if call.name == UPDATE_PLAN:
        action = call.input.get("action") if isinstance(call.input, dict) else None
        code = refusal.code if isinstance(refusal, PlanRefused) else "SCHEMA"
        # A model can make up an action of any length.
        shown = action[:MAX_NAME_CHARS] if isinstance(action, str) else None
        change.event(PlanRejected(action=shown, code=code, message=str(refusal)))
