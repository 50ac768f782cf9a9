"""How long a commit takes to reach a client that is waiting for it.

Clients follow a session with long polls while it works. An event has the time at which its commit was made, before it
was written; the client notes when the answer with it arrived. Both are clocks of this machine. Only commits that
were made while a poll was open count: what was there when a poll was sent has waited for the client.
"""

import threading
import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import httpx

from tests.bench.stand.script import note, reading
from tests.bench.stand.stand import GOAL, RunFailed, Stand, data_of
from tests.bench.table import heading

CLIENTS = 3
TURNS = 20
WAIT_SECONDS = 20
PATIENCE_SECONDS = 120.0
AIM_95_MS, AIM_ALL_MS = 500.0, 2_000.0
OVER = frozenset(("completed", "failed", "cancelled"))


def measure(stand: Stand) -> dict[str, Any]:
    stand.put_files(dict(note("2KB", turn) for turn in range(TURNS)))
    stand.provider.play(reading("2KB", TURNS))
    with stand.admin() as api:
        body = {"content": GOAL, "max_steps": TURNS + 10, "token_budget": 100_000_000}
        session = data_of(api.post("/v1/sessions", json=body))
        followers = [Follower(api, f"/v1/sessions/{session['session_id']}") for _ in range(CLIENTS)]
        for each in followers:
            each.start()
        for each in followers:
            each.join(PATIENCE_SECONDS)
    if any(each.is_alive() or each.trouble for each in followers):
        raise RunFailed(next((each.trouble for each in followers if each.trouble), "a follower did not end"))
    stand.check_script_is_over()
    return figures([ms for each in followers for ms in each.milliseconds])


def figures(milliseconds: Sequence[float]) -> dict[str, Any]:
    """Raises RunFailed where nothing was measured."""
    if not milliseconds:
        raise RunFailed("no commit was made while a client waited")
    ordered = sorted(milliseconds)
    return {
        "clients": CLIENTS,
        "commits": len(ordered),
        "ms_50": percentile(ordered, 50),
        "ms_95": percentile(ordered, 95),
        "ms_99": percentile(ordered, 99),
        "ms_most": ordered[-1],
        "aim_ms_95": AIM_95_MS,
        "aim_ms_most": AIM_ALL_MS,
    }


def percentile(ordered: Sequence[float], share: int) -> float:
    """The smallest value that so many of a hundred do not exceed. `ordered`: ascending."""
    return ordered[max(0, -(-len(ordered) * share // 100) - 1)]


class Follower(threading.Thread):
    """Polls until the run is over. `milliseconds`: of each commit that was made while it waited."""

    def __init__(self, api: httpx.Client, path: str) -> None:
        super().__init__(daemon=True)
        self._api = api
        self._path = path
        self.milliseconds: list[float] = []
        self.trouble = ""

    def run(self) -> None:
        try:
            self._follow()
        except (RunFailed, httpx.HTTPError) as error:
            self.trouble = f"{type(error).__name__}: {error}"

    def _follow(self) -> None:
        cursor = "0"
        while True:
            asked = time.time()
            answer = self._api.get(self._path, params={"after": cursor, "wait": WAIT_SECONDS}, timeout=60)
            arrived = time.time()
            seen = data_of(answer)
            for at in {event["at"] for event in seen["events"]}:
                committed = datetime.fromisoformat(at).timestamp()
                if committed >= asked:
                    self.milliseconds.append((arrived - committed) * 1_000)
            cursor = seen["cursor"]
            if seen["session"]["state"] in OVER and not seen["has_more"]:
                return


def report(told: dict[str, Any]) -> None:
    heading("From a commit to a client that waits for it")
    print(
        f"{told['commits']} commits at {told['clients']} clients: half within {told['ms_50']:.0f} ms, "
        f"95 % within {told['ms_95']:.0f} (aim {told['aim_ms_95']:.0f}), 99 % within {told['ms_99']:.0f}, "
        f"all within {told['ms_most']:.0f} (aim {told['aim_ms_most']:.0f})"
    )
