"""A worker may die before and after each outgoing call of a run whose model answers in the background (design §6.5)."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from tests.in_process.background import BackgroundModel, begun, patient_house
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import Turn, call, completes, plans, says, step

SCRIPT: list[Turn] = [
    plans("write"),
    says("", step(1, "in_progress"), call("create_file", path="x.md", content="y")),
    says("", step(1, "completed", "ok")),
    completes("Done."),
]
PORTS = ("log", "blobs", "attempts", "workflow", "files")
NO_CALLS = ("take", "wait", "close", "expire", "with_own_write")
"""What the engine does in memory, and what asks nobody: no worker dies there."""
BACKGROUND = ("start", "result", "cancel", "forget")


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


def mortal_house(deaths: Deaths, seconds: float = 100) -> tuple[House, BackgroundModel, str]:
    """The session has been started: its worker is who dies."""
    model = BackgroundModel(SCRIPT, seconds)
    house = patient_house(model)
    session = begun(house, "Write")
    for name in PORTS:
        setattr(house, name, Port(getattr(house, name), name, deaths))
    for method in BACKGROUND:
        setattr(model, method, mortal(getattr(model, method), "model", method, deaths))
    new_worker(house)
    return house, model, session


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


def whole_run(deaths: Deaths) -> tuple[House, BackgroundModel, str]:
    made = house, _, _ = mortal_house(deaths)
    driven(house)
    return made


def test_a_run_ends_the_same_wherever_its_worker_dies() -> None:
    """And no answer is bought twice, but where the worker dies between its request and its commit."""
    twice = set()
    numbers = list(points(whole_run))
    assert len(numbers) > 100
    for number in numbers:
        deaths = Deaths(number)
        house, model, session = whole_run(deaths)
        died_at = deaths.met[number - 1]
        head = house.head(session)
        assert (head.state, head.usage.llm_calls, head.background) == ("completed", 4, None), died_at
        assert head.plan is not None
        assert [one.status for one in head.plan.steps] == ["completed"], died_at
        assert house.files.read(TENANT, "x.md") == b"y", died_at
        rows = list(house.history(session).steps())
        assert head.usage.input_tokens == sum(row.input_tokens for row in rows), died_at
        assert head.budget.vanished_tokens == sum(row.estimated_tokens for row in rows), died_at
        if model.bought > 4:
            assert model.bought == 5, died_at
            assert head.budget.vanished_tokens > 0, died_at
            twice.add(died_at)
    assert twice == {Point("model", "start", "after"), Point("log", "append", "before")}


def cancelled(deaths: Deaths) -> tuple[House, BackgroundModel, str]:
    """A person cancels at the first wait; a request that gets no answer is sent again."""

    class Waiting(Exception):
        pass

    def until_it_waits(decision: Any) -> None:
        if decision.next == "wait":
            raise Waiting

    house, model, session = mortal_house(Deaths(), seconds=1_000)
    with pytest.raises(Waiting):
        house.run(until_it_waits)
    house.decisions.clear()
    for name in PORTS:
        getattr(house, name)._deaths = deaths
    for method in BACKGROUND:
        setattr(model, method, mortal(getattr(model, method), "model", method, deaths))
    try:
        house.cancel(session)
    except Died:
        new_worker(house)
        house.cancel(session)
    driven(house)
    return house, model, session


def test_a_cancel_reaches_the_provider_wherever_a_worker_dies() -> None:
    numbers = list(points(cancelled))
    assert len(numbers) > 20
    for number in numbers:
        deaths = Deaths(number)
        house, model, session = cancelled(deaths)
        died_at = deaths.met[number - 1]
        head = house.head(session)
        assert (head.state, head.background, head.plan) == ("cancelled", None, None), died_at
        assert (head.usage.llm_calls, model.cancelled) == (0, ["resp_1"]), died_at
        assert head.budget.vanished_tokens > 0, died_at
        rows = list(house.history(session).steps())
        assert head.budget.vanished_tokens == sum(row.estimated_tokens for row in rows), died_at
