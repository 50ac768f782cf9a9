"""`acta apply DIR`: makes a tenant's definitions what the files say, after showing what that changes."""

import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from acta.cli import exit_codes
from acta.cli.apply.deployed import Deployed
from acta.cli.apply.folder import read_folder
from acta.cli.apply.plan import Plan, Step, plan
from acta.cli.apply.show import as_json, coloured_here, plan_lines
from acta.cli.connection import connect
from acta.cli.exit_codes import CliError
from acta.cli.terminal.questions import is_agreed
from acta.cli.terminal.text import echo, encodable, visible
from acta.client.errors import ApiError, ClientError

NOBODY_TO_ASK = "nobody can be asked here: add --yes, once --plan has shown what will change"
REFUSED = "nothing was written: the plan names what cannot be as the files say"
AGAIN = "Apply again to do the rest: what was done is not done twice"


def apply(arguments: Namespace) -> int:
    """Exit code 1 where a write failed or the answer is no, 3 where `--plan` shows changes. Raises CliError."""
    folder = read_folder(Path(arguments.folder), arguments.set_name)
    deployed = Deployed(connect(arguments, role="admin"))
    made = plan(
        folder,
        deployed.read(),
        deployed.tools,
        deployed.has_running_sessions,
        adopt=arguments.adopt,
        overwrite=arguments.overwrite,
    )
    if not arguments.json:
        for line in plan_lines(made, coloured=coloured_here()):
            echo(line)
    if arguments.plan or made.refusals or not made.steps:
        if arguments.json:
            echo(json.dumps(as_json(made)))
        if made.refusals:
            raise CliError(REFUSED)
        return exit_codes.DIFFERS if made.steps else exit_codes.OK
    count = len(made.steps)
    question = f"Write {'this change' if count == 1 else f'these {count} changes'}? [y/N] "
    if not arguments.yes and not is_agreed(question, NOBODY_TO_ASK, as_json=arguments.json):
        echo("Nothing was written.")
        return exit_codes.FAILED
    return _make(deployed, made, as_json=arguments.json)


def _make(deployed: Deployed, made: Plan, *, as_json: bool) -> int:
    """Step by step, as far as it goes."""
    done: list[Step] = []
    for step in made.steps:
        try:
            warnings = deployed.make(step, made)
        except ClientError as error:
            _tell_failed(made, done, error, as_json=as_json)
            return exit_codes.FAILED
        done.append(step)
        for warning in warnings:
            tell(f"acta: {step.key}: {visible(str(warning), keep_newlines=False)}")
    echo(json.dumps(_outcome(made, done)) if as_json else f"Applied: {_count(len(done))} written.")
    return exit_codes.OK


def _tell_failed(made: Plan, done: list[Step], error: ClientError, *, as_json: bool) -> None:
    left = made.steps[len(done) :]
    if as_json:
        echo(json.dumps(_outcome(made, done)))
        code = error.code if isinstance(error, ApiError) else "FAILED"
        tell(exit_codes.as_json(code, f"{left[0].key}: {error}", getattr(error, "details", {})))
        return
    echo(f"Not all was applied: {_count(len(done))} written, {len(left)} not.")
    for step in left:
        echo(f"  not written: {step.key}")
    tell(f"acta: {left[0].key}: {_why(error).rstrip('.')}. {AGAIN}")


def _outcome(made: Plan, done: list[Step]) -> dict[str, Any]:
    left = made.steps[len(done) :]
    return {**as_json(made), "written": len(done), "not_written": [str(step.key) for step in left]}


def tell(line: str) -> None:
    print(encodable(line, sys.stderr.encoding), file=sys.stderr)


def _count(number: int) -> str:
    return "1 change" if number == 1 else f"{number} changes"


def _why(error: ClientError) -> str:
    """With what is wrong, by field, each sentence once."""
    said = str(error)
    for field, sentences in getattr(error, "details", {}).items():
        if isinstance(sentences, list):
            new = " ".join(each for each in map(str, sentences) if each not in said)
            said = f"{said} {field}: {new}" if new else said
    return visible(said, keep_newlines=False)
