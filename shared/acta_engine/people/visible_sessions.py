"""The one place that keeps private sessions from those who may not see them (ADR 50).

The log and the index of sessions ask here for everything they hand out. Who asks was bound where the request was
dispatched (`shared/acta_engine/api/app.py`), so no route has a check of its own to forget. Where nobody is bound, it
is the engine or recovery that works: they see all.
"""

from collections.abc import Callable

from acta_engine.bound_tenant import bound
from acta_engine.errors import SessionHidden
from acta_engine.log.commit import Commit
from acta_engine.log.head import Head
from acta_engine.people.intervention import Intervention
from acta_engine.people.visibility import Viewer


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
    """The same for a session whose log cannot be read. `owner`: whose alone it is by its listing. What is not `listed`
    either is for admins.
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
    asking.admitted.add(one.session_id)
    return True


def may_read(head: Head) -> bool:
    """Whether who asks may see all of a session that is there for them: an admin may not."""
    asking = viewer()
    return asking is None or asking.reads(head)
