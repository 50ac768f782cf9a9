"""The posture of an environment. Before it is deployed, its operator is asked what they still have to decide, and sees
what is not as a strict environment has it. Afterwards `acta posture` looks whether the deployment has it.
"""

import json
from argparse import Namespace
from collections.abc import Iterable, Mapping
from typing import Any

from acta.cli import exit_codes
from acta.cli.exit_codes import CliError
from acta.cli.operations.target import OperatorTarget, account_of, aws_errors, environment_of
from acta.cli.terminal.prompt import Asks
from acta.cli.terminal.text import cli_error, echo, note, show_table
from acta.infra.deployed.posture import DeployedPosture, SeenPoint
from acta.infra.deployed.stacks import CloudFormation, StacksUnknown, stack_outputs
from acta.infra.environments import Environment
from acta.infra.names import DECIDED, stateless_stack
from acta.infra.posture import (
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


def decide(
    chosen: OperatorTarget, given: Iterable[str] | None, asks: Asks | None, client: Any = None
) -> tuple[OperatorTarget, Mapping[str, str]]:
    """The target with every point decided, and the app's context that says how. The environment's own values win, then
    what is `given` as OPTION=VALUE, then what an earlier deployment keeps, and then the person at the terminal decides.

    `asks`: puts a question; None: there is nobody. `client`: as `CloudFormation`'s. Raises CliError.
    """
    environment, region = chosen.environment, chosen.caller.region
    open_points = {each.option: each for each in undecided(environment)}
    answers: dict[str, object] = {}
    for each in given or ():
        option, _, text = each.partition("=")
        if option not in open_points:
            names = [each.option for each in POINTS if each.strict is None]
            if option in names:
                raise CliError(f"{option} is decided in the entry of {environment.name}: change it there")
            raise CliError(
                f"--decide takes OPTION=VALUE, where OPTION is {' or '.join(names)}, not {option!r}"
            )
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
        note(f"decided: {option} is {as_text(value)}")


def posture(arguments: Namespace) -> int:
    """`acta posture`. Returns exit code 1 where the deployment differs from its environment, or a point is not seen.
    Raises CliError."""
    environment, account = environment_of(arguments), account_of(arguments)
    with aws_errors():
        outputs = stack_outputs(account.environment, account.client("cloudformation"))
    with cli_error(ValueError):
        decided = with_decisions(environment, json.loads(outputs.get(DECIDED, "{}")))
    return tell_posture(decided, DeployedPosture(decided, account, outputs).points(), as_json=arguments.json)


def tell_posture(environment: Environment, found: list[SeenPoint], *, as_json: bool) -> int:
    wrong = [each for each in found if each.state != "has it"]
    if as_json:
        posture_of = {"environment": environment.name, "posture": environment.posture}
        print(json.dumps({**posture_of, "points": [each._asdict() for each in found]}))
    else:
        rows = [(each.option, each.state, each.wanted if each in wrong else "", each.seen) for each in found]
        show_table(("OPTION", "DEPLOYED", "WANTED", "VALUE"), rows)
        other = ", ".join(each.option for each in other_than_strict(environment))
        echo(
            f"The posture of {environment.name} is {environment.posture}; "
            + (
                f"not as a strict environment has it: {other}."
                if other
                else "every point is that of a strict one."
            )
        )
        if wrong:
            echo(f"{len(wrong)} of {len(found)} points are not as the environment says, or are not seen.")
    return exit_codes.SESSION_FAILED if wrong else exit_codes.OK
