"""`acta tools call`: a tool runs once outside a session, so that who defines it sees what a call does."""

import json
from argparse import Namespace
from collections.abc import Iterator, Mapping
from typing import Any

from acta.cli import exit_codes
from acta.cli.apply.schema import nearest
from acta.cli.connection import connect
from acta.cli.definitions import json_object, text_of
from acta.cli.exit_codes import CliError
from acta.cli.terminal.text import echo, note, one_line, visible
from acta.client.errors import Conflict, NotFound

OUTCOMES = {
    "failed": "the call failed",
    "not_run": "the tool has not run",
    "unknown": "nobody knows whether the tool has run",
}


def call(arguments: Namespace) -> int:
    """The result goes to standard output, what is said about the call to standard error."""
    given = input_of(arguments)
    tools = connect(arguments, role="admin").tools
    try:
        trial = tools.call(arguments.name, given, confirm=arguments.yes)
    except NotFound:
        near = nearest(arguments.name, [each["name"] for each in tools.list()])
        raise CliError(f"there is no tool {one_line(arguments.name)}. {one_line(near, 500)}") from None
    except Conflict as conflict:
        if "confirm" not in conflict.details:
            raise
        raise CliError(
            "in a session a person approves each call of this tool; --yes runs it now, with what it does"
        ) from None
    if arguments.json:
        echo(json.dumps(trial))
    else:
        if trial["result"] is not None:
            echo(visible(trial["result"]))
        for line in about(trial):
            note(f"acta: {visible(line, keep_newlines=False)}")
    return exit_codes.OK if trial["outcome"] == "succeeded" else exit_codes.FAILED


def input_of(arguments: Namespace) -> dict[str, Any]:
    """Of the argument, of a file, or of standard input (`-`). Raises CliError."""
    if arguments.file is not None:
        if arguments.input is not None:
            raise CliError("give the input as an argument or in --file, not both")
        return json_object(arguments.file)
    if arguments.input is None:
        return {}
    text = text_of("-") if arguments.input == "-" else arguments.input
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CliError(f'the input is no JSON: {error}. Such as: \'{{"order_id": "7"}}\'') from None
    if not isinstance(value, dict):
        raise CliError('the input is no JSON object. Such as: \'{"order_id": "7"}\'')
    return value


def about(trial: Mapping[str, Any]) -> Iterator[str]:
    """What is said beside the result."""
    status = f", status {trial['status']}" if trial["status"] is not None else ""
    took = f"{trial['duration_ms']} ms{status}, effect id {trial['effect_id']}"
    if trial["truncated"]:
        yield f"this is the beginning of {trial['bytes']:,} bytes"
    error = trial["error"]
    if error is None:
        yield f"it ran: {took}"
        return
    yield f"{OUTCOMES.get(trial['outcome'], trial['outcome'])}: {took}"
    yield error["message"]
    if error["remedy"]:
        yield error["remedy"]
