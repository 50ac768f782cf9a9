"""The Act state: calls side by side, and one that is lost leaves its siblings alone."""

from tests.state_machine.machine import DONE, Json, Machine, answers, raises

FINE: Json = {"answer": {}}
CALLS = ["call_a", "call_b", "call_c"]


def test_every_call_runs_once_and_thinking_goes_on_from_where_it_was(machine: Machine) -> None:
    run = machine.run("act", {"think": [DONE]}, calls=CALLS)
    assert run.status == "SUCCEEDED"
    assert sorted(run.states[2:5]) == ["Tool", "Tool", "Tool"]
    assert [*run.states[:2], *run.states[5:]] == ["Route", "Act", "Think", "Route", "Done"]
    assert sorted(each["call_id"] for each in run.to("tool")) == CALLS
    assert [each["at"]["turn"] for each in run.to("think")] == [1]
    assert all(set(each) == {"op", "at", "call_id", "attempt"} for each in run.to("tool"))


def test_a_lost_call_is_settled_by_name_and_its_siblings_go_on(machine: Machine) -> None:
    tools = {"call_a": [FINE], "call_b": [raises("Fenced")], "call_c": [raises("StoreThrottled"), FINE]}
    run = machine.run("act", {"tool": tools, "think": [DONE]}, calls=CALLS)
    assert run.status == "SUCCEEDED"
    assert run.states.count("Tool") == 3
    (lost,) = run.to("lost_tool")
    assert (lost["call_id"], lost["error"]) == ("call_b", "Fenced")
    assert set(lost) == {"op", "at", "call_id", "error", "attempt"}
    assert [each["attempt"] for each in run.to("tool") if each["call_id"] == "call_c"] == [0, 1]
    assert run.states[-3:] == ["Think", "Route", "Done"]


def test_a_call_that_kills_its_workers_is_lost_and_the_others_are_not(machine: Machine) -> None:
    tools = {"call_a": [{"exit": 1}], "call_b": [FINE]}
    run = machine.run("act", {"tool": tools, "think": [DONE]}, calls=["call_a", "call_b"])
    assert run.status == "SUCCEEDED"
    assert [each["error"] for each in run.to("lost_tool")] == ["Runtime.ExitError"]
    assert len([each for each in run.to("tool") if each["call_id"] == "call_a"]) == 4


def test_a_loss_that_cannot_be_settled_is_handled_as_an_error_of_the_turn(machine: Machine) -> None:
    script = {"tool": {"call_a": [raises("Fenced")]}, "lost_tool": {"call_a": [raises("PoisonedSession")]}}
    run = machine.run("act", script | {"handle_error": [DONE]}, calls=["call_a"])
    assert run.status == "SUCCEEDED"
    assert run.states[-3:] == ["HandleError", "Route", "Done"]
    assert [each["error"] for each in run.to("handle_error")] == ["PoisonedSession"]


def test_more_calls_than_run_at_once_all_run(machine: Machine) -> None:
    calls = [f"call_{number}" for number in range(12)]
    run = machine.run("act", {"think": [answers("done")]}, calls=calls)
    assert sorted(each["call_id"] for each in run.to("tool")) == sorted(calls)
