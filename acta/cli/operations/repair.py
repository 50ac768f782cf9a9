"""`acta doctor --repair`: continues sessions that stand still, or tries one failed session, or many, again."""

import re
from argparse import Namespace
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from acta.cli import exit_codes
from acta.cli.exit_codes import CliError
from acta.cli.local_token import LOCAL_TENANT
from acta.cli.operations.repair_failed import Recovery, repair_failed
from acta.cli.operations.target import account_of
from acta.cli.terminal.text import cli_error, one_line
from acta_infra.deployed.invoke_recovery import (
    ALL_SESSIONS,
    RecoveryFailed,
    lambda_client,
    recovery_function,
    run_recovery,
)

OUTCOMES = {  # of one session
    "nothing": "needs no repair",
    "started": "had never begun; it has now",
    "restarted": "goes on in a new execution",
    "woken": "was waiting for a decision that had been made; it goes on",
}
COUNTS = {  # of all sessions
    "started": "{} had never begun and did now",
    "restarted": "{} went on in a new execution",
    "woken": "{} went on with a decision that had been made",
}


def repair(arguments: Namespace) -> int:
    """Raises CliError where the deployment cannot be reached or refuses."""
    if arguments.failed_since:
        if arguments.session:
            raise CliError("--failed-since looks for sessions itself: leave out --session")
        since = ago(arguments.failed_since, datetime.now(UTC))
        return repair_failed(recovery_of(arguments), since, arguments.tenant, yes=arguments.yes)
    if arguments.yes:
        raise CliError("--yes goes with --failed-since")
    request = request_for(arguments)
    environment = arguments.env or "local"
    answer = recovery_of(arguments)(request)
    if "refused" in answer:
        raise CliError(f"{arguments.session}: {one_line(answer['refused']['message'], 300)}")
    if arguments.session:
        print(f"{arguments.session} {OUTCOMES[answer['outcome']]}")
        return exit_codes.OK
    for line in report_lines(answer, environment):
        print(line)
    return exit_codes.SESSION_FAILED if answer["unreadable"] or answer["unanswered"] else exit_codes.OK


def ago(how_long: str, now: datetime, option: str = "--failed-since") -> datetime:
    """`how_long`: such as 90m, 2h or 1d. Raises CliError."""
    units = {"m": "minutes", "h": "hours", "d": "days"}
    found = re.fullmatch(r"([1-9][0-9]{0,4})([mhd])", how_long)
    if found is None:
        raise CliError(f"{option} is a time such as 90m, 2h or 1d, not {one_line(how_long, 40)}")
    return now - timedelta(**{units[found[2]]: int(found[1])})


def request_for(arguments: Namespace) -> Mapping[str, Any]:
    """What the options ask of the deployment: one session, or all of them. Raises CliError."""
    if not arguments.session:
        if arguments.tenant:
            raise CliError("--tenant goes with --session: without them all sessions are looked at")
        return ALL_SESSIONS
    tenant = arguments.tenant or (None if arguments.env else LOCAL_TENANT)
    if tenant is None:
        raise CliError("--session needs --tenant: whose session it is")
    return {"repair": {"tenant": tenant, "session_id": arguments.session}}


def recovery_of(arguments: Namespace) -> Recovery:
    """Asks the deployment's recovery function. Raises CliError, and so does what it returns."""
    account = account_of(arguments)
    client = lambda_client(account)

    def ask(request: Mapping[str, Any]) -> Mapping[str, Any]:
        with cli_error(RecoveryFailed, cut=300):
            return run_recovery(client, account.environment, request)

    return ask


def report_lines(tally: Mapping[str, int], environment: str) -> Iterator[str]:
    """What was done to how many sessions. `tally`: what the deployment answered."""
    looked = f"looked at {tally['looked']} session{'' if tally['looked'] == 1 else 's'}"
    done = [words.format(tally[count]) for count, words in COUNTS.items() if tally[count]]
    yield f"{looked}: {', '.join(done) or 'nothing to repair'}"
    if tally["unreadable"]:
        log = recovery_function(environment)
        yield f"{tally['unreadable']} could not be looked at: the log of {log} says which and why"
    if tally["unanswered"]:
        yield f"AWS throttled or did not answer {tally['unanswered']} of the requests: repair again"
    if tally["left"]:
        yield f"{tally['left']} were left for lack of time: repair again"
    if tally["unread"]:
        yield "there was no time to look for all of them: repair again"
