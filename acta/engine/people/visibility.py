"""Who may see a session: everybody of its tenant, or its owner alone (ADR 50). The owner is who started it
(`Head.created_by`).

This is the one place that keeps private sessions from those who may not see them. The log and the index of sessions ask
here for everything they hand out. Who asks was bound where the request was dispatched
(`acta/engine/api/app.py`), so no route has a check of its own to forget. Where nobody is bound, it is the
engine or recovery that works: they see all.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from acta.engine.bound_tenant import bound
from acta.engine.errors import SessionHidden

if TYPE_CHECKING:  # functions without sessions import this, too, and do not wait for these
    from acta.engine.log.commit import Commit
    from acta.engine.log.head import Head
    from acta.engine.people.intervention import Intervention

Reach = Literal["owner", "decider", "admin"]
"""Who besides the owner may use a route on a private session: `owner` (nobody else), `decider` (whoever may answer one
of its open questions) or `admin`. `acta/engine/api/operations.py` says it of each route.
"""


@dataclass(frozen=True, eq=False, repr=False)
class Viewer:
    """Who makes a request, and the reach of its route. `decides`: as in `Caller`. `admitted`: ids of others' private
    sessions that a decider was let into for a question of theirs; this request goes on with them, also once the
    question is decided. The audit trail may record them (`Settings.record_reads`).
    """

    user: str
    roles: Set[str]
    reach: Reach = "owner"
    decides: bool = True
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
        """Whether they decide it by their role. A question without a role is for the session's owner to decide."""
        return self.decides and one.state == "pending" and bool(one.roles) and self.roles >= {*one.roles}


def viewer() -> Viewer | None:
    """Who asks; None: no person does."""
    binding = bound()
    return None if binding is None else binding.viewer


def check_visible(head: Head, newest: Callable[[], Commit | None]) -> None:
    """Raises SessionHidden. `head`: of any commit of the session. `newest`: reads the newest one, where it matters
    which questions are open now.
    """
    asking = viewer()
    if asking is None or asking.reads(head):
        return
    if asking.reach == "decider" and head.session_id not in asking.admitted:
        commit = newest()
        if commit is None or not asking.may_use(commit.head):
            raise SessionHidden
        asking.admitted.add(head.session_id)
    elif not asking.may_use(head):
        raise SessionHidden


def check_by_listing(owner: str | None, *, listed: bool) -> None:
    """The same check for a session whose log cannot be read. `owner`: the person who alone may see it, by the index. A
    session that is not `listed` there is for admins only.
    """
    asking = viewer()
    if asking is None or (listed and owner in (None, asking.user)):
        return
    if asking.reach != "admin" or "admin" not in asking.roles:
        raise SessionHidden


def is_visible(one: Intervention) -> bool:
    """Whether who asks may see the question. Then this request may read what the session has of it, too."""
    asking = viewer()
    if asking is None:
        return True
    if not asking.may_see(one):
        return False
    if one.private_to not in (None, asking.user):
        asking.admitted.add(one.session_id)
    return True


def may_read(head: Head) -> bool:
    """Whether who asks may see all of a session that is there for them: an admin may not."""
    asking = viewer()
    return asking is None or asking.reads(head)
