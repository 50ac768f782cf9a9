"""Decides after a model's reply whether the run goes on, and how (docs/design/turn.md 16). Pure functions.

A run may go in circles (docs/design/turn.md 24); the counters that show it are in `Progress`. The first time, the model
gets a hint. The second time, a person is asked (`error_recovery`). The third time, the run fails. After progress it
starts again with the hint. Progress is a change of the plan, or a successful call that is not among the last 32.

Whether `update_plan` may complete a plan is decided in `acta/engine/plans/update.py`.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from acta.engine.agents.agent import Planning
from acta.engine.errors import AnswerInvalid
from acta.engine.log.conversation import ToolCall, ToolEntry
from acta.engine.log.head import Progress
from acta.engine.plans.plan import UPDATE_PLAN, ExecutionPlan, PlanStep, numbers_of
from acta.engine.tools.tool import ToolSpec
from acta.engine.turn.announcement import announces
from acta.engine.turn.final_answer import GOAL_COMPLETE, claims_completion, without_marker
from acta.engine.untrusted.exact_json import canonical_json
from acta.engine.untrusted.visible import one_line, visible

SAME_REPLIES = 3
"""Identical replies in a row."""
IDLE_TURNS = 5
"""Turns in a row without progress."""
SAME_SUCCESSES = 3
"""Identical successful calls since the last plan change. Two may be a check, three are a loop."""
REMEMBERED = 32
"""Calls whose fingerprints are kept."""
WINDOW = 8
"""The newest successful calls that are searched for repetitions."""
MAX_NAME_CHARS = 64

CallAndResult = tuple[ToolCall, ToolEntry | None]
"""A call of the turn before and its result. None: it has none."""

Kind = Literal["same_reply", "no_progress", "failing_call", "repeated_call", "ping_pong"]
Reaction = Literal["hint", "ask", "fail"]

HINTS: dict[Kind, str] = {
    "same_reply": "You have given the same reply several times. Do something else: another tool, another step, or ask.",
    "no_progress": "Nothing has moved for several turns. Mark what is done in the plan, try another way, or ask.",
    "failing_call": "This call was tried before and failed the same way. Try another tool or another input, or ask.",
    "repeated_call": "You have made the same call several times; its result is above. Use it and go on, or ask.",
    "ping_pong": "You alternate between the same two calls. Their results are above. Use them and go on, or ask.",
}


DESCRIPTIONS: dict[Kind, str] = {
    "same_reply": "it gave the same reply {times} times in a row{calling}",
    "no_progress": "in {times} turns it changed nothing in its plan and made no new call that succeeded",
    "failing_call": "{call}, {input}, {failed} {times} times",
    "repeated_call": "it made the same call of {call} {times} times, although each succeeded",
    "ping_pong": "it goes to and fro between the same two calls{calling}, although each succeeds",
}
"""What happened, for a person. `calling` and `call` stand for names of tools, `input` for what the calls shared."""
OPTIONS = (
    "retry lets it go on, with what you tell it as a hint, if you give one; if it then goes in circles again "
    "without any progress, the run fails. cancel ends the run now."
)


class FinishedCall(NamedTuple):
    """A call of the previous turn. `repeatable`: identical calls of this tool are normal."""

    fingerprint: str
    ok: bool
    repeatable: bool


class Stuck(NamedTuple):
    """The run goes in circles. `times`: how often the same thing happened. `calls`: fingerprints of the calls that
    repeat. `tools`: the names of their tools, if the caller has filled them in. `is_unread`: nobody could read their
    inputs, so these may differ.
    """

    kind: Kind
    reaction: Reaction
    times: int = 0
    calls: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    is_unread: bool = False

    @property
    def hint(self) -> str:
        """A text for the model."""
        return HINTS[self.kind]

    @property
    def was_told(self) -> bool:
        """Whether the reply's own request had the hint: see `hint_before_reply`."""
        return self.kind == "failing_call"

    @property
    def description(self) -> str:
        """A sentence for a person about what happened."""
        named = " and ".join(dict.fromkeys(self.tools))
        calling = f" ({named})" if named else ""
        failed = "was refused" if named.startswith(UPDATE_PLAN) else "failed"
        what = DESCRIPTIONS[self.kind].format(
            times=self.times,
            call=named or "a call",
            calling=calling,
            failed=failed,
            input="each time with an input that is no JSON object"
            if self.is_unread
            else "with the same input",
        )
        return f"The agent goes in circles: {what}."

    @property
    def question(self) -> str:
        """The question that a person is asked."""
        return f"{self.description} A hint to it did not help. {OPTIONS[0].upper()}{OPTIONS[1:]}"


def detect_loop(
    specs: Mapping[str, ToolSpec],
    progress: Progress,
    previous: Sequence[CallAndResult],
    text: str,
    calls: Sequence[ToolCall],
    *,
    plan_changed: bool,
) -> tuple[Progress, Stuck | None]:
    """The counters after a reply, and whether the run is stuck. None: it is not.

    `specs`: the agent's tools by name. `previous`: the calls before the reply and how they went. `text`, `calls`: of
    the reply. An `update_plan` counts only where it was refused: a change of the plan is progress by itself.
    """
    said = fingerprint(text, [[call.name, call.input, call.malformed] for call in calls])
    counts = not calls or not all(_is_repeatable(specs, call.name) for call in calls)
    finished = _finished(specs, previous)
    progress, stuck = observe(progress, finished, said, reply_counts=counts, plan_changed=plan_changed)
    if stuck is None:
        return progress, None
    if stuck.kind == "same_reply":
        return progress, stuck._replace(tools=tuple(_shown_name(call) for call in calls))
    # One of the two calls of a ping-pong was made before, and the other is made now.
    made = [*(call for call, _ in previous), *calls]
    by_fingerprint = {fingerprint(call.name, call.input): call for call in made}
    repeated = [by_fingerprint[one] for one in stuck.calls if one in by_fingerprint]
    return progress, stuck._replace(
        tools=tuple(map(_shown_name, repeated)), is_unread=any(call.input is None for call in repeated)
    )


def repeated_failure(
    specs: Mapping[str, ToolSpec], progress: Progress, previous: Sequence[CallAndResult]
) -> str:
    """The hint for the turn right after a call that failed again. Empty: no call failed again, or the model was told
    before.
    """
    return hint_before_reply(progress, _finished(specs, previous))


def _finished(specs: Mapping[str, ToolSpec], previous: Sequence[CallAndResult]) -> list[FinishedCall]:
    return [
        FinishedCall(
            fingerprint(call.name, call.input),
            result is not None and result.ok,
            _is_repeatable(specs, call.name),
        )
        for call, result in previous
        if call.name != UPDATE_PLAN or result is None or not result.ok
    ]


def _is_repeatable(specs: Mapping[str, ToolSpec], name: str) -> bool:
    return name in specs and specs[name].repeatable


def _shown_name(call: ToolCall) -> str:
    """The tool's name for people. If there is no such tool, the model has made the name up, and it may be anything."""
    action = str((call.input or {}).get("action", "")) if call.name == UPDATE_PLAN else ""
    return visible(f"{call.name} {action}".strip()[:MAX_NAME_CHARS], keep_newlines=False)


def fingerprint(name: str, arguments: Any) -> str:
    """Eight hex digits that stand for a tool and its input: enough to tell 32 calls apart, and short, because every
    head has them.
    """
    text = canonical_json([name, arguments])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def observe(
    progress: Progress, calls: Sequence[FinishedCall], reply: str, *, reply_counts: bool, plan_changed: bool
) -> tuple[Progress, Stuck | None]:
    """The counters after a turn, and whether the run is stuck; None: it is not.

    `calls`: the calls of the previous turn. `reply`: the fingerprint of the new reply. `reply_counts`: False where the
    reply only calls repeatable tools, so that the same reply again is normal.
    """
    is_new = any(call.ok and call.fingerprint not in progress.succeeded for call in calls)
    moved = is_new or plan_changed
    same = progress.same_replies + 1 if reply_counts and reply == progress.last_reply else 1
    unrepeatable = [call.fingerprint for call in calls if call.ok and not call.repeatable]
    window = () if plan_changed else (*progress.window, *unrepeatable)[-WINDOW:]
    failed = _failures(calls)
    idle = 0 if moved else progress.idle_turns + 1
    kind = _kind(progress, failed, window, same, idle)
    succeeded = list(dict.fromkeys(call.fingerprint for call in calls if call.ok))
    before = [one for one in progress.succeeded if one not in succeeded]
    after = progress.model_copy(
        update={
            "succeeded": tuple([*before, *succeeded][-REMEMBERED:]),  # newest last, each once
            "failed": _with_failures(progress.failed, failed),
            "window": window,
            "last_reply": reply,
            "same_replies": same,
            "idle_turns": idle,
            "rung": 0 if moved and kind is None else progress.rung,
        }
    )
    if kind is None:
        return after, None
    reactions: tuple[Reaction, ...] = ("hint", "ask", "fail")
    reaction = reactions[min(progress.rung, 2)]
    # The counters start at 0 again: the next reaction comes only if the run goes in circles once more.
    cleared = {"window": (), "same_replies": 0, "idle_turns": 0, "rung": progress.rung + 1}
    stuck = _stuck(kind, reaction, (*progress.failed, *failed), window, same, idle)
    return after.model_copy(update=cleared), stuck


def hint_before_reply(progress: Progress, calls: Sequence[FinishedCall]) -> str:
    """What the model has to read right after `calls`; empty: nothing. It is known before the next reply that a call
    failed again, and after that reply the model may be doing something else. Only the reply shows any other kind of
    loop.
    """
    first_time = progress.rung == 0
    return HINTS["failing_call"] if first_time and _fails_again(progress, _failures(calls)) else ""


def _failures(calls: Sequence[FinishedCall]) -> list[str]:
    return [call.fingerprint for call in calls if not call.ok]


def _fails_again(progress: Progress, failed: list[str]) -> bool:
    return any(one in progress.failed for one in failed) or len(failed) > len(set(failed))


def _kind(
    progress: Progress, failed: list[str], window: tuple[str, ...], same: int, idle: int
) -> Kind | None:
    if _fails_again(progress, failed):
        return "failing_call"
    if any(window.count(one) >= SAME_SUCCESSES for one in window):
        return "repeated_call"
    if len(window) >= 4 and window[-4:-2] == window[-2:] and window[-1] != window[-2]:
        return "ping_pong"
    if same >= SAME_REPLIES:
        return "same_reply"
    if idle >= IDLE_TURNS:
        return "no_progress"
    return None


def _stuck(
    kind: Kind, reaction: Reaction, failed: Sequence[str], window: Sequence[str], same: int, idle: int
) -> Stuck:
    match kind:
        case "failing_call":
            newest = next(one for one in reversed(failed) if failed.count(one) > 1)
            return Stuck(kind, reaction, failed.count(newest), (newest,))
        case "repeated_call":
            call, times = Counter(window).most_common(1)[0]
            return Stuck(kind, reaction, times, (call,))
        case "ping_pong":
            return Stuck(kind, reaction, 2, tuple(window[-2:]))
        case "same_reply":
            return Stuck(kind, reaction, same)
        case "no_progress":
            return Stuck(kind, reaction, idle)


def _with_failures(known: tuple[str, ...], new: list[str]) -> tuple[str, ...]:
    """The fingerprints of failed calls, newest last, at most `WINDOW` different ones. A call that failed several times
    is in it several times.
    """
    kept = (*known, *new)[-REMEMBERED:]
    while len(set(kept)) > WINDOW:
        kept = kept[1:]
    return kept


MAX_TEXT_REPLIES = 3
"""After this many replies in a row that call nothing and answer nothing, a person is asked."""
PLAN_RETRIES = 3
"""Each retry says more about what is wanted. Then comes one simpler request, then a person is asked
(docs/design/plans.md 23)."""
MAX_STEP_CHARS = 100
"""Of a step's description in a question about the plan."""
NO_ANSWER = AnswerInvalid("No final answer fits the session's output schema.").explained


class Facts(NamedTuple):
    """What the rules look at. All of it comes from the head and the last reply."""

    plan: ExecutionPlan | None = None
    is_left: bool = False
    """An earlier run left the plan, and this one has not worked on it."""
    planning: Planning = "always"
    """The agent's."""
    text: str | None = None
    """The reply's. None: there is no reply yet."""
    calls: int = 0
    """How many calls still have to run."""
    calls_refused: bool = False
    """The reply's calls do not run, because there is no plan."""
    undelivered: int = 0
    """How many users' messages the model has not seen."""
    iteration: int = 0
    """As in `Run`."""
    max_steps: int = 50
    """As in `Run`."""
    over_budget: bool = False
    before_call: str | None = None
    """The words before a call that stands in the reply's text, where it is not run (`words_before_call`)."""
    text_replies: int = 0
    """Replies in a row without a call, this one included."""
    cut_offs: int = 0
    """Replies in a row that were cut off at their length limit, this one included."""
    has_worked: bool = False
    """A call of this run has succeeded."""
    failed_plans: int = 0
    """Replies in a row whose plan was refused, or whose calls, because there is no plan; this one included. 0: neither
    is true of this reply."""
    refusal: str = ""
    """What the model was told of the last such plan."""
    question: str | None = None
    """The reason of this reply's `wait_for_user`."""
    closing: str | None = None
    """The reason with which this reply completes or fails the plan."""
    stuck: Stuck | None = None
    """What loop detection says after this turn."""
    answer: Literal["", "fits", "wrong"] = ""
    """Whether the reply gives a final answer that fits the session's schema, or one that does not. Empty: it gives
    none, or the session has no schema."""
    answers_left: int = 0
    """How many more answers the model may send after one that does not fit."""
    final: str = ""
    """Why the run ends with this text, if the agent's model for final answers was asked for it. Empty: it was not."""

    @property
    def own_plan(self) -> ExecutionPlan | None:
        """The live plan that the model has made for this run or goes on with."""
        is_own = self.plan is not None and self.plan.is_live and not (self.is_left or self.plan.made_by_acta)
        return self.plan if is_own else None

    @property
    def open_steps(self) -> tuple[PlanStep, ...]:
        """The steps that hold back an answer."""
        return self.own_plan.open_steps if self.own_plan is not None else ()

    @property
    def claims_completion(self) -> bool:
        """Whether the reply says that the goal is complete, and is more than a call in its text."""
        return self.before_call != "" and claims_completion(self.text or "")


class Complete(NamedTuple):
    """The run completes."""

    goal_met: bool
    reason: str


class Fail(NamedTuple):
    """The run fails."""

    code: str
    reason: str


class Act(NamedTuple):
    """The calls of the reply run."""

    reason: str = "tool_calls"


class AskPerson(NamedTuple):
    """A person is asked. `question`: empty where the type of the intervention says enough."""

    type: Literal["clarification_needed", "budget_exceeded", "error_recovery"]
    reason: str
    question: str = ""


class ThinkAgain(NamedTuple):
    """The model is asked again. `hint`: a text for it at the end of the next request; empty: none."""

    reason: str
    hint: str = ""


NextAction = Complete | Fail | Act | AskPerson | ThinkAgain


def next_action(facts: Facts) -> NextAction:
    """Applies the rules in their order. The first one that fits wins. They are the same in Plan and in Think."""
    plan = facts.plan
    if plan is not None and plan.status == "failed" and facts.closing is not None and not facts.calls:
        return Fail("PLAN_FAILED", facts.closing)
    done = _completion(facts)
    if done is not None:
        return done
    if facts.iteration >= facts.max_steps:
        return Complete(goal_met=False, reason="max_steps")
    if facts.over_budget:
        return AskPerson("budget_exceeded", "budget_exceeded")
    if facts.answer == "wrong" and not facts.answers_left and not facts.undelivered:
        return Fail(AnswerInvalid.code, NO_ANSWER)
    if facts.stuck is not None and facts.stuck.reaction == "fail" and not facts.undelivered:
        return Fail("STUCK", facts.stuck.description)
    if facts.stuck is not None and facts.stuck.reaction == "ask":
        if _insists_on_its_answer(facts):
            return Complete(goal_met=False, reason="steps_left_open")
        return AskPerson("error_recovery", facts.stuck.kind, facts.stuck.question)
    if facts.calls:
        return Act()
    if facts.question is not None:
        return AskPerson("clarification_needed", "wait_for_user", facts.question)
    if facts.failed_plans > PLAN_RETRIES + 1:
        return AskPerson("clarification_needed", "no_plan", _no_plan_question(facts))
    if facts.text is None:
        return ThinkAgain("begin")
    if facts.answer == "wrong" and not facts.undelivered:
        return ThinkAgain("answer_invalid")
    if facts.claims_completion:
        return ThinkAgain("completion_refused", _still_open(facts))
    if facts.undelivered:
        return ThinkAgain("new_message")
    if facts.open_steps and facts.text_replies < MAX_TEXT_REPLIES:
        return ThinkAgain("open_steps", _still_open(facts) if facts.text_replies else "")
    if facts.own_plan is not None and facts.text_replies and ends_with_question(facts.text):
        return AskPerson("clarification_needed", "question", facts.text)
    if facts.text_replies < MAX_TEXT_REPLIES:
        return ThinkAgain("no_tool_call", _still_open(facts) if facts.text_replies else "")
    return AskPerson("clarification_needed", "no_progress", _idle_question(facts))


def answer_reason(facts: Facts) -> str:
    """Why a text that does not claim completion is the run's answer all the same; empty: it is not.

    It never is while the model has a plan of its own to work on, and a text that only announces work or has a call in
    it is none either. Who is to plan always is reminded of it first: the run would end before it has begun.
    """
    text = without_marker(facts.text or "")
    if (
        not text
        or not facts.text_replies
        or facts.calls
        or facts.undelivered
        or facts.before_call is not None
    ):
        return ""
    # After work, "I will remember that" may be all that is left to say.
    if announces(text) and not (facts.has_worked and facts.text_replies > 1):
        return ""
    if facts.final and not facts.open_steps:
        return facts.final
    if facts.own_plan is not None:
        return ""
    if facts.plan is not None and facts.plan.is_live and facts.plan.made_by_acta and not facts.is_left:
        return "answered_without_plan"
    if facts.planning == "when_needed":
        return "answered"
    return "answered_without_plan" if facts.text_replies > 1 else ""


def ends_with_question(text: str) -> bool:
    return re.search(r"[?？؟][\s\"'»”)*_]*\Z", text) is not None


def _completion(facts: Facts) -> Complete | None:
    """None: the goal is not complete, or calls or messages are still to be dealt with."""
    if facts.calls or facts.calls_refused or facts.undelivered:
        return None
    plan = facts.plan
    if plan is not None and plan.status == "completed" and facts.closing is not None:
        return Complete(goal_met=_nothing_failed(plan), reason="plan_completed")
    if facts.answer == "wrong" or facts.open_steps:
        return None
    # A text that fits the schema is the answer, whether or not the model has put the marker before it.
    is_answer = facts.answer == "fits" or facts.claims_completion
    reason = facts.final or "goal_complete" if is_answer else answer_reason(facts)
    is_of_run = facts.final == "plan_completed" or (plan is not None and plan.is_live and not facts.is_left)
    is_in_vain = is_of_run and plan is not None and plan.made_by_acta and not facts.has_worked
    goal_met = not is_in_vain and _nothing_failed(plan if is_of_run else None)
    return Complete(goal_met, reason) if reason else None


def _insists_on_its_answer(facts: Facts) -> bool:
    """Whether the model gives its answer again and again, although it was told that steps of its plan are open. Nobody
    could decide more than that this is the end.
    """
    is_answer = facts.text_replies > 0 and facts.claims_completion and facts.answer != "wrong"
    return is_answer and bool(facts.open_steps) and not facts.undelivered


def _nothing_failed(plan: ExecutionPlan | None) -> bool:
    """Whether the goal is met as far as the plan shows: a step that is still failed means that it is not, whatever the
    answer says. Where the model did the step in another way, it has reopened or skipped it.
    """
    return plan is None or all(step.status != "failed" for step in plan.steps)


def _still_open(facts: Facts) -> str:
    """A hint that says why the goal is not complete."""
    if facts.undelivered:
        return "The user has written again; answer that before you finish."
    if facts.before_call is not None:
        return "A call in your text is not run; call the tool."
    if facts.open_steps:
        are = "step {} is" if len(facts.open_steps) == 1 else "steps {} are"
        return (
            f"The goal is not complete: plan {are.format(numbers_of(facts.open_steps))} open. Work on the next one "
            "with a tool, or mark it with update_plan (completed, failed or skipped)."
        )
    if facts.own_plan is not None:
        return (
            f"Nothing was called. If the goal is reached, begin your reply with {GOAL_COMPLETE} and give the answer; "
            "otherwise go on with a tool, or ask with update_plan action wait_for_user."
        )
    begin = (
        "Make the calls" if facts.planning == "when_needed" else "Make the plan and its first calls together"
    )
    done = "Nothing was called" if facts.has_worked else "Nothing was called, so nothing was done"
    return (
        f"{done}. If your reply answers the user and needs no work, send it again and "
        f"begin with {GOAL_COMPLETE}. {begin} if there is something to do. Ask the user with update_plan action "
        "wait_for_user."
    )


def _idle_question(facts: Facts) -> str:
    """What a person is asked where the agent only talks."""
    what_to_do = "Tell it how to go on, or cancel the run."
    if facts.cut_offs > 1:
        return (
            f"The agent's last {facts.cut_offs} replies were cut off at `max_output_tokens`. Raise it in the agent, "
            f"or give the agent a smaller task. {what_to_do}"
        )
    if facts.before_call is not None:
        return (
            "The agent writes its calls into its text, where they are not run. The server of its model has to read "
            f"them there: see its settings for tool calls. {what_to_do}"
        )
    if not facts.open_steps:
        return (
            f"The agent has answered {facts.text_replies} times without doing anything: it only says what it would do. "
            f"{what_to_do}"
        )
    steps = "; ".join(
        f"step {step.step_number}, {one_line(step.description)[:MAX_STEP_CHARS]}" for step in facts.open_steps
    )
    return (
        f"The agent has answered {facts.text_replies} times without working on its plan. Still open: {steps}. "
        f"{what_to_do}"
    )


def _no_plan_question(facts: Facts) -> str:
    return (
        f"The agent tried {facts.failed_plans} times to make a plan, and Acta could take none of them. Say in other "
        "words what it should do, perhaps one part of it first, or cancel the run. What was wrong with its last try: "
        f"{facts.refusal}"
    )
