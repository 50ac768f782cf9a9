"""Puts what releases before stored into the index of what is open (ADR 107).

It ends: once everything that is stored has been looked through, while no worker of the release before can live, every
item is written with its place in the index. Until then listings read all that there is, and filter.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import NamedTuple

from shared.ports.clock import Clock
from shared.ports.log import OPEN_INDEX_SINCE, Filling, OpenIndexStore

PAGE = 1_000
MOST_PAGES = 60
"""Of one call: each is a megabyte at most."""


class FillingDeps(NamedTuple):
    """`write_version`: of this deployment. `after`: seconds in which no worker of the release before lives any more.
    `time_is_left`: whether another page can be read.
    """

    open_index: OpenIndexStore
    clock: Clock
    write_version: int
    after: float
    time_is_left: Callable[[], bool]


def fill_open_index(deps: FillingDeps) -> int:
    """Does a part of it, and returns how many items it put into the index. It waits for workers of the release before,
    except where no tenant has stored anything yet. Raises what the index raises; then the next call does that part.
    """
    index, clock = deps.open_index, deps.clock
    if deps.write_version < OPEN_INDEX_SINCE:
        return 0
    filling = index.filling()
    if filling is not None and filling.complete:
        return 0
    if filling is None:
        filling = Filling(clock.now())
        first = index.fill(PAGE, None)
        is_new = not first.seen and first.cursor is None
        index.note(filling._replace(complete=is_new))
        return first.put
    if clock.now() < filling.since + timedelta(seconds=deps.after):
        return 0
    put = 0
    for _ in range(MOST_PAGES):
        if not deps.time_is_left():
            break
        page = index.fill(PAGE, filling.cursor)
        put += page.put
        filling = filling._replace(cursor=page.cursor, complete=page.cursor is None)
        if filling.complete:
            break
    index.note(filling)
    return put
