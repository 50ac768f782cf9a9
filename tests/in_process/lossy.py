"""Logs that lose answers, or races."""

from acta.engine.log.commit import Commit
from acta.engine.log.store import NO_ITEMS, NumberTaken, TransactionItems
from tests.in_process.house import House


class LossyLog:
    """Writes, then loses the answer of the nth put: the SDK's own retry would meet the commit."""

    def __init__(self, house: House, nth: int) -> None:
        self._log, self._left = house.log, nth

    def __getattr__(self, name: str) -> object:
        return getattr(self._log, name)

    def append(self, commit: Commit, extra_items: TransactionItems = NO_ITEMS) -> None:
        self._log.append(commit, extra_items)
        self._left -= 1
        if self._left == 0:
            raise NumberTaken


class OvertakenLog:
    """A log in which somebody else wins the number of each commit's first put: the next try is a moment later."""

    def __init__(self, house: House) -> None:
        self._log, self._lost = house.log, set[str]()

    def __getattr__(self, name: str) -> object:
        return getattr(self._log, name)

    def append(self, commit: Commit, extra_items: TransactionItems = NO_ITEMS) -> None:
        if commit.key not in self._lost:
            self._lost.add(commit.key)
            raise NumberTaken
        self._log.append(commit, extra_items)
