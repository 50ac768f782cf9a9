"""What a deployment would change: the templates that were synthesised against those that are deployed."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

Template = Mapping[str, Any]


class Changes(NamedTuple):
    """Of one stack. `added`, `removed`, `changed`: logical ids of resources. A stack that is changed may have none of
    them: outputs and parameters change too.
    """

    state: Literal["new", "changed", "same"]
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


def changes(wanted: Template, deployed: Template | None) -> Changes:
    """`deployed` None: the stack is not there."""
    if deployed is None:
        return Changes("new", added=tuple(wanted["Resources"]))
    if wanted == deployed:
        return Changes("same")
    new, old = wanted["Resources"], deployed.get("Resources", {})
    return Changes(
        "changed",
        added=tuple(name for name in new if name not in old),
        removed=tuple(name for name in old if name not in new),
        changed=tuple(name for name in new if name in old and new[name] != old[name]),
    )
