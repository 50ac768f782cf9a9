"""Who may decide: any member of the tenant, or those with the role the agent's policy names (design §8)."""

from collections.abc import Set

from shared.domain.errors import RoleMissing
from shared.domain.intervention import Intervention

NOBODY: Set[str] = frozenset()


def entitled(one: Intervention, roles: Set[str]) -> None:
    """`roles`: those of the person's token. An admin is a member; no other role comes with another one.

    Raises RoleMissing.
    """
    needed = one.role
    if needed is None or needed in roles or (needed == "member" and "admin" in roles):
        return
    raise RoleMissing(needed, one.session_id, one.intervention_id)
