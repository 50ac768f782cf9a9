"""A log that loses answers."""

from shared.domain.session.commit import Commit
from shared.ports.log import NO_COMPANIONS, Companions, NumberTaken
from tests.house import House


class LossyLog:
    """Writes, then loses the answer of the nth put: the SDK's own retry would meet the commit."""

    def __init__(self, house: House, nth: int) -> None:
        self._log, self._left = house.log, nth

    def __getattr__(self, name: str) -> object:
        return getattr(self._log, name)

    def append(self, commit: Commit, companions: Companions = NO_COMPANIONS) -> None:
        self._log.append(commit, companions)
        self._left -= 1
        if self._left == 0:
            raise NumberTaken
