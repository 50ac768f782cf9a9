"""How a tenant with large limits is counted: in shares, because one item takes only some tens of changes a second
(ADR 107).

The tenant's own item says how much was given out to its shares: places of open sessions, and starts of a minute. A
share holds what is still free of it. So after every write, what is open is what was given out less what is free. A
start takes from a share what it holds, and an end gives it back. Only a share that holds nothing draws from the
tenant's item, in blocks.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from acta_engine.limits.hour import DRAWS
from acta_engine.limits.tenant_limits import Start, TenantCounts, TenantLimits

OF_A_SHARE = 750
MOST_SHARES = 10
"""A tenant whose limits are this much for each share is counted in shares. One item takes 1,500 starts a minute with
their ends. The items of ten take what their partition does."""
SHUT = 0
"""The minute of a share from which no start may take until it has drawn from the tenant's item again."""


class CountShare(NamedTuple):
    """What a share holds."""

    free: int = 0
    """Places that no session has."""
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
    """The share's from now on. If it was another, no start of that one is left."""
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
    return max(1, min([MOST_SHARES, *(each // OF_A_SHARE for each in known)])) if known else 1


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
