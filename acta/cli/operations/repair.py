"""`acta doctor --repair` continues sessions that stand still, or tries one failed session again. With `--failed-since
2h` it lists the sessions that failed because of the infrastructure, asks, and repairs them.

A deployment may have any number of sessions. So each request asks the recovery function for one part of the work, which
takes seconds, and each answer says where the next part begins.
"""

import re
import sys
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, TextIO

from acta.cli import exit_codes
from acta.cli.exit_codes import CliError
from acta.cli.local_stack import LOCAL_TENANT
from acta.cli.operations.target import account_of, aws_errors
from acta.cli.terminal.prompt import CLEAR_LINE, asks_at_terminal
from acta.cli.terminal.text import cli_error, counted, echo, one_line
from acta.infra.deployed.invoke_recovery import (
    ALL_SESSIONS,
    RecoveryFailed,
    lambda_client,
    run_recovery,
)
from acta.infra.deployed.operator_trail import OperatorTrail, trail_of
from acta.infra.names import function_name

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

Recovery = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Sends a request to the recovery function and returns its answer (`acta/engine/recovery/recovery.py`)."""


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
    """The time that is `how_long` before `now`; it is written like 90m, 2h or 1d. Raises CliError."""
    units = {"m": "minutes", "h": "hours", "d": "days"}
    found = re.fullmatch(r"([1-9][0-9]{0,4})([mhd])", how_long)
    if found is None:
        raise CliError(f"{option} is a time such as 90m, 2h or 1d, not {one_line(how_long, 40)}")
    return now - timedelta(**{units[found[2]]: int(found[1])})


def request_for(arguments: Namespace) -> Mapping[str, Any]:
    """The request for what the options ask: to repair one session, or all of them. Raises CliError."""
    if not arguments.session:
        if arguments.tenant:
            raise CliError("--tenant goes with --session: without them all sessions are looked at")
        return ALL_SESSIONS
    tenant = arguments.tenant or (None if arguments.env else LOCAL_TENANT)
    if tenant is None:
        raise CliError("--session needs --tenant: whose session it is")
    return {"repair": {"tenant": tenant, "session_id": arguments.session}}


def recovery_of(arguments: Namespace) -> Recovery:
    """A function that calls the recovery function of the deployment. Both raise CliError."""
    account = account_of(arguments)
    client = lambda_client(account)
    with aws_errors():
        trail = trail_of(account)

    def ask(request: Mapping[str, Any]) -> Mapping[str, Any]:
        with cli_error(RecoveryFailed, cut=300), aws_errors(), recorded_repair(trail, request):
            return run_recovery(client, account.environment, request)

    return ask


def recorded_repair(trail: OperatorTrail, request: Mapping[str, Any]) -> AbstractContextManager[object]:
    """Records a request that repairs: one session in its tenant's trail, many in the environment's."""
    repair = request["repair"]
    if repair is True:
        return trail.recorded("deployment.repair", sessions="all")
    if "session_id" in repair:
        return trail.recorded("session.repair", repair["tenant"], session_id=repair["session_id"])
    if "sessions" in repair:
        return trail.recorded("deployment.repair", sessions=str(len(repair["sessions"])))
    return nullcontext()  # it lists what has failed


def report_lines(tally: Mapping[str, int], environment: str) -> Iterator[str]:
    """What was done, and to how many sessions. `tally`: the deployment's answer."""
    done = [words.format(tally[count]) for count, words in COUNTS.items() if tally[count]]
    yield f"looked at {counted(tally['looked'], 'session')}: {', '.join(done) or 'nothing to repair'}"
    if tally["unreadable"]:
        log = function_name(environment, "recover")
        yield f"{tally['unreadable']} could not be looked at: the log of {log} says which and why"
    if tally["unanswered"]:
        yield f"AWS throttled or did not answer {tally['unanswered']} of the requests: repair again"
    if tally["left"]:
        yield f"{tally['left']} were left for lack of time: repair again"
    if tally["unread"]:
        yield "there was no time to look for all of them: repair again"


Session = Mapping[str, Any]
"""`tenant`, `session_id`, `code`, `failed_at`: as in `FailedRun` (`acta/engine/recovery/repair.py`)."""
NAMES = ("tenant", "session_id")
Pause = Callable[[float], None]

AT_ONCE = 25
"""How many sessions one request repairs."""
MOST_STANDSTILLS = 6
"""The command ends after this many requests in a row without progress. Between them it pauses 1, 2, 4, ... seconds."""
EVERY = 20
"""Without a terminal, one line of progress is printed for this many requests."""

REPAIRED = ("restarted", "started", "woken")
REST = {  # outcomes of sessions that were not repaired
    "nothing": "{} had been repaired already, or went on meanwhile",
    "gone": "{} had been deleted",
    "refused": "{} failed again meanwhile, with what a repair does not change",
}
FAULTS = {  # outcomes that make the exit code 1
    "unreadable": "{} cannot be read: the log of the recovery function says which and why",
    "unanswered": "AWS throttled, refused or did not answer for {}: run the same command again",
}


class World(NamedTuple):
    """The person and the clock. `asks`: puts a yes-or-no question; None: nobody is at a terminal. `pause`: takes
    seconds.
    """

    asks: Callable[[str], bool] | None
    pause: Callable[[float], None] = time.sleep


def repair_failed(
    recovery: Recovery, since: datetime, tenant: str | None, *, yes: bool, world: World | None = None
) -> int:
    """`tenant` None: all tenants. Returns exit code `WAITING` if sessions were listed and nobody agreed to repair them,
    `SESSION_FAILED` if some could not be read or repaired. Raises CliError.
    """
    world = world or World(asks_at_terminal())
    faults, progress = Counter[str](), ProgressLine(sys.stderr)
    wanted = {"failed_since": since.isoformat(), "tenant": tenant}
    sessions = listed(recovery, wanted, faults, progress, world.pause)
    listed_now = counted(len(sessions), "session")
    echo(f"{listed_now} failed since {utc(since)} UTC for a reason that lies outside of the session")
    code = exit_codes.OK
    if sessions and (yes or confirmed(sessions, world)):
        repair_all(recovery, sessions, faults, progress, world.pause)
    elif sessions:
        code = exit_codes.WAITING
    for name, words in FAULTS.items():
        if faults[name]:
            echo(words.format(faults[name]))
    return code if code or not faults.total() else exit_codes.SESSION_FAILED


def confirmed(sessions: Sequence[Session], world: World) -> bool:
    if world.asks is not None and world.asks(f"Repair {counted(len(sessions), 'session')}? [y/N] "):
        return True
    echo("nothing was repaired" if world.asks is not None else "nothing was repaired: --yes repairs them")
    return False


def listed(
    recovery: Recovery,
    wanted: Mapping[str, str | None],
    faults: Counter[str],
    progress: "ProgressLine",
    pause: Pause,
) -> list[Session]:
    """Lists all failed sessions; each one is printed when it is found. Raises CliError."""
    found: list[Session] = []
    cursor: str | None = None
    patience = Patience(pause)
    while True:
        answer = recovery({"repair": {**wanted, "cursor": cursor}})
        progress.clear()
        for session in answer["sessions"]:
            echo(session_line(session))
        found += answer["sessions"]
        faults.update({name: answer[name] for name in FAULTS})
        if answer["complete"]:
            return found
        patience.after(progressed=answer["cursor"] != cursor)
        cursor = answer["cursor"]
        progress.show(f"looking for more: {counted(len(found), 'session')} so far")


def repair_all(
    recovery: Recovery,
    sessions: Sequence[Session],
    faults: Counter[str],
    progress: "ProgressLine",
    pause: Pause,
) -> None:
    """Repairs the sessions and prints how many had which outcome. Raises CliError."""
    outcomes = Counter[str]()
    done = 0
    patience = Patience(pause)
    while done < len(sessions):
        batch = [{name: one[name] for name in NAMES} for one in sessions[done : done + AT_ONCE]]
        answer = [each for each in recovery({"repair": {"sessions": batch}})["outcomes"] if each != "left"]
        outcomes.update(answer)
        done += len(answer)
        patience.after(progressed=bool(answer))
        progress.show(f"{done} of {len(sessions)} done")
    progress.clear()
    echo(f"repaired {sum(outcomes[name] for name in REPAIRED)} of {counted(len(sessions), 'session')}")
    for name, words in REST.items():
        if outcomes[name]:
            echo(words.format(outcomes[name]))
    faults.update({name: outcomes[name] for name in FAULTS})


class Patience:
    """Limits the requests in a row that make no progress, because AWS throttles; the pauses between them grow."""

    def __init__(self, pause: Pause) -> None:
        self.pause = pause
        self.standstills = 0

    def after(self, *, progressed: bool) -> None:
        """Raises CliError when there were too many requests without progress."""
        if progressed:
            self.standstills = 0
            return
        self.standstills += 1
        if self.standstills > MOST_STANDSTILLS:
            raise CliError(
                "AWS throttles, refuses or does not answer the recovery function: its log says which; run the same "
                "command later"
            )
        self.pause(2.0 ** (self.standstills - 1))


class ProgressLine:
    """Shows how far a long command is: in one line that is rewritten, or without a terminal in a line now and then."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.is_live = stream.isatty()
        self.shown = 0

    def show(self, text: str) -> None:
        self.shown += 1
        if self.is_live:
            print(f"{CLEAR_LINE}{text}", end="", file=self.stream, flush=True)
        elif self.shown % EVERY == 0:
            print(text, file=self.stream, flush=True)

    def clear(self) -> None:
        if self.is_live and self.shown:
            print(CLEAR_LINE, end="", file=self.stream, flush=True)


def session_line(session: Session) -> str:
    at, code = utc(datetime.fromisoformat(session["failed_at"])), one_line(session["code"], 40)
    return f"{one_line(session['session_id'], 60)}  {at}  {code:<24}  {one_line(session['tenant'], 60)}"


def utc(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")
