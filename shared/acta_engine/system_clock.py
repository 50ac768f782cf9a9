"""The clock and the random numbers of the operating system."""

import os
import time
from datetime import UTC, datetime

from acta_engine.ids import make_id


class SystemClock:
    """A Clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def new_id(self, prefix: str) -> str:
        return make_id(prefix, time.time_ns() // 1_000_000, os.urandom(10))

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def back_off(self, max_seconds: float) -> None:
        time.sleep(max_seconds * int.from_bytes(os.urandom(4)) / 2**32)
