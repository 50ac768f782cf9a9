"""The version of what is stored, and the fields that each version adds (design §6.7).

A release reads all versions up to the one after its own. It writes `CURRENT`, or the version before that while Lambdas
of the release before it may still run (`ACTA_WRITE_VERSION`). So old and new Lambdas work on the same sessions.

To add a field to a stored model, give it a default that means what its absence means. Then raise `CURRENT` if a release
has written it already, and name the field in `ADDED` under `CURRENT` and its model. A nested model that is new needs no
entry, because it is reached through its field. Nothing stored is renamed, removed or narrowed, and an existing field
gets no new kind of value. `tests/releases` runs this release beside a next one that is made from it in this way.
"""

from collections.abc import Mapping
from types import MappingProxyType

CURRENT = 1
"""What this release writes once no Lambda of the release before it runs any more."""
NEXT = CURRENT + 1
"""The newest version that is read. Fields that are unknown are kept and written back."""
OLDEST_WRITTEN = max(CURRENT - 1, 1)
"""The oldest version that is written."""

ADDED: Mapping[int, Mapping[str, frozenset[str]]] = MappingProxyType({})
"""Version -> name of the model -> fields that the version adds."""


Fields = frozenset[tuple[str, str]]
"""Pairs of a model's name and a field's."""


def added_after(version: int) -> Fields:
    """The fields that readers of `version` do not know."""
    return frozenset(
        (model, field)
        for later, models in ADDED.items()
        if later > version
        for model, fields in models.items()
        for field in fields
    )
