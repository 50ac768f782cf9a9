"""`acta logs`: what the functions of a deployment, those of Python tools too, logged about a session, oldest first."""

import json
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from acta.cli import exit_codes
from acta.cli.connection import connect
from acta.cli.exit_codes import CliError
from acta.cli.naming import FULL, session_named
from acta.cli.operations.deployed.outputs import not_deployed
from acta.cli.operations.log_words import happened
from acta.cli.operations.repair import ago
from acta.cli.operations.target import Target, local_account, target
from acta.cli.terminal.text import echo, one_line
from acta.cli.terminal.tool_lines import further_lines
from infra.deployed.session_logs import LogLine, LogsUnreadable, logs_client, own_tool_functions, read_lines
from infra.deployed.stacks import CloudFormation, StacksUnknown
from infra.environments import LOCAL, Environment
from shared.domain.ids import EFFECT, is_id, made_at

LOOK_SECONDS = 3.0
LATE = timedelta(seconds=30)
"""A line may come so much later than the time that it was written at."""

Read = Callable[[datetime], Iterable[LogLine]]
"""The lines since a time."""


def logs(arguments: Namespace) -> int:
    session_id = named(arguments)
    since = began(arguments, session_id)
    client, environment, chosen = where(arguments)
    functions = [*environment.functions, *own_tools(client, environment)]

    def read(after: datetime) -> Iterable[LogLine]:
        try:
            return read_lines(client, environment.name, functions, session_id, after)
        except LogsUnreadable as error:
            raise CliError(f"the logs cannot be read: {one_line(str(error), 300)}") from None

    show = show_json if arguments.json else show_line
    wanted = (lambda line: True) if arguments.all else is_part_of_the_story
    shown = tell(read, since, show, wanted)
    if chosen is not None and not shown:
        require_deployed(chosen)
    if arguments.follow:
        follow(read, since, show, wanted, shown)
    elif not shown:
        print(
            f"no function has logged anything about {session_id} since {since:%Y-%m-%d %H:%M} UTC",
            file=sys.stderr,
        )
    return exit_codes.OK


def own_tools(client: Any, environment: Environment) -> Sequence[str]:
    """Functions of Python tools. Who may not list the log groups is told, and sees the rest."""
    try:
        return own_tool_functions(client, environment.name)
    except LogsUnreadable as error:
        print(f"acta: logs of Python tools are left out: {one_line(str(error), 300)}", file=sys.stderr)
        return ()


def named(arguments: Namespace) -> str:
    """The session's whole id. Only a part of it, or `last`, is looked up. The effect id of a trial call is taken as it
    is. Raises CliError and ClientError.
    """
    if FULL.fullmatch(arguments.id) or is_id(EFFECT, arguments.id):
        return str(arguments.id)
    return session_named(connect(arguments), arguments.id)


def began(arguments: Namespace, session_id: str) -> datetime:
    """From when on it is read: what --since says, else when the session's id was made. Raises CliError."""
    if arguments.since:
        return ago(arguments.since, datetime.now(UTC), "--since")
    milliseconds = made_at(session_id)
    if milliseconds is None:
        raise CliError(f"{one_line(session_id)} is no id of a session")
    return datetime.fromtimestamp(milliseconds / 1_000, UTC) - LATE


def where(arguments: Namespace) -> tuple[Any, Environment, Target | None]:
    """A client for the AWS account of --env, or for the local stack, and which environment that is. Raises CliError."""
    if arguments.env:
        chosen = target(arguments.env)
        return logs_client(chosen.account), chosen.environment, chosen
    return logs_client(local_account(arguments)), LOCAL, None


def require_deployed(chosen: Target, client: Any = None) -> None:
    """Raises CliError where the environment is not deployed. Who may not look at its stacks is told nothing.
    `client`: as `CloudFormation`'s.
    """
    with suppress(StacksUnknown):
        if not CloudFormation(chosen.caller.region, client).deployed(chosen.environment):
            raise not_deployed(chosen)


def tell(
    read: Read,
    since: datetime,
    show: Callable[[LogLine], None],
    wanted: Callable[[LogLine], bool],
    known: frozenset[tuple[str, ...]] = frozenset(),
) -> frozenset[tuple[str, ...]]:
    """Shows what is not known yet. Returns what is known then."""
    lines = [line for line in read(since) if line.key not in known and wanted(line)]
    for line in lines:
        show(line)
    return known | {line.key for line in lines}


def follow(
    read: Read,
    since: datetime,
    show: Callable[[LogLine], None],
    wanted: Callable[[LogLine], bool],
    known: frozenset[tuple[str, ...]],
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Until it is interrupted."""
    while True:
        pause(LOOK_SECONDS)
        since = max(since, datetime.now(UTC) - 10 * LATE)
        known = tell(read, since, show, wanted, known)


def is_part_of_the_story(line: LogLine) -> bool:
    """Not a read that went well: who follows a session reads it all the time."""
    fields = line.fields
    is_read = str(fields.get("route", "")).startswith("GET ")
    return not (fields.get("message") == "answered" and is_read and int(fields.get("status", 500)) < 400)


def show_line(line: LogLine) -> None:
    at = line.at.astimezone(UTC)
    echo(f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1_000:03d}  {line.function:<9}  {happened(line.fields)}")
    for further in further_lines(line.fields):
        echo(f"    {further}")


def show_json(line: LogLine) -> None:
    echo(json.dumps(as_json(line)))


def as_json(line: LogLine) -> Mapping[str, Any]:
    fields = {name: value for name, value in line.fields.items() if name != "_aws"}
    place = {"at": line.at.isoformat(timespec="milliseconds"), "function": line.function}
    return {**place, **fields, **place}
