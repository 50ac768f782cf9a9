"""Whether IAM would allow a request: statements, wildcards and the conditions that Acta's policies use.

Source: IAM User Guide, "Policy evaluation logic" within one account, and "Condition operators". An element or an
operator that is not known here raises, so that no test passes for want of an evaluation.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

Document = Mapping[str, Any]
KNOWN = {"Sid", "Effect", "Action", "Resource", "Condition"}


class NotEvaluated(Exception):
    """Acta's policies and requests do not use it, so nobody has said here what IAM makes of it."""


class Ask(NamedTuple):
    """`context`: condition key -> its values; a key that the request does not have is not in it."""

    action: str
    resource: str
    context: Mapping[str, Sequence[str]] = {}


def is_allowed(ask: Ask, identity: Sequence[Document], session: Document | None = None) -> bool:
    """`identity`: the role's policies. `session`: what the role's session was narrowed to; None: to nothing."""
    if session is not None and not _allows(ask, (session,)):
        return False
    return _allows(ask, identity)


def _allows(ask: Ask, documents: Sequence[Document]) -> bool:
    met = [
        statement["Effect"]
        for document in documents
        for statement in _listed(document["Statement"])
        if _meets(ask, statement)
    ]
    return "Allow" in met and "Deny" not in met


def _meets(ask: Ask, statement: Mapping[str, Any]) -> bool:
    if unknown := statement.keys() - KNOWN:
        raise NotEvaluated(f"elements {sorted(unknown)}")
    return (
        any(_like(ask.action.lower(), each.lower()) for each in _listed(statement["Action"]))
        and any(_like(ask.resource, each) for each in _listed(statement["Resource"]))
        and all(
            _holds(operator, ask.context.get(key), _listed(wanted))
            for operator, keys in statement.get("Condition", {}).items()
            for key, wanted in keys.items()
        )
    )


def _holds(operator: str, actual: Sequence[str] | None, wanted: Sequence[str]) -> bool:
    if operator == "Null":
        return (actual is None) == (wanted[0] == "true")
    quantifier, _, name = operator.rpartition(":")
    if name.endswith("IfExists") and actual is None:
        return True
    compare = _COMPARED[name.removesuffix("IfExists")]
    matching = [any(compare(value, each) for each in wanted) for value in actual or ()]
    match quantifier:
        case "ForAllValues":
            return all(matching)  # of none, too
        case "":
            return bool(matching) and all(matching)
    raise NotEvaluated(f"operator {operator}")


def _like(value: str, pattern: str) -> bool:
    """`*`: any characters, slashes too; `?`: one."""
    parts = re.split(r"([*?])", pattern)
    expression = "".join({"*": ".*", "?": "."}.get(part, re.escape(part)) for part in parts)
    return re.fullmatch(expression, value, re.DOTALL) is not None


_COMPARED: Mapping[str, Callable[[str, str], bool]] = {
    "StringEquals": lambda value, wanted: value == wanted,
    "StringLike": _like,
    "ArnEquals": _like,
}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
