"""How careful an environment is. Its `posture` is `open`, for developers, or `strict`, for what a team relies on.

Each point is an option of the environment. Where the operator gives no value, the posture does, and this table is the
only place that knows which. Some values a strict environment cannot know, such as who is told of alarms: these the
operator has to decide, and without them nothing is synthesised.
"""

from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeVar

from acta_infra.sizing import RESERVED

Posture = Literal["open", "strict"]
E = TypeVar("E")
SETTINGS = "the settings of the functions"


class Point(NamedTuple):
    option: str
    """The field of `Environment`, or the path to it, such as `auth.mfa`. The field's default is None, which stands for
    the value of the posture."""
    about: str
    """What the option decides: a sentence for a person."""
    open: object
    strict: object
    """None: the operator decides."""
    choices: tuple[object, ...] = ()
    """The values that an operator may choose from, where there are few."""
    seen_in: str = SETTINGS
    """Where a deployment shows the value, for who looks at it from outside. In the settings it has the option's
    name."""


POINTS = (
    Point(
        "default_visibility",
        "Who sees a session whose start does not say so: its tenant, or its owner alone.",
        open="tenant",
        strict=None,
        choices=("private", "tenant"),
    ),
    Point(
        "record_reads",
        "Whether the audit trail also says who read what is somebody else's.",
        open=False,
        strict=True,
        choices=(True, False),
    ),
    Point(
        "auth.mfa",
        "Whether people who sign in with Acta's own user pool need a second factor.",
        open="optional",
        strict="required",
        choices=("required", "optional"),
        seen_in="the user pool",
    ),
    Point(
        "tool_processes",
        "Whether a process of a Python tool serves one tenant, or all share what a tool leaves in it.",
        open="per_tenant",
        strict="per_tenant",
        choices=("per_tenant", "shared"),
    ),
    Point(
        "reserved_concurrency",
        "How many of the account's concurrent executions are for one function alone.",
        open={},
        strict=RESERVED,
        seen_in="the functions",
    ),
    Point(
        "tenant_share",
        "How much of the reservations of `step` and `status` one tenant's sessions and long polls may use at once.",
        open=1.0,
        strict=0.5,
        seen_in="the limits of tenants",
    ),
)


class Undecided(ValueError):
    """The operator has not decided some points of a strict environment. The message has the lines to write."""


def settled(environment: E) -> E:
    """The environment with the posture's value for each point that the operator left out."""
    for point in POINTS:
        if applies(environment, point) and value_of(environment, point) is None:
            value = point.open if environment.posture == "open" else point.strict  # type: ignore[attr-defined]
            environment = with_value(environment, point.option, value)
    return environment


def undecided(environment: object) -> tuple[Point, ...]:
    """The points that neither the operator nor the posture has decided."""
    found = settled(environment)
    return tuple(each for each in POINTS if applies(found, each) and value_of(found, each) is None)


def require_decided(environment: object) -> None:
    """Raises Undecided."""
    points = undecided(environment)
    if points:
        lines = [
            f"    {each.option}={' or '.join(map(repr, each.choices))}  # {each.about}" for each in points
        ]
        raise Undecided(
            "a strict environment needs a decision of its operator. Write into its entry in "
            "infra/acta_infra/environments.py, or in your own file of environments:\n" + "\n".join(lines)
        )


def applies(environment: object, point: Point) -> bool:
    """Whether the environment has the option: with an issuer of the operator's there is no pool whose MFA to choose."""
    value: object = environment
    for name in point.option.split("."):
        if not hasattr(value, name):
            return False
        value = getattr(value, name)
    return True


def value_of(environment: object, point: Point) -> object:
    value: object = environment
    for name in point.option.split("."):
        value = getattr(value, name)
    return value


def with_value(holder: Any, option: str, value: object) -> Any:
    """`holder` with another value of the option at this path."""
    name, _, rest = option.partition(".")
    new = with_value(getattr(holder, name), rest, value) if rest else value
    return holder._replace(**{name: new}) if hasattr(holder, "_replace") else replace(holder, **{name: new})
