"""Releases that a deployed local stack keeps as versions of its functions, and sessions that are held in mid-work."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from acta.cli.operations.releases import Clients, roll_back
from acta.cli.operations.repair import World
from acta.engine.store.schema import CURRENT
from acta.infra.deployed.releases import look
from acta.infra.local.deploy import take_newest
from acta.infra.names import function_name
from tests.faults.person import Json
from tests.faults.scenario import LONGEST_SECONDS, Play
from tests.releases.fleet import FUNCTIONS, OLD, Code, Fleet

BEFORE, NEXT, RAISED = "this release", "the next release", "the next release, its own version"
"""RAISED is deployed a second time and writes its own schema version."""
CODE: Mapping[str, Code] = {
    BEFORE: Code(0, CURRENT),
    NEXT: Code(1, CURRENT),
    RAISED: Code(1, CURRENT + 1),
}


@contextmanager
def kept(fleet: Fleet, *releases: str) -> Iterator[Clients]:
    """As so many deployments leave them: of `CODE`, the last one live. Afterwards all is as it was."""
    fleet.take(OLD)
    lambdas = fleet.client("lambda")
    clients = Clients("local", lambdas, fleet.client("cloudformation"))
    names = tuple(look("local", lambdas).live)
    own = {name: dict(fleet.function(name)) for name in names}
    for release in releases:
        for name in names:
            code = CODE[release]
            if name in FUNCTIONS:
                fleet.become(name, code)
            variables = {
                **own[name],
                "ACTA_RELEASE": release,
                "ACTA_WRITE_VERSION": str(code.writes if name in FUNCTIONS else CURRENT),
                "ACTA_READS_VERSION": str(CURRENT + code.ahead),
            }
            named = {"FunctionName": function_name("local", name)}
            lambdas.update_function_configuration(**named, Environment={"Variables": variables})
            lambdas.publish_version(**named)
    try:
        yield clients
    finally:
        fleet.take(OLD)
        for name in names:
            function = function_name("local", name)
            lambdas.update_function_configuration(FunctionName=function, Environment={"Variables": own[name]})
        take_newest("local", lambdas)


def go(clients: Clients, to: str | None) -> None:
    """As `acta rollback --yes` does it. Raises CliError."""
    roll_back(clients, to, yes=True, as_json=False, world=World(None))


def live(clients: Clients) -> str:
    deployed = look("local", clients.lambdas)
    (found,) = (each.name for each in deployed.releases if deployed.is_live(each))
    return found


class HeldPlay(Play):
    """Its person is asked, and decides when `may_decide` is set."""

    def __init__(self, fleet: Fleet) -> None:
        super().__init__(fleet)
        self.is_asked, self.may_decide = threading.Event(), threading.Event()

    def decide(self, session_id: str, one: Json) -> None:
        self.is_asked.set()
        assert self.may_decide.wait(LONGEST_SECONDS)
        super().decide(session_id, one)


def releases_met(fleet: Fleet, clients: Clients, execution: str) -> list[str]:
    """The releases that have answered the execution's calls, in order, each change once."""
    deployed = look("local", clients.lambdas)
    named = {version: each.name for each in deployed.releases for version in each.versions.values()}
    history = fleet.states.get_execution_history(executionArn=execution, maxResults=1_000)
    found: list[str] = []
    for event in history["events"]:
        if "taskSucceededEventDetails" in event:
            answer = json.loads(event["taskSucceededEventDetails"]["output"])
            release = named[answer["ExecutedVersion"]] if "ExecutedVersion" in answer else None
            if release is not None and found[-1:] != [release]:
                found.append(release)
    return found
