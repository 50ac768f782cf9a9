"""Who asks for a change of a session."""

from collections.abc import Set
from typing import NamedTuple

from shared.domain.interventions.intervention import NO_ROLES
from shared.ports.log import IdempotencyKey


class Requester(NamedTuple):
    """A person as their token names them. `key`: of the request, where it came with an `Idempotency-Key`."""

    tenant: str
    user: str
    roles: Set[str] = NO_ROLES
    key: IdempotencyKey | None = None
