"""`acta verify`: about forty questions to a deployment that only AWS can answer, and a report that can be sent away."""

import json
from argparse import Namespace
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from acta.cli import exit_codes
from acta.cli.connection import connect
from acta.cli.exit_codes import CliError
from acta.cli.operations.target import account_of, aws_errors, environment_of
from acta.cli.operations.verify.api import TOKENS, clean_up
from acta.cli.operations.verify.checks import (
    Check,
    CheckAnswer,
    CheckUnanswered,
    Needs,
    NotPutBack,
    Verified,
    answer,
)
from acta.cli.operations.verify.report import JSON_FILE, MARKDOWN_FILE, as_json, head_of, write
from acta.cli.operations.verify.table import CHECKS
from acta.cli.terminal.prompt import confirm, is_agreed, stopped_by_signals
from acta.cli.terminal.text import cli_error, counted, dollars, echo, note, one_line
from acta.client.api import Client
from acta.client.errors import ClientError, SignInEndedError
from acta.infra.deployed.operator_trail import trail_of
from acta.infra.deployed.stacks import stack_outputs
from acta.infra.names import DECIDED
from acta.infra.posture import with_decisions

MARKS = {"passed": "passed      ", "failed": "FAILED      ", "not answered": "not answered"}


def verify(arguments: Namespace) -> int:
    """Exit code 1 where a check failed. Raises CliError."""
    deployed = verified(arguments)
    checks = chosen(arguments.only)
    allowed = frozenset[Needs](
        (
            "read-only",
            *(() if arguments.no_sessions else ("a session",)),
            *(("a change",) if arguments.changes else ()),
        )
    )
    ask(deployed, checks, allowed, arguments)
    changes = any(each.needs == "a change" for each in checks) and arguments.changes
    with aws_errors():
        recorded = trail_of(deployed.account).recorded("deployment.verify") if changes else nullcontext()
    changed = "a check has changed the deployment, and AWS did not let it put that back. Run {}"
    with aws_errors(), cli_error(NotPutBack, words=changed), stopped_by_signals(), recorded:
        answers = answered(
            deployed, checks, allowed, Path(arguments.to or "."), None if arguments.json else tell
        )
    if arguments.json:
        print(json.dumps(as_json(head_of(deployed), answers)))
    else:
        echo(f"The report is in {JSON_FILE} and {MARKDOWN_FILE}. It has no content and no names.")
    return exit_codes.FAILED if any(each.state == "failed" for each in answers) else exit_codes.OK


def answered(
    deployed: Verified,
    checks: Iterable[Check],
    allowed: frozenset[Needs],
    folder: Path,
    told: Callable[[CheckAnswer], None] | None = None,
) -> list[CheckAnswer]:
    """Runs the checks one after the other and writes the report, also of those that ran before an interruption."""
    answers: list[CheckAnswer] = []
    try:
        for check in checks:
            answers.append(answer(check, deployed, allowed))
            if told is not None:
                told(answers[-1])
    finally:
        if left := clean_up(deployed):
            note(
                f"acta: these could not be deleted, so delete them yourself: {one_line(', '.join(left), 500)}"
            )
        with cli_error(OSError, words="the report cannot be written: {}"):
            write(head_of(deployed), answers, folder)
    return answers


def verified(arguments: Namespace) -> Verified:
    """The deployment of --env or of --state. Where nobody is signed in, the checks of the API are not answered."""
    environment, account = environment_of(arguments), account_of(arguments)
    with aws_errors():
        outputs = stack_outputs(account.environment, account.client("cloudformation"))
    with cli_error(ValueError):
        environment = with_decisions(environment, json.loads(outputs.get(DECIDED, "{}")))
    client: Client | None = None
    try:
        client = connect(arguments, role="admin")
    except SignInEndedError as error:
        note(f"acta: {one_line(str(error), 300)}; without it the checks of the API are not answered")
    undo = "acta: if this command is killed now, put it back with: {}"
    return Verified(environment, account, outputs, client, warn=lambda line: note(undo.replace("{}", line)))


def chosen(only: Iterable[str] | None) -> list[Check]:
    """Raises CliError for a name that no check has."""
    names = [check.name for check in CHECKS]
    for each in only or ():
        if each not in names:
            raise CliError(f"no check is called {one_line(each)}: there are {', '.join(names)}")
    return [check for check in CHECKS if not only or check.name in only]


def ask(deployed: Verified, checks: Iterable[Check], allowed: frozenset[Needs], arguments: Namespace) -> None:
    """Says what the checks will cost and change, and asks. Raises CliError where the answer is no."""
    local = deployed.environment.is_local
    running = [check for check in checks if check.needs in allowed and not (local and check.not_here)]
    sessions = sum(check.sessions for check in running)
    if all(check.needs == "read-only" for check in running):
        return
    if sessions:
        note(
            f"This starts {counted(sessions, 'session')} of at most {TOKENS:,} tokens each: "
            f"{cost(deployed, sessions)}. They are deleted at the end."
        )
    if any(check.needs == "a change" for check in running):
        what = (
            "The checks with --changes set an alarm off, move aliases, stop an execution of their own, and for minutes "
            "give step too little memory, so that sessions of others wait. All of it is put back."
        )
        if deployed.environment.posture == "strict":
            confirm(what, deployed.name, arguments.confirm)
            return
        note(what)
    if not arguments.yes and not is_agreed(
        "Go on? [y/N] ", "add --yes: nobody can be asked here", as_json=arguments.json
    ):
        raise CliError("nothing was started")


def cost(deployed: Verified, sessions: int) -> str:
    """The most that the model may cost, at the price of the deployment's default model."""
    unknown = "what its model costs is not known"
    try:
        models: Any = deployed.api.models()
        is_built_in = deployed.api.get("/v1/agents/default")["version"] == 0
    except (ClientError, CheckUnanswered):
        return unknown
    if not is_built_in:
        return f"{unknown}, because the agent `default` is your tenant's own, with the models and tools that it names"
    default = models["default"]
    prices = [
        each["usd_per_million_tokens"]
        for each in models["models"]
        if (each["provider"], each["model"]) == (default["provider"], default["model"])
    ]
    if not prices or prices[0] is None:
        return unknown
    highest = max(prices[0][each] for each in ("input", "cache_write", "output"))
    return f"the model costs {dollars(sessions * TOKENS * highest / 1_000_000)} at the very most"


def tell(found: CheckAnswer) -> None:
    figures = ", ".join(f"{name} {value}" for name, value in found.figures.items())
    said = found.said or found.check.proves
    echo(f"{MARKS[found.state]}  {found.check.name}: {said}{f' ({figures})' if figures else ''}")
