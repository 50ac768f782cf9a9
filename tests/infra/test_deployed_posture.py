"""A deployment is looked at from outside: each point is read where AWS shows it, and compared with the environment."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from acta.cli.operations.posture import tell_posture
from acta.engine.settings import Settings
from acta.infra.deployed.account import Account
from acta.infra.deployed.posture import PENDING, SLACK, DeployedPosture, SeenPoint
from acta.infra.environments import PROD, Environment
from acta.infra.lambdas.grants import gets
from acta.infra.options import SlackChannel
from acta.infra.posture import POINTS, with_decisions
from acta.infra.sizing import FunctionName
from tests.infra.conftest import Synthesised
from tests.infra.test_function import variables

DECIDED = {
    "default_visibility": "tenant",
    "retention.ended_sessions": 0,
    "watch.emails": ["a@example.com", "b@example.com"],
    "tool_network": False,
}
OUTPUTS = {"UserPoolId": "eu-west-1_pool", "AlarmsTopicArn": "arn:aws:sns:eu-west-1:123456789012:alarms"}


class Deployed(Account):
    """An account with the environment that was synthesised; `changed`: variables that somebody changed by hand."""

    made: Synthesised
    changed: Mapping[str, str] = {}
    only = ""
    """The one function in which it was changed. Empty: in all."""
    subscribed: tuple[tuple[str, str], ...] = (("email", "b@example.com"), ("email", "a@example.com"))
    """Protocols and endpoints."""
    mfa = "ON"
    vpc = ""
    pending: tuple[str, ...] = ()
    taken_away: tuple[str, ...] = ()
    """Functions whose reservation somebody has taken away."""
    refuses: tuple[str, ...] = ()

    def client(self, service: str, **_: Any) -> Any:
        return self

    def _refuse(self, operation: str) -> None:
        if operation in self.refuses:
            raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, operation)

    def get_function_configuration(self, FunctionName: str, Qualifier: str) -> Any:  # noqa: N803
        assert Qualifier == "live"
        self._refuse(FunctionName)
        function = FunctionName.split("-")[2]
        own = {name: str(value) for name, value in variables(self.made, function).items()}
        changed = self.changed if self.only in ("", function) else {}
        return {"Environment": {"Variables": {**own, **changed}}, "VpcConfig": {"VpcId": self.vpc}}

    def get_function_concurrency(self, FunctionName: str) -> Any:  # noqa: N803
        name = FunctionName.split("-")[2]
        number = self.made.stateless.function(name).get("ReservedConcurrentExecutions")
        return {} if number is None or name in self.taken_away else {"ReservedConcurrentExecutions": number}

    def describe_user_pool(self, UserPoolId: str) -> Any:  # noqa: N803
        self._refuse("describe_user_pool")
        return {"UserPool": {"MfaConfiguration": self.mfa}}

    def list_subscriptions_by_topic(self, TopicArn: str) -> Any:  # noqa: N803
        return {
            "Subscriptions": [
                {
                    "Protocol": protocol,
                    "Endpoint": each,
                    "SubscriptionArn": PENDING if each in self.pending else f"{TopicArn}:{each}",
                }
                for protocol, each in self.subscribed
            ]
        }


def environment() -> Environment:
    return with_decisions(PROD, DECIDED)


def look(made: Synthesised, **different: Any) -> dict[str, SeenPoint]:
    account = Deployed("prod")
    account.made = made
    for name, value in different.items():
        setattr(account, name, value)
    return {each.option: each for each in DeployedPosture(environment(), account, OUTPUTS).points()}


def test_a_deployment_of_the_environment_has_every_point(prod: Synthesised) -> None:
    found = look(prod)
    assert list(found) == [each.option for each in POINTS]
    assert {each.option: each.state for each in found.values() if each.state != "has it"} == {}


@pytest.mark.parametrize(
    ("option", "different", "seen"),
    [
        ("tool_network", {"vpc": "vpc-1"}, "vpc-1"),
        ("auth.mfa", {"mfa": "OPTIONAL"}, "optional"),
        ("watch.emails", {"pending": ("b@example.com",)}, "a@example.com, b@example.com (not confirmed)"),
        ("default_visibility", {"changed": {"ACTA_DEFAULT_VISIBILITY": "private"}}, "private"),
        ("usd_per_day", {"changed": {"ACTA_USD_PER_DAY": '{"*": 900}'}}, "* 900"),
        ("caps.cost_budget_usd", {"changed": {"ACTA_CAP_COST_BUDGET_USD": "900"}}, "900.0"),
        (
            "tenant_share",
            {"changed": {"ACTA_TENANT_LIMITS": "{}"}},
            "open_sessions None, long_polls None",
        ),
        ("retention.ended_sessions", {"changed": {"ACTA_ENDED_SESSIONS_DAYS": "9"}}, "9"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_somebody_changed_by_hand_differs(
    option: str, different: Mapping[str, Any], seen: str, prod: Synthesised
) -> None:
    found = look(prod, **different)[option]
    assert (found.state, found.seen) == ("differs", seen)


OTHER = {
    "default_visibility": {"ACTA_DEFAULT_VISIBILITY": "private"},
    "retention.ended_sessions": {"ACTA_ENDED_SESSIONS_DAYS": "9"},
    "high_stakes_approver": {"ACTA_HIGH_STAKES_APPROVER": "anyone"},
    "programs_decide": {"ACTA_PROGRAMS_DECIDE": "true"},
    "file_change_role": {"ACTA_FILE_CHANGE_ROLE": ""},
    "record_reads": {"ACTA_RECORD_READS": "false"},
    "mcp_decisions": {"ACTA_MCP_DECISIONS": "form"},
    "tool_processes": {"ACTA_TOOL_PROCESSES": "shared"},
    "tenant_share": {"ACTA_TENANT_LIMITS": "{}"},
    "usd_per_day": {"ACTA_USD_PER_DAY": "{}"},
    "caps.cost_budget_usd": {"ACTA_CAP_COST_BUDGET_USD": "1000"},
}
"""By point that settings show: another value of it."""


def having(option: str) -> list[FunctionName]:
    (name,) = (each.setting or option for each in POINTS if each.option == option)
    return [each for each in environment().functions if gets(each, name)]


def test_every_point_that_settings_show_is_changed_in_one_function_alone() -> None:
    assert list(OTHER) == [each.option for each in POINTS if (each.setting or each.option) in Settings.fields]


@pytest.mark.parametrize(("option", "function"), [(each, one) for each in OTHER for one in having(each)])
def test_one_function_with_another_value_differs(
    option: str, function: FunctionName, prod: Synthesised
) -> None:
    found = look(prod, changed=OTHER[option], only=function)[option]
    assert found.state == "differs"
    assert len(having(option)) == 1 or found.seen.startswith(f"{function}: ")


WEBHOOK = "https://oncall.example.com/alarms"


@pytest.mark.parametrize(
    ("subscribed", "pending", "outputs", "state"),
    [
        ((("https", WEBHOOK), ("https", SLACK)), (), OUTPUTS, "has it"),
        ((("https", WEBHOOK), ("https", SLACK)), (WEBHOOK,), OUTPUTS, "differs"),
        ((("https", WEBHOOK),), (), OUTPUTS, "differs"),
        ((("https", SLACK),), (), OUTPUTS, "differs"),
        ((), (), OUTPUTS, "differs"),
        ((("https", WEBHOOK), ("https", SLACK)), (), {"UserPoolId": "pool"}, "not seen"),
    ],
    ids=["both", "unconfirmed", "no channel", "no webhook", "nobody", "no topic"],
)
def test_a_webhook_and_a_channel_that_stand_for_addresses_are_looked_at(
    subscribed: tuple[tuple[str, str], ...],
    pending: tuple[str, ...],
    outputs: Mapping[str, str],
    state: str,
    prod: Synthesised,
) -> None:
    watch = replace(PROD.watch, webhooks=(WEBHOOK,), slack=SlackChannel("T012ABCDE", "C012ABCDE"))
    others = {name: value for name, value in DECIDED.items() if name != "watch.emails"}
    account = Deployed("prod")
    account.made, account.subscribed, account.pending = prod, subscribed, pending
    deployed = DeployedPosture(with_decisions(replace(PROD, watch=watch), others), account, outputs)
    (found,) = (each for each in deployed.points() if each.option == "watch.emails")
    assert found.state == state


def test_a_reservation_that_was_taken_away_differs(prod: Synthesised) -> None:
    found = look(prod, taken_away=("recover",))["reserved_concurrency"]
    assert found.state == "differs"
    assert "recover" in found.wanted
    assert "recover" not in found.seen


def test_what_may_not_be_read_is_not_taken_for_right(
    prod: Synthesised, capsys: pytest.CaptureFixture[str]
) -> None:
    found = look(prod, refuses=("describe_user_pool",))
    assert found["auth.mfa"].state == "not seen"
    assert tell_posture(environment(), list(found.values()), as_json=True) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["posture"] == "strict"
    assert {each["option"] for each in told["points"] if each["state"] != "has it"} == {"auth.mfa"}


def test_the_exit_code_is_for_ci(prod: Synthesised, capsys: pytest.CaptureFixture[str]) -> None:
    assert tell_posture(environment(), list(look(prod).values()), as_json=False) == 0
    assert "every point is that of a strict one" in capsys.readouterr().out
