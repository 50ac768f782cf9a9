"""What a change of the folders of Python tools leads to while a local stack serves. Nothing here reads or calls."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

Seen = Mapping[str, tuple[int, int]]
"""Path of each file, from the tools directory -> when it was written last, in nanoseconds, and its bytes."""


class Live(NamedTuple):
    """A folder as it is at work. `code`: the key of its bundle. `shape`: of what the deployment says of it: its tools'
    schemas and its settings.
    """

    code: str
    shape: str


class Update(NamedTuple):
    """`deploy`: the whole has to be deployed, since folders came or went or have another shape; else the code of
    `folders` is put into their Lambdas. `folders`: those that differ, by name. `gone`: those that are not there any
    more.
    """

    deploy: bool
    folders: Sequence[str]
    gone: Sequence[str] = ()


def update(live: Mapping[str, Live], wanted: Mapping[str, Live]) -> Update | None:
    """None: nothing differs."""
    gone = tuple(sorted(live.keys() - wanted.keys()))
    differing = tuple(sorted(name for name, one in wanted.items() if live.get(name) != one))
    if not gone and not differing:
        return None
    shaped = [name for name in differing if name not in live or live[name].shape != wanted[name].shape]
    return Update(bool(gone or shaped), differing, gone)


class Settled:
    """Says when a change is over: an editor writes several files, and each of them in pieces."""

    def __init__(self, seen: Seen) -> None:
        self._taken = self._last = seen

    def is_new(self, seen: Seen) -> bool:
        """Whether something has changed since the last time that this said so, and nothing since the last look."""
        is_still, self._last = seen == self._last, seen
        if not is_still or seen == self._taken:
            return False
        self._taken = seen
        return True
