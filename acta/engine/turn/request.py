"""What the model is asked in a turn: system prompt, tools, conversation, and the suffix that changes each turn.

The suffix (plan status, memories, limits, hint) comes last, so that everything before it stays the same from turn to
turn and the provider can cache it (docs/design/turn.md 30). `hint` puts a text into the suffix of the next turn.
"""

from collections.abc import Sequence

from acta.engine.agents.agent import AgentDefinition
from acta.engine.agents.store import DefinitionSnapshot
from acta.engine.log.commit import Change
from acta.engine.log.conversation import AssistantEntry, Entry
from acta.engine.log.events import HintInjected
from acta.engine.log.head import Head
from acta.engine.models.model import ModelRequest, OfferedTool
from acta.engine.plans.plan import UPDATE_PLAN, ExecutionPlan, PlanStep
from acta.engine.plans.update import described
from acta.engine.prompts.prompt import AGENT_PLANNING_SYSTEM, WHEN_NEEDED
from acta.engine.turn.context import Turn
from acta.engine.turn.final_answer import instruction
from acta.engine.turn.next_action import PLAN_RETRIES, Facts, repeated_failure
from acta.engine.untrusted.visible import one_line

PRIVATE_SESSION = (
    "This session is private to its user. Files whose path begins with ~/ are that user's own: nobody else sees them, "
    "and list_files with the path ~/ lists them. All other files are seen by everybody in the user's organisation. "
    "Write what you make to ~/, unless the user names another place or wants others to have it."
)
"""Stands after the agent's own prompt. A path means the same in every session and over the API. So files of a private
session are not moved behind the model's back: the model is told where they belong (ADR 50).
"""

_SAID = {
    "completed": "done",
    "failed": "failed",
    "skipped": "skipped",
    "in_progress": "in progress",
    "pending": "open",
}
_MARKS = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]", "failed": "[!]", "skipped": "[-]"}


_PLAN_RULES = """\
What a plan has to be: action "create"; a goal that is not blank; 1 to 10 steps, each with a description; step numbers,
where you give them, all different; `tool`, where you name one, one of yours. No other fields."""

_PLAN_EXAMPLE = """\
An example of the whole input, for another goal:
{"action": "create", "goal": "A list of the open invoices in invoices.csv", "steps": [
  {"step_number": 1, "description": "Read invoices.csv"},
  {"step_number": 2, "description": "Pick the open invoices and check their sum"},
  {"step_number": 3, "description": "Write open-invoices.md"}]}"""

_SIMPLEST_PLAN = """\
Let us make it simple. Call update_plan with action "create", the goal in one sentence, and a single step that has
nothing but a description. You can revise the plan later."""


def system_prompt(agent: AgentDefinition, definitions: DefinitionSnapshot, head: Head) -> str:
    """The agent's prompt with the managed planning prompt in it, and what this session adds."""
    # The version that this session tries out, else the version in force. No version is ever deleted, but a restored
    # tenant may not have the one that was tried.
    tried = head.prompts.get(AGENT_PLANNING_SYSTEM)
    found = None if tried is None else definitions.prompt_version(AGENT_PLANNING_SYSTEM, tried)
    planning = (found or definitions.prompt(AGENT_PLANNING_SYSTEM)).content
    parts = [
        agent.system(f"{planning.strip()}\n{WHEN_NEEDED}" if agent.planning == "when_needed" else planning)
    ]
    if head.private_to is not None:
        parts.append(PRIVATE_SESSION)
    if head.output_schema:
        parts.append(instruction(head.output_schema))
    return "\n\n".join(parts)


def turn_request(turn: Turn) -> ModelRequest:
    """What the model is asked in this turn. With and without a plan only the suffix differs, so that the provider's
    cache carries from the first call on."""
    session = turn.session
    head, entries = session.head, (*session.entries, *session.pending(session.orphans()))
    if turn.kind == "plan":  # the plan of an earlier run is over
        head = head.model_copy(update={"plan": None})
    attempts = head.progress.planning_attempts
    failing = "" if attempts else repeated_failure(turn.specs, head.progress, session.outcomes())
    suffix = _thinking_suffix(head, turn.notes.text, failing, entries)
    if attempts:
        suffix = "\n\n".join(filter(None, [suffix, *_about_planning(attempts)]))
    return ModelRequest(
        model=turn.model_name,
        system=turn.system,
        tools=tuple(
            OfferedTool(spec.name, spec.description, spec.input_schema) for spec in turn.offered.values()
        ),
        entries=entries,
        suffix=suffix,
        max_tokens=turn.max_output_tokens,
        answer_schema=_answer_schema(turn),
        parameters=turn.agent.parameters,
        ended_turns=session.ended_turns,
    )


def _answer_schema(turn: Turn) -> str:
    """The run's schema in a turn that is only to answer. Empty in every other turn, and if the run has none.

    With a format the provider finds nothing of the conversation in its cache (ADR 192). So a turn has one only if the
    cache holds nothing anyway, because another model writes the answer, or if an answer before did not fit.
    """
    head, agent = turn.session.head, turn.agent
    has_failed = turn.attempt > 0 or head.outage is not None  # perhaps over the format
    if has_failed or head.undelivered or head.progress.continues:
        return ""
    if turn.final and agent.named_for("final") != agent.named_for("think"):
        return head.output_schema
    facts = Facts(plan=head.plan, is_left=head.has_left_plan)
    has_called = any(call.name != UPDATE_PLAN for call, _ in turn.session.outcomes())
    is_again = head.progress.wrong_answers > 0 and not has_called and not facts.open_steps
    return head.output_schema if is_again else ""


def _about_planning(attempts: int) -> list[str]:
    """Each retry says more about what is wanted, and the last one asks for less (docs/design/plans.md 23). The refusal
    itself is in the conversation, as the call's result. `attempts`: those that were refused.
    """
    said = [
        "There is still no plan: only a call of update_plan makes one, and if yours was refused, the answer to it "
        "above says what was wrong."
    ]
    if attempts > PLAN_RETRIES:
        return [*said, _SIMPLEST_PLAN]
    return [*said, *(_PLAN_RULES, _PLAN_EXAMPLE)[: attempts - 1]]


def _thinking_suffix(head: Head, notes: str, failing: str, entries: Sequence[Entry] = ()) -> str:
    """`notes`: memories of earlier sessions. `failing`: the hint about a call that has just failed again. `entries`:
    the conversation that the request carries. What matters most comes last: plan, limits, hints.
    """
    said = [text for text in (notes, head.scratchpad.text) if text]
    if head.compacted_at and head.found_tools:  # what the search has said of them may be gone
        said.append(f"Tools that you have found, for use_tool: {', '.join(head.found_tools)}")
    if head.plan is not None and not head.plan.made_by_acta:  # that plan says what the user's message says
        said.append(plan_text(head.plan, entries))
    if head.run is not None and head.run.max_steps - head.run.iteration <= 2:
        left = head.run.max_steps - head.run.iteration
        said.append(f"Turns left: {left} of {head.run.max_steps}. Bring what you have to an end.")
    said += [text for text in (head.progress.hint, failing) if text]
    return "\n\n".join(said)


def plan_text(plan: ExecutionPlan, entries: Sequence[Entry] = ()) -> str:
    """The plan as it stands. Where the call that made it is in the conversation, its words are not said again: after a
    compaction or a person's edit they are.
    """
    words = [step.description for step in plan.steps]
    calls = (call for entry in reversed(entries) if isinstance(entry, AssistantEntry) for call in entry.calls)
    if any(call.name == UPDATE_PLAN and described(call.input or {}) == (plan.goal, words) for call in calls):
        numbers = {status: [s.step_number for s in plan.steps if s.status == status] for status in _SAID}
        said = [f"{_span(found)} {_SAID[status]}" for status, found in numbers.items() if found]
        return f"Plan {plan.version}: {', '.join(said)}."
    status = "executing" if plan.is_live else plan.status
    title = f"Plan, version {plan.version} ({status}): {one_line(plan.goal)}"
    return "\n".join((title, *map(_line, plan.steps)))


def _span(numbers: list[int]) -> str:
    *before, last = numbers
    if len(numbers) > 2 and numbers == [*range(numbers[0], last + 1)]:
        return f"{numbers[0]}-{last}"
    return f"{', '.join(map(str, before))} and {last}" if before else str(last)


def _line(step: PlanStep) -> str:
    """A step of the plan on one line, so that no text of the model's in it can look like a line of the runtime's."""
    tool = f" ({step.tool})" if step.tool else ""
    result = f" -> {one_line(step.result)}" if step.result else ""
    return f"{_MARKS[step.status]} {step.step_number}. {one_line(step.description)}{tool}{result}"


def hint(change: Change, text: str) -> None:
    """Tells the model something at the end of its next request, once. It is an event as well."""
    if not text:
        return
    known = change.head.progress.hint
    change.set_progress(hint=f"{known}\n{text}" if known else text)
    change.event(HintInjected(hint=text))
