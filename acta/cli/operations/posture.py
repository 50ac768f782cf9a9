"""The posture of an environment before it is deployed: what its operator still has to decide is asked, and what is not
as a strict environment has it is shown.
"""

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from acta.cli.exit_codes import CliError
from acta.cli.operations.target import OperatorTarget
from acta.cli.terminal.text import cli_error, echo, note, show_table
from acta_infra.deployed.stacks import CloudFormation, StacksUnknown
from acta_infra.names import DECIDED, stateless_stack
from acta_infra.posture import (
    POINTS,
    Point,
    Undecided,
    answered,
    as_text,
    decisions_of,
    other_than_strict,
    require_decided,
    undecided,
    value_of,
    with_decisions,
)

Asks = Callable[[str], str]


def decide(
    chosen: OperatorTarget, given: Iterable[str], asks: Asks | None, client: Any = None
) -> tuple[OperatorTarget, Mapping[str, str]]:
    """The target with every point decided, and the app's context that says how. The environment's own values win, then
    what is `given` as OPTION=VALUE, then what an earlier deployment keeps, and then the person at the terminal decides.

    `asks`: puts a question; None: there is nobody. `client`: as `CloudFormation`'s. Raises CliError.
    """
    environment, region = chosen.environment, chosen.caller.region
    open_points = {each.option: each for each in undecided(environment)}
    answers: dict[str, object] = {}
    for each in given:
        option, _, text = each.partition("=")
        if option not in open_points:
            raise CliError(_not_undecided(option, environment.name))
        with cli_error(ValueError):
            answers[option] = answered(open_points[option], text)
    if not open_points:
        return chosen, {}
    with cli_error(StacksUnknown, words="what was decided before could not be read: {}", cut=300):
        stack = CloudFormation(region, client).stack(stateless_stack(environment.name), region)
    answers = json.loads(stack.outputs.get(DECIDED, "{}")) | answers if stack is not None else answers
    if asks is not None:
        for point in open_points.values():
            if point.option not in answers:
                answers[point.option] = ask(point, asks)
    with cli_error(ValueError, Undecided):
        environment = with_decisions(environment, answers)
        require_decided(environment)
    return chosen._replace(environment=environment), {"decided": json.dumps(decisions_of(environment))}


def ask(point: Point, asks: Asks) -> object:
    """Asks until the answer is one of those that the point takes. Raises CliError if nobody answers."""
    echo(f"{point.option}: {point.about}")
    while True:
        try:
            return answered(point, asks(f"  {point.answer}: ").strip())
        except EOFError:
            raise CliError("nothing was answered, and nothing was deployed") from None
        except ValueError as error:
            echo(f"  {error}")


def _not_undecided(option: str, environment: str) -> str:
    names = [each.option for each in POINTS if each.strict is None]
    if option in names:
        return f"{option} is decided in the entry of {environment}: change it there"
    return f"--decide takes OPTION=VALUE, where OPTION is {' or '.join(names)}, not {option!r}"


def asks_at_terminal() -> Asks | None:
    return input if sys.stdin.isatty() else None


def show_posture(chosen: OperatorTarget) -> None:
    """Prints what is decided, and what is not as a strict environment has it."""
    environment = chosen.environment
    differing = other_than_strict(environment)
    named = f"The posture of {environment.name} is {environment.posture}"
    if not differing:
        echo(f"{named}, in every point.")
    else:
        echo(f"{named}. This is not as a strict environment has it (docs/options.md, Posture):")
        rows = [
            (each.option, as_text(value_of(environment, each)), as_text(each.strict)) for each in differing
        ]
        show_table(("OPTION", environment.name.upper(), "STRICT"), rows, always_named=True)
    for option, value in decisions_of(environment).items():
        note(f"decided: {option} is {as_text(tuple(value) if isinstance(value, list) else value)}")
