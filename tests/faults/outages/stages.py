"""Where sessions are when an outage begins, and what people do about them meanwhile."""

from typing import Any, Literal, NamedTuple

from tests.faults.script import BOOK, CHARGE, LOOK_UP

Act = Literal["start", "decide", "pause", "resume", "cancel"]
"""What a person does. `decide`: answers what the session asks."""


class Stage(NamedTuple):
    """`comes_to`: the invocation at which the session waits for the others; empty: for a person's decision.
    `before`: what a person does then. `held_at`: the call at which the session is when the outage begins; empty: it
    waits for a person, or there is none. `during`, `after`: done while it lasts, and after it. `ends`: as what.
    """

    name: str
    comes_to: str = ""
    held_at: str = ""
    before: Act | None = None
    during: Act | None = None
    after: Act | None = None
    ends: Literal["completed", "cancelled"] = "completed"

    @property
    def is_at_model(self) -> bool:
        """It can be held there for a moment only."""
        return self.held_at.startswith("step model:")

    @property
    def is_paused(self) -> bool:
        """A pause leaves a question and its answer in the log, which the clean run has not."""
        return "pause" in (self.before, self.during)


def _thinking(name: str, reply: int, **more: Any) -> Stage:
    """With the model's nth reply under way; the first one is the plan."""
    return Stage(name, _invocation_of(reply), f"step model:Messages reply {reply}", **more)


def _calling(name: str, tool: str, turn: int, **more: Any) -> Stage:
    return Stage(name, _invocation_of(turn + 1), f"tool sink:POST {tool} 1", **more)


def _invocation_of(reply: int) -> str:
    """Turns are fused: the worker that plans makes the first turn as well. Each later one follows a call of `tool`."""
    return f"engine lambda:Invoke {f'think {reply - 2}' if reply > 2 else 'plan 1'}"


NOT_STARTED = Stage("not yet started", during="start")
PLANNING = _thinking("planning", 1)
THINKING = _thinking("thinking", 3)
READING = _calling("in a read call", LOOK_UP, 1)
BOOKING = _calling("in an idempotent call", BOOK, 1)
CHARGING = _calling("in a once call", CHARGE, 2)
ASKING = Stage("waiting for a person who decides", during="decide")
RESOLVED = Stage("just resolved", held_at="intervene states:SendTaskSuccess token 1", before="decide")
PAUSED = _calling("paused, and resumed meanwhile", LOOK_UP, 1, before="pause", during="resume")
PAUSING = _calling("paused meanwhile", CHARGE, 2, during="pause", after="resume")
CANCELLED = _calling("cancelled meanwhile", LOOK_UP, 1, during="cancel", ends="cancelled")
RESUMED = _thinking("told to try now", 2, during="resume")
ENDING = _thinking("ending", 5)

STAGES: tuple[Stage, ...] = (
    NOT_STARTED, PLANNING, THINKING, READING, BOOKING, CHARGING, ASKING, RESOLVED, PAUSED, PAUSING, CANCELLED,
    RESUMED, ENDING,
)  # fmt: skip
BEFORE_ITS_FIRST_REPLY = (NOT_STARTED, PLANNING)
"""A key that is refused then fails the run at once: somebody sits there and waits for an answer
(docs/design/recovery.md 5)."""
