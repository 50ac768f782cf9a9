"""Reserved concurrency is data of an environment, and is checked against the account before it is deployed."""

import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from acta.infra.deployed.preflight import FEW_EXECUTIONS, DeploymentProblem, Preflight
from acta.infra.environments import DEV, PROD, USUAL_LIMITS, Environment, select, usual_but
from acta.infra.posture import settled
from acta.infra.sizing import RESERVED
from tests.infra.conftest import synthesised
from tests.infra.test_preflight import HERE, Aws, refused


def problems(
    environment: Environment, quota: int, reserved: Mapping[str, int] = {}
) -> list[DeploymentProblem]:
    """With this quota of the account, and what its functions, of which others than Acta's are some, reserve of it."""
    unreserved = quota - sum(reserved.values())
    limit = {"ConcurrentExecutions": quota, "UnreservedConcurrentExecutions": unreserved}

    def reserves(FunctionName: str) -> Any:  # noqa: N803
        if FunctionName not in reserved:
            raise refused("ResourceNotFoundException")
        found = reserved[FunctionName]
        return {"ReservedConcurrentExecutions": found} if found else {}

    aws = Aws(get_account_settings={"AccountLimit": limit}, get_function_concurrency=reserves)
    environment = replace(environment, python=sys.version_info[:2])
    return list(Preflight(environment, HERE, {}, aws).problems())


def stopped(*given: Any) -> str:
    """The words of what stops the deployment; empty: nothing does."""
    return "".join(each.words for each in problems(*given) if each.stops)


def reserving(**numbers: int) -> Environment:
    return replace(PROD, reserved_concurrency=numbers)  # type: ignore[arg-type]


def test_a_new_account_is_told_how_to_get_more_and_what_to_write_until_then() -> None:
    (told,) = problems(DEV, 10)
    assert 10 < FEW_EXECUTIONS <= 1_000
    assert not told.stops
    assert "only 10 Lambdas at once in eu-west-1" in told.words
    request = "aws service-quotas request-service-quota-increase --region eu-west-1 --service-code lambda "
    assert told.commands == (f"{request}--quota-code L-B99A9384 --desired-value 1000",)
    assert "limits=usual_but(long_polls=5)" in told.words
    (careful,) = problems(replace(DEV, limits=usual_but(long_polls=5)), 10)
    assert "usual_but" not in careful.words
    assert problems(DEV, FEW_EXECUTIONS) == []


def test_an_ordinary_account_has_what_a_strict_environment_reserves_and_a_new_one_is_told_what_to_write() -> (
    None
):
    assert problems(select("prod"), 1_000) == []
    assert 900 - sum(RESERVED.values()) == 20
    assert re.search(r"has 10 .* reserved_concurrency=\{…\} .* or \{\} for none", stopped(select("prod"), 10))


def test_a_tenant_has_half_of_what_is_reserved_for_turns_and_for_those_who_watch() -> None:
    limits = select("prod").limits_by_tenant["*"]
    assert (limits.open_sessions, limits.long_polls) == (RESERVED["step"] // 2, RESERVED["status"] // 2)
    assert select("dev").limits_by_tenant["*"] == USUAL_LIMITS


def test_a_lower_limit_of_the_environment_s_own_stays_and_a_named_tenant_has_its_own() -> None:
    own = replace(
        PROD, limits=usual_but(open_sessions=3, long_polls=None), tenant_limits={"acme": USUAL_LIMITS}
    )
    limits = settled(own).limits_by_tenant
    assert (limits["*"].open_sessions, limits["*"].long_polls) == (3, 50)
    assert limits["acme"] == USUAL_LIMITS


@pytest.mark.parametrize("share", [0, -0.5, 1.5])
def test_a_share_is_a_part_of_one(share: float) -> None:
    with pytest.raises(ValueError, match="tenant_share is more than 0"):
        replace(PROD, tenant_share=share)


@pytest.mark.parametrize("step", [895, 896])
def test_a_hundred_must_stay_unreserved(step: int) -> None:
    said = stopped(reserving(step=step, recover=5), 1_000)
    if step + 5 <= 900:
        assert said == ""
        return
    for part in (
        "'prod'",
        "901",
        "step 896",
        "recover 5",
        "has 1000",
        "can reserve 900",
        "the environment's entry",
        "a higher quota",
    ):
        assert part in said


def test_what_others_reserve_is_not_there_and_what_it_reserves_itself_is() -> None:
    deployed = {"somebody-s": 400, "acta-prod-step": 300, "acta-prod-tool": 0}
    assert stopped(reserving(step=500), 1_000, deployed) == ""
    assert "can reserve 500" in stopped(reserving(step=501), 1_000, deployed)


def test_a_new_account_can_reserve_nothing() -> None:
    assert "can reserve 0" in stopped(reserving(intervene=1), 10)


def test_a_function_that_is_not_deployed_reserves_nothing() -> None:
    assert PROD.notifications is None
    assert stopped(reserving(notify=5_000), 1_000) == ""


@pytest.mark.parametrize("number", [0, -1])
def test_a_number_that_would_stop_a_function_is_no_reservation(number: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        reserving(step=number)


def test_what_is_reserved_stands_in_the_template_and_nothing_else_does(tmp_path: Path) -> None:
    made = synthesised(replace(reserving(step=300, recover=2), alarms=False), tmp_path).stateless
    found = {
        each["Handler"].split(".")[2]: each.get("ReservedConcurrentExecutions")
        for each in made.properties("AWS::Lambda::Function")
        if each.get("Handler", "").startswith("acta.functions.")
    }
    assert {name: number for name, number in found.items() if number is not None} == {
        "step": 300,
        "recover": 2,
    }
