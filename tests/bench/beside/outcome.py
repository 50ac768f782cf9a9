"""A worker's loop: it reads what is asked of it, a line of JSON each, and tells on a line how that ended. Standard
library only.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

RUN, RESUME = "run", "resume"


class Asked(NamedTuple):
    """`turns` of reading files of `size`, or (`doing`) taking up the session of such a run where it was left."""

    table: str
    bucket: str
    size: str
    turns: int
    doing: str

    @property
    def session(self) -> str:
        return f"{self.size}-{self.turns}"


class Ended(NamedTuple):
    """`turns`: that were made, or that were found stored. `error`: what ended the run ahead of its last turn."""

    turns: int
    error: Exception | None = None


def serve(work: Callable[[Asked], Ended]) -> None:
    for line in sys.stdin:
        asked = Asked(*json.loads(line))
        since = time.process_time()
        turns, error = work(asked)
        told = {
            "turns": turns,
            "ended_by": type(error).__name__ if error else "",
            "message": str(error)[:300] if error else "",
            "cpu_ms": (time.process_time() - since) * 1_000,
        }
        print(json.dumps(told), flush=True)
