"""Reserved concurrency is data of an environment, and is checked against the account before it is deployed."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from acta.cli.exit_codes import CliError
from acta.cli.operations.deploy import few_executions, require_concurrency
from acta.cli.operations.target import OperatorTarget
from acta.infra.deployed.account import (
    FEW_EXECUTIONS,
    CallerIdentity,
    QuotaUnknown,
    TooMuchReserved,
    check_reserved,
)
from acta.infra.environments import DEV, PROD, USUAL_LIMITS, Environment, select, usual_but
from acta.infra.posture import settled
from acta.infra.sizing import RESERVED
from tests.infra.conftest import synthesised


class Account:
    """Lambda's answers for an account. `reserved`: by function; others than Acta's have some as well."""

    def __init__(self, quota: int, reserved: Mapping[str, int] = {}, refuses: str = "") -> None:
        self.quota, self.reserved, self.refuses = quota, reserved, refuses
        self.asked: list[str] = []

    def get_account_settings(self) -> dict[str, Any]:
        self.asked.append("settings")
        if self.refuses:
            raise ClientError({"Error": {"Code": self.refuses, "Message": "no"}}, "GetAccountSettings")
        unreserved = self.quota - sum(self.reserved.values())
        return {
            "AccountLimit": {"ConcurrentExecutions": self.quota, "UnreservedConcurrentExecutions": unreserved}
        }

    def get_function_concurrency(self, FunctionName: str) -> dict[str, Any]:  # noqa: N803
        self.asked.append(FunctionName)
        if FunctionName not in self.reserved:
            code = "ResourceNotFoundException"
            raise ClientError({"Error": {"Code": code, "Message": "no"}}, "GetFunctionConcurrency")
        found = self.reserved[FunctionName]
        return {"ReservedConcurrentExecutions": found} if found else {}


def reserving(**numbers: int) -> Environment:
    return replace(PROD, reserved_concurrency=numbers)  # type: ignore[arg-type]


def test_where_nothing_is_reserved_only_the_account_s_quota_is_read() -> None:
    account = Account(10)
    for name in ("local", "dev"):
        assert check_reserved(select(name), account) == 10
    assert account.asked == ["settings", "settings"]


def test_a_new_account_is_told_how_to_get_more_and_what_to_write_until_then() -> None:
    quota = require_concurrency(DEV, Account(10))
    assert quota is not None
    assert quota < FEW_EXECUTIONS <= 1_000
    chosen = OperatorTarget(DEV, CallerIdentity("123456789012", "eu-west-1", "arn"))
    told = few_executions(chosen, quota)
    assert "only 10 Lambdas at once in eu-west-1" in told
    request = "aws service-quotas request-service-quota-increase --region eu-west-1 --service-code lambda "
    assert f"{request}--quota-code L-B99A9384 --desired-value 1000" in told
    assert "limits=usual_but(long_polls=5)" in told
    careful = chosen._replace(environment=replace(DEV, limits=usual_but(long_polls=5)))
    assert "usual_but" not in few_executions(careful, quota)


def test_an_ordinary_account_has_what_a_strict_environment_reserves_and_a_new_one_is_told_what_to_write() -> (
    None
):
    check_reserved(select("prod"), Account(1_000))
    assert 900 - sum(RESERVED.values()) == 40
    with pytest.raises(TooMuchReserved, match=r"has 10 .* reserved_concurrency=\{…\} .* or \{\} for none"):
        check_reserved(select("prod"), Account(10))


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
    account = Account(1_000)
    if step + 5 <= 900:
        check_reserved(reserving(step=step, recover=5), account)
        return
    with pytest.raises(TooMuchReserved) as refused:
        check_reserved(reserving(step=step, recover=5), account)
    said = str(refused.value)
    for part in (
        "'prod'",
        "901",
        "step 896",
        "recover 5",
        "has 1000",
        "can reserve 900",
        "environments.py",
        "Service Quotas",
    ):
        assert part in said


def test_what_others_reserve_is_not_there_and_what_it_reserves_itself_is() -> None:
    deployed = Account(1_000, {"somebody-s": 400, "acta-prod-step": 300, "acta-prod-tool": 0})
    check_reserved(reserving(step=500), deployed)
    with pytest.raises(TooMuchReserved, match="can reserve 500"):
        check_reserved(reserving(step=501), deployed)


def test_a_new_account_can_reserve_nothing() -> None:
    with pytest.raises(TooMuchReserved, match=r"has 10 .* can reserve 0"):
        check_reserved(reserving(intervene=1), Account(10))


def test_a_function_that_is_not_deployed_reserves_nothing() -> None:
    assert PROD.notifications is None
    check_reserved(reserving(notify=5_000), Account(1_000))


def test_one_line_stops_the_deployment_before_it_begins() -> None:
    with pytest.raises(CliError, match="can reserve 900"):
        require_concurrency(reserving(step=1_000), Account(1_000))


def test_who_may_not_read_the_quota_is_told_so_and_may_deploy(capsys: pytest.CaptureFixture[str]) -> None:
    account = Account(1_000, refuses="AccessDeniedException")
    with pytest.raises(QuotaUnknown):
        check_reserved(reserving(step=5_000), account)
    assert require_concurrency(reserving(step=5_000), account) is None
    assert "not checked" in capsys.readouterr().err


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
