"""Sessions that recovery could not look at. They do not take the time of the others: they are looked at last, and one
that is damaged, or that another release wrote, less and less often.

A process remembers them for as long as it lives. A new process tries each of them once more.
"""

from collections import OrderedDict
from datetime import datetime, timedelta
from threading import Lock
from typing import NamedTuple

from shared.domain.errors import SchemaUnknown, TransientError
from shared.ports.log import LiveSession

LONGEST_PAUSE = timedelta(hours=1)
MOST_REMEMBERED = 10_000

_Name = tuple[str, str]


class _Failure(NamedTuple):
    """`times`: how often in a row the session could not be read. `due`: when it is looked at again. `away`: AWS was in
    the way, the last time.
    """

    times: int
    due: datetime
    away: bool = False


class Unreadable:
    """By tenant and session. Forgets those that failed longest ago where they are too many. For several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._failures: OrderedDict[_Name, _Failure] = OrderedDict()

    def has(self, session: LiveSession) -> bool:
        return _name(session) in self._failures

    def is_away(self, session: LiveSession) -> bool:
        """Whether AWS was in the way when the session was looked at last."""
        failure = self._failures.get(_name(session))
        return failure is not None and failure.away

    def is_due(self, session: LiveSession, now: datetime) -> bool:
        failure = self._failures.get(_name(session))
        return failure is None or failure.due <= now

    def failed(self, session: LiveSession, now: datetime) -> None:
        """The session cannot be read: the pause doubles, from a minute to `LONGEST_PAUSE`."""
        before = self._failures.pop(_name(session), _Failure(0, now))
        pause = min(LONGEST_PAUSE, timedelta(minutes=2 ** min(before.times, 10)))
        self._remember(session, _Failure(before.times + 1, now + pause))

    def unanswered(self, session: LiveSession, now: datetime) -> None:
        """AWS did not answer for the session this time. That may be over in a minute, so it is due at once."""
        before = self._failures.pop(_name(session), _Failure(0, now))
        self._remember(session, before._replace(due=now, away=True))

    def forget(self, session: LiveSession) -> None:
        self._failures.pop(_name(session), None)

    def _remember(self, session: LiveSession, failure: _Failure) -> None:
        with self._lock:
            self._failures[_name(session)] = failure
            while len(self._failures) > MOST_REMEMBERED:
                self._failures.popitem(last=False)


def is_away(error: Exception) -> bool:
    """Whether AWS is the reason, and not the session: it may answer in a minute."""
    return isinstance(error, TransientError) and not isinstance(error, SchemaUnknown)


def _name(session: LiveSession) -> _Name:
    return session.tenant, session.session_id
