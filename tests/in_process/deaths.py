"""A worker that dies before or after one of its outgoing calls, in one process (docs/design/recovery.md 1)."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tests.in_process.house import House

PORTS = ("log", "blobs", "attempts", "workflow", "files")
NO_CALLS = ("take", "wait", "close", "expire")
"""What the engine does in memory, and what asks nobody: no worker dies there."""


class Died(BaseException):
    pass


class Point(NamedTuple):
    """`when`: whether the worker dies before the call is made or after it was."""

    port: str
    method: str
    when: str


class Deaths:
    """Meets every point in its order, and dies at the `number`-th; 0: at none."""

    def __init__(self, number: int = 0) -> None:
        self.met: list[Point] = []
        self._number = number

    def meet(self, point: Point) -> None:
        self.met.append(point)
        if len(self.met) == self._number:
            raise Died


class Port:
    """All methods of another port, and a worker that may die before and after each."""

    def __init__(self, port: Any, name: str, deaths: Deaths) -> None:
        self._port, self._name, self._deaths = port, name, deaths

    def __getattr__(self, method: str) -> Any:
        found = getattr(self._port, method)
        if not callable(found) or method in NO_CALLS:
            return found
        return mortal(found, self._name, method, self._deaths)


def mortal(made: Callable[..., Any], port: str, method: str, deaths: Deaths) -> Callable[..., Any]:
    def call_it(*given: Any, **more: Any) -> Any:
        deaths.meet(Point(port, method, "before"))
        answer = made(*given, **more)
        deaths.meet(Point(port, method, "after"))
        return answer

    return call_it


def new_worker(house: House) -> None:
    house.repository = house.fresh_repository()
    house.runtime = house.runtime._replace(repository=house.fresh_repository())


def driven(house: House) -> None:
    """As the engine does: a state whose worker died is made again, by a new one."""
    try:
        house.run()
    except Died:
        new_worker(house)
        if house.decisions:
            house.go_on(house.decisions[-1])
        house.run()


def points(scenario: Callable[[Deaths], object]) -> Iterator[int]:
    clean = Deaths()
    scenario(clean)
    yield from range(1, len(clean.met) + 1)
