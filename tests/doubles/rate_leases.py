"""The shares of tenants' rates in memory."""

from acta.engine.limits.store import RequestNumbers


class MemoryRateLeases:
    """`writes`: how many there were; `failure`: raised instead, while it is set."""

    def __init__(self) -> None:
        self._taken: dict[str, tuple[int, int]] = {}
        """Tenant -> window and how much of it is taken."""
        self._held: dict[str, tuple[int, int, int]] = {}
        """Tenant -> window, places taken or renewed in it, all places."""
        self.writes = 0
        self.failure: Exception | None = None

    def take(self, tenant: str, window: int, size: int) -> RequestNumbers:
        self._write()
        newest, taken = self._taken.get(tenant, (-1, 0))
        if newest < window:
            newest, taken = window, 0
        self._taken[tenant] = newest, taken + size
        return RequestNumbers(newest, taken)

    def hold(self, tenant: str, window: int, most: int, *, renews: bool) -> bool:
        self._write()
        newest, current, every = self._held.get(tenant, (-9, 0, 0))
        if newest > window:
            return False
        if newest == window - 1:
            current, every = 0, current
        elif newest < window - 1:
            current, every = 0, 0
        if renews and current < every:
            self._held[tenant] = window, current + 1, every
            return True
        if every >= most:
            return False
        self._held[tenant] = window, current + 1, every + 1
        return True

    def _write(self) -> None:
        self.writes += 1
        if self.failure is not None:
            raise self.failure
