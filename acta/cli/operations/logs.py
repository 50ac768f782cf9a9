"""`acta logs`: what a deployment's functions, including Python tools, logged about a session, oldest first."""

import json
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from acta.cli import exit_codes
from acta.cli.connection import FULL, connect, session_named
from acta.cli.exit_codes import CliError
from acta.cli.operations.repair import ago
from acta.cli.operations.target import OperatorTarget, local_account, log_of_dev, not_deployed, target
from acta.cli.terminal.text import cli_error, counted, dollars, echo, note, one_line, visible
from acta.engine.clock import EFFECT, is_id, made_at
from acta.infra.deployed.session_logs import (
    LogFile,
    LogLine,
    LogsUnreadable,
    logs_client,
    own_tool_functions,
    read_lines,
)
from acta.infra.deployed.stacks import CloudFormation, StacksUnknown
from acta.infra.environments import LOCAL, Environment

LOOK_SECONDS = 3.0
LATE = timedelta(seconds=30)
"""A line may become visible this long after the time at which it was written."""

Read = Callable[[datetime], Iterable[LogLine]]
"""Reads the lines since a time."""


def logs(arguments: Namespace) -> int:
    session_id = named(arguments)
    since = began(arguments, session_id)
    client, environment, chosen = where(arguments)
    functions = [*environment.functions, *own_tools(client, environment)]

    def read(after: datetime) -> Iterable[LogLine]:
        with cli_error(LogsUnreadable, words="the logs cannot be read: {}", cut=300):
            return read_lines(client, environment.name, functions, session_id, after)

    show = show_json if arguments.json else show_line
    wanted = (lambda line: True) if arguments.all else is_part_of_the_story
    shown = tell(read, since, show, wanted)
    if chosen is not None and not shown:
        require_deployed(chosen)
    if arguments.follow:
        follow(read, since, show, wanted, shown)
    elif not shown:
        note(f"no function has logged anything about {session_id} since {since:%Y-%m-%d %H:%M} UTC")
    return exit_codes.OK


def own_tools(client: Any, environment: Environment) -> Sequence[str]:
    """The functions of Python tools. A caller who may not list the log groups is told, and sees the rest."""
    try:
        return own_tool_functions(client, environment.name)
    except LogsUnreadable as error:
        note(f"acta: logs of Python tools are left out: {one_line(str(error), 300)}")
        return ()


def named(arguments: Namespace) -> str:
    """The whole id of the session. It is looked up only if a part of it or `last` was given. The effect id of a trial
    call is taken as it is. Raises CliError and ClientError.
    """
    if FULL.fullmatch(arguments.id) or is_id(EFFECT, arguments.id):
        return str(arguments.id)
    return session_named(connect(arguments), arguments.id)


def began(arguments: Namespace, session_id: str) -> datetime:
    """From which time on lines are read: from --since, else from when the session's id was made. Raises CliError."""
    if arguments.since:
        return ago(arguments.since, datetime.now(UTC), "--since")
    milliseconds = made_at(session_id)
    if milliseconds is None:
        raise CliError(f"{one_line(session_id)} is no id of a session")
    return datetime.fromtimestamp(milliseconds / 1_000, UTC) - LATE


def where(arguments: Namespace) -> tuple[Any, Environment, OperatorTarget | None]:
    """A client for the AWS account of --env or for the local stack, and the environment there. Raises CliError."""
    if arguments.env:
        chosen = target(arguments.env)
        return logs_client(chosen.account), chosen.environment, chosen
    log = log_of_dev(arguments)
    return logs_client(local_account(arguments)) if log is None else LogFile(log), LOCAL, None


def require_deployed(chosen: OperatorTarget, client: Any = None) -> None:
    """Raises CliError if the environment is not deployed. Does nothing if the caller may not read its stacks. `client`:
    as `CloudFormation`'s.
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
    """Shows the lines that are not known yet, and returns the keys of all lines that are known now."""
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
    """Shows new lines until it is interrupted."""
    while True:
        pause(LOOK_SECONDS)
        since = max(since, datetime.now(UTC) - 10 * LATE)
        known = tell(read, since, show, wanted, known)


def is_part_of_the_story(line: LogLine) -> bool:
    """Leaves out reads that went well: whoever follows a session reads it all the time."""
    fields = line.fields
    is_read = str(fields.get("route", "")).startswith("GET ")
    return not (fields.get("message") == "answered" and is_read and int(fields.get("status", 500)) < 400)


def show_line(line: LogLine) -> None:
    at = line.at.astimezone(UTC)
    echo(f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1_000:03d}  {line.function:<9}  {happened(line.fields)}")
    for further in further_lines(line.fields):
        echo(f"    {further}")


def show_json(line: LogLine) -> None:
    fields = {name: value for name, value in line.fields.items() if name != "_aws"}
    place = {"at": line.at.isoformat(timespec="milliseconds"), "function": line.function}
    echo(json.dumps({**place, **fields, **place}))


Fields = Mapping[str, Any]

USUAL = frozenset(
    {
        "level",
        "location",
        "message",
        "timestamp",
        "service",
        "sampling_rate",
        "cold_start",
        "function_name",
        "function_memory_size",
        "function_arn",
        "function_request_id",
        "xray_trace_id",
        "session_id",
        "tenant_hash",
        "request_id",
        "_aws",
        "who",
        "tenant",
    }
)
"""Fields that every line has, and those that say which session or call it belongs to."""
WIDTH = 160
OPERATIONS = {
    "plan": "thinks, before there is a plan",
    "think": "thinks",
    "tool": "runs a tool",
    "lost_tool": "records that a tool's worker was lost",
    "ask": "waits for a person",
    "handle_error": "records an error and waits",
    "give_up": "gives up",
    "park": "ends an execution that would wait for long",
    "roll_over": "starts the next execution",
}


def happened(fields: Fields) -> str:
    """What happened, in one line."""
    words = WORDS.get(str(fields.get("message")))
    if words is not None:
        text = words(fields)
    else:
        rest = " ".join(f"{name}={value}" for name, value in fields.items() if name not in USUAL)
        text = f"{fields.get('message')} {rest}".strip()
    if fields.get("level") in ("ERROR", "WARNING", "CRITICAL"):
        text = f"{fields['level']} {text}"
    return one_line(text, WIDTH)


def _work(fields: Fields) -> str:
    operation = str(fields.get("op"))
    begun = f"turn {fields.get('turn')}: {OPERATIONS.get(operation, operation)}"
    call = f" {fields['call_id']}" if fields.get("call_id") else ""
    attempt = f", attempt {fields['attempt'] + 1}" if fields.get("attempt") else ""
    generation = f", generation {fields['generation']}" if fields.get("generation", 1) != 1 else ""
    return f"{begun}{call}{attempt}{generation}"


def _made(fields: Fields) -> str:
    made = f"made {counted(fields.get('turns', 0), 'turn')} and {counted(fields.get('calls', 0), 'tool call')} itself"
    return f"{made}, then met {fields['ended_by']}" if fields.get("ended_by") else made


def _turn(fields: Fields) -> str:
    tokens = (
        f", {fields['tokens_in']} tokens in and {fields['tokens_out']} out" if "tokens_in" in fields else ""
    )
    error = f", met {fields['error']}" if fields.get("error") else ""
    return (
        f"turn {fields.get('turn')}: commit {fields.get('commit')}{tokens}{error}, next: {fields.get('next')}"
    )


def _answered(fields: Fields) -> str:
    code = f" {fields['code']}" if fields.get("code") else ""
    return f"{fields.get('route')} answered {fields.get('status')}{code}"


def _failed(fields: Fields) -> str:
    where = f" at {fields['where']}" if fields.get("where") else ""
    return f"{fields.get('op') or fields.get('route') or 'work'} failed: {fields.get('error')}{where}"


def _finished(fields: Fields) -> str:
    if fields.get("state") == "unread":
        return f"{counted(fields.get('runs', 1), 'run')} ended before it was deleted"
    why = fields.get("code") or fields.get("reason")
    parts = [
        f"run {fields.get('state')}" + (f" ({why})" if why else ""),
        counted(fields.get("turns", 0), "turn"),
        f"{fields.get('tokens', 0):,} tokens",
    ]
    if fields.get("cost_usd") is not None:
        parts.append(dollars(fields["cost_usd"]))
    if fields.get("seconds") is not None:
        parts.append(f"{fields['seconds']} s")
    if fields.get("waits"):
        parts.append(f"{counted(fields['waits'], 'question')}, open for {fields.get('waited_seconds', 0)} s")
    return ", ".join(parts)


RAISED = "tool raised"
MESSAGES = ("tool printed", "tool logged", RAISED, "tool failed")
"""Messages of the lines that `acta/tools/log.py` writes; a test compares the two."""


def is_of_a_tool(fields: Fields) -> bool:
    return fields.get("message") in MESSAGES


def first_line(fields: Fields) -> str:
    """If a tool raised an error, this line has the error's type only: the traceback stands below."""
    said = (str(fields.get("text", "")).splitlines() or [""])[0]
    said = str(fields.get("error")) if fields.get("message") == RAISED else said
    return f"{fields.get('tool')} {str(fields.get('message')).removeprefix('tool ')}: {said}"


def further_lines(fields: Fields) -> list[str]:
    """The other lines of what a tool logged, escaped for a terminal."""
    if not is_of_a_tool(fields):
        return []
    return visible(str(fields.get("text", ""))).splitlines()[0 if fields.get("message") == RAISED else 1 :]


WORDS: Mapping[str, Callable[[Fields], str]] = {
    "step": _work,
    "tool": _work,
    "engine": _work,
    "step made": _made,
    "turn made": _turn,
    "answered": _answered,
    "refused": lambda fields: f"{fields.get('route')} refused: {fields.get('code')}",
    "failed": _failed,
    "run finished": _finished,
    "execution ended": lambda fields: f"its execution ended; what recovery did: {fields.get('outcome')}",
    "repaired": lambda fields: f"repaired by an operator: {fields.get('outcome')}",
    **dict.fromkeys(MESSAGES, first_line),
}
