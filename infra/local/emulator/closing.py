"""What must end before state is saved, so that nothing changes while it is written."""

from __future__ import annotations

from collections.abc import Callable

_actions: list[Callable[[], None]] = []


def before_saving(action: Callable[[], None]) -> None:
    """Register an action of the orderly end; the last registered runs first."""
    _actions.append(action)


def run() -> None:
    while _actions:
        _actions.pop()()
