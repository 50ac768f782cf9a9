"""`acta doctor --repair`: continues sessions that stand still, or tries one failed session, or many, again."""

import re
from argparse import Namespace
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from acta.cli import exit_codes
from acta.cli.exit_codes import CliError
from acta.cli.local_token import LOCAL_TENANT
from acta.cli.operations.deploy import require_credentials
from acta.cli.terminal.text import one_line
from infra.invoke_recovery import (
    ALL_SESSIONS,
    RecoveryFailed,
    account_client,
    local_client,
    recovery_function,
    run_recovery,
)
from infra.local.state_directory import DEFAULT_STATE_DIR, NoStack, StateDir

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
    environment = arguments.env or "local"
    if arguments.failed_since:
        return repair_failed(arguments, environment)
    if arguments.yes:
        raise CliError("--yes goes with --failed-since")
    request = request_for(arguments)
    try:
        answer = run_recovery(lambda_client(arguments), environment, request)
    except RecoveryFailed as failure:
        raise CliError(one_line(str(failure), 300)) from None
    if "refused" in answer:
        raise CliError(f"{arguments.session}: {one_line(answer['refused']['message'], 300)}")
    if arguments.session:
        print(f"{arguments.session} {OUTCOMES[answer['outcome']]}")
        return exit_codes.OK
    for line in report_lines(answer, environment):
        print(line)
    return exit_codes.SESSION_FAILED if answer["unreadable"] or answer["unanswered"] else exit_codes.OK


def repair_failed(arguments: Namespace, environment: str) -> int:
    """Lists what failed since then and a repair takes up again; with --yes repairs each. Raises CliError."""
    if arguments.session:
        raise CliError("--failed-since looks for sessions itself: leave out --session")
    tenant, since = tenant_of(arguments, "--failed-since"), ago(arguments.failed_since, datetime.now(UTC))
    client = lambda_client(arguments)
    try:
        found = list(failed_runs(client, environment, tenant, since))
        for one in found:
            line = (
                f"{one['session_id']}  {one['failed_at'][:19].replace('T', ' ')}  {one_line(one['code'], 40)}"
            )
            if arguments.yes:
                request = {"repair": {"tenant": tenant, "session_id": one["session_id"]}}
                answer = run_recovery(client, environment, request)
                line += f"  {OUTCOMES.get(answer.get('outcome', ''), 'was left as it is')}"
            print(line)
    except RecoveryFailed as failure:
        raise CliError(one_line(str(failure), 300)) from None
    count = f"{len(found)} run{'' if len(found) == 1 else 's'} of {tenant}"
    print(f"{count} repaired" if arguments.yes else f"{count} can be tried again: add --yes")
    return exit_codes.OK


def failed_runs(client: Any, environment: str, tenant: str, since: datetime) -> Iterator[Mapping[str, Any]]:
    """All pages. Raises RecoveryFailed."""
    cursor: str | None = None
    while True:
        asked = {"tenant": tenant, "failed_since": since.isoformat(), "cursor": cursor}
        answer = run_recovery(client, environment, {"repair": asked})
        yield from answer["sessions"]
        cursor = answer["cursor"]
        if cursor is None:
            return


def ago(how_long: str, now: datetime) -> datetime:
    """`how_long`: such as 90m, 2h or 1d. Raises CliError."""
    units = {"m": "minutes", "h": "hours", "d": "days"}
    found = re.fullmatch(r"([1-9][0-9]{0,4})([mhd])", how_long)
    if found is None:
        raise CliError(f"--failed-since is a time such as 90m, 2h or 1d, not {one_line(how_long, 40)}")
    return now - timedelta(**{units[found[2]]: int(found[1])})


def request_for(arguments: Namespace) -> Mapping[str, Any]:
    """What the options ask of the deployment: one session, or all of them. Raises CliError."""
    if not arguments.session:
        if arguments.tenant:
            raise CliError("--tenant goes with --session: without them all sessions are looked at")
        return ALL_SESSIONS
    tenant = tenant_of(arguments, "--session")
    return {"repair": {"tenant": tenant, "session_id": arguments.session}}


def tenant_of(arguments: Namespace, option: str) -> str:
    """The tenant that is named, on the local stack the demo tenant. Raises CliError."""
    tenant = arguments.tenant or (None if arguments.env else LOCAL_TENANT)
    if tenant is None:
        raise CliError(f"{option} needs --tenant: whose sessions they are")
    return str(tenant)


def lambda_client(arguments: Namespace) -> Any:
    """For the AWS account of --env, or for the local stack. Raises CliError."""
    if arguments.env:
        require_credentials()
        return account_client()
    try:
        running = StateDir(Path(arguments.state or DEFAULT_STATE_DIR)).running()
    except NoStack as error:
        raise CliError(f"{error}, or give --env") from None
    return local_client(running.aws_endpoint_url)


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
