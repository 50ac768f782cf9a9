"""The definition that is deployed: which states follow which, what travels, which errors are retried how often."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from acta.engine import errors
from acta.engine.recovery.outage import WORKER_LOST
from acta.infra.engine.workflow import PLACEHOLDERS, SLACK_SECONDS, definition, state_timeout, states
from acta.infra.environments import LOCAL, PROD
from acta.infra.sizing import Sizing
from tests.infra.conftest import Synthesised

MACHINE = definition(LOCAL)
STATES = dict(states(MACHINE))
TASKS = {name: state for name, state in STATES.items() if state["Type"] == "Task"}
TRANSIENT = {each.__name__ for each in errors.TransientError.__subclasses__()} | {"SessionPolicyTooLarge"}
BOUND = {name: state for name, state in TASKS.items() if name != "Park"}
"""What has to be done. A session that cannot be parked waits where it is."""
FINAL = {each.__name__ for each in errors.FinalError.__subclasses__()}
STORE = {
    "StoreThrottled",
    "StoreUnavailable",
    "AwsDenied",
    "SessionPolicyTooLarge",
    "CommitContention",
    "SchemaUnknown",
}
ENGINE = re.compile(r"States|Lambda|Sandbox|Runtime")
BUILT_IN = """
    sum count max min average string substring substringBefore substringAfter lowercase uppercase length trim pad match
    contains replace split join formatNumber formatBase formatInteger parseInteger number floor ceil round abs sqrt
    power random boolean not map zip filter single reduce sift keys lookup append exists spread merge reverse each
    error assert type sort shuffle distinct base64encode base64decode encodeUrlComponent encodeUrl decodeUrlComponent
    decodeUrl eval toMillis fromMillis clone now millis partition range hash uuid parse states
"""
"""What `$name` means already: JSONata's function library and, from `partition` on, what Step Functions adds (Developer
Guide, "Transforming data with JSONata in Step Functions")."""
ID_FIELDS = {"op", "at", "attempt", "call_id", "task_token", "entered", "error"}


def levels(machine: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The states one can see each other: the machine's, and those inside each Map."""
    yield machine["States"]
    for state in machine["States"].values():
        if "ItemProcessor" in state:
            yield from levels(state["ItemProcessor"])


def targets(state: Mapping[str, Any]) -> Iterator[str]:
    for place in (state, *state.get("Choices", ()), *state.get("Catch", ())):
        yield from (place[field] for field in ("Next", "Default") if field in place)


def deployed(made: Synthesised) -> Mapping[str, Any]:
    """The definition in the template; a function's ARN is still its placeholder."""
    (machine,) = made.stateless.properties("AWS::StepFunctions::StateMachine")
    parsed: Mapping[str, Any] = json.loads(machine["DefinitionString"])
    return parsed


def attempts(name: str, error: str) -> int:
    """After the first one; by the retrier of the state that names the error."""
    (found,) = (retrier["MaxAttempts"] for retrier in TASKS[name]["Retry"] if error in retrier["ErrorEquals"])
    return int(found)


@pytest.mark.parametrize("name", STATES)
def test_a_state_says_what_it_is_for(name: str) -> None:
    assert STATES[name]["Comment"].endswith(".")


def test_every_way_leads_to_a_state_that_exists_and_every_state_is_reached() -> None:
    for level in levels(MACHINE):
        reached = {target for state in level.values() for target in targets(state)}
        assert reached <= set(level)
        assert set(level) - reached <= {"Route", "Tool"}


def test_no_expression_hides_a_function_of_jsonata_behind_a_variable() -> None:
    bound = set(re.findall(r"\$(\w+)\s*:=", json.dumps(MACHINE)))
    assert bound
    assert bound.isdisjoint(BUILT_IN.split())


def test_every_function_in_an_expression_is_one_that_step_functions_has() -> None:
    """A misspelt one has no value and fails its state when the expression is evaluated; `$eval` is not there at all."""
    called = set(re.findall(r"\$(\w+)\(", json.dumps(MACHINE)))
    assert called
    assert called <= set(BUILT_IN.split()) - {"eval"}


RETRIER = {
    "ErrorEquals",
    "IntervalSeconds",
    "MaxAttempts",
    "BackoffRate",
    "MaxDelaySeconds",
    "JitterStrategy",
}
CATCHER = {"ErrorEquals", "Output", "Assign", "Next"}
MOST_ATTEMPTS, LONGEST_DELAY = 99_999_999, 31_622_400
"""Source of these: Amazon States Language, "Retrying after error" and "Fallback states", with JSONata."""


def test_retriers_and_catchers_say_what_the_language_knows() -> None:
    """The validators of others take any other field, too, and it would do nothing."""
    for state in STATES.values():
        for retrier in state.get("Retry", ()):
            assert retrier.keys() <= RETRIER
            assert 0 <= retrier["MaxAttempts"] <= MOST_ATTEMPTS
            assert retrier.get("MaxDelaySeconds", 1) < LONGEST_DELAY
        for catcher in state.get("Catch", ()):
            assert catcher.keys() <= CATCHER


def test_it_reads_like_the_loop() -> None:
    long_wait, *rules = STATES["Route"]["Choices"]
    assert (long_wait["Condition"].count("wait_seconds > 600"), long_wait["Next"]) == (1, "Park")
    route = {rule["Condition"].split("'")[1]: rule["Next"] for rule in rules}
    assert route == {
        "plan": "Plan",
        "think": "Think",
        "act": "Act",
        "ask": "Ask",
        "wait": "Wait",
        "park": "Park",
        "roll_over": "RollOver",
        "done": "Done",
        "failed": "Failed",
    }
    assert MACHINE["StartAt"] == "Route"
    assert {
        name: STATES[name]["Next"]
        for name in ("Plan", "Think", "Ask", "Wait", "Act", "Park", "RollOver", "HandleError", "Pause")
    } == {
        "Plan": "Route",
        "Think": "Route",
        "Ask": "Route",
        "Wait": "Route",
        "Act": "Think",
        "Park": "Route",
        "RollOver": "Done",
        "HandleError": "Route",
        "Pause": "HandleError",
    }


@pytest.mark.parametrize("name", TASKS)
def test_errors_that_no_retry_can_help_are_sorted_out_first(name: str) -> None:
    first, *others = TASKS[name]["Retry"]
    assert first["MaxAttempts"] == 0
    assert set(first["ErrorEquals"]) == FINAL
    assert all(1 <= other["MaxAttempts"] <= 10 for other in others)
    assert others[-1]["ErrorEquals"] == ["States.TaskFailed"]


@pytest.mark.parametrize("name", TASKS)
def test_every_retry_backs_off_with_jitter_and_a_bound(name: str) -> None:
    for retrier in TASKS[name]["Retry"][1:]:
        assert retrier["BackoffRate"] > 1
        assert retrier["JitterStrategy"] == "FULL"
        assert 1 <= retrier["IntervalSeconds"] < retrier["MaxDelaySeconds"]


def test_the_names_in_retry_and_catch_are_classes_of_ours_or_the_engine_s() -> None:
    named = {
        error
        for state in STATES.values()
        for place in (*state.get("Retry", ()), *state.get("Catch", ()))
        for error in place["ErrorEquals"]
    }
    ours = {error for error in named if not ENGINE.match(error)}
    assert ours == TRANSIENT | FINAL
    assert {error.split(".")[0] for error in named - ours} == {"States", "Lambda", "Sandbox", "Runtime"}


@pytest.mark.parametrize("name", BOUND)
@pytest.mark.parametrize("error", sorted(STORE))
def test_every_state_tries_again_by_name_where_the_store_is_busy_or_away(name: str, error: str) -> None:
    """Left to `States.TaskFailed`, it would be given up after two more attempts."""
    assert attempts(name, error) == 8


@pytest.mark.parametrize("name", ["Plan", "Think"])
@pytest.mark.parametrize("error", sorted(TRANSIENT))
def test_whatever_a_model_call_may_raise_is_retried_by_name(name: str, error: str) -> None:
    assert attempts(name, error) == 8


@pytest.mark.parametrize("name", BOUND)
def test_a_call_that_lambda_itself_refused_is_made_again(name: str) -> None:
    refusals = ("TooManyRequestsException", "ServiceException", "AWSLambdaException", "SdkClientException")
    assert {attempts(name, f"Lambda.{refusal}") for refusal in refusals} == {8}


@pytest.mark.parametrize("name", [name for name in BOUND if name != "Ask"])
def test_a_worker_that_hung_or_died_is_replaced(name: str) -> None:
    for error in ("States.Timeout", *WORKER_LOST):
        assert attempts(name, error) == 3
    assert attempts(name, "States.TaskFailed") == 2


def test_a_wait_that_ran_out_is_no_error_and_has_a_new_token_each_time() -> None:
    ask = STATES["Ask"]
    assert not any("States.Timeout" in retrier["ErrorEquals"] for retrier in ask["Retry"])
    assert ask["Catch"][0] == {
        "ErrorEquals": ["States.Timeout"],
        "Output": ask["Catch"][0]["Output"],
        "Next": "Route",
    }
    assert ask["Arguments"]["Payload"]["task_token"] == "{% $states.context.Task.Token %}"
    assert ask["Arguments"]["Payload"]["entered"] == "{% $states.context.State.EnteredTime %}"


@pytest.mark.parametrize("name", TASKS)
def test_only_ids_and_the_decision_travel(name: str) -> None:
    task = TASKS[name]
    payload = task["Arguments"]["Payload"]
    assert {"op", "at", "attempt"} <= set(payload) <= ID_FIELDS
    assert payload["attempt"] == "{% $states.context.State.RetryCount %}"
    marked = "{% $merge([$states.result.Payload, { 'stays': true }]) %}"
    outputs = {"Ask": "{% $states.result %}", "Park": marked}
    assert task["Output"] == outputs.get(name, "{% $states.result.Payload %}")


def test_an_error_passes_on_its_name_and_never_what_it_said() -> None:
    assert "Cause" not in json.dumps(MACHINE)
    for state in STATES.values():
        for catcher in state.get("Catch", ()):
            assert "Output" in catcher


def test_whatever_cannot_be_handled_is_handled_again_after_a_pause() -> None:
    poisoned, other = STATES["HandleError"]["Catch"]
    assert (poisoned["ErrorEquals"], poisoned["Next"]) == (["PoisonedSession"], "Failed")
    assert (other["ErrorEquals"], other["Next"]) == (["States.ALL"], "Pause")
    caught = [
        state["Catch"][-1]
        for name, state in STATES.items()
        if "Catch" in state and name not in ("HandleError", "Park")
    ]
    assert {one["Next"] for one in caught} == {"HandleError", "LostTool"}
    assert all(one["ErrorEquals"] == ["States.ALL"] for one in caught)


def test_what_cannot_be_parked_waits_where_it_is() -> None:
    (catcher,) = STATES["Park"]["Catch"]
    assert (catcher["ErrorEquals"], catcher["Next"]) == (["States.ALL"], "Route")
    assert sum(retrier["MaxAttempts"] for retrier in STATES["Park"]["Retry"]) == 2


def test_a_call_s_error_stays_with_the_call() -> None:
    (catcher,) = STATES["Tool"]["Catch"]
    assert catcher["ErrorEquals"] == ["States.ALL"]
    assert catcher["Next"] == "LostTool"
    assert STATES["Act"]["MaxConcurrency"] == 5
    assert STATES["Act"]["Output"] == {"next": "think", "at": "{% $states.input.at %}"}


def test_what_is_deployed_is_this_definition_with_the_environment_s_pauses(each: Synthesised) -> None:
    assert deployed(each) == definition(each.environment)


def test_pauses_are_multiples_of_the_retry_base_and_nothing_else_differs() -> None:
    short, long = (
        definition(replace(LOCAL, retry_base_seconds=1)),
        definition(replace(LOCAL, retry_base_seconds=3)),
    )
    pauses = [machine["States"]["Pause"].pop("Seconds") for machine in (short, long)]
    assert [re.findall(r"\d+", pause)[:2] for pause in pauses] == [["450", "15"], ["1350", "45"]]
    for (_, here), (_, there) in zip(states(short), states(long), strict=True):
        for one, three in zip(here.get("Retry", ()), there.get("Retry", ()), strict=True):
            for field in ("IntervalSeconds", "MaxDelaySeconds"):
                assert three.pop(field, 0) == 3 * one.pop(field, 0)
    assert short == long


def test_a_retry_base_below_a_second_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        definition(replace(LOCAL, retry_base_seconds=0))


def test_a_task_outlasts_its_function_wherever_it_is_deployed(each: Synthesised) -> None:
    """Else the engine starts a second worker while the first one still runs."""
    for name, state in states(deployed(each)):
        if state["Type"] == "Task" and name != "Ask":  # a wait for people may last for days
            function = PLACEHOLDERS[state["Arguments"]["FunctionName"].strip("${}")]
            assert state["TimeoutSeconds"] > each.stateless.function(function)["Timeout"], name


@pytest.mark.parametrize("timeout", [3, 150, 900])
def test_a_task_outlasts_its_function_whatever_size_that_gets(timeout: int) -> None:
    sized = replace(PROD, sizes=dict.fromkeys(PROD.sizes, Sizing(memory=512, timeout=timeout)))
    timeouts = {
        name: state["TimeoutSeconds"]
        for name, state in states(definition(sized))
        if state["Type"] == "Task" and name != "Ask"
    }
    assert set(timeouts.values()) == {timeout + SLACK_SECONDS}
    assert {"Plan", "Think", "Tool", "LostTool", "RollOver"} <= set(timeouts)


def test_a_timeout_in_numbers_is_not_taken() -> None:
    """It would not follow the function's size."""
    task = {"Arguments": {"FunctionName": "${ToolFunctionArn}"}, "TimeoutSeconds": 150}
    with pytest.raises(ValueError, match=r"TimeoutSeconds of Tool .* or an expression"):
        state_timeout("Tool", task, PROD)


def test_every_placeholder_is_filled_and_there_is_no_other(each: Synthesised) -> None:
    assert set(re.findall(r"\$\{(\w+)\}", json.dumps(MACHINE))) == set(PLACEHOLDERS)
    (machine,) = each.stateless.properties("AWS::StepFunctions::StateMachine")
    assert set(machine["DefinitionSubstitutions"]) == set(PLACEHOLDERS)


def test_the_engine_s_own_log_holds_no_data(each: Synthesised) -> None:
    (machine,) = each.stateless.properties("AWS::StepFunctions::StateMachine")
    assert machine["StateMachineType"] == "STANDARD"
    assert machine["LoggingConfiguration"]["Level"] == "ERROR"
    assert machine["LoggingConfiguration"]["IncludeExecutionData"] is False
