"""What an invocation of a function has used since its last commit: what the next commit adds to the session's
sums."""

from typing import NamedTuple


class Used(NamedTuple):
    """`function`: its name; empty: whoever commits is no metered invocation. `memory_mb`: what it has. `invocations`:
    1 in the first commit of an invocation. `ms`: of it. `transitions`: of the engine
    (`shared/domain/spending/transitions.py`); below 0 where fewer came than were counted ahead. `reads`, `writes`:
    requests to DynamoDB; `half_rru`: halves of read units; `wcu`: write units. `gets`, `puts`: requests to S3 by
    their two prices: reads, and writes and listings.
    """

    function: str = ""
    memory_mb: int = 0
    invocations: int = 0
    ms: int = 0
    transitions: int = 0
    reads: int = 0
    half_rru: int = 0
    writes: int = 0
    wcu: int = 0
    gets: int = 0
    puts: int = 0


NOTHING = Used()
