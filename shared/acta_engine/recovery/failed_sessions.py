"""Finds the sessions whose run was failed by what another try may change, and repairs many of them; an operator asks
for it (ADR 46).

Both do a bounded part at each call and say where the next call goes on. Nothing that one session meets stops the
others.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from acta_engine.errors import (
    AwsDenied,
    CallerError,
    CommitContention,
    Fenced,
    ProviderRejected,
    SessionNotFound,
    StoreThrottled,
    StoreUnavailable,
)
from acta_engine.log.repository import SessionRepository
from acta_engine.log.store import FailedPage, SessionIndex, SessionName
from acta_engine.recovery.outage import DEFAULT_LIMITS, OutageLimits
from acta_engine.recovery.recover import RecoveryResult, is_repairable, repair
from acta_engine.turn.workflow import Workflow

PAGE = 1_000
"""Stored items that one request looks at: about the megabyte at which DynamoDB ends a page anyway."""
PAGE_OF_TENANT = 200
MOST_PAGES = 25
MOST_FOUND = 500
"""Of one call. Its answer stays small, and whoever waits for it sees progress every few seconds."""

AWAY = (StoreThrottled, StoreUnavailable, AwsDenied, CommitContention)
"""AWS is the reason, and not the session."""

RepairOutcome = Literal[RecoveryResult, "refused", "gone", "unreadable", "unanswered", "left"]
"""`refused`: the run failed for another reason meanwhile. `gone`: the session was deleted. `unreadable`: it is damaged
or another release's. `unanswered`: AWS throttled, denied or did not answer. `left`: there was no time for it."""


class FailedDeps(NamedTuple):
    """`time_is_left`: whether another session can be looked at. `told`: is called with each error and what it was met
    at: a session's id, or `index`. `limits`: as in `restart`.
    """

    repository: SessionRepository
    session_index: SessionIndex
    workflow: Workflow
    time_is_left: Callable[[], bool] = lambda: True
    told: Callable[[str, Exception], None] = lambda what, error: None
    limits: OutageLimits = DEFAULT_LIMITS


class FailedRun(NamedTuple):
    """`code`: why the run failed. `failed_at`: when the session was changed last, which is when its run failed, or a
    moment later.
    """

    tenant: str
    session_id: str
    code: str
    failed_at: datetime


class Found(NamedTuple):
    """`cursor`: where the next call goes on; None: at the beginning. `complete`: there is nothing left to look at.
    `unreadable`: failed sessions that are damaged or another release's. `unanswered`: those that could not be looked at
    because AWS throttled, denied or did not answer. A page that was not answered is where the next call goes on.
    """

    runs: tuple[FailedRun, ...]
    cursor: str | None
    complete: bool
    unreadable: int = 0
    unanswered: int = 0


def find_failed(deps: FailedDeps, since: datetime, tenant: str | None, cursor: str | None) -> Found:
    """The sessions whose run failed since then with a repairable code, as far as this call gets. Changes nothing.

    `tenant`: whose, newest first; None: all tenants'. `cursor`: of the call before. Raises ValueError where it is not
    valid, and what the index raises other than `AWAY`.
    """
    return _Walk(deps, since, tenant, cursor).made()


class _Walk:
    def __init__(self, deps: FailedDeps, since: datetime, tenant: str | None, cursor: str | None) -> None:
        self._deps = deps
        self._since = since
        self._tenant = tenant
        self._cursor = cursor
        self._runs: list[FailedRun] = []
        self._unreadable = 0
        self._unanswered = 0

    def made(self) -> Found:
        for _ in range(MOST_PAGES):
            if not self._deps.time_is_left():
                break
            try:
                page = self._page()
            except AWAY as error:
                self._deps.told("index", error)
                break
            self._unreadable += page.damaged
            if not self._looked_at(page):
                break
            self._cursor = page.cursor
            if self._cursor is None:
                return self._found(complete=True)
        return self._found(complete=False)

    def _page(self) -> FailedPage:
        index = self._deps.session_index
        if self._tenant is None:
            return index.failed(limit=PAGE, cursor=self._cursor)
        page = index.sessions(
            self._tenant, states=("failed",), agent_id=None, limit=PAGE_OF_TENANT, cursor=self._cursor
        )
        names = (SessionName(entry.tenant, entry.session_id) for entry in page.entries)
        return FailedPage(tuple(names), page.cursor)

    def _cursor_after(self, session: SessionName) -> str:
        index = self._deps.session_index
        return (
            index.cursor_after_failed(session)
            if self._tenant is None
            else index.cursor_after_session(*session)
        )

    def _looked_at(self, page: FailedPage) -> bool:
        """Whether the whole page was. Otherwise the cursor stands after the last session that was."""
        for session in page.sessions:
            if len(self._runs) >= MOST_FOUND or not self._deps.time_is_left():
                return False
            self._look(session)
            self._cursor = self._cursor_after(session)
        return True

    def _look(self, session: SessionName) -> None:
        try:
            head = self._deps.repository.newest(*session).head
        except SessionNotFound:  # deleted a moment ago
            return
        except AWAY as error:
            self._deps.told(session.session_id, error)
            self._unanswered += 1
            return
        except Exception as error:  # whatever it is, it is this session's alone
            self._deps.told(session.session_id, error)
            self._unreadable += 1
            return
        if head.error is None or head.error.code == ProviderRejected.code:  # the same request fails again
            return
        if is_repairable(head) and head.updated_at >= self._since:
            self._runs.append(FailedRun(*session, head.error.code, head.updated_at))

    def _found(self, *, complete: bool) -> Found:
        return Found(
            tuple(self._runs),
            None if complete else self._cursor,
            complete,
            self._unreadable,
            self._unanswered,
        )


def repair_each(deps: FailedDeps, sessions: Sequence[SessionName]) -> tuple[RepairOutcome, ...]:
    """What became of each of the sessions, in their order. A session that was repaired before is left as it is."""
    return tuple(_repaired(deps, session) for session in sessions)


def _repaired(deps: FailedDeps, session: SessionName) -> RepairOutcome:
    if not deps.time_is_left():
        return "left"
    try:
        return repair(deps.repository, deps.workflow, *session, deps.limits)
    except (SessionNotFound, Fenced):
        return "gone"
    except CallerError:
        return "refused"
    except AWAY as error:
        deps.told(session.session_id, error)
        return "unanswered"
    except Exception as error:  # whatever it is, it is this session's alone
        deps.told(session.session_id, error)
        return "unreadable"
