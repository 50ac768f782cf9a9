"""What brings new commits to `usage`, in every environment."""

import json
from typing import Any

from tests.infra.conftest import Synthesised

MAPPING = "AWS::Lambda::EventSourceMapping"


def mapping(made: Synthesised) -> Any:
    found = made.stateless.resources(MAPPING)
    ((_, only),) = ((name, each) for name, each in found.items() if name.startswith("UsageMapping"))
    return only["Properties"]


def test_the_keys_of_new_commits_reach_it_and_nothing_else_of_the_table(each: Synthesised) -> None:
    (pattern,) = (json.loads(one["Pattern"]) for one in mapping(each)["FilterCriteria"]["Filters"])
    assert pattern == {"eventName": ["INSERT"], "dynamodb": {"Keys": {"sk": {"S": [{"prefix": "C#"}]}}}}


def test_commits_are_collected_so_that_most_turns_share_a_write(prod: Synthesised) -> None:
    made = mapping(prod)
    assert made["MaximumBatchingWindowInSeconds"] == 60
    assert made["BatchSize"] <= 1_000
    assert made["StartingPosition"] == "TRIM_HORIZON", "what changes while AWS connects them is not missed"
    assert "MaximumRetryAttempts" not in made, "a batch comes again as long as the stream has it"
    assert made["BisectBatchOnFunctionError"], "one that takes too much is divided"


def test_the_mapping_can_be_replaced(each: Synthesised) -> None:
    """AWS refuses a second mapping of the stream for the same name, which was the function's own."""
    assert each.stateless.called_by(mapping(each)["FunctionName"]) == "usage"


def test_the_stream_has_two_readers_at_most(each: Synthesised) -> None:
    streams = [one for one in each.stateless.properties(MAPPING) if "FilterCriteria" in one]
    assert len(streams) <= 2


def test_usage_that_is_not_counted_raises_an_alarm(prod: Synthesised) -> None:
    (alarm,) = (
        one
        for one in prod.stateless.properties("AWS::CloudWatch::Alarm")
        if one.get("MetricName") == "IteratorAge"
    )
    assert alarm["Threshold"] == 900_000, "a quarter of an hour"
    assert alarm["AlarmActions"]
