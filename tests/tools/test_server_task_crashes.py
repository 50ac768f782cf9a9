"""A worker may die before and after each outgoing call of a run whose tool's server works on by itself
(docs/design/recovery.md 1)."""

from collections.abc import Callable, Mapping
from typing import Any

from acta.engine.log.conversation import AssistantEntry
from acta.engine.models.model import ModelReply, ModelRequest
from tests.doubles.mcp_server import PAY, McpSink
from tests.in_process.deaths import PORTS, Deaths, Died, Point, Port, driven, new_worker, points
from tests.in_process.desk import house_with
from tests.in_process.house import House
from tests.in_process.scripted import call, completes, plans, says, step
from tests.tools.test_server_tasks import AT_WORK, DONE, Working, results, until


class ByPlace:
    """Answers what belongs to the conversation it is shown, whoever asks and however often."""

    provider = "scripted"
    replies = (
        plans("ask"),
        says("I call.", call("desk__pay")),
        says("", step(1, "completed", "ok")),
        completes("Done."),
    )

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        return self.replies[sum(isinstance(entry, AssistantEntry) for entry in request.entries)]


def mortal_house(server: McpSink, described: Mapping[str, Any], deaths: Deaths) -> tuple[House, str]:
    """The session has been started: its workers are who die."""
    house = house_with(server, described)
    house.model = ByPlace()
    session = house.start("Ask").session_id
    for name in PORTS:
        setattr(house, name, Port(getattr(house, name), name, deaths))
    servers, toolbox = house.runtime.server_tasks, house.runtime.toolbox
    assert servers is not None
    tasks = servers()
    house.runtime = house.runtime._replace(
        toolbox=Port(toolbox, "toolbox", deaths), server_tasks=lambda: Port(tasks, "tasks", deaths)
    )
    new_worker(house)
    return house, session


def whole_run(server: Working, deaths: Deaths) -> tuple[House, str]:
    made = house, _ = mortal_house(server, PAY, deaths)
    driven(house)
    return made


def met(scenario: Callable[[Working, Deaths], object]) -> list[int]:
    def once(deaths: Deaths) -> None:
        with Working(AT_WORK, DONE) as server:
            scenario(server, deaths)

    return list(points(once))


def test_a_call_that_acts_is_made_once_wherever_its_worker_dies() -> None:
    """A person is asked only where it dies with the call under way, before the task's id is in the log."""
    in_doubt = set()
    numbers = met(whole_run)
    assert len(numbers) > 40
    for number in numbers:
        deaths = Deaths(number)
        with Working(AT_WORK, DONE) as server:
            house, session = whole_run(server, deaths)
            died_at, head = deaths.met[number - 1], house.head(session)
            assert len(server.sent("tools/call")) <= 1, died_at
            if head.interventions:
                assert [one.type for one in head.interventions] == ["error_recovery"], died_at
                in_doubt.add(died_at)
                continue
            assert (head.state, head.tasks) == ("completed", ()), died_at
            assert "it is found" in results(house, session)[0], died_at
    assert in_doubt == {
        Point("log", "append", "after"),
        Point("toolbox", "run", "before"),
        Point("log", "append", "before"),
    }


def cancelled(server: Working, deaths: Deaths) -> tuple[House, str]:
    """A person cancels at the first wait; a request that gets no answer is sent again."""
    quiet = Deaths()
    house, session = mortal_house(server, PAY, quiet)
    until(house, "wait")
    house.decisions.clear()
    for name in PORTS:
        getattr(house, name)._deaths = deaths
    tasks = house.runtime.server_tasks
    assert tasks is not None
    port = tasks()
    house.runtime = house.runtime._replace(server_tasks=lambda: Port(port, "tasks", deaths))
    try:
        house.cancel(session)
    except Died:
        new_worker(house)
        house.cancel(session)
    driven(house)
    return house, session


def test_a_cancel_reaches_the_server_wherever_a_worker_dies() -> None:
    numbers = met(cancelled)
    assert len(numbers) > 10
    for number in numbers:
        deaths = Deaths(number)
        with Working(AT_WORK) as server:
            house, session = cancelled(server, deaths)
            head, died_at = house.head(session), deaths.met[number - 1]
            assert (head.state, head.tasks) == ("cancelled", ()), died_at
            assert len(server.sent("tasks/cancel")) in (1, 2), died_at
