"""Which events a trigger is for: a part of the pattern language of Amazon EventBridge.

A pattern has the form of the events that it lets through. It is an object; each of its keys has to be in the event, and
at each leaf stands a list of what the value may be:

    {"type": ["order.paid"], "order": {"total": [{"numeric": [">", 1000]}], "country": [{"anything-but": ["US"]}]}}

What a list may have: a text, a number, true, false or null, which is the value itself, and the operators in
`OPERATORS`. An operator that is not among them is refused by name when the trigger is defined. A list in an event fits
if one of its members does. `$or` at any level holds a list of patterns, of which one has to fit.

There are two differences from EventBridge: numbers are compared by their value (300 is 3.0e2), and `{"exists": …}` may
ask about a key whose value is an object. Source: Amazon EventBridge user guide, "Comparison operators for use in event
patterns".
"""

import json
import operator
from collections.abc import Callable, Mapping
from typing import Any

from acta.engine.untrusted.validation_messages import did_you_mean

MAX_PATTERN_BYTES = 2_048
"""As JSON. EventBridge has the same limit."""
OR = "$or"
OPERATORS = ("prefix", "suffix", "equals-ignore-case", "anything-but", "numeric", "exists")
_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_MISSING = object()
"""The value of a key that the event does not have."""


class PatternRefused(ValueError):
    """The pattern cannot be used. The message says where in it, and what to write instead."""


def check_pattern(pattern: Mapping[str, Any]) -> None:
    """Raises PatternRefused."""
    size = len(
        json.dumps(pattern, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
    )
    if size > MAX_PATTERN_BYTES:
        raise PatternRefused(f"The pattern has {size:,} bytes; at most {MAX_PATTERN_BYTES:,} are allowed.")
    _check_object(pattern, "pattern")


def matches(pattern: Mapping[str, Any], event: Mapping[str, Any]) -> bool:
    """Whether the event fits. `pattern`: one that `check_pattern` let through; the empty one fits every event."""
    for key, wanted in pattern.items():
        if key == OR:
            if not any(matches(each, event) for each in wanted):
                return False
        elif not _fits(wanted, event.get(key, _MISSING)):
            return False
    return True


def value_at(event: Any, path: str) -> Any:
    """The value at a dotted path; None: there is none."""
    for part in path.split("."):
        if isinstance(event, Mapping):
            event = event.get(part)
        elif isinstance(event, list) and part.isascii() and part.isdigit() and int(part) < len(event):
            event = event[int(part)]
        else:
            return None
    return event


def _fits(wanted: Any, found: Any) -> bool:
    if isinstance(found, list) and found:
        return any(_fits(wanted, each) for each in found)
    if isinstance(wanted, dict):
        # An object that is missing still fits a pattern that asks for the absence of what would be in it.
        return matches(wanted, found if isinstance(found, dict) else {})
    return any(_is_one(each, found) for each in wanted)


def _is_one(wanted: Any, found: Any) -> bool:
    """Whether a value is what one member of a list asks for."""
    if not isinstance(wanted, dict):
        return _same(wanted, found)
    ((name, operand),) = wanted.items()
    if name == "exists":
        return (found is not _MISSING) is operand
    if found is _MISSING:
        return False
    match name:
        case "prefix" | "suffix":
            folded = isinstance(operand, dict)
            text, end = (found, operand) if not folded else (_folded(found), _folded(_only(operand)))
            return isinstance(text, str) and (
                text.startswith(end) if name == "prefix" else text.endswith(end)
            )
        case "equals-ignore-case":
            return isinstance(found, str) and _folded(found) == _folded(operand)
        case "numeric":
            pairs = zip(operand[::2], operand[1::2], strict=True)
            return _is_number(found) and all(_COMPARISONS[sign](found, number) for sign, number in pairs)
        case _:  # anything-but
            if isinstance(operand, dict):
                ((how, texts),) = operand.items()
                return not any(_is_one({how: each}, found) for each in _listed(texts))
            return not any(_same(each, found) for each in _listed(operand))


def _check_object(pattern: object, path: str) -> None:
    if not isinstance(pattern, Mapping):
        raise PatternRefused(f"{path} is an object with the keys of the event.")
    for key, wanted in pattern.items():
        here = f"{path}.{key}"
        if key == OR:
            if not isinstance(wanted, list) or len(wanted) < 2:
                raise PatternRefused(f"{here} is a list of at least two patterns.")
            for number, each in enumerate(wanted):
                _check_object(each, f"{here}[{number}]")
        elif isinstance(wanted, Mapping):
            if not wanted:
                raise PatternRefused(f"{here} is empty. Leave the key out, or say what its value may be.")
            if named := [each for each in wanted if each in OPERATORS]:
                raise PatternRefused(f'{here} has an operator outside a list. Write [{{"{named[0]}": …}}].')
            _check_object(wanted, here)
        elif isinstance(wanted, list) and wanted:
            for number, each in enumerate(wanted):
                _check_member(each, f"{here}[{number}]")
        else:
            raise PatternRefused(
                f"{here} is a list of what the value may be, such as [{json.dumps(wanted or 'paid')}]."
            )


def _check_member(wanted: object, path: str) -> None:
    """A member of the list at a leaf."""
    if isinstance(wanted, list):
        raise PatternRefused(f"{path} is a list in a list. Write what the value may be in one list.")
    if not isinstance(wanted, Mapping):
        return
    if len(wanted) != 1:
        raise PatternRefused(f'{path} has one operator, such as {{"prefix": "a"}}.')
    ((name, operand),) = wanted.items()
    if name not in OPERATORS:
        raise PatternRefused(f"{path}: there is no operator {name} here. {did_you_mean(name, OPERATORS)}")
    match name:
        case "prefix" | "suffix":
            folded = isinstance(operand, Mapping) and list(operand) == ["equals-ignore-case"]
            text, example = (_only(operand) if folded else operand), '"a" or {"equals-ignore-case": "a"}'
            fits = isinstance(text, str)
        case "equals-ignore-case":
            fits, example = isinstance(operand, str), '"a"'
        case "exists":
            fits, example = isinstance(operand, bool), "true or false"
        case "numeric":
            fits, example = _is_comparison(operand), '[">", 0, "<=", 5]'
        case _:
            example = (
                'a text, a number, a list of them, or {"prefix": …}, {"suffix": …}, {"equals-ignore-case": …}'
            )
            fits = _is_anything_but(operand)
    if not fits:
        raise PatternRefused(f"{path}: {name} takes {example}.")


def _is_comparison(operand: object) -> bool:
    if not isinstance(operand, list) or len(operand) not in (2, 4):
        return False
    return all(isinstance(each, str) and each in _COMPARISONS for each in operand[::2]) and all(
        _is_number(each) for each in operand[1::2]
    )


def _is_anything_but(operand: object) -> bool:
    if isinstance(operand, Mapping):
        named = len(operand) == 1 and next(iter(operand)) in ("prefix", "suffix", "equals-ignore-case")
        texts = _listed(_only(operand)) if named else []
        return bool(texts) and all(isinstance(each, str) for each in texts)
    values = _listed(operand)
    return bool(values) and all(isinstance(each, str) or _is_number(each) for each in values)


def _only(operand: Mapping[str, Any]) -> Any:
    return next(iter(operand.values()))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _same(wanted: object, found: object) -> bool:
    """Python holds True and 1 to be equal; JSON does not."""
    return isinstance(wanted, bool) == isinstance(found, bool) and wanted == found


def _folded(value: Any) -> Any:
    return value.casefold() if isinstance(value, str) else value
