"""Releases that a deployed local stack keeps as versions of its functions, and sessions that are held in mid-work."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from acta.cli.operations.releases import Clients, roll_back
from acta.cli.operations.repair_failed import World
from infra.deployed.releases import look
from infra.local.former_releases import take_newest
from shared.domain.schema.versions import CURRENT, PREVIOUS
from tests.faults.person import Json
from tests.faults.scenario import LONGEST_SECONDS, Play
from tests.releases.fleet import FUNCTIONS, NEW, Fleet

BEFORE, NOW, RAISED = "the release before", "this release", "this release, its own version"
"""RAISED is deployed a second time and writes its own schema version."""
LABELS: Mapping[str, Mapping[str, int]] = {
    BEFORE: {"ACTA_WRITE_VERSION": PREVIOUS, "ACTA_READS_VERSION": PREVIOUS},
    NOW: {"ACTA_WRITE_VERSION": PREVIOUS, "ACTA_READS_VERSION": CURRENT},
    RAISED: {"ACTA_WRITE_VERSION": CURRENT, "ACTA_READS_VERSION": CURRENT},
}


@contextmanager
def kept(fleet: Fleet, *releases: str) -> Iterator[Clients]:
    """As so many deployments leave them: of `LABELS`, the last one live. Afterwards all is as it was."""
    fleet.take(NEW)
    lambdas = fleet.client("lambda")
    clients = Clients("local", lambdas, fleet.client("cloudformation"))
    names = tuple(look("local", lambdas).live)
    own = {name: dict(fleet.function(name)) for name in names}
    for release in releases:
        for name in names:
            if name in FUNCTIONS and release != RAISED:
                fleet.become(name, is_old=release == BEFORE)
            variables = {
                **own[name],
                "ACTA_RELEASE": release,
                **{key: str(value) for key, value in LABELS[release].items()},
            }
            function = {"FunctionName": f"acta-local-{name}"}
            lambdas.update_function_configuration(**function, Environment={"Variables": variables})
            lambdas.publish_version(**function)
    try:
        yield clients
    finally:
        for name in names:
            lambdas.update_function_configuration(
                FunctionName=f"acta-local-{name}", Environment={"Variables": own[name]}
            )
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
