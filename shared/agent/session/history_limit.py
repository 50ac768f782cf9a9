"""When the history of a Step Functions execution has grown enough for the next one (`recovery/roll_over.py`).

Its entries are counted in the head, with the upper bounds of `shared/domain/rules/execution_history.py`, and never
read (design §2).
"""

from shared.domain.session.commit import Decision
from shared.domain.session.head import Head


def or_roll_over(head: Head, after_events: int, decision: Decision | None) -> Decision | None:
    """The decision, or a roll-over where the history of this execution has `after_events` entries (design §2):
    `Settings.roll_over_events`.
    """
    full = head.run is not None and head.run.events >= after_events
    if decision is None or not full or decision.next in ("done", "failed"):
        return decision
    return Decision(next="roll_over", at=decision.at)
