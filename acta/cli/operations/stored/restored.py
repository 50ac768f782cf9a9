"""`acta quarantine` and `acta restored`: a table that AWS has restored to an earlier time is taken into use."""

import json
from argparse import Namespace
from datetime import UTC, datetime
from typing import Any

from acta.cli import exit_codes
from acta.cli.aws_errors import aws_errors
from acta.cli.exit_codes import CliError
from acta.cli.operations.stored.confirm import confirm
from acta.cli.operations.target import account_of, environment_of
from acta.cli.terminal.text import echo, one_line
from infra.deployed.account import Account
from infra.deployed.quarantine import Quarantine
from infra.deployed.tenants.erase import eraser_of
from infra.deployed.tenants.restored_table import Progress, use_restored
from infra.deployed.tenants.stores import stores_in
from shared.adapters.aws.clients import Service
from shared.adapters.aws.errors import NOT_FOUND, AwsRefused

WORDS = {
    "copied": "items that are as they were: {}",
    "removed": "items of later that are gone: {}",
    "erased": "erased since, and now erased again: {}",
    "parked": "sessions that wait for a person, who is asked whether they shall go on: {}",
    "unreadable": "sessions that cannot be read: {}; look at them with acta doctor",
    "unnamed": "erasures that could not be repeated: {}; names of tenants are too long for a key (see the audit trail)",
    "texts": "texts that followed from what is forgotten, and are removed: {}",
}
LIFTED = {
    True: "{} works again; people are asked about the sessions that were parked (acta interventions)",
    False: "{} was not quarantined: nothing was changed",
}


def quarantine(arguments: Namespace) -> int:
    """Raises CliError."""
    name = arguments.env or "local"
    with aws_errors():
        stop = _quarantine(arguments, account_of(arguments))
        if arguments.lift:
            was_quarantined = stop.lift()
            if arguments.json:
                echo(json.dumps({"works": True, "was_quarantined": was_quarantined}))
            else:
                echo(LIFTED[was_quarantined].format(one_line(name)))
            return exit_codes.OK
        confirm(f"Stop all work in {one_line(name)}?", name, arguments.confirm)
        stopped = stop.begin()
        quiet = stop.nobody_writes_from()
    if arguments.json:
        told = None if quiet is None else quiet.isoformat()
        echo(json.dumps({"works": False, "stopped": stopped, "nobody_writes_from": told}))
        return exit_codes.OK
    echo(
        f"{name} stands still: its API answers nobody but with a 5xx; executions that were stopped: {stopped}"
    )
    if quiet is not None:
        echo(f"a function that runs goes on to its end: change nothing in the table before {_at(quiet)}")
    echo(f"to let it go on: acta quarantine {_where(arguments)}--lift")
    return exit_codes.OK


def restored(arguments: Namespace) -> int:
    """Exit code 1 where a session could not be read or an erasure not be repeated. Raises CliError."""
    name = arguments.env or "local"
    account = account_of(arguments)
    with aws_errors():
        check_still(
            _quarantine(arguments, account), datetime.now(UTC), f"acta quarantine {_where(arguments)}"
        )
        eraser = eraser_of(account)
        at = restored_to(eraser.stores.dynamodb, arguments.source, arguments.at)
        said = f"The table of {one_line(name)} becomes what it was at {at:%Y-%m-%d %H:%M:%S} UTC."
        confirm(f"{said} What came after is lost.", name, arguments.confirm)
        done = use_restored(eraser, arguments.source, at)
    if arguments.json:
        echo(json.dumps({**done.counts, "lost": done.lost}))
    else:
        _show(done, arguments)
    return exit_codes.SESSION_FAILED if done.counts["unreadable"] or done.counts["unnamed"] else exit_codes.OK


def check_still(stop: Quarantine, now: datetime, command: str) -> None:
    """A worker that is late would commit beyond the restored end of a log. `command`: what stops the environment.
    Raises CliError until none can be left.
    """
    quiet = stop.nobody_writes_from()
    if quiet is None:
        raise CliError(
            f"it is at work, or nothing keeps since when it is not: stop it with {command.strip()} first"
        )
    if now < quiet:
        raise CliError(
            f"a function that was at work when it was stopped may still write until {_at(quiet)}: run the same command "
            "again after that"
        )


def _at(time: datetime) -> str:
    return f"{time.astimezone(UTC):%H:%M:%S} UTC"


def _show(done: Progress, arguments: Namespace) -> None:
    for kind, words in WORDS.items():
        if done.counts.get(kind):
            echo(words.format(done.counts[kind]))
    for session in done.lost:
        echo(f"{one_line(session)} began after that time: its texts are still in S3")
    echo(f"to let it go on: acta quarantine {_where(arguments)}--lift")


def _quarantine(arguments: Namespace, account: Account) -> Quarantine:
    lambdas, states = account.client("lambda"), account.client("stepfunctions")
    return Quarantine(environment_of(arguments), lambdas, states, stores_in(account))


def _where(arguments: Namespace) -> str:
    return f"--env {arguments.env} " if arguments.env else ""


def restored_to(dynamodb: Any, table: str, at: str | None) -> datetime:
    """AWS says it of a table that it restored. Raises CliError."""
    if at is not None:
        return datetime.fromisoformat(at).astimezone(UTC)
    try:
        described = Service("dynamodb", dynamodb).call("describe_table", TableName=table)["Table"]
    except AwsRefused as refused:
        if refused.code == NOT_FOUND:
            raise CliError(
                f"there is no table {one_line(table)} in this account and region: --from names the one that AWS "
                "restored (docs/operations.md, The data is damaged)"
            ) from None
        raise
    found = described.get("RestoreSummary", {}).get("RestoreDateTime")
    if not isinstance(found, datetime):
        raise CliError(f"AWS does not say to what time {one_line(table)} was restored: give it with --at")
    if described.get("TableStatus") != "ACTIVE":
        raise CliError(f"{one_line(table)} is not ready yet: AWS is still restoring it")
    return found.astimezone(UTC)
