"""What a worker tells of its run, on a line of its standard output. Standard library only."""

import json
import time


def told(turns: int, since: float, error: BaseException | None = None) -> None:
    """`turns`: those that are whole and stored. `since`: the process's CPU seconds before the run.
    `error`: what ended the run before its end.
    """
    print(
        json.dumps(
            {
                "turns": turns,
                "ended_by": type(error).__name__ if error else "",
                "message": str(error)[:300] if error else "",
                "cpu_ms": (time.process_time() - since) * 1_000,
            }
        ),
        flush=True,
    )
