"""A session in lines of text: its events, its plan, its usage. A followed session is drawn live on a terminal, and
shown line by line anywhere else.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple, Protocol, TextIO

from acta.cli.terminal.text import counted, dollars, encodable, moment, one_line
from acta.client.following import Update, is_paused

Data = Mapping[str, Any]
TEXT_LIMIT = 140
EVENT_LIMIT = 400
INPUT_LIMIT = 100
DESCRIPTION_LIMIT = 96
MOST_ASKING = 3
"""How many questions of sessions below are named while a session is followed. Each was shown when it came."""
MARKED = ("pending", "in_progress", "completed", "failed", "skipped", "left", "not_met")
MARKS = dict(zip(MARKED, "·▶✔✘–■◐", strict=True))
ASCII_MARKS = dict(zip(MARKED, ".>x!-#~", strict=True))
CLOSED = ("completed", "failed")
"""States of a plan in which nobody works on its steps any more."""


class PlanLine(NamedTuple):
    """A step of a plan. `status`: that of the step, or `left` if the plan was closed while the step was under way.
    `mark`: the character for it.
    """

    mark: str
    number: int
    description: str
    status: str

    def __str__(self) -> str:
        return f"{self.mark} {self.number:>2}. {self.description}"


def marks_for(encoding: str | None) -> Mapping[str, str]:
    """The marks that a stream of this encoding can show (None: unknown)."""
    try:
        "".join(MARKS.values()).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII_MARKS
    return MARKS


def plan_lines(plan: Mapping[str, Any] | None, marks: Mapping[str, str] = MARKS) -> Iterator[PlanLine]:
    for step in (plan or {}).get("steps") or []:
        status = str(step.get("status", "pending"))
        if status == "in_progress" and (plan or {}).get("status") in CLOSED:
            status = "left"
        yield PlanLine(
            mark=marks.get(status, "?"),
            number=int(step.get("step_number", 0)),
            description=one_line(str(step.get("description", "")), DESCRIPTION_LIMIT),
            status=status,
        )


def usage_line(session: Mapping[str, Any]) -> str:
    """Written like `12,345 tokens in 7 LLM calls for $0.012300, 5 tool calls`. Only the model's cost is in it: the
    receipt has that of AWS.
    """
    usage = session.get("usage") or {}
    calls = f"{int(usage.get('total_tokens') or 0):,} tokens in {counted(usage.get('llm_calls'), 'LLM call')}"
    cost = usage.get("cost_usd")
    paid = "price unknown" if cost is None else f"for {dollars(float(cost))}"
    comma = "," if cost is None else ""
    return f"{calls}{comma} {paid}, {counted(usage.get('tool_calls'), 'tool call')}"


def event_line(event: Data) -> str | None:
    """What happened, safe to print; None if the event only repeats what another event says."""
    text = event.get("text")
    return one_line(str(text), EVENT_LIMIT) if text else None


def has_own_plan(events: Iterable[Data], has_one: bool) -> bool:
    """Whether the last run has made or changed a plan. Otherwise the session's plan is that of an earlier run.

    `has_one`: whether it had done so before these events.
    """
    for event in events:
        if event.get("type") == "run.started":
            has_one = False
        has_one = has_one or event.get("type") in ("plan.created", "plan.revised", "plan.step")
    return has_one


class EventLines:
    """The lines of a session's events. The input of a call stands both where it is asked for and where it has ended,
    because several calls may run at once.
    """

    def __init__(self) -> None:
        self.inputs: dict[object, str] = {}
        """By the input's hash, which is another one if a person had the call run with another input."""

    def line(self, event: Data) -> str | None:
        line, data = event_line(event), event.get("data") or {}
        if data.get("input"):
            self.inputs[data.get("input_hash")] = one_line(data["input"], INPUT_LIMIT)
        about_call = str(event.get("type")).startswith("tool.") or data.get("option") == "modify"
        given = self.inputs.get(data.get("input_hash")) if about_call else None
        return f"{line}  {given}" if line and given else line


class Awaited(NamedTuple):
    """What a session waits for. `words`: after "waits for"; `short`: at most 16 characters, for a column.
    `may_be_tried`: whether `acta resume` may help before the time.
    """

    words: str
    short: str
    may_be_tried: bool = True


WAITS_FOR = {
    "waiting_for_provider": Awaited("the model's provider", "awaits provider"),
    "waiting_for_aws": Awaited("AWS", "awaits AWS"),
    "waiting_for_key": Awaited("a valid key or quota", "awaits key"),
    "queued": Awaited("the limit of the model's provider", "awaits its turn", may_be_tried=False),
    "waiting_for_tokens": Awaited("its next tokens", "awaits tokens", may_be_tried=False),
    "waiting_for_agents": Awaited("the agents that it has called", "awaits agents", may_be_tried=False),
    "waiting_for_callback": Awaited("the answer to a tool call", "awaits an answer", may_be_tried=False),
    "waiting_until": Awaited("the time that it has named", "sleeps", may_be_tried=False),
}
"""The state reasons of a session that waits for something other than a person."""


def awaited(session_or_event: Data) -> Awaited | None:
    """What the session waits for, by its `state_reason` or an event's `reason`; None: nothing, or people."""
    return WAITS_FOR.get(str(session_or_event.get("state_reason") or session_or_event.get("reason")))


def waiting_lines(session: Data, resume: str, below: Sequence[Data] = ()) -> Iterator[str]:
    """What the session waits for and until when, why, and how to try now. No lines if it waits for nothing.

    `resume`: the command that tries now. `below`: the open interventions of sessions below it.
    """
    for one in below[:MOST_ASKING]:
        kind = one_line(str(one["type"]).replace("_", " "), 40)
        yield f"{one_line(one['agent_name'], 40)} waits for a person ({kind}): {one['session_id']}"
    if len(below) > MOST_ASKING:
        yield f"and {len(below) - MOST_ASKING} more of its agents wait for people"
    what, cause = awaited(session), session.get("cause") or {}
    if session.get("retrying"):
        yield f"tries again now ({one_line(str(cause.get('code')), 60)})"
    if what is None:
        return
    yield from waiting_words(session)
    yield from line_words(session)
    if cause.get("message") and not below:
        yield one_line(cause["message"], TEXT_LIMIT)
    if what.may_be_tried:
        yield try_now_line(resume)


def waiting_words(session: Data) -> Iterator[str]:
    """What the session waits for other than people, and until when, in one line; no lines if it waits for nothing."""
    what, code = awaited(session), (session.get("cause") or {}).get("code")
    if what is not None:
        until = f" until {moment(session['retry_at'])}" if session.get("retry_at") else ""
        yield f"waits for {what.words}{until}" + (f" ({one_line(code, 60)})" if code else "")


def line_words(session: Data) -> Iterator[str]:
    """Since when the session has been in its provider's queue, and its place there; no lines if it is in none."""
    queue = session.get("queue")
    if queue:
        count = int(queue.get("position") or 0)
        were = f"{count} session{' was' if count == 1 else 's were'} before it"
        before = were if count else "none was before it"
        yield f"in line since {moment(queue.get('since'))}; {before} of its tenant"


def try_now_line(resume: str) -> str:
    return f"to try now: {resume}"


def state_words(session: Data) -> str:
    """The state in at most 16 characters, as a person calls it."""
    what = awaited(session)
    if what is not None:
        return what.short
    if is_paused(session):
        return "paused"
    if is_goal_missed(session):
        return "goal not met"
    return str(session.get("state", "")).replace("_", " ")


WHY_NOT_MET = {
    "max_steps": "its limit of turns was reached",
    "budget_exceeded": "the budget was used up",
    "plan_completed": "the plan was worked through, but one of its steps failed",
    "judged_not_met": "the agent's judge says that it was not",
    "goal_complete": "the agent calls it done, but a step of its plan failed",
    "answered_without_plan": "no call of a tool succeeded",
    "final_model_failed": "a step of its plan failed",
    "steps_left_open": "the agent gave its answer again and again while steps of its plan were open",
}


def is_goal_missed(session: Data) -> bool:
    """Whether the session ended as it should, but without reaching its goal."""
    return session.get("state") == "completed" and not (session.get("result") or {}).get("goal_met")


def outcome_words(session: Data) -> Iterator[str]:
    """Why an ended session has not reached its goal; no lines if it has."""
    error, result = session.get("error") or {}, session.get("result") or {}
    if error:
        yield f"{one_line(str(error.get('message', '')), 300)} ({one_line(str(error.get('code', '')), 60)})"
    if is_goal_missed(session):
        reason = str(result.get("reason") or "max_steps")
        why, most = (
            WHY_NOT_MET.get(reason) or one_line(reason, 200),
            (session.get("run") or {}).get("max_steps"),
        )
        if reason == "max_steps" and most:
            why = f"its limit of {counted(most, 'turn')} was reached"
        yield f"The goal was not met: {why}."
    verdict = result.get("verdict")
    if verdict and not verdict["met"]:
        yield f'The judge: "{one_line(verdict["reason"], 1_000)}"'


def outcome_mark(session: Data, marks: Mapping[str, str]) -> str:
    if is_goal_missed(session):
        return marks["not_met"]
    state = str(session.get("state"))
    return marks.get("skipped" if state == "cancelled" else state, marks["pending"])


def begun_wait(event: Data) -> Awaited | None:
    """What the session waits for from this event on; None if the event begins no wait."""
    data = event.get("data") or {}
    return awaited(data) if event.get("type") == "state.changed" and data.get("retry_at") else None


class View(Protocol):
    def show(self, update: Update) -> None: ...

    def tell(self, text: str) -> None:
        """Shows a line of Acta's own. May be called from any thread."""

    def suspended(self) -> AbstractContextManager[None]:
        """Inside, the view draws nothing, so that others may print."""

    def close(self) -> None: ...


class PlainView:
    """Prints a line for each event and for each changed step of the plan, without control sequences.

    `resume`: the command that makes a waiting session try now. It is shown once.
    """

    def __init__(self, stream: TextIO, resume: str) -> None:
        self.stream = stream
        self.resume: str | None = resume
        self.lines = EventLines()
        self.marks = marks_for(stream.encoding)
        self.plan: list[str] = []
        self.has_own_plan = False

    def show(self, update: Update) -> None:
        for event in update.events:
            line = self.lines.line(event)
            if line:
                self.print(f"{event.get('seq', 0):>4}  {line}")
            wait = begun_wait(event)
            for words in line_words(update.session) if wait is not None else ():
                self.print(f"      {words}")
            if self.resume is not None and wait is not None and wait.may_be_tried:
                self.print(f"      {try_now_line(self.resume)}")
                self.resume = None
        self.has_own_plan = has_own_plan(update.events, self.has_own_plan)
        shown = update.session.get("plan") if self.has_own_plan else None
        plan = [str(line) for line in plan_lines(shown, self.marks)]
        for number, line in enumerate(plan):
            if number >= len(self.plan) or line != self.plan[number]:
                self.print(f"      {line}")
        self.plan = plan

    def tell(self, text: str) -> None:
        self.print(f"      {text}")

    def print(self, text: str) -> None:
        print(encodable(text, self.stream.encoding), file=self.stream, flush=True)

    @contextmanager
    def suspended(self) -> Iterator[None]:
        yield

    def close(self) -> None:
        pass


TreeLines = Callable[[Mapping[str, str], int], Sequence[str]]
"""The lines of the tree of agents, by the marks and the most lines that may be shown."""


def view_for(stream: TextIO, resume: str, tree: TreeLines = lambda marks, most: ()) -> View:
    """`resume`: the command that makes a waiting session try now."""
    if stream.isatty():
        from acta.cli.terminal.live import LiveView  # imported only now: it loads rich

        return LiveView(stream, resume, tree)
    return PlainView(stream, resume)
