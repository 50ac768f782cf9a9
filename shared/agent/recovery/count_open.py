"""Counts the sessions that were open before their tenant had a limit, or while the release before might run (ADR 65).

Every commit counts its session. So this is for those that make none: they wait for people, perhaps for weeks. Each scan
looks at one part of the index, and at no session that this process has seen counted.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from shared.agent.session.repository import SessionRepository
from shared.domain.errors import Fenced, SessionNotFound
from shared.ports.log import LIVE_SHARDS, LiveKind, LiveSession, SessionIndex

PAGE = 500
SCAN_SECONDS = 60
MOST_KNOWN = 50_000
SHARDS: tuple[int | None, ...] = (*range(LIVE_SHARDS), None)
KINDS: tuple[LiveKind, ...] = ("waiting", "parked")


class CountDeps(NamedTuple):
    """`time_is_left`: whether another session can be looked at. `told`: is called with each error and the session's id,
    or `index`.
    """

    repository: SessionRepository
    session_index: SessionIndex
    time_is_left: Callable[[], bool]
    told: Callable[[str, Exception], None]


class Known:
    """Sessions that this process has seen counted, the oldest forgotten first."""

    def __init__(self) -> None:
        self._ids: OrderedDict[str, None] = OrderedDict()

    def __contains__(self, session_id: str) -> bool:
        return session_id in self._ids

    def add(self, session_id: str) -> None:
        self._ids[session_id] = None
        if len(self._ids) > MOST_KNOWN:
            self._ids.popitem(last=False)


def count_open(deps: CountDeps, known: Known | None = None) -> int:
    """Returns how many sessions were counted. What one session or page meets stops nothing else."""
    repository, seen = deps.repository, Known() if known is None else known
    if not repository.limits.any_open:
        return 0
    shard = SHARDS[int(repository.clock.now().timestamp() // SCAN_SECONDS) % len(SHARDS)]
    counted = 0
    for kind in KINDS:
        for session in _live(deps, kind, shard):
            limits = repository.limits.of(session.tenant)
            if session.session_id in seen or limits.open_sessions is None:
                continue
            if not deps.time_is_left():
                return counted
            try:
                counted += repository.count(repository.newest(session.tenant, session.session_id))
            except (SessionNotFound, Fenced):  # deleted; the index is a moment behind
                continue
            except Exception as error:  # whatever it is, it is this session's alone
                deps.told(session.session_id, error)
                continue
            seen.add(session.session_id)
    return counted


def _live(deps: CountDeps, kind: LiveKind, shard: int | None) -> list[LiveSession]:
    found: list[LiveSession] = []
    cursor: str | None = None
    while deps.time_is_left():
        try:
            page = deps.session_index.live(kind, shard, before=None, limit=PAGE, cursor=cursor)
        except Exception as error:
            deps.told("index", error)
            break
        found += page.sessions
        cursor = page.cursor
        if cursor is None:
            break
    return found
