"""What a tenant may use is given out in parts: tokens of an hour and dollars of a day to sessions, and places and
starts to shares.

A tenant's hourly tokens are leased to its sessions in chunks (docs/design/budgets.md 20). What is granted in an hour
never exceeds the tenant's limit, and a session reserves only what it was granted; a run's last call may use more than
it reserved. The commit that ends or parks a run gives back what is left, so at most one chunk per running session
stays unused. A lease ends with its hour. Dollars of a day are leased in the same way, in parts of `PER_DOLLAR`.

A tenant with large limits is counted in shares, because one item takes only some tens of changes a second (ADR 107).
The tenant's own item says how much was given out to its shares: places of open sessions, and starts of a minute. A
share holds what is still free of it. So after every write, what is open is what was given out less what is free. A
start takes from a share what it holds, and an end gives it back. Only a share that holds nothing draws from the
tenant's item, in blocks.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from math import ceil
from types import MappingProxyType
from typing import NamedTuple
from zlib import crc32

from acta.engine.limits.tenant_limits import Start, TenantCounts, TenantLimits
from acta.engine.store.schema import StoredModel

CHUNK_TOKENS = 20_000
SHARE_TOKENS = 10_000_000
MOST_HOUR_SHARES = 32
"""An hour with this many tokens for each share is given out in shares, because one item takes only some tens of grants
a second. A smaller one is a single item."""
DRAWS = 8
"""The number of parts in which a share draws what belongs to it, if all shares are used alike."""


PER_DOLLAR = 100_000
"""In so many parts of a dollar a tenant's day is leased. With the sizes above, a chunk has 20 cents, and a day has a
share for each 100 dollars."""


class Lease(StoredModel):
    """The tokens that a session was granted in an hour, or the dollars of a day."""

    hour: int
    """Hours since 1970, UTC; of a day its first one."""
    granted: int
    used: int = 0
    share: int | None = None
    """The share of a large hour that granted tokens last. What is left goes back there. None: the hour has no shares.
    """

    @property
    def left(self) -> int:
        return self.granted - self.used

    def charged(self, tokens: int) -> "Lease":
        return self.model_copy(update={"used": self.used + tokens})


class LeaseChange(NamedTuple):
    """The tokens of its tenant's hour, or the dollars of its day, that a commit takes for its session or gives back.
    They are changed with the commit or not at all. A grant is refused where too little is left; what is given back is
    always taken.
    """

    tenant: str
    hour: int
    """Hours since 1970, UTC."""
    tokens: int
    """Granted to the session; below 0: given back."""
    limit: int = 0
    """The most that the hour may give out in all. Only a grant needs it."""
    share: int | None = None
    """The share of a large hour that the tokens come from or go back to. None: the hour itself."""
    drawn: int = 0
    """Tokens that the share takes from the hour for this grant."""
    of_day: bool = False
    """They are parts of a dollar, of the day that begins with the hour."""

    @property
    def of_hour(self) -> int:
        """Tokens that the hour's own item gives out."""
        return self.tokens if self.share is None else self.drawn

    @property
    def of_share(self) -> int:
        """By how much what is free in the share changes."""
        return 0 if self.share is None else self.drawn - self.tokens


def hour_of(now: datetime) -> int:
    """Hours since 1970, UTC."""
    return int(now.timestamp() // 3600)


def day_of(now: datetime) -> int:
    """The first hour of the day, UTC."""
    return hour_of(now) // 24 * 24


def end_of(hour: int, *, of_day: bool = False) -> datetime:
    """When the hour ends, or the day that it begins."""
    return datetime.fromtimestamp((hour + (24 if of_day else 1)) * 3600, UTC)


def parts_of(usd: float) -> int:
    """The dollars in the parts in which a day is leased, rounded up."""
    return ceil(round(usd * PER_DOLLAR, 3))


def tokens_missing(lease: Lease | None, hour: int, needed: int) -> int:
    """The tokens that must be granted before `needed` may be spent; 0: the lease has enough."""
    left = lease.left if lease is not None and lease.hour == hour else 0
    return max(0, needed - left)


def grant_size(free: int, wanted: int) -> int | None:
    """The tokens that a session is granted: a chunk, or what it needs where that is more or no chunk is left.

    `free`: what may still be granted. `wanted`: what the session needs. None: too little is left.
    """
    chunk = max(wanted, CHUNK_TOKENS)
    if chunk <= free:
        return chunk
    return wanted if wanted <= free else None


def shares_of(limit: int) -> int:
    """In how many shares an hour of so many tokens is given out. 1: there are no shares, and the hour's own item has
    all of it."""
    return max(1, min(MOST_HOUR_SHARES, limit // SHARE_TOKENS))


def shares_in_turn(session_id: str, shares: int) -> Iterator[int]:
    """The session's own share first, and then the others in turn."""
    own = crc32(session_id.encode()) % shares
    return ((own + step) % shares for step in range(shares))


def draw_size(left: int, lacking: int, limit: int) -> int:
    """The tokens that a share takes from the hour when it lacks some for a grant: an eighth of its part, or more where
    that is not enough. `left`: what the hour has not given out yet.
    """
    return max(0, min(max(limit // (shares_of(limit) * DRAWS), lacking), left))


def with_grant(lease: Lease | None, grant: LeaseChange | None) -> Lease | None:
    """The lease with what was granted. A lease of another hour is replaced."""
    if grant is None:
        return lease
    before = lease if lease is not None and lease.hour == grant.hour else Lease(hour=grant.hour, granted=0)
    return before.model_copy(update={"granted": before.granted + grant.tokens, "share": grant.share})


OF_A_SHARE = 750
MOST_COUNT_SHARES = 10
"""A tenant whose limits are this much for each share is counted in shares. One item takes 1,500 starts a minute with
their ends. The items of ten take what their partition does."""
SHUT = 0
"""The minute of a share from which no start may take until it has drawn from the tenant's item again."""


class CountShare(NamedTuple):
    """What a share holds."""

    free: int = 0
    """Places that no session has taken."""
    minute: int = SHUT
    """Since 1970."""
    starts: int = 0
    """Starts of that minute that are left."""


class ShareChange(NamedTuple):
    """A change of a share, on a condition."""

    free: int = 0
    """Is added."""
    starts: int = 0
    """Is added, if the minute stays the same."""
    minute: int = SHUT
    """The share's minute from now on. If the share had another minute, that minute's starts are no longer left."""
    most_free: int | None = None
    """The condition: no more may be free before. None: there is no condition."""


class GivenChange(NamedTuple):
    """A change of what the tenant's item has given out, on conditions."""

    open: int = 0
    """Is added."""
    starts: int = 0
    """Is added to the starts of `minute`."""
    minute: int | None = None
    most_open: int | None = None
    """The condition: no more may have been given out before, and so for `most_starts`. None: there is no condition."""
    most_starts: int | None = None


class CountChanges(NamedTuple):
    """One transaction."""

    given: GivenChange = GivenChange()
    shares: Mapping[int, ShareChange] = MappingProxyType({})


class SharedCounts(NamedTuple):
    given: TenantCounts = TenantCounts()
    """What the tenant's item has given out."""
    shares: Mapping[int, CountShare] = MappingProxyType({})
    """The shares that are stored."""

    @property
    def counts(self) -> TenantCounts:
        """What the tenant has open and has started."""
        unused = sum(each.starts for each in self.shares.values() if each.minute == self.given.minute)
        free = sum(each.free for each in self.shares.values())
        return self.given._replace(open=self.given.open - free, starts=self.given.starts - unused)


def count_shares_of(limits: TenantLimits) -> int:
    """In how many shares a tenant is counted. 1: its own item counts it, and there are none. The smallest limit
    decides, because it bounds how often the tenant is counted.
    """
    known = [each for each in (limits.starts_per_minute, limits.open_sessions) if each is not None]
    return max(1, min([MOST_COUNT_SHARES, *(each // OF_A_SHARE for each in known)])) if known else 1


def changes_of_start(
    there: SharedCounts, start: Start, opened: int, own: int, shares: int
) -> CountChanges | None:
    """How to count a start that no limit refuses (`Start.refusal`), if its own share did not hold enough. None: what
    was read does not fit together, because others wrote meanwhile.

    The start takes from its own share, else from a block that the share draws, else from the share that holds most. If
    more was given out than is allowed, or the limits have become small, all that is free goes back first.
    """
    given, share = there.given, there.shares.get(own, CountShare())
    if shares == 1 or _is_too_much(given, start):
        return _all_given_back(there, start, opened)
    minute = max(start.minute, share.minute, given.minute if start.most_starts is not None else 0)
    mine, change, others = ShareChange(minute=minute), GivenChange(), dict[int, ShareChange]()
    if share.minute != minute:
        change = change._replace(most_open=start.most_open)
    if opened > 0 and start.most_open is not None:
        block = max(1, start.most_open // (shares * DRAWS))
        room = start.most_open - given.open
        if share.free > 0:
            back = max(0, share.free - block) if share.minute != minute else 0
            mine, change = mine._replace(free=-back - 1), change._replace(open=-back)
        elif room > 0:
            drawn = min(block, room)
            mine = mine._replace(free=drawn - 1)
            change = change._replace(open=drawn, most_open=start.most_open - drawn)
        else:
            most = _most({number: each.free for number, each in there.shares.items()})
            if most is None:
                return None
            others[most] = ShareChange(free=-1, minute=there.shares[most].minute)
            if there.shares[most].minute == SHUT:
                change = change._replace(most_open=start.most_open)
    if start.most_starts is not None:
        of_minute = given.starts if given.minute == minute else 0
        if share.minute == minute and share.starts > 0:
            mine = mine._replace(starts=-1)
        elif of_minute < start.most_starts:
            drawn = min(max(1, start.most_starts // (shares * DRAWS)), start.most_starts - of_minute)
            mine = mine._replace(starts=drawn - 1)
            change = change._replace(starts=drawn, minute=minute, most_starts=start.most_starts - drawn)
        else:
            most = _most({n: each.starts for n, each in there.shares.items() if each.minute == minute})
            if most is None:
                return None
            others[most] = others.get(most, ShareChange())._replace(starts=-1, minute=minute)
    return CountChanges(change, others | ({own: mine} if mine.free or mine.starts else {}))


def changes_without_limit(there: SharedCounts, opened: int) -> CountChanges:
    """How to count an open session that no start made and no limit refuses. If no place is free, there are more open
    sessions than allowed from now on, so the shares are shut.
    """
    most = _most({number: each.free for number, each in there.shares.items()})
    if most is None:
        return _all_given_back(there, None, opened)
    return CountChanges(shares={most: ShareChange(free=-opened, minute=there.shares[most].minute)})


def _is_too_much(given: TenantCounts, start: Start) -> bool:
    """Whether more was given out than is allowed: a limit was lowered, or sessions were counted that no start made."""
    starts = given.starts if given.minute >= start.minute else 0
    return (start.most_open is not None and given.open > start.most_open) or (
        start.most_starts is not None and starts > start.most_starts
    )


def _most(found: Mapping[int, int]) -> int | None:
    """The share that holds most. None: none holds any."""
    return max(
        (number for number in found if found[number] > 0), key=lambda number: found[number], default=None
    )


def _all_given_back(there: SharedCounts, start: Start | None, opened: int) -> CountChanges:
    """Gives back all that is free and shuts the shares. From then on the tenant's item counts."""
    given = there.given
    free = sum(each.free for each in there.shares.values())
    unused = sum(each.starts for each in there.shares.values() if each.minute == given.minute)
    shares = {
        number: ShareChange(-each.free, -each.starts, SHUT, each.free if start is None else None)
        for number, each in there.shares.items()
        if start is None or each != CountShare()
    }
    change = GivenChange(opened - free, -unused, given.minute if unused else None)
    if start is None:
        change = change._replace(most_open=given.open)
    elif start.most_open is not None and opened > 0:
        change = change._replace(most_open=start.most_open - change.open)
    if start is not None and start.most_starts is not None:
        minute = max(start.minute, given.minute)
        starts = 1 - unused if minute == given.minute else 1
        change = change._replace(starts=starts, minute=minute, most_starts=start.most_starts - starts)
    return CountChanges(change, shares)
