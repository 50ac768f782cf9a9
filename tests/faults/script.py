"""What the model says in the scenario: a plan of four steps, a pair of calls, one that runs once, one to approve, and a
pair of built-in ones, which `step` makes itself where turns are fused.
"""

from typing import Any, NamedTuple

STEPS = ("Reserve both rooms", "Charge the deposit", "Tell the guest", "Sum up")
ANSWER = "Both rooms are reserved, the deposit is charged, the guest knows."
FILE, FACT = "booking.md", "The guest likes two rooms."
RESERVE, BOOK, LOOK_UP, CHARGE, NOTIFY = "reserve", "book", "look_up", "charge", "notify"


class Said(NamedTuple):
    """A call the model asks for."""

    name: str
    input: dict[str, Any]


class Turn(NamedTuple):
    text: str
    calls: tuple[Said, ...]


def _plan(*descriptions: str) -> Said:
    steps = [{"description": each} for each in descriptions]
    return Said("update_plan", {"action": "create", "goal": "Two rooms for the guest", "steps": steps})


def _done(number: int) -> Said:
    return _marked(number, "completed", step_result=f"Step {number} is done.")


def _marked(number: int, status: str, **more: str) -> Said:
    return Said(
        "update_plan", {"action": "update_step", "step_number": number, "step_status": status, **more}
    )


SCRIPT: tuple[Turn, ...] = (
    Turn("", (_plan(*STEPS),)),
    Turn("Both at once.", (_marked(1, "in_progress"), Said(RESERVE, {"what": "room 1"}),
                           Said(RESERVE, {"what": "room 2"}))),
    Turn("Now the deposit.", (_done(1), _marked(2, "in_progress"), Said(CHARGE, {"what": "deposit"}))),
    Turn("Now the guest.", (_done(2), _marked(3, "in_progress"), Said(NOTIFY, {"what": "guest"}))),
    Turn("Nearly there.", (_done(3), _marked(4, "in_progress"),
                           Said("create_file", {"path": FILE, "content": ANSWER}),
                           Said("remember", {"scope": "agent", "text": FACT}))),
    Turn(f"GOAL_COMPLETE\n{ANSWER}", (_done(4), Said("update_plan", {"action": "complete", "reason": ANSWER}))),
)  # fmt: skip
"""The reply to a conversation that has n replies in it is the nth from 0: asked again, the model says the same."""

SHORT_SCRIPT: tuple[Turn, ...] = (
    Turn("", (_plan("Book a room", "Pay for it"),)),
    Turn("", (_marked(1, "in_progress"), Said(LOOK_UP, {"what": "prices"}), Said(BOOK, {"what": "room"}))),
    Turn("", (_done(1), _marked(2, "in_progress"), Said(CHARGE, {"what": "deposit"}))),
    Turn("", (Said(NOTIFY, {"what": "guest"}),)),
    Turn(f"GOAL_COMPLETE\n{ANSWER}", (_done(2), Said("update_plan", {"action": "complete", "reason": ANSWER}))),
)  # fmt: skip
"""The same with a call of each kind and no turn more than that: a read, an idempotent call, one that runs once, one to
approve."""
