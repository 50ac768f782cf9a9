import sys
from dataclasses import replace

import pytest

from acta.engine.tools.tool import MAX_TOOL_SECONDS
from acta.infra.environments import (
    ENVIRONMENTS,
    PROD,
    USUAL_LIMITS,
    UnknownEnvironment,
    UnusableValue,
    select,
    usual_but,
)
from acta.infra.sizing import LAMBDA_TIMEOUT


def test_an_unknown_environment_is_refused_in_one_line_that_names_the_known_ones() -> None:
    with pytest.raises(UnknownEnvironment) as refused:
        select("production")
    assert (
        str(refused.value)
        == "unknown environment 'production': -c env=<name> is one of local, dev, staging, prod"
    )


def test_no_environment_is_chosen_by_default() -> None:
    with pytest.raises(UnknownEnvironment, match="add -c env=<name>"):
        select(None)


def test_aws_runs_arm64_and_a_pinned_python_while_local_runs_what_the_host_has() -> None:
    aws = [each for each in ENVIRONMENTS.values() if not each.is_local]
    assert {(each.architecture, each.python) for each in aws} == {("arm64", (3, 13))}
    assert select("local").python == sys.version_info[:2]


def test_production_keeps_what_it_stores() -> None:
    prod = select("prod")
    assert prod.retain
    assert prod.deletion_protection
    assert prod.point_in_time_recovery
    assert prod.versioned_files


@pytest.mark.parametrize("name", [name for name in ENVIRONMENTS if name != "local"])
def test_no_environment_in_aws_lets_in_browsers_from_everywhere(name: str) -> None:
    assert [origin for origin in select(name).cors_origins if "*" in origin] == []


@pytest.mark.parametrize(
    "origin", ["https://app.example.com", "https://app.example.com:8443", "http://localhost:3000"]
)
def test_an_origin_is_what_a_browser_sends(origin: str) -> None:
    assert replace(PROD, cors_origins=(origin,)).cors_origins == (origin,)


@pytest.mark.parametrize(
    "origins",
    [
        ("https://app.example.com/",),
        ("https://App.example.com",),
        ("http://app.example.com",),
        ("app.example.com",),
        ("*", "https://app.example.com"),
        ("https://*.example.com",),
        ("null",),
    ],
)
def test_an_origin_that_no_browser_sends_is_refused(origins: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="origin is https://host"):
        replace(PROD, cors_origins=origins)


def test_every_tenant_in_aws_has_limits_and_one_on_this_machine_has_none() -> None:
    for environment in ENVIRONMENTS.values():
        of_all = environment.limits_by_tenant["*"]
        assert (None in of_all) == environment.is_local


def test_a_tenant_may_have_limits_of_its_own() -> None:
    limits = replace(PROD, tenant_limits={"acme": usual_but(open_sessions=None)}).limits_by_tenant
    assert limits["acme"] == USUAL_LIMITS._replace(open_sessions=None)
    assert limits["*"] == PROD.limits


@pytest.mark.parametrize("seconds", ["0", "-1", "0.5", "two", ""])
def test_a_retry_base_that_the_engine_cannot_wait_is_refused(seconds: str) -> None:
    with pytest.raises(UnusableValue, match="whole number of seconds"):
        select("local").with_context("retry_base_seconds", seconds)


def test_a_retry_base_can_be_given_for_one_deployment() -> None:
    assert select("prod").with_context("retry_base_seconds", "7").retry_base_seconds == 7


def test_in_aws_a_model_has_fourteen_minutes_and_a_tool_all_that_a_definition_may_ask_for() -> None:
    for each in ENVIRONMENTS.values():
        if not each.is_local:
            assert (each.longest_model_seconds, each.longest_tool_seconds) == (840, MAX_TOOL_SECONDS)


@pytest.mark.parametrize("name", sorted(ENVIRONMENTS))
def test_no_call_is_promised_more_than_its_function_has(name: str) -> None:
    chosen = select(name)
    assert max(size.timeout for size in chosen.sizes.values()) <= LAMBDA_TIMEOUT
    assert chosen.longest_model_seconds < chosen.sizes["step"].timeout
    assert chosen.longest_tool_seconds < chosen.sizes["tool"].timeout
