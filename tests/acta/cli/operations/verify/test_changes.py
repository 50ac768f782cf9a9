"""Checks that change something: they put it back, also when interrupted, and say before how to do it by hand."""

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError

from acta.cli.operations.verify import changes
from acta.cli.operations.verify.checks import EVERY_NEED, CheckAnswer, NotPutBack, Verified, answer
from tests.acta.cli.operations.verify.test_reading_checks import (
    MACHINE,
    OUTPUTS,
    alarm,
    check,
    environment,
    stack,
)
from tests.doubles.aws_answers import AnsweringAccount, Answers, account_with, refused
from tests.doubles.lambda_versions import Lambdas, Stack

SESSION = "ses_01KAQ0000000000000000000A1"
EXECUTION = MACHINE.replace(":stateMachine:", ":execution:") + f":{SESSION}-run-1"


GET = "get_function_configuration"


def verified(account: AnsweringAccount, warned: list[str] | None = None) -> Verified:
    ticks = iter(range(100_000))
    return Verified(
        environment(),
        account,
        OUTPUTS,
        pause=lambda seconds: None,
        clock=lambda: float(next(ticks) * 20),
        warn=(warned if warned is not None else []).append,
    )


class OneFunction:
    """Lambda's answers about one function with a version 7, which its alias names."""

    def __init__(self, **latest: Any) -> None:
        self.latest: dict[str, Any] = {"MemorySize": 512, "Timeout": 900, "Description": "", **latest}
        self.versions = {"7": dict(self.latest)}
        self.alias: dict[str, Any] = {
            "FunctionVersion": "7",
            "RoutingConfig": {"AdditionalVersionWeights": {}},
        }
        self.calls = 0
        self.follows = True
        """Whether calls go where the alias leads."""
        self.breaks: BaseException | None = None
        """What the next call meets."""

    def answers(self) -> Answers:
        return {
            "lambda.get_alias": lambda asked: self.alias,
            "lambda.update_alias": self.moved,
            "lambda.get_function_configuration": self.configuration,
            "lambda.update_function_configuration": self.changed,
            "lambda.publish_version": self.published,
            "lambda.list_versions_by_function": self.listed,
            "cloudformation.describe_stacks": stack("UPDATE_COMPLETE"),
            "lambda.delete_function": self.deleted,
            "lambda.invoke": self.invoked,
        }

    def moved(self, asked: Any) -> dict[str, Any]:
        assert asked["FunctionVersion"] in self.versions
        self.alias = {each: asked[each] for each in ("FunctionVersion", "RoutingConfig")}
        return self.alias

    def configuration(self, asked: Any) -> dict[str, Any]:
        number = asked.get("Qualifier")
        number = self.alias["FunctionVersion"] if number == "live" else number
        found = self.latest if number in (None, "$LATEST") else self.versions[number]
        return {**found, "State": "Active", "LastUpdateStatus": "Successful"}

    def changed(self, asked: Any) -> dict[str, Any]:
        self.latest |= {name: value for name, value in asked.items() if name != "FunctionName"}
        return self.latest

    def published(self, asked: Any) -> dict[str, Any]:
        self.versions["8"] = dict(self.latest)
        return {"Version": "8"}

    def listed(self, asked: Any) -> dict[str, Any]:
        every = {"$LATEST": self.latest, **self.versions}
        return {
            "Versions": [{"Version": each, "Description": of["Description"]} for each, of in every.items()]
        }

    def deleted(self, asked: Any) -> dict[str, Any]:
        del self.versions[asked["Qualifier"]]
        return {}

    def invoked(self, asked: Any) -> dict[str, Any]:
        if self.breaks is not None:
            raise self.breaks
        assert json.loads(asked["Payload"])["rawPath"] == "/healthz"
        self.calls += 1
        weights = self.alias["RoutingConfig"]["AdditionalVersionWeights"]
        other = next(iter(weights), None)
        version = other if other is not None and self.calls % 2 else self.alias["FunctionVersion"]
        return {"StatusCode": 200, "ExecutedVersion": version if self.follows else "7"}


def is_as_before(one: OneFunction, **latest: Any) -> bool:
    return (
        one.alias["FunctionVersion"] == "7"
        and one.alias["RoutingConfig"] == {"AdditionalVersionWeights": {}}
        and list(one.versions) == ["7"]
        and one.latest == {**OneFunction(**latest).latest}
    )


@pytest.fixture
def healthy(monkeypatch: pytest.MonkeyPatch) -> None:
    class Answered:
        status_code = 200

    monkeypatch.setattr(changes, "asked", lambda deployed, method, path: (Answered(), 1.0))


@pytest.mark.usefixtures("healthy")
def test_an_alias_is_shifted_and_everything_is_put_back() -> None:
    one, warned = OneFunction(), list[str]()
    found = answer(check("alias_shifts"), verified(account_with(one.answers()), warned), EVERY_NEED)
    assert (found.state, dict(found.figures)) == ("passed", {"calls": 40, "of_the_new_version": 20})
    assert is_as_before(one)
    assert any("--function-version 7" in line for line in warned)


@pytest.mark.usefixtures("healthy")
def test_calls_that_do_not_follow_an_alias_are_a_failure_and_everything_is_put_back() -> None:
    one = OneFunction()
    one.follows = False
    found = answer(check("alias_shifts"), verified(account_with(one.answers())), EVERY_NEED)
    assert (found.state, found.figures["whole"]) == ("failed", "false")
    assert is_as_before(one)


@pytest.mark.usefixtures("healthy")
def test_an_interruption_in_the_middle_puts_everything_back() -> None:
    one = OneFunction()
    one.breaks = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        answer(check("alias_shifts"), verified(account_with(one.answers())), EVERY_NEED)
    assert is_as_before(one)


def test_nothing_is_shifted_while_a_release_goes_out() -> None:
    one = OneFunction()
    one.alias["RoutingConfig"] = {"AdditionalVersionWeights": {"6": 0.1}}
    account = account_with(one.answers())
    assert answer(check("alias_shifts"), verified(account), EVERY_NEED).state == "not answered"
    assert [name for name, _ in account.asked if "update" in name or "publish" in name] == []


def test_nothing_is_changed_while_the_stack_is() -> None:
    one = OneFunction()
    account = account_with({**one.answers(), "cloudformation.describe_stacks": stack("UPDATE_IN_PROGRESS")})
    assert answer(check("alias_shifts"), verified(account), EVERY_NEED).state == "not answered"
    assert [name for name, _ in account.asked] == ["cloudformation.describe_stacks"]


@pytest.mark.usefixtures("healthy")
def test_a_network_that_comes_back_lets_everything_be_put_back() -> None:
    one, lost = OneFunction(), [0]

    def gone_at_first(asked: Any) -> dict[str, Any]:
        lost[0] += 1
        if lost[0] in (3, 4):  # the first two shift the alias, and the third puts it back
            raise EndpointConnectionError(endpoint_url="https://lambda.eu-west-1.amazonaws.com")
        return one.moved(asked)

    account = account_with({**one.answers(), "lambda.update_alias": gone_at_first})
    assert answer(check("alias_shifts"), verified(account), EVERY_NEED).state == "passed"
    assert is_as_before(one)


@pytest.mark.usefixtures("healthy")
@pytest.mark.parametrize("breaks", [None, KeyboardInterrupt()])
def test_what_cannot_be_put_back_ends_the_command_with_every_command_that_does_it(
    breaks: BaseException | None,
) -> None:
    one = OneFunction()
    answers = one.answers()

    def goes_away(asked: Any) -> dict[str, Any]:
        answers.update({f"lambda.{each}": refused("ExpiredToken") for each in ("update_alias", GET)})
        if breaks is not None:
            raise breaks
        raise refused("ExpiredToken")

    answers["lambda.invoke"] = goes_away
    with pytest.raises(NotPutBack) as raised:
        answer(check("alias_shifts"), verified(account_with(answers)), EVERY_NEED)
    assert [each.split()[2] for each in raised.value.args] == [
        "update-alias",
        "update-function-configuration",
    ]


@pytest.mark.usefixtures("healthy")
def test_a_version_whose_number_never_arrived_is_deleted_too() -> None:
    one = OneFunction()

    def published_in_vain(asked: Any) -> dict[str, Any]:
        one.published(asked)
        raise KeyboardInterrupt

    account = account_with({**one.answers(), "lambda.publish_version": published_in_vain})
    with pytest.raises(KeyboardInterrupt):
        answer(check("alias_shifts"), verified(account), EVERY_NEED)
    assert is_as_before(one)


def test_what_a_killed_run_has_left_is_not_taken_for_the_usual() -> None:
    one = OneFunction(Description=changes.MARK)
    account = account_with(one.answers())
    assert answer(check("alias_shifts"), verified(account), EVERY_NEED).state == "failed"
    assert [name for name, _ in account.asked if "update" in name or "publish" in name] == []


def histories(error: str | None) -> dict[str, Any]:
    """An execution's events, newest first: a task that failed with this error, or none that did."""
    events = [{"timestamp": datetime.now(UTC), "type": "TaskStateEntered", "id": 1}]
    if error is not None:
        failed = {"resourceType": "lambda", "resource": "invoke", "error": error}
        events.insert(0, {**events[0], "type": "TaskFailed", "id": 2, "taskFailedEventDetails": failed})
    return {"events": events}


@pytest.fixture
def sessions(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Sessions that start, and end as completed unless the test says otherwise."""
    told: dict[str, Any] = {"state": "executing"}
    monkeypatch.setattr(changes, "start", lambda deployed, **more: SESSION)
    monkeypatch.setattr(changes, "ended", lambda deployed, session_id: {"run": {"iteration": 2}})
    answers = {"session": lambda _, id: told, "me": lambda _: {}}
    monkeypatch.setattr(Verified, "api", property(lambda self: type("Api", (), answers)()))
    return told


def with_workers(one: OneFunction, error: str | None) -> AnsweringAccount:
    listed = {
        "executionArn": EXECUTION, "stateMachineArn": MACHINE, "name": f"{SESSION}-run-1", "status": "RUNNING",
        "startDate": datetime.now(UTC),
    }  # fmt: skip
    return account_with(
        {
            **one.answers(),
            "stepfunctions.list_executions": {"executions": [listed]},
            "stepfunctions.get_execution_history": histories(error),
        }
    )


VARIABLES = {"Environment": {"Variables": {"ACTA_TABLE": "table"}}}


@pytest.mark.parametrize(
    ("error", "state"),
    [
        ("Lambda.Unknown", "passed"), ("Runtime.ExitError", "passed"), ("Sandbox.Timedout", "passed"),
        ("Runtime.OutOfMemory", "failed"), (None, "not answered"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["out_of_memory", "out_of_time"])
def test_the_name_of_a_lost_worker_decides(
    name: str, error: str | None, state: str, sessions: dict[str, Any]
) -> None:
    sessions["state"] = "executing" if error else "completed"
    one = OneFunction(**VARIABLES)
    account = with_workers(one, error)
    found = answer(check(name), verified(account), EVERY_NEED)
    assert (found.state, found.figures.get("error")) == (state, error), found
    assert is_as_before(one, **VARIABLES)
    assert [each for each, _ in account.asked].count("lambda.publish_version") == 1
    first = next(asked for each, asked in account.asked if each == "lambda.update_function_configuration")
    assert first["MemorySize"] == 128
    assert first.get("Timeout", 900) == (1 if name == "out_of_time" else 900)


@pytest.mark.usefixtures("sessions")
def test_a_worker_s_variables_are_whole_again_after_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(deployed: Verified) -> str:
        raise refused("ThrottlingException")

    one = OneFunction(**VARIABLES)
    monkeypatch.setattr(changes, "start", breaks)
    assert (
        answer(check("out_of_memory"), verified(with_workers(one, None)), EVERY_NEED).state == "not answered"
    )
    assert is_as_before(one, **VARIABLES)


def rings(*summaries: str, states: list[str]) -> CheckAnswer:
    def is_set(asked: Any) -> dict[str, Any]:
        states.append(f"{asked['AlarmName']} {asked['StateValue']}")
        return {}

    told = [
        {"HistoryItemType": "Action", "HistorySummary": each, "Timestamp": datetime.now(UTC)}
        for each in summaries
    ]
    account = account_with(
        {
            "cloudwatch.describe_alarms": {
                "MetricAlarms": [
                    alarm("Api5xx", "ALARM"),
                    {**alarm("OfTheOperator"), "AlarmActions": ["arn:aws:automate:eu-west-1:ec2:stop"]},
                    alarm("DueRecoveryStopped"),
                    alarm("StepErrors"),
                ]
            },
            "cloudwatch.describe_alarm_history": {"AlarmHistoryItems": told},
            "cloudwatch.set_alarm_state": is_set,
        }
    )
    return answer(check("alarm_rings"), verified(account), EVERY_NEED)


def test_an_alarm_is_told_and_is_at_rest_again() -> None:
    states: list[str] = []
    found = rings("Successfully executed action arn:aws:sns:eu-west-1:111122223333:alarms", states=states)
    assert (found.state, dict(found.figures)) == ("passed", {"alarm": "StepErrors", "messages": 1})
    assert states == ["acta-prod-StepErrors ALARM", "acta-prod-StepErrors OK"]


@pytest.mark.parametrize(
    "summaries", [(), ("Failed to execute action arn:aws:sns:eu-west-1:111122223333:alarms",)]
)
def test_an_alarm_that_reaches_nobody_is_a_failure(summaries: tuple[str, ...]) -> None:
    states: list[str] = []
    found = rings(*summaries, states=states)
    assert found.state == "failed"
    assert states[-1] == "acta-prod-StepErrors OK"


@pytest.mark.usefixtures("sessions")
def test_where_there_is_no_earlier_release_nothing_is_moved() -> None:
    answers = {
        "lambda.list_versions_by_function": {
            "Versions": [
                {
                    "Version": "1",
                    "LastModified": "2026-11-23T10:00:00.000+0000",
                    "Environment": {"Variables": {"ACTA_RELEASE": "one"}},
                }
            ]
        },
        "lambda.get_alias": {"FunctionVersion": "1", "RevisionId": "r"},
        "cloudformation.describe_stacks": {
            "Stacks": [
                {"StackName": "s", "CreationTime": datetime.now(UTC), "StackStatus": "UPDATE_COMPLETE"}
            ]
        },
    }
    assert answer(check("rollback"), verified(account_with(answers)), EVERY_NEED).state == "not answered"


class TwoReleases(AnsweringAccount):
    """Two releases, of which the newer one is live."""

    lambdas: Lambdas

    def client(self, service: str, **_: Any) -> Any:
        return self.lambdas if service == "lambda" else Stack()


def two_releases() -> TwoReleases:
    account = TwoReleases("prod")
    account.lambdas = Lambdas()
    for name in ("one", "two"):
        account.lambdas.release(name, "start", "step", "status")
    return account


@pytest.mark.usefixtures("sessions")
def test_a_release_goes_back_and_forward_again(monkeypatch: pytest.MonkeyPatch) -> None:
    account, warned, live = two_releases(), list[str](), list[set[str]]()

    def starts(deployed: Verified) -> str:
        live.append(set(account.lambdas.live().values()))
        return SESSION

    monkeypatch.setattr(changes, "start", starts)
    found = answer(check("rollback"), verified(account, warned), EVERY_NEED)
    assert (found.state, found.figures["functions"]) == ("passed", 3)
    assert live == [{"one"}], "the session works with the earlier release"
    assert set(account.lambdas.live().values()) == {"two"}
    assert warned == ["acta rollback --env prod --to two"]


@pytest.mark.usefixtures("sessions")
@pytest.mark.parametrize("error", [KeyboardInterrupt(), refused("ThrottlingException")])
def test_the_newer_release_is_live_again_whatever_happens(
    error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = two_releases()

    def breaks(deployed: Verified) -> str:
        raise error

    monkeypatch.setattr(changes, "start", breaks)
    with suppress(KeyboardInterrupt):
        answer(check("rollback"), verified(account), EVERY_NEED)
    assert set(account.lambdas.live().values()) == {"two"}


@pytest.mark.parametrize("name", ["rollback", "out_of_memory", "out_of_time"])
def test_nothing_is_changed_where_nobody_is_signed_in(name: str) -> None:
    account = account_with({"lambda.get_function_configuration": {}})
    assert answer(check(name), verified(account), EVERY_NEED).state == "not answered"
    assert [each for each, _ in account.asked if each != "lambda.get_function_configuration"] == []
