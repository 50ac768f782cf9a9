"""An operator has runs taken up again that failed for a reason outside of them: one session, or all that failed since a
time (ADR 46).

`find_failed` and `repair_each` do a bounded part at each call and say where the next call goes on. Nothing that one
session meets stops the others.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from acta.engine.app import App
from acta.engine.errors import (
    AwsDenied,
    CallerError,
    CommitContention,
    Conflict,
    Fenced,
    ProviderRejected,
    SessionNotFound,
    StoreThrottled,
    StoreUnavailable,
)
from acta.engine.log.commit import Decision
from acta.engine.log.head import Head, Restarts
from acta.engine.log.repository import SessionRepository
from acta.engine.log.store import FailedPage, SessionIndex, SessionName
from acta.engine.recovery.outage import DEFAULT_LIMITS, OutageLimits
from acta.engine.recovery.recover import RecoveryResult, begin_next_generation, recover
from acta.engine.turn.engine import Workflow, is_overtaken, next_turn_kind, position

REPAIRABLE = ("STEP_FAILED", "PROVIDER_")
"""Codes, or beginnings of codes, of failures that lie outside of the session: another try may succeed."""
REPAIRED = "repaired"
PAGE = 1_000
"""Stored items that one request looks at: about the megabyte at which DynamoDB ends a page anyway."""
PAGE_OF_TENANT = 200
MOST_PAGES = 25
MOST_FOUND = 500
"""The most sessions of one call. Its answer stays small, and whoever waits for it sees progress every few seconds."""

AWAY = (StoreThrottled, StoreUnavailable, AwsDenied, CommitContention)
"""AWS is the reason, and not the session."""

RepairOutcome = Literal[RecoveryResult, "refused", "gone", "unreadable", "unanswered", "left"]
"""`refused`: the run failed for another reason meanwhile. `gone`: the session was deleted. `unreadable`: it is damaged
or another release's. `unanswered`: AWS throttled, denied or did not answer. `left`: there was no time for it."""


def repair(
    repository: SessionRepository,
    workflow: Workflow,
    tenant: str,
    session_id: str,
    limits: OutageLimits = DEFAULT_LIMITS,
) -> RecoveryResult:
    """Tries a failed run again, or recovers one that stands still; an operator asks for it.

    Raises SessionNotFound, and Conflict where the run failed for a reason that another try does not change.
    """
    session = repository.newest(tenant, session_id)
    if session.head.state != "failed":
        return recover(repository, workflow, tenant, session_id, limits=limits)
    at = position(session.head)
    key = at.key("repair")
    for change in repository.attempts(session, key):
        head, run = change.head, change.head.run
        if run is None or head.state != "failed" or is_overtaken(head, at):
            return "nothing"  # somebody else has moved the session on
        if head.parent is not None:
            raise Conflict("The session worked for another one, which has been told of its failure.")
        if not is_repairable(head):
            code = head.error.code if head.error is not None else ""
            raise Conflict(f"The session failed with {code}, which a repair does not change.")
        progress = head.progress.model_copy(update={"planning_attempts": 0})
        change.set(error=None, progress=progress)
        begin_next_generation(change, run, Restarts())
        # Its calls were dropped when it failed, so it goes on with its plan, or makes a new one.
        decision = Decision(next=next_turn_kind(change.head), at=position(change.head))
        change.to_state("planning" if decision.next == "plan" else "executing", REPAIRED)
        change.commit(decision)
    workflow.start(session.decided(key))
    return "restarted"


def is_repairable(head: Head) -> bool:
    """Whether the run failed for a reason that lies outside of it."""
    return head.state == "failed" and head.error is not None and head.error.code.startswith(REPAIRABLE)


class FailedDeps(NamedTuple):
    app: App
    time_is_left: Callable[[], bool] = lambda: True
    """Whether another session can be looked at."""
    on_error: Callable[[str, Exception], None] = lambda subject, error: None
    """Is called with each error and what it was met at: a session's id, or `index`."""


class FailedRun(NamedTuple):
    tenant: str
    session_id: str
    code: str
    """Why it failed."""
    failed_at: datetime
    """When the session was changed last, which is when its run failed, or a moment later."""


class FailedRuns(NamedTuple):
    """What one call has found."""

    runs: tuple[FailedRun, ...]
    cursor: str | None
    """Where the next call goes on. None: at the beginning."""
    complete: bool
    """Nothing is left to look at."""
    unreadable: int = 0
    """Failed sessions that are damaged, or that another release wrote."""
    unanswered: int = 0
    """Sessions that could not be looked at because AWS throttled, denied or did not answer. A page of the index that
    AWS did not answer is where the next call goes on.
    """


def find_failed(deps: FailedDeps, since: datetime, tenant: str | None, cursor: str | None) -> FailedRuns:
    """The sessions whose run failed since then with a repairable code, as far as this call gets. Changes nothing.

    `tenant`: whose, newest first; None: all tenants'. `cursor`: of the call before. Raises ValueError where it is not
    valid, and what the index raises other than `AWAY`.
    """
    index, runs, unreadable, unanswered = deps.app.session_index, list[FailedRun](), 0, 0
    for _ in range(MOST_PAGES):
        if not deps.time_is_left():
            break
        try:
            page = _failed_page(index, tenant, cursor)
        except AWAY as error:
            deps.on_error("index", error)
            break
        unreadable += page.damaged
        for name in page.sessions:
            if len(runs) >= MOST_FOUND or not deps.time_is_left():
                return FailedRuns(tuple(runs), cursor, False, unreadable, unanswered)
            try:
                head = deps.app.repository.newest(*name).head
            except SessionNotFound:  # deleted a moment ago
                pass
            except AWAY as error:
                deps.on_error(name.session_id, error)
                unanswered += 1
            except Exception as error:  # whatever it is, it concerns this session alone
                deps.on_error(name.session_id, error)
                unreadable += 1
            else:
                code = head.error.code if head.error is not None else ""
                # A provider that rejects a request would reject the same request again.
                if is_repairable(head) and code != ProviderRejected.code and head.updated_at >= since:
                    runs.append(FailedRun(*name, code, head.updated_at))
            cursor = index.cursor_after_failed(name) if tenant is None else index.cursor_after_session(*name)
        cursor = page.cursor
        if cursor is None:
            return FailedRuns(tuple(runs), None, True, unreadable, unanswered)
    return FailedRuns(tuple(runs), cursor, False, unreadable, unanswered)


def _failed_page(index: SessionIndex, tenant: str | None, cursor: str | None) -> FailedPage:
    if tenant is None:
        return index.failed(limit=PAGE, cursor=cursor)
    page = index.sessions(tenant, states=("failed",), agent_id=None, limit=PAGE_OF_TENANT, cursor=cursor)
    return FailedPage(
        tuple(SessionName(entry.tenant, entry.session_id) for entry in page.entries), page.cursor
    )


def repair_each(deps: FailedDeps, sessions: Sequence[SessionName]) -> tuple[RepairOutcome, ...]:
    """What became of each of the sessions, in their order. A session that was repaired before is left as it is."""
    return tuple(_repaired(deps, session) for session in sessions)


def _repaired(deps: FailedDeps, session: SessionName) -> RepairOutcome:
    if not deps.time_is_left():
        return "left"
    try:
        return repair(deps.app.repository, deps.app.workflow, *session, deps.app.settings.outage_limits)
    except (SessionNotFound, Fenced):
        return "gone"
    except CallerError:
        return "refused"
    except AWAY as error:
        deps.on_error(session.session_id, error)
        return "unanswered"
    except Exception as error:  # whatever it is, it concerns this session alone
        deps.on_error(session.session_id, error)
        return "unreadable"
