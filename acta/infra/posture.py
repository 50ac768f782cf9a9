"""How careful an environment is. Its `posture` is `open`, for developers, or `strict`, for what a team relies on.

Each point is an option of the environment. Where the operator gives no value, the posture does, and this table is the
only place that knows which. Some values a strict environment cannot know, such as who is told of alarms: these the
operator has to decide, and without them nothing is synthesised.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from operator import attrgetter
from typing import Any, Literal, NamedTuple, TypeVar

from acta.infra.sizing import RESERVED

Posture = Literal["open", "strict"]
E = TypeVar("E")


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
    setting: str | None = ""
    """The setting of functions that has the value, for whoever looks at a deployment from outside. Empty: the one of
    the option's name. None: no setting has it."""
    line: str = ""
    """If the operator decides: an example of what to write into the environment."""
    answer: str = ""
    """If the operator decides: what a person may answer."""
    read: Callable[[str], object] = str
    """Reads such an answer. Raises ValueError."""
    instead: tuple[str, ...] = ()
    """Other options: whoever gives one of them has decided this point, too."""


POINTS = (
    Point(
        "default_visibility",
        "Who sees a session whose start does not say so: its tenant, or its owner alone.",
        open="tenant",
        strict=None,
        choices=("private", "tenant"),
        line='default_visibility="private"',
        answer="private or tenant",
    ),
    Point(
        "retention.ended_sessions",
        "For how many days an ended session and its texts are kept; 0: for ever.",
        open=0,
        strict=None,
        setting="ended_sessions_days",
        line="retention=Retention(ended_sessions=90)",
        answer="a number of days, or 0 for ever",
        read=int,
    ),
    Point(
        "watch.emails",
        "Who is told of alarms by email, where no webhook and no channel of Slack is.",
        open=(),
        strict=None,
        setting=None,
        line='watch=Watch(emails=("oncall@example.com",))',
        answer="email addresses with commas between them, or none",
        read=lambda text: () if text == "none" else tuple(each.strip() for each in text.split(",")),
        instead=("watch.webhooks", "watch.slack"),
    ),
    Point(
        "high_stakes_approver",
        "Who approves a call of high stakes: anyone who may decide, another person than who asked for it, or a role.",
        open="anyone",
        strict="another",
    ),
    Point(
        "programs_decide",
        "Whether a program, which signs in with a client's credentials, may decide what sessions ask.",
        open=True,
        strict=False,
        choices=(True, False),
    ),
    Point(
        "file_change_role",
        "Which role replaces, restores and deletes shared files over the API; none: every member.",
        open="",
        strict="admin",
    ),
    Point(
        "record_reads",
        "Whether the audit trail also says who read what is somebody else's.",
        open=False,
        strict=True,
        choices=(True, False),
    ),
    Point(
        "mcp_decisions",
        "How people decide questions over MCP: in a form of their client, on the page for people alone, or not at all.",
        open="form",
        strict="link",
        choices=("form", "link", "off"),
    ),
    Point(
        "auth.mfa",
        "Whether people who sign in with Acta's own user pool need a second factor.",
        open="optional",
        strict="required",
        choices=("required", "optional"),
        setting=None,
    ),
    Point(
        "tool_processes",
        "Whether a process of a Python tool serves one tenant, or all share what a tool leaves in it.",
        open="per_tenant",
        strict="per_tenant",
        choices=("per_tenant", "shared"),
    ),
    Point(
        "tool_network",
        "In which VPC of yours Python tools and calls to other servers run; no: they reach the internet.",
        open=False,
        strict=None,
        setting=None,
        line="tool_network=False",
        answer="no, or a Network in the environment's entry",
        read=lambda text: {"no": False}[text],
    ),
    Point(
        "reserved_concurrency",
        "How many of the account's concurrent executions are for one function alone.",
        open={},
        strict=RESERVED,
        setting=None,
    ),
    Point(
        "tenant_share",
        "How much of the reservations of `step` and `status` one tenant's sessions and long polls may use at once.",
        open=1.0,
        strict=0.5,
        setting="tenant_limits",
    ),
    Point(
        "usd_per_day",
        "How many dollars the sessions of a tenant may cost in a day before they wait; `*`: every tenant.",
        open={},
        strict={"*": 100},
    ),
    Point(
        "caps.cost_budget_usd",
        "The most dollars that anybody may give one session.",
        open=1_000.0,
        strict=100.0,
        setting="cap_cost_budget_usd",
    ),
)


class Undecided(ValueError):
    """The operator has not decided some points of a strict environment. The message has the lines to write."""


def settled(environment: E) -> E:
    """The environment with the posture's value for each point that the operator left out."""
    for point in POINTS:
        if applies(environment, point) and value_of(environment, point) is None:
            is_open = _is_open(environment) or any(_at(environment, each) for each in point.instead)
            environment = with_value(environment, point.option, point.open if is_open else point.strict)
    return environment


def _is_open(environment: Any) -> bool:
    return bool(environment.posture == "open")


def undecided(environment: object) -> tuple[Point, ...]:
    """The points that neither the operator nor the posture has decided."""
    found = settled(environment)
    return tuple(each for each in POINTS if applies(found, each) and value_of(found, each) is None)


def require_decided(environment: Any) -> None:
    """Raises Undecided."""
    points = undecided(environment)
    if not points:
        return
    what = "".join(f"  {each.option}: {each.about}\n" for each in points)
    lines = "".join(f"    {each.line},\n" for each in points)
    flags = "\n".join(f"      --decide {each.option}=…  # {each.answer}" for each in points)
    raise Undecided(
        f"environment {environment.name} is strict, and its operator has to decide:\n{what}"
        f"Write lines such as these into its entry in environments.py:\n{lines}"
        f"or answer once, and the deployment keeps the answers:\n"
        f"    acta deploy --env {environment.name}\n{flags}"
    )


def answered(point: Point, text: str) -> object:
    """The value that a person's answer stands for. Raises ValueError."""
    try:
        value = point.read(text)
        if point.choices and value not in point.choices:
            raise ValueError
    except (KeyError, ValueError):
        raise ValueError(f"{point.option} is {point.answer}, not {text!r}") from None
    return value


def with_decisions(environment: E, decisions: Mapping[str, object]) -> E:
    """The environment with these values, by option, where it is undecided: a value of its own wins. Raises ValueError
    for a value that the option does not take.
    """
    for point in undecided(environment):
        if point.option in decisions:
            value = decisions[point.option]
            if isinstance(value, str):
                value = answered(point, value)
            value = tuple(value) if isinstance(value, list) else value
            if point.choices and value not in point.choices:
                raise ValueError(f"{point.option} is {point.answer}, not {value!r}")
            environment = with_value(environment, point.option, value)
    return settled(environment)


def decisions_of(environment: object) -> dict[str, object]:
    """What the operator of a strict environment has decided, by option, as far as one can answer it at a terminal: the
    deployment keeps this."""
    if _is_open(environment):
        return {}
    decided = {each.option: value_of(environment, each) for each in POINTS if each.strict is None}
    return {option: value for option, value in decided.items() if isinstance(value, str | int | tuple)}


def other_than_strict(environment: object) -> tuple[Point, ...]:
    """The points whose value is not that of a strict environment."""
    known = (each for each in POINTS if each.strict is not None and applies(environment, each))
    return tuple(each for each in known if value_of(environment, each) != each.strict)


def as_text(value: object) -> str:
    """The value as a table shows it."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {each}" for name, each in value.items()) or "none"
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value)) or "nobody"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def applies(environment: object, point: Point) -> bool:
    """Whether the environment has the option: with an issuer of the operator's there is no pool whose MFA to choose."""
    *path, name = point.option.split(".")
    return hasattr(_at(environment, ".".join(path)) if path else environment, name)


def value_of(environment: object, point: Point) -> object:
    return _at(environment, point.option)


def _at(environment: object, option: str) -> object:
    return attrgetter(option)(environment)


def with_value(holder: Any, option: str, value: object) -> Any:
    """`holder` with another value of the option at this path."""
    name, _, rest = option.partition(".")
    return replace(holder, **{name: with_value(getattr(holder, name), rest, value) if rest else value})
