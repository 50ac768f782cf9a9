"""What one session asked people, and what they decided: who, when, and how (design §8)."""

from typing import get_args

from shared.domain.errors import InterventionNotFound, SessionNotFound, ValidationFailed
from shared.domain.interventions.intervention import Intervention, InterventionState
from shared.ports.log import InterventionPage, SessionIndex, SessionLog

EVERY = "all"


def state_of(text: str | None) -> InterventionState | None:
    """Raises ValidationFailed."""
    if text is not None and text not in get_args(InterventionState):
        raise ValidationFailed(
            "Unknown state.", {"state": [f"one of {', '.join(get_args(InterventionState))}"]}
        )
    return text  # type: ignore[return-value]


def asked_in(
    log: SessionLog,
    directory: SessionIndex,
    tenant: str,
    session_id: str,
    *,
    state: str,
    limit: int,
    cursor: str | None,
) -> InterventionPage:
    """`state` may be `all`. The pending ones are the head's, all on one page, the oldest first; the others are listed
    newest first. Raises SessionNotFound, ValidationFailed; ValueError: bad cursor.
    """
    known = (*get_args(InterventionState), EVERY)
    if state not in known:
        raise ValidationFailed("Unknown state.", {"state": [f"one of {', '.join(known)}"]})
    commit = log.latest(tenant, session_id)
    if commit is None:
        raise SessionNotFound("There is no such session.")
    if state == "pending":
        return InterventionPage(tuple(commit.head.interventions), None)
    wanted = None if state == EVERY else state_of(state)
    return directory.interventions(tenant, state=wanted, limit=limit, cursor=cursor, session_id=session_id)


def one_asked_in(
    log: SessionLog, directory: SessionIndex, tenant: str, session_id: str, intervention_id: str
) -> Intervention:
    """Raises SessionNotFound, InterventionNotFound."""
    found = directory.intervention(tenant, intervention_id)
    if found is not None and found.session_id == session_id:
        return found
    if log.latest(tenant, session_id) is None:
        raise SessionNotFound("There is no such session.")
    raise InterventionNotFound("There is no such intervention.")
