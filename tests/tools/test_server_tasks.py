"""A server answers a call with a task and works on by itself: the session waits, and looks for what comes of it."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from acta.engine.errors import AwsDenied
from acta.engine.log.commit import Decision
from acta.engine.log.conversation import ToolEntry
from acta.engine.log.head import OpenCall
from acta.engine.tools.execute import abandon_call, run_call
from tests.doubles.http_sink import Reply
from tests.doubles.mcp_server import PAY, SEARCH, McpSink, text
from tests.in_process.desk import WHICH, asked, house_with
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step

NAME = "task-1"
NOT_KNOWN = {"rpc_error": {"code": -32602, "message": "Task not found"}}
BUSY = {"rpc_error": {"code": -32603, "message": "try later"}}
AT_WORK: Mapping[str, Any] = {"status": "working"}
DONE: Mapping[str, Any] = {"status": "completed", "result": text("it is found")}
ASKS: Mapping[str, Any] = {"status": "input_required", "inputRequests": WHICH}


class Working(McpSink):
    """It answers each call with a task, and each look with the next of `says`, the last one again and again."""

    def __init__(self, *says: Mapping[str, Any], interval_ms: int | None = None) -> None:
        super().__init__()
        self.says = list(says)
        self.interval_ms = interval_ms
        self.called = lambda params: self.told("working", resultType="task")
        self.asked_of_task = self._asked_of_task

    def told(self, status: str, **more: Any) -> dict[str, Any]:
        interval = {} if self.interval_ms is None else {"pollIntervalMs": self.interval_ms}
        return {"resultType": "complete", "taskId": NAME, "status": status, **interval, **more}

    def _asked_of_task(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        if method != "tasks/get":
            return {"resultType": "complete"}
        said = self.says.pop(0) if len(self.says) > 1 else self.says[0]
        return said if "rpc_error" in said else {**self.told("working"), **said}

    def sent(self, method: str) -> list[Any]:
        """The parameters of its requests of this method."""
        return [one.body["params"] for one in self.heard if one.body and one.body["method"] == method]


@pytest.fixture
def server() -> Iterator[Working]:
    with Working(AT_WORK, AT_WORK, DONE) as made:
        yield made


def begun(server: McpSink, described: Mapping[str, Any] = SEARCH, **settings: Any) -> tuple[House, str]:
    house = house_with(server, described, **settings)
    return house, house.start("Ask").session_id


def results(house: House, session: str) -> list[str]:
    """What the model was told of calls of the server's tools."""
    entries, _ = house.history(session).messages(0, 100)
    found = [one.entry for one in entries if isinstance(one.entry, ToolEntry)]
    return [one.content.text or "" for one in found if one.name.startswith("desk__")]


class Reached(Exception):
    pass


def until(house: House, wanted: str, *, woken: bool = False) -> Decision:
    """Drives the engine to the next decision of this kind, which is not carried out. `woken`: it waited for people."""
    standing = house.decisions[-1] if house.decisions and not woken else None

    def stop(decision: Decision) -> None:
        if decision.next == wanted and decision is not standing:
            raise Reached

    with pytest.raises(Reached):
        house.run(stop) if standing is None else house._execute(standing, stop)
    return house.decisions[-1]


def open_call(house: House, session: str) -> OpenCall:
    (one,) = house.head(session).calls
    return one


@pytest.mark.parametrize("described", [SEARCH, PAY])
def test_a_task_is_waited_for_and_its_result_is_the_call_s(
    server: Working, described: Mapping[str, Any]
) -> None:
    house, session = begun(server, described)
    house.run()
    assert house.head(session).state == "completed"
    (said,) = results(house, session)
    assert "it is found" in said
    assert len(server.sent("tools/call")) == 1
    assert [one["taskId"] for one in server.sent("tasks/get")] == [NAME] * 3
    assert {one.headers["mcp-name"] for one in server.heard if one.headers["mcp-method"] == "tasks/get"} == {
        NAME
    }
    assert house.waits == [10, 10, 10]
    seen = [one.event for one in house.poll(session).events]
    events = [one for one in seen if one.data.get("name") == f"desk__{described['name']}"]
    assert [one.type for one in events] == ["tool.requested", "tool.started", "tool.finished"]
    assert (events[-1].data["ok"], events[-1].data["duration_ms"]) == (True, 30_000)


def test_the_server_is_told_that_it_may_answer_so(server: Working) -> None:
    house, _ = begun(server)
    house.run()
    (call,) = server.sent("tools/call")
    (look, *_) = server.sent("tasks/get")
    for params in (call, look):
        offered = params["_meta"]["io.modelcontextprotocol/clientCapabilities"]
        assert offered["extensions"] == {"io.modelcontextprotocol/tasks": {}}


def test_a_session_waits_as_long_as_the_server_wants() -> None:
    with Working(AT_WORK, AT_WORK, DONE, interval_ms=20_000) as server:
        house, session = begun(server)
        house.run()
        assert house.waits == [20, 20, 20]
        assert house.head(session).state == "completed"


def test_while_it_waits_it_is_at_a_tool_and_nobody_is_asked(server: Working) -> None:
    house, session = begun(server, PAY)
    until(house, "wait")
    head = house.head(session)
    assert (head.state, head.interventions) == ("waiting_for_tool", ())
    assert open_call(house, session).is_in_flight


def test_what_a_task_ends_with_may_be_an_error() -> None:
    failed = {"status": "failed", "error": {"code": -32603, "message": "the printer burns"}}
    for last, told in (
        ({"status": "completed", "result": text("no paper", isError=True)}, "no paper"),
        (failed, "the printer burns"),
        ({"status": "cancelled"}, "was cancelled by its server"),
    ):
        with Working(AT_WORK, last) as server:
            house, session = begun(server, PAY)
            house.run()
            (said,) = results(house, session)
            assert told in said
            assert said.startswith("Error")
            assert house.head(session).state == "completed"


def test_a_server_that_is_away_for_a_while_is_looked_for_again() -> None:
    with Working(BUSY, AT_WORK, BUSY, DONE) as server:
        house, session = begun(server, PAY)
        house.run()
        assert "it is found" in results(house, session)[0]
        assert len(server.sent("tools/call")) == 1


def test_a_tool_has_its_time_and_then_the_server_is_told_to_stop() -> None:
    with Working(AT_WORK) as server:
        house, session = begun(server)
        house.run()
        assert sum(house.waits) == 60
        assert "was not done in its time" in results(house, session)[0]
        assert server.sent("tasks/cancel") == [server.sent("tasks/cancel")[0]]
        assert house.head(session).state == "completed"


def test_the_result_of_a_task_is_compared_with_what_its_server_promised() -> None:
    described = {**SEARCH, "outputSchema": {"type": "object", "required": ["count"]}}
    with Working(DONE) as server:
        server.tools = [described]
        house, session = begun(server, described)
        house.run()
        assert "is not what its server says" in results(house, session)[0]


@pytest.mark.parametrize("last", [AT_WORK, NOT_KNOWN])
def test_about_one_that_acts_and_whose_end_is_unknown_a_person_is_asked(last: Mapping[str, Any]) -> None:
    with Working(last) as server:
        house, session = begun(server, PAY)
        house.run()
        one = asked(house, session)
        assert (one.type, "record" in one.options) == ("error_recovery", True)
        assert open_call(house, session).task is None
        house.resolve(session, one, "record", result="it was paid")
        house.run()
        assert house.head(session).state == "completed"
        assert len(server.sent("tools/call")) == 1


def test_one_that_only_reads_and_is_gone_is_an_error_for_the_model() -> None:
    with Working(NOT_KNOWN) as server:
        house, session = begun(server)
        house.run()
        assert "its server knows it no more" in results(house, session)[0]


def test_what_a_task_asks_waits_for_a_person_and_the_answer_goes_to_the_task() -> None:
    with Working(AT_WORK, ASKS, ASKS, DONE) as server:
        house, session = begun(server, PAY)
        house.run()
        one = asked(house, session)
        assert (one.type, one.options) == ("clarification_needed", ("answer", "skip", "cancel"))
        assert house.head(session).state == "waiting_for_user"
        house.clock.advance(5_000)
        house.resolve(session, one, "answer", account="blue")
        assert house.head(session).state == "waiting_for_tool"
        house.run()
        (update,) = server.sent("tasks/update")
        assert update["taskId"] == NAME
        assert update["inputResponses"] == {"which": {"action": "accept", "content": {"account": "blue"}}}
        assert "it is found" in results(house, session)[0]
        assert len(server.sent("tools/call")) == 1


def test_a_task_may_ask_again_and_is_told_no() -> None:
    other = {"when": WHICH["which"]}
    with Working(ASKS, {"status": "input_required", "inputRequests": {**WHICH, **other}}, DONE) as server:
        house, session = begun(server)
        house.run()
        house.resolve(session, asked(house, session), "answer", account="blue")
        house.run()
        second = asked(house, session)
        assert list(second.context["requests"]) == ["when"]
        house.resolve(session, second, "skip")
        house.run()
        assert [list(one["inputResponses"]) for one in server.sent("tasks/update")] == [["which"], ["when"]]
        assert server.sent("tasks/update")[1]["inputResponses"]["when"] == {"action": "decline"}
        assert house.head(session).state == "completed"


def test_an_answer_that_did_not_reach_the_server_is_sent_again() -> None:
    with Working(ASKS, DONE) as server:
        house, session = begun(server, PAY)
        house.run()
        server.replies["/mcp"] = Reply(503, b"", {})
        house.resolve(session, asked(house, session), "answer", account="blue")
        until(house, "wait", woken=True)
        del server.replies["/mcp"]
        house.go_on(house.decisions[-1])
        assert len(server.sent("tasks/update")) == 2
        assert "it is found" in results(house, session)[0]


def test_what_no_person_can_give_ends_the_task() -> None:
    sampling = {"it": {"method": "sampling/createMessage", "params": {}}}
    with Working({"status": "input_required", "inputRequests": sampling}) as server:
        house, session = begun(server)
        house.run()
        assert len(server.sent("tasks/cancel")) == 1
        assert house.head(session).state == "completed"


@pytest.mark.parametrize("described", [SEARCH, PAY])
def test_a_cancel_reaches_the_server(server: Working, described: Mapping[str, Any]) -> None:
    house, session = begun(server, described)
    until(house, "wait")
    house.cancel(session)
    house.run()
    head = house.head(session)
    assert (head.state, head.tasks) == ("cancelled", ())
    assert [one["taskId"] for one in server.sent("tasks/cancel")] == [NAME]
    assert not any(house.workflow.executions.values())
    house.cancel(session)
    house.run()
    assert len(server.sent("tasks/cancel")) == 1


def test_a_cancel_while_a_task_asks_reaches_the_server_too() -> None:
    with Working(ASKS) as server:
        house, session = begun(server)
        house.run()
        house.resolve(session, asked(house, session), "cancel")
        house.run()
        assert (house.head(session).state, len(server.sent("tasks/cancel"))) == ("cancelled", 1)


def test_a_task_that_comes_after_the_cancel_is_ended_at_once(server: Working) -> None:
    house, session = begun(server, PAY)
    answer = server.called

    def cancelled(params: Mapping[str, Any]) -> Mapping[str, Any]:
        house.cancel(session)
        return answer(params)

    server.called = cancelled
    house.run()
    assert (house.head(session).state, len(server.sent("tasks/cancel"))) == ("cancelled", 1)


def test_a_server_that_cannot_be_told_does_not_keep_the_session(server: Working) -> None:
    house, session = begun(server)
    until(house, "wait")
    server.replies["/mcp"] = Reply(503, b"", {})
    house.cancel(session)
    house.run()
    assert (house.head(session).state, house.head(session).tasks) == ("cancelled", ())


def test_a_pause_keeps_the_task_and_the_resume_looks_for_it(server: Working) -> None:
    house, session = begun(server)
    until(house, "wait")
    house.pause(session)
    house.go_on(house.decisions[-1])
    assert house.head(session).state == "waiting_for_user"
    looks = len(server.sent("tasks/get"))
    server.says = [DONE]
    house.clock.advance(40_000)
    house.resume(session)
    house.run()
    assert len(server.sent("tasks/get")) == looks + 1
    assert "it is found" in results(house, session)[0]


def test_a_message_that_comes_meanwhile_waits_for_the_next_turn(server: Working) -> None:
    house, session = begun(server, PAY)
    until(house, "wait")
    house.say(session, "And hurry")
    house.go_on(house.decisions[-1])
    assert house.head(session).state == "completed"
    assert len(server.sent("tools/call")) == 1


def test_a_tool_that_was_changed_meanwhile_is_not_asked_under_its_new_definition(server: Working) -> None:
    house, session = begun(server)
    until(house, "wait")
    (desk,) = house.definitions.servers.all(TENANT)
    house.definitions.servers.replace(
        TENANT, desk, desk.model_copy(update={"version": 2, "url": server.url("/x")})
    )
    house.go_on(house.decisions[-1])
    assert "was changed while its server worked" in results(house, session)[0]
    assert server.sent("tasks/get") == []


def test_a_look_that_dies_is_made_again_and_the_call_is_not(server: Working) -> None:
    house, session = begun(server, PAY)
    decision = until(house, "wait")
    house.clock.advance(decision.wait_seconds or 0)
    act = until(house, "act")
    (call_id,) = act.calls or ()
    abandon_call(house.runtime, act.at, call_id, "States.TaskFailed")
    abandon_call(house.runtime, act.at, call_id, "States.TaskFailed")  # of the same look: nothing more
    task = open_call(house, session).task
    assert task is not None
    assert task.looks == 1
    run_call(house.runtime, act.at, call_id, 0, 60)  # before its time
    assert server.sent("tasks/get") == []
    house.go_on(Decision(next="think", at=act.at))
    assert "it is found" in results(house, session)[0]
    assert len(server.sent("tools/call")) == 1


def test_another_execution_goes_on_with_the_same_task(server: Working) -> None:
    house, session = begun(server, PAY, roll_over_events=400)
    house.run()
    run = house.head(session).run
    assert run is not None
    assert run.generation > 1
    assert len(server.sent("tools/call")) == 1
    assert house.head(session).state == "completed"


def test_a_call_that_a_person_has_made_again_waits_for_its_second_task_as_for_the_first() -> None:
    with Working(AT_WORK, NOT_KNOWN, AT_WORK, AT_WORK, DONE) as server:
        house, session = begun(server, PAY)
        house.run()
        states = len(house.decisions)
        house.waits.clear()
        house.resolve(session, asked(house, session), "retry")
        house.run()
        assert house.head(session).state == "completed"
        assert (len(server.sent("tools/call")), len(server.sent("tasks/get"))) == (2, 5)
        assert house.waits == [10, 10, 10]
        assert len(house.decisions) - states < 20


def test_a_second_task_asks_a_person_what_the_first_one_has_asked() -> None:
    with Working(ASKS, NOT_KNOWN, ASKS) as server:
        house, session = begun(server, PAY)
        house.run()
        house.resolve(session, asked(house, session), "answer", account="blue")
        house.run()
        house.resolve(session, asked(house, session), "retry")
        house.run()
        assert asked(house, session).type == "clarification_needed"
        assert (len(server.sent("tools/call")), len(server.sent("tasks/get"))) == (2, 3)


def test_a_server_that_asks_when_the_tool_s_time_is_over_is_told_to_stop_and_nobody_is_asked_for_it() -> None:
    with Working(*[AT_WORK] * 5, ASKS) as server:
        house, session = begun(server)
        house.run()
        assert "was not done in its time" in results(house, session)[0]
        assert len(server.sent("tasks/cancel")) == 1
        assert house.head(session).state == "completed"


class Denied:
    """The registry of a function that lacks a permission."""

    def __init__(self, of: Any) -> None:
        self._of = of

    def specs(self, *_: Any) -> Any:
        raise AwsDenied("sts")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._of, name)


def test_a_run_that_is_over_finishes_its_call_whatever_is_in_the_way(server: Working) -> None:
    house, session = begun(server, PAY)
    until(house, "wait")
    house.cancel(session)
    house.runtime = house.runtime._replace(registry=Denied(house.registry))
    house.decisions.clear()
    house.run()
    head = house.head(session)
    assert (head.state, head.tasks) == ("cancelled", ())
    assert [one.next for one in house.decisions] == ["act", "think", "done"]


def test_two_workers_that_get_a_task_for_one_call_keep_one_and_end_the_other(server: Working) -> None:
    """The first worker is taken for dead while the server still answers it."""
    house, session = begun(server)
    act = until(house, "act")
    (call_id,) = act.calls or ()
    answer = server.called
    names = iter(["late", "early"])

    def called(params: Mapping[str, Any]) -> Mapping[str, Any]:
        name = next(names)
        if name == "late":
            run_call(house.runtime, act.at, call_id, 1, 60)
        return {**answer(params), "taskId": name}

    server.called = called
    run_call(house.runtime, act.at, call_id, 0, 60)
    task = open_call(house, session).task
    assert task is not None
    assert task.task_id == "early"
    assert [one["taskId"] for one in server.sent("tasks/cancel")] == ["late"]


def test_the_looks_of_many_tasks_are_counted_one_by_one() -> None:
    """Sixteen calls that are looked for five times fill an execution's history less than twice over."""
    with Working(*[AT_WORK] * 80, DONE) as server:
        house = house_with(server, SEARCH)
        calls = [call("desk__search", q=str(n)) for n in range(16)]
        house.model = ScriptedModel(
            [plans("ask"), says("", *calls), says("", step(1, "completed", "ok")), completes("Done.")]
        )
        session = house.start("Ask").session_id
        house.run()
        run = house.head(session).run
        assert run is not None
        assert house.head(session).state == "completed"
        assert run.generation == 2
