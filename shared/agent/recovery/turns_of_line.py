"""Who comes next in a long line: tenants in turn, of each who has waited longest, read by pages (ADR 106)."""

from collections import deque
from collections.abc import Iterator
from itertools import groupby

from shared.domain.limits.admission import InLine
from shared.ports.deployment.admission import AdmissionStore

PAGE = 100
"""Places of one read."""


class Passed:
    """Places of one line that a dispatcher has paid for and that may still be in it."""

    def __init__(self) -> None:
        self._places: set[InLine] = set()
        self._furthest: dict[str, InLine] = {}

    def __contains__(self, one: object) -> bool:
        return one in self._places

    def add(self, one: InLine) -> None:
        self._places.add(one)
        self._furthest[one.tenant] = one

    def furthest_of(self, one: InLine) -> InLine:
        """Of its tenant; itself where nothing of that was passed."""
        return self._furthest.get(one.tenant, one)


class Turns:
    """The places of a line that were not passed, from the tenant after `last` on: one of each tenant, then another one
    of each. It reads no further than it is asked. `read`: places that it has seen.
    """

    def __init__(
        self, store: AdmissionStore, provider: str, last: str, passed: Passed, page: int = PAGE
    ) -> None:
        self._store, self._provider, self._last, self._passed = store, provider, last, passed
        self._page = page
        self.read = 0

    def __iter__(self) -> Iterator[InLine]:
        turns: list[Iterator[InLine]] = []
        for own, is_cut in self._tenants():
            turn = self._of_tenant(own, is_cut=is_cut)
            if (one := next(turn, None)) is not None:
                turns.append(turn)
                yield one
        while turns:
            left = []
            for turn in turns:
                if (one := next(turn, None)) is not None:
                    left.append(turn)
                    yield one
            turns = left

    def _tenants(self) -> Iterator[tuple[list[InLine], bool]]:
        """Each tenant's first places, and whether it may have more: once around the line."""
        seen: set[str] = set()
        after, is_around = self._last, not self._last
        while True:
            page = self._counted(self._store.page_after(self._provider, after, self._page))
            is_cut = len(page) == self._page
            for tenant, own in groupby(page, lambda one: one.tenant):
                if tenant in seen:
                    return
                seen.add(tenant)
                yield list(own), is_cut and tenant == page[-1].tenant
            if is_cut:
                after = page[-1].tenant
            elif is_around:
                return
            else:
                after, is_around = "", True

    def _of_tenant(self, own: list[InLine], *, is_cut: bool) -> Iterator[InLine]:
        places, furthest, may_jump = deque(own), own[-1], True
        while True:
            while places:
                one = places.popleft()
                if one not in self._passed:
                    may_jump = False
                    yield one
            if not is_cut:
                return
            behind = self._passed.furthest_of(furthest) if may_jump else furthest
            may_jump = False
            page = self._counted(self._store.page_behind(behind, self._page))
            is_cut = len(page) == self._page
            places.extend(page)
            furthest = page[-1] if page else behind

    def _counted(self, page: list[InLine]) -> list[InLine]:
        self.read += len(page)
        return page
