"""Following a session by polling: snapshots and events as they come, until it has ended."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from acta.cli.client import Client, session_path
from acta.cli.errors import Unreachable

ENDED = ("completed", "failed", "cancelled")
WAIT_SECONDS = 10
LONGEST_PAUSE_MS = 10_000
OUTAGES_BORNE = 10
"""How often in a row a deployment that answered before may be out of reach, after the client's retries."""
OUTAGE_PAUSE_SECONDS = 5.0


@dataclass(frozen=True)
class Update:
    """One answer of the polling endpoint: the session as it is, and the events since the last update."""

    session: dict[str, Any]
    events: list[dict[str, Any]]

    @property
    def has_ended(self) -> bool:
        return self.session.get("state") in ENDED

    @property
    def open_interventions(self) -> list[dict[str, Any]]:
        return open_interventions(self.session)

    def is_open(self, intervention_id: str) -> bool:
        waiting = () if self.has_ended else self.open_interventions
        return any(one.get("intervention_id") == intervention_id for one in waiting)

    @property
    def waits_for_a_person(self) -> bool:
        if self.has_ended:
            return False
        return bool(self.open_interventions) or self.session.get("state") == "paused"


def open_interventions(session: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [one for one in session.get("interventions") or [] if one.get("state", "pending") == "pending"]


def follow(
    client: Client,
    session_id: str,
    *,
    cursor: str | int = 0,
    pause: Callable[[float], None] = time.sleep,
) -> Iterator[Update]:
    """Ends after the update that brings the last event of an ended or idle session. The first poll answers at
    once; the others wait for news on the server's side."""
    wait = 0
    outages = 0
    while True:
        try:
            answer = client.get(session_path(session_id), after=cursor, wait=wait)
        except Unreachable:
            outages += 1
            if cursor == 0 or outages > OUTAGES_BORNE:
                raise
            pause(OUTAGE_PAUSE_SECONDS)
            continue
        outages = 0
        wait = WAIT_SECONDS
        update = Update(answer["session"], answer["events"])
        yield update
        cursor = answer["cursor"]
        if answer.get("has_more"):
            continue
        if update.has_ended or update.session.get("state") == "idle":
            return
        pause(min(answer.get("poll_after_ms") or 0, LONGEST_PAUSE_MS) / 1_000)
