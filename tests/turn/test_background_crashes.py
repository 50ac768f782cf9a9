"""A worker may die before and after each outgoing call of a run whose model answers in the background
(docs/design/recovery.md 1)."""

from typing import Any

import pytest

from tests.in_process.background import BackgroundModel, begun, patient_house
from tests.in_process.deaths import PORTS, Deaths, Died, Point, Port, driven, mortal, new_worker, points
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import Turn, call, completes, plans, says, step

SCRIPT: list[Turn] = [
    plans("write"),
    says("", step(1, "in_progress"), call("create_file", path="x.md", content="y")),
    says("", step(1, "completed", "ok")),
    completes("Done."),
]
BACKGROUND = ("start", "result", "cancel", "forget")


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
