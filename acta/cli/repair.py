"""`acta doctor --repair`: lets sessions go on that stand still, or has one failed session tried again."""

from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from acta.cli import exits
from acta.cli.deploy import require_credentials
from acta.cli.errors import CliError
from acta.cli.target import LOCAL_TENANT
from acta.cli.text import one_line
from infra.local.state import DEFAULT_STATE_DIR, NoStack, StateDir
from infra.tending import EVERYTHING, TendFailed, account_client, ask, local_client, name

OUTCOMES = {
    "nothing": "needs no repair",
    "started": "had never begun; it has now",
    "restarted": "goes on in a new execution",
    "woken": "was waiting for a decision that had been made; it goes on",
    "failed": "was given up, because its engine was lost too often; repair it again to have it tried anyway",
}
COUNTS = {
    "started": "{} had never begun and did now",
    "restarted": "{} went on in a new execution",
    "woken": "{} went on with a decision that had been made",
    "failed": "{} given up, because the engine was lost too often",
}


def repair(arguments: Namespace) -> int:
    """Raises CliError where the deployment cannot be reached or refuses."""
    request = wanted(arguments)
    environment = arguments.env or "local"
    try:
        answer = ask(client(arguments), environment, request)
    except TendFailed as failure:
        raise CliError(one_line(str(failure), 300)) from None
    if "refused" in answer:
        raise CliError(f"{arguments.session}: {one_line(answer['refused']['message'], 300)}")
    if arguments.session:
        print(f"{arguments.session} {OUTCOMES[answer['outcome']]}")
        return exits.OK
    for line in told(answer, environment):
        print(line)
    return exits.SESSION_FAILED if answer["unreadable"] else exits.OK


def wanted(arguments: Namespace) -> Mapping[str, Any]:
    if not arguments.session:
        if arguments.tenant:
            raise CliError("--tenant goes with --session: without them all sessions are looked at")
        return EVERYTHING
    tenant = arguments.tenant or (None if arguments.env else LOCAL_TENANT)
    if tenant is None:
        raise CliError("--session needs --tenant: whose session it is")
    return {"repair": {"tenant": tenant, "session_id": arguments.session}}


def client(arguments: Namespace) -> Any:
    if arguments.env:
        require_credentials()
        return account_client()
    try:
        running = StateDir(Path(arguments.state or DEFAULT_STATE_DIR)).running()
    except NoStack as error:
        raise CliError(f"{error}, or give --env") from None
    return local_client(running.aws_endpoint_url)


def told(tally: Mapping[str, int], environment: str) -> Iterator[str]:
    looked = f"looked at {tally['looked']} session{'' if tally['looked'] == 1 else 's'}"
    done = [words.format(tally[count]) for count, words in COUNTS.items() if tally[count]]
    yield f"{looked}: {', '.join(done) or 'nothing to repair'}"
    if tally["unreadable"]:
        yield f"{tally['unreadable']} could not be looked at: the log of {name(environment)} says which and why"
    if tally["left"]:
        yield f"{tally['left']} were left for lack of time: repair again"
