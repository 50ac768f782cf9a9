"""For how long a deployment keeps what nobody deletes stands in its templates (docs/options.md)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from aws_cdk import App
from aws_cdk.assertions import Template

from acta.infra.environments import PROD, Environment
from acta.infra.retention import Retention
from acta.infra.stateful import StatefulStack
from tests.infra.conftest import Synthesised


def stored(environment: Environment) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The rule of the bucket of the files, and the recovery of the table."""
    template = Template.from_stack(StatefulStack(App(), environment))
    (bucket,) = template.find_resources("AWS::S3::Bucket").values()
    (rule,) = bucket["Properties"]["LifecycleConfiguration"]["Rules"]
    (table,) = template.find_resources("AWS::DynamoDB::Table").values()
    return rule, table["Properties"]["PointInTimeRecoverySpecification"]


def test_the_defaults_delete_nothing_that_was_kept_before() -> None:
    rule, recovery = stored(PROD)
    assert rule["NoncurrentVersionExpiration"] == {"NoncurrentDays": 30}
    assert recovery == {"PointInTimeRecoveryEnabled": True}


def test_what_an_environment_says_stands_in_its_template() -> None:
    kept = replace(PROD, retention=Retention(ended_sessions=365, file_versions=90, recovery=14))
    rule, recovery = stored(kept)
    assert rule["NoncurrentVersionExpiration"] == {"NoncurrentDays": 90}
    assert recovery == {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 14}


def test_recover_alone_is_told_when_ended_sessions_go(each: Synthesised) -> None:
    for name in each.environment.functions:
        variables = each.stateless.function(name)["Environment"]["Variables"]
        told = variables.get("ACTA_ENDED_SESSIONS_DAYS")
        assert told == ("0" if name == "recover" else None)


@pytest.mark.parametrize(
    ("kept", "says"),
    [
        ({"ended_sessions": -1}, "or 0 for ever"),
        ({"file_versions": 0}, "at least 1 day"),
        ({"recovery": 36}, "1 to 35"),
        ({"recovery": 0}, "1 to 35"),
        ({"logs": 8}, "one of 1, 7, 14, 30, 90, 180, 365 days"),
        ({"audit": -1}, "or 0 for ever"),
        ({"audit": 35}, "more days than recovery"),
        ({"audit": 14, "recovery": 14}, "more days than recovery"),
    ],
)
def test_what_cannot_be_meant_is_refused(kept: Mapping[str, int], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Retention(**kept)
