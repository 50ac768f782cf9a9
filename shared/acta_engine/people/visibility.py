"""Who may see a session: everybody of its tenant, or its owner alone (ADR 50).

The owner is who started it (`Head.created_by`). Stores ask here for each request of a person
(`shared/acta_engine/people/visible_sessions.py`).
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:  # functions without sessions import this, too, and do not wait for these
    from acta_engine.log.head import Head
    from acta_engine.people.intervention import Intervention

Reach = Literal["owner", "decider", "admin"]
"""Who besides the owner may use a route on a private session: `owner` (nobody else), `decider` (whoever may answer one
of its open questions) or `admin`. `shared/acta_engine/api/operations.py` says it of each route.
"""


@dataclass(frozen=True)
class Viewer:
    """Who makes a request, and on a route of which reach. `admitted`: ids of private sessions that a decider was let
    into for a question of theirs; this request goes on with them, also once the question is decided.
    """

    user: str
    roles: Set[str]
    reach: Reach = "owner"
    admitted: set[str] = field(default_factory=set)

    def reads(self, head: Head) -> bool:
        """Whether all of the session is theirs to see."""
        return head.visibility == "tenant" or head.created_by == self.user

    def may_use(self, head: Head) -> bool:
        """Whether the session is there for this request. `head`: the newest one."""
        if self.reads(head):
            return True
        match self.reach:
            case "admin":
                return "admin" in self.roles
            case "decider":
                return head.session_id in self.admitted or any(map(self.may_decide, head.interventions))
            case _:
                return False

    def may_see(self, one: Intervention) -> bool:
        """Whether the question is theirs to see: to decide, or decided by them."""
        return one.private_to in (None, self.user) or self.may_decide(one) or one.resolved_by == self.user

    def may_decide(self, one: Intervention) -> bool:
        """Whether they decide it by their role. What names none is its owner's to decide."""
        return one.state == "pending" and one.role in self.roles
