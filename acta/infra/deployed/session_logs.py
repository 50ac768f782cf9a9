"""What the functions of a deployment have logged about a session, read from CloudWatch Logs."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from acta.engine.aws.errors import NOT_FOUND
from acta.infra.deployed.account import Account

READ_SECONDS = 30
ATTEMPTS = 8
"""In some regions CloudWatch Logs lets an account search only five times a second, and throttles further searches."""
TIMESTAMP = "%Y-%m-%d %H:%M:%S,%f%z"
"""The format in which the functions write timestamps."""


class LogsUnreadable(RuntimeError):
    """The message is one line for a person."""


class LogLine(NamedTuple):
    """`at`: when it was written. `function`: its name without `acta-<env>-`. `fields`: those of a JSON line; for any
    other line its text as `message`. `key`: identifies the line, also when it is read again.
    """

    at: datetime
    function: str
    fields: Mapping[str, Any]
    key: tuple[str, ...]


def logs_client(account: Account) -> Any:
    return account.client("logs", read_seconds=READ_SECONDS, attempts=ATTEMPTS)


def read_lines(
    client: Any, environment: str, functions: Sequence[str], session_id: str, since: datetime
) -> list[LogLine]:
    """The lines of all these functions that have the id in them, oldest first. `functions`: names without
    `acta-<env>-`; `session_id` empty: all their lines. Raises LogsUnreadable.
    """
    found = {
        line.key: line
        for function in functions
        for line in _of_function(client, environment, function, session_id, since)
    }
    return sorted(found.values(), key=lambda line: (line.at, line.key))


def _of_function(
    client: Any, environment: str, function: str, session_id: str, since: datetime
) -> Iterator[LogLine]:
    group = f"{_group_of(environment)}{function}"
    wanted = {"filterPattern": f'"{session_id}"'} if session_id else {}
    start = round(since.timestamp() * 1_000)
    for page in _pages(client, group, "filter_log_events", logGroupName=group, startTime=start, **wanted):
        yield from (_line(function, event) for event in page["events"])


def own_tool_functions(client: Any, environment: str) -> list[str]:
    """The functions with logs whose names are `tool-…`: those of Python tool folders, and those behind tools of kind
    `lambda`. Raises LogsUnreadable.
    """
    prefix = _group_of(environment)
    pages = _pages(
        client, "logs:DescribeLogGroups", "describe_log_groups", logGroupNamePrefix=f"{prefix}tool-"
    )
    return [group["logGroupName"].removeprefix(prefix) for page in pages for group in page["logGroups"]]


def _pages(client: Any, what: str, operation: str, **parameters: Any) -> Iterator[Mapping[str, Any]]:
    """Empty if the log does not exist because the function never ran. Raises LogsUnreadable, which names `what`."""
    if isinstance(client, LogFile):  # `acta dev` needs no library for AWS
        yield from getattr(client, operation)(**parameters)
        return
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield from client.get_paginator(operation).paginate(**parameters)
    except ClientError as error:
        if error.response["Error"]["Code"] != NOT_FOUND:
            raise LogsUnreadable(f"{what}: {error.response['Error']['Code']}") from None
    except BotoCoreError as error:
        raise LogsUnreadable(f"{what}: {error}") from None


class LogFile:
    """CloudWatch Logs of `acta dev`: one file with the lines of all functions, each with its `service`."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def describe_log_groups(self, **asked: Any) -> Iterator[Mapping[str, Any]]:
        groups = {f"{_group_of('local')}{function}" for function, _, _ in self._lines("")}
        yield {
            "logGroups": [
                {"logGroupName": each} for each in groups if each.startswith(asked["logGroupNamePrefix"])
            ]
        }

    def filter_log_events(self, **asked: Any) -> Iterator[Mapping[str, Any]]:
        wanted = asked["logGroupName"].removeprefix(_group_of("local"))
        lines = self._lines(asked.get("filterPattern", "").strip('"'))
        yield {
            "events": [
                {"timestamp": at, "message": text}
                for function, at, text in lines
                if function == wanted and at >= asked["startTime"]
            ]
        }

    def _lines(self, text: str) -> Iterator[tuple[str, int, str]]:
        """The function, the time in milliseconds and the line itself, of lines that have this text in them."""
        with suppress(FileNotFoundError), self._path.open(encoding="utf-8") as file:
            for line in file:
                with suppress(ValueError):  # else its process was killed in the middle of it
                    fields = json.loads(line) if text in line else {}
                    if fields:
                        at = datetime.strptime(fields["timestamp"], TIMESTAMP).astimezone(UTC)
                        yield fields["service"].removeprefix("acta-"), round(at.timestamp() * 1_000), line


def _group_of(environment: str) -> str:
    """The prefix of the names of log groups."""
    return f"/aws/lambda/acta-{environment}-"


def _line(function: str, event: Mapping[str, Any]) -> LogLine:
    message = str(event["message"]).rstrip("\n")
    at = datetime.fromtimestamp(event["timestamp"] / 1_000, UTC)
    try:
        fields = json.loads(message)
    except ValueError:
        fields = None
    if not isinstance(fields, dict):
        fields = {"message": message}
    with suppress(ValueError):  # else CloudWatch's own time is close enough
        at = datetime.strptime(str(fields.get("timestamp")), TIMESTAMP).astimezone(UTC)
    return LogLine(at, function, fields, (str(event["timestamp"]), function, message))
