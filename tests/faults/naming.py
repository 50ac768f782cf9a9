"""How a part of `make faults` is named: `function:operation:kind`, or `outage:service:kind`. Ahead of the first
`python:`: amid calls of Python tools; `tree:`: in a tree of sessions.
"""

from collections.abc import Mapping, Sequence

from tests.faults.calls import Subject
from tests.faults.outages.chosen import OUTAGE, is_named
from tests.faults.outages.outage import KINDS as OUTAGE_KINDS
from tests.faults.outages.outage import SERVICES
from tests.faults.outages.run import cases
from tests.faults.point import KILLS, RECOVER
from tests.faults.sweep import Case, troubles_of

_ASKED: Mapping[str, Mapping[str, str]] = {
    "admin": {"dynamodb": "GetItem PutItem Query TransactWriteItems", "sts": "AssumeRole"},
    "intervene": {
        "dynamodb": "GetItem PutItem Query TransactWriteItems",
        "states": "SendTaskSuccess StartExecution",
        "sts": "AssumeRole",
    },
    "recover": {"dynamodb": "Query", "states": "DescribeExecution ListExecutions StartExecution"},
    "start": {
        "dynamodb": "GetItem PutItem TransactWriteItems",
        "states": "StartExecution",
        "sts": "AssumeRole",
    },
    "status": {"dynamodb": "Query", "s3": "GetObject", "sts": "AssumeRole"},
    "step": {
        "dynamodb": "GetItem PutItem Query TransactWriteItems",
        "model": "Messages",
        "s3": "GetObject PutObject",
        "sts": "AssumeRole",
    },
    "tool": {
        "dynamodb": "GetItem PutItem Query TransactWriteItems",
        "s3": "PutObject",
        "sink": "POST",
        "sts": "AssumeRole",
    },
}
OPERATIONS: Mapping[str, frozenset[str]] = {
    function: frozenset(f"{service}:{each}" for service, named in asked.items() for each in named.split())
    for function, asked in _ASKED.items()
}
"""What each function asks for in the scenario, by service and operation. A sample of the sweep compares it."""
PYTHON = "python"
PYTHON_OPERATIONS: Mapping[str, frozenset[str]] = {
    "tool": (OPERATIONS["tool"] - {"sink:POST"}) | {"lambda:Invoke"},
    "tool-rooms": frozenset(("s3:PutObject", "sink:POST")),
}
"""The same of the scenario with Python tools, of which faults are made."""
TREE = "tree"
_STARTS = frozenset(("states:StartExecution", "states:StopExecution"))
TREE_OPERATIONS: Mapping[str, frozenset[str]] = {
    **{name: OPERATIONS[name] for name in ("admin", "intervene", "start")},
    **{name: OPERATIONS[name] | _STARTS for name in ("step", "tool")},
}
"""The same of the tree, whose writes are disturbed."""
LEFT = "left"
"""A kind as well: the faults after which nobody comes back."""
FROM_PEOPLE = ("start", "intervene")


def kinds(function: str, operation: str) -> set[str]:
    """Of the faults at such a call."""
    if function not in OPERATIONS:
        return set(KILLS)
    is_write = Subject(operation, "").is_write
    found: set[str] = {*KILLS, *(["lose"] if is_write else [])}
    if function == RECOVER:
        return {*found, LEFT}
    return {*found, *troubles_of(operation), *([LEFT] if is_write and function in FROM_PEOPLE else [])}


def is_meant(case: Case, parts: Sequence[str]) -> bool:
    function, operation = case.group
    having = {case.faults[0].kind, LEFT if case.left else ""}
    return any(_meets(part, function, operation, having) for part in parts or [""])


def unknown(parts: Sequence[str]) -> list[str]:
    """Those that name nothing."""
    return [part for part in parts if not _names_something(part)]


def what_there_is() -> str:
    """For a person who named something else."""
    lines = [
        f"  {function}: {', '.join(sorted(each.partition(':')[2] for each in operations))}"
        for function, operations in sorted(OPERATIONS.items())
    ]
    faults = sorted(
        {kind for name, many in OPERATIONS.items() for each in many for kind in kinds(name, each)}
    )
    return "\n".join(
        [
            "A part is function:operation:kind, of which any may be left out, or outage:service:kind.",
            "python:function:operation:kind is one amid calls of Python tools, of "
            f"{' and '.join(PYTHON_OPERATIONS)}. tree:function:operation:kind is one in a tree of sessions.",
            "cap1 and cap8 choose a stand. Functions and their operations:",
            *lines,
            f"Kinds: {', '.join(faults)}. Not every call has each.",
            f"Outages of: {', '.join(SERVICES)}. Their kinds: {', '.join(OUTAGE_KINDS)}.",
        ]
    )


def without_prefix(parts: Sequence[str]) -> list[str]:
    """Of parts that begin with `python` or `tree`."""
    return [part.partition(":")[2] for part in parts]


def _names_something(part: str) -> bool:
    first, operations_of = part.partition(":")[0], OPERATIONS
    if first in (PYTHON, TREE):
        (part,), operations_of = (
            without_prefix([part]),
            PYTHON_OPERATIONS if first == PYTHON else TREE_OPERATIONS,
        )
    if part.partition(":")[0] == OUTAGE:
        return any(is_named(case, [part]) for case in cases())
    return any(
        _meets(part, function, operation, kinds(function, operation))
        for function, operations in operations_of.items()
        for operation in operations
    )


def _meets(part: str, function: str, operation: str, having: set[str]) -> bool:
    wanted = [*part.split(":"), "", ""][:3]
    found = ({function}, {operation.partition(":")[2]}, having)
    return all(not want or want in have for want, have in zip(wanted, found, strict=True))
