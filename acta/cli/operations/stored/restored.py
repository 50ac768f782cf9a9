"""`acta quarantine` and `acta restored`: a table that AWS has restored to an earlier time is taken into use."""

from argparse import Namespace
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from acta.cli import exit_codes
from acta.cli.aws_errors import aws_errors
from acta.cli.exit_codes import CliError
from acta.cli.operations.target import account_of, environment_of
from acta.cli.terminal.prompt import confirm
from acta.cli.terminal.text import echo, one_line, show
from acta_engine.aws.clients import Service
from acta_engine.aws.errors import NOT_FOUND, AwsRefused
from acta_infra.deployed.account import Account
from acta_infra.deployed.quarantine import Quarantine
from acta_infra.deployed.tenants.erase import eraser_of
from acta_infra.deployed.tenants.restored_table import Progress, later_sessions, use_restored
from acta_infra.deployed.tenants.stores import stores_in

WORDS = {
    "copied": "items that are as they were: {}",
    "removed": "items of later that are gone: {}",
    "erased": "erased since, and now erased again: {}",
    "parked": "sessions that wait for a person, who is asked whether they shall go on: {}",
    "unreadable": "sessions that cannot be read: {}; look at them with acta doctor",
    "unnamed": "erasures that could not be repeated: {}; names of tenants are too long for a key (see the audit trail)",
    "texts": "texts that followed from what is forgotten, and are removed: {}",
}
NAME = 400
"""Characters of a tenant's name and a session's id that are shown."""
STILL_WORKS = (
    "what still works: signing in, commands with AWS credentials (acta logs, backup, restored, outputs), and the API's "
    "open routes (/healthz, /v1/openapi.json); all else of the API answers with a 5xx"
)
LIFTED = {
    True: "{} works again; people are asked about the sessions that were parked (acta interventions)",
    False: "{} was not quarantined: nothing was changed",
}


def quarantine(arguments: Namespace) -> int:
    """Exit code 1 where it does not hold. Raises CliError."""
    name = arguments.env or "local"
    with aws_errors():
        stop = _quarantine(arguments, account_of(arguments))
        if arguments.lift:
            was_quarantined = stop.lift()
            told: dict[str, Any] = {"works": True, "was_quarantined": was_quarantined}
            return show(told, [LIFTED[was_quarantined].format(one_line(name))], as_json=arguments.json)
        confirm(f"Stop all work in {one_line(name)}?", name, arguments.confirm)
        stopped = stop.begin()
        quiet = stop.nobody_writes_from()
    told = {
        "works": False,
        "holds": quiet is not None,
        "stopped": stopped,
        "nobody_writes_from": None if quiet is None else quiet.isoformat(),
    }
    lines = stopped_lines(name, stopped, quiet, f"acta quarantine {_where(arguments)}")
    show(told, lines, as_json=arguments.json)
    return exit_codes.SESSION_FAILED if quiet is None else exit_codes.OK


def stopped_lines(name: str, stopped: int, quiet: datetime | None, command: str) -> Iterator[str]:
    """`quiet`: from then on nobody writes; None: something is invoked or runs, though it was stopped."""
    if quiet is None:
        yield (
            f"{one_line(name)} does not stand still: AWS says that a function can still be invoked, or an execution "
            f"runs (stopped: {stopped}). Run {command.strip()} again; change nothing in the table before it holds"
        )
        return
    yield (
        f"{one_line(name)} stands still, and AWS says so: no function is invoked, no execution runs "
        f"(stopped: {stopped})"
    )
    yield STILL_WORKS
    yield f"a function that runs goes on to its end: change nothing in the table before {_at(quiet)}"
    yield f"to let it go on: {command}--lift"


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
        later = later_sessions(eraser.stores, arguments.source)
        if not arguments.json:
            for line in later_lines(later):
                echo(line)
        said = f"The table of {one_line(name)} becomes what it was at {at:%Y-%m-%d %H:%M:%S} UTC."
        confirm(f"{said} What came after is lost.", name, arguments.confirm)
        done = use_restored(eraser, arguments.source, at)
    lost = [*later, *(each for each in done.texts_alone if each not in later)]
    show({**done.counts, "lost": lost}, done_lines(done, arguments), as_json=arguments.json)
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


def later_lines(later: Sequence[str]) -> Iterator[str]:
    """Before anything is changed: a run that is cut short has removed what told of them."""
    for session in later:
        yield f"{one_line(session, NAME)} began after that time, and is lost"
    yield (
        f"sessions that are lost: {len(later)}. Not among them, because nothing tells of them any more: those that an "
        "earlier run of this command has removed, unless S3 still has texts of theirs"
    )


def done_lines(done: Progress, arguments: Namespace) -> Iterator[str]:
    for kind, words in WORDS.items():
        if done.counts.get(kind):
            yield words.format(done.counts[kind])
    for session in done.texts_alone:
        yield f"{one_line(session, NAME)}: its texts are still in S3, and nothing else of it"
    yield STILL_WORKS
    yield f"to let it go on: acta quarantine {_where(arguments)}--lift"


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
