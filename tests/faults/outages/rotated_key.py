"""The provider's key in its secret. It is rotated now and then, and each says how many there were before it."""

import threading
from collections.abc import Callable

_NAME = "scripted-"


def number_of(authorization: str) -> int:
    """Of the key in a request's header."""
    return int(authorization.rpartition(_NAME)[2])


class RotatedKey:
    """`store`: puts a text into the secret. `text`: the newest key."""

    def __init__(self, store: Callable[[str], object]) -> None:
        self._store = store
        self._number = 0
        self._lock = threading.Lock()

    @property
    def text(self) -> str:
        return f"{_NAME}{self._number}"

    def rotate(self, told: Callable[[int], None]) -> None:
        """`told`: takes the new key's number. The provider knows a key before anybody can read it."""
        with self._lock:
            self._number += 1
            told(self._number)
            self._store(self.text)
