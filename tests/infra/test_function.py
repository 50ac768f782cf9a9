import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from acta.engine.models.providers import WITH_KEY
from acta.engine.settings import PREFIX, Settings
from acta.infra.environments import PROD
from acta.infra.sizing import FunctionName
from tests.infra.conftest import Synthesised, synthesised

FUNCTIONS: tuple[str, ...] = tuple(
    name for name in get_args(FunctionName) if name not in ("notify", "traces")
)
"""Those that every environment has."""


def variables(synthesised: Synthesised, function: str) -> dict[str, object]:
    found: dict[str, object] = synthesised.stateless.function(function)["Environment"]["Variables"]
    return found


def test_there_is_one_lambda_per_folder_and_no_other(each: Synthesised) -> None:
    handlers = {made["Handler"] for made in each.stateless.properties("AWS::Lambda::Function")}
    assert handlers == {f"acta.functions.{name}.handler.handler" for name in each.environment.functions}
    assert set(FUNCTIONS) <= set(each.environment.functions)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_variable_is_a_field_of_the_settings(function: str, each: Synthesised) -> None:
    names = {name for name in variables(each, function) if name.startswith(PREFIX)}
    assert names <= {f"{PREFIX}{field.upper()}" for field in Settings.fields}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_settings_load_from_what_a_function_is_given(function: str, each: Synthesised) -> None:
    deployed = {name: str(value) for name, value in variables(each, function).items()}
    assert Settings.from_environ(deployed).env == each.environment.name


def told_who_sees_sessions(made: Synthesised) -> str:
    given = {name: str(value) for name, value in variables(made, "start").items()}
    return Settings.from_environ(given).default_visibility


def test_a_session_whose_start_does_not_say_who_sees_it_is_the_tenant_s(each: Synthesised) -> None:
    assert told_who_sees_sessions(each) == "tenant"


def test_an_operator_may_have_it_be_private(tmp_path: Path) -> None:
    private = synthesised(replace(PROD, default_visibility="private"), tmp_path)
    assert told_who_sees_sessions(private) == "private"


def test_only_step_knows_where_keys_are_and_only_by_name(prod: Synthesised) -> None:
    secrets = json.loads(str(variables(prod, "step")["ACTA_PROVIDER_SECRETS"]))
    assert secrets == {provider.name: f"acta/prod/{provider.name}" for provider in WITH_KEY}
    for function in set(FUNCTIONS) - {"step"}:
        others = set(variables(prod, function)) - {"ACTA_AUDIT_SECRET", "ACTA_URL_SECRET"}
        assert not any("SECRET" in name for name in others)


def test_only_those_who_start_or_wake_executions_know_the_state_machine(each: Synthesised) -> None:
    knowing = {name for name in FUNCTIONS if "ACTA_STATE_MACHINE_ARN" in variables(each, name)}
    assert knowing == {"start", "step", "tool", "intervene", "recover", "mcp", "wake"}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_no_event_is_logged(function: str, each: Synthesised) -> None:
    given = variables(each, function)
    assert given["POWERTOOLS_LOGGER_LOG_EVENT"] == "false"


def test_tracing_is_on_in_aws_and_off_locally(each: Synthesised) -> None:
    for made in each.stateless.properties("AWS::Lambda::Function"):
        is_traced = made.get("TracingConfig", {}).get("Mode") == "Active"
        assert is_traced == (not each.environment.is_local)


def test_a_function_runs_what_its_environment_says(each: Synthesised) -> None:
    major, minor = each.environment.python
    for made in each.stateless.properties("AWS::Lambda::Function"):
        assert made["Runtime"] == f"python{major}.{minor}"
        assert made["Architectures"] == [each.environment.architecture]


def test_every_log_is_forgotten_in_time(each: Synthesised) -> None:
    kept = {group["RetentionInDays"] for group in each.stateless.properties("AWS::Logs::LogGroup")}
    assert kept == {each.environment.retention.logs}
    written = {
        made["LoggingConfig"]["LogGroup"]["Ref"]
        for made in each.stateless.properties("AWS::Lambda::Function")
    }
    assert written <= set(each.stateless.resources("AWS::Logs::LogGroup"))


def test_an_answer_over_http_never_outlasts_the_gateway(prod: Synthesised) -> None:
    for function in ("start", "status", "admin"):
        assert prod.stateless.function(function)["Timeout"] < 30


def told_alarms(made: Synthesised) -> list[Mapping[str, Any]]:
    """Those that somebody is told of. What takes a release back is of `acta/infra/watching/roll_out.py`."""
    found = made.stateless.resources("AWS::CloudWatch::Alarm")
    return [each["Properties"] for name, each in found.items() if not name.startswith("RollOut")]


def test_production_raises_alarms_when_functions_executions_or_the_api_fail(prod: Synthesised) -> None:
    alarms = told_alarms(prod)
    watched = {alarm["MetricName"] for alarm in alarms}
    refusals = {"Refused", "BeyondRate", "NotRecorded", "SessionsHidden"}
    executions = {"ExecutionsFailed", "ExecutionsTimedOut"}
    runs = {
        "ProviderErrors",
        "SessionsStuck",
        "SessionsRecovered",
        "RecoveryRounds",
        "SchedulesFailing",
        "TriggersFailing",
        "CostUsd",
    }
    known = {
        "Errors",
        "Throttles",
        *executions,
        "5xx",
        "KeysRefused",
        "PackedPolicySize",
        "IteratorAge",
        *refusals,
        *runs,
    }
    assert watched == known
    assert all(alarm["AlarmActions"] for alarm in alarms)


def test_the_alarm_for_refused_keys_counts_what_step_reports(prod: Synthesised) -> None:
    (alarm,) = (each for each in told_alarms(prod) if each["MetricName"] == "KeysRefused")
    variables = prod.stateless.function("step")["Environment"]["Variables"]
    assert alarm["Namespace"] == variables["POWERTOOLS_METRICS_NAMESPACE"]
    assert alarm["Dimensions"] == [{"Name": "service", "Value": variables["POWERTOOLS_SERVICE_NAME"]}]
    assert (alarm["Threshold"], alarm["Statistic"]) == (1, "Sum")
