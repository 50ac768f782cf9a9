"""What tells an operator that something is wrong: alarms with a sentence and a runbook, and a page of graphs."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from acta.engine import telemetry
from acta.engine.recovery.store import ROUNDS
from acta.infra.environments import PROD, STAGING, Environment
from acta.infra.options import CustomerKey, MonthlyBudget, SlackChannel, Watch
from acta.infra.watching.alarms import KINDS, ROLL_OUT
from tests.infra.conftest import Synthesised, synthesised, text_of
from tests.infra.test_function import told_alarms

OPERATIONS = Path(__file__).parents[2] / "docs" / "operations.md"
RUNBOOK = "https://wiki.example.com/operations"
TOLD = replace(
    PROD,
    key=CustomerKey(),
    watch=Watch(
        emails=("oncall@example.com",),
        webhooks=("https://events.example.com/sns",),
        slack=SlackChannel("T012ABCDE", "C012ABCDE"),
        runbook=RUNBOOK,
        usd_per_hour=50.0,
        budget=MonthlyBudget(1_000.0, tagged_only=True),
    ),
)
OWN = {
    *telemetry.RUN_METRICS,
    *telemetry.BATCH_METRICS,
    *telemetry.FAILURE_METRICS,
    *telemetry.SWEEP_METRICS,
    *telemetry.ROUND_METRICS,
    *telemetry.POLICY_METRICS,
    *telemetry.SCHEDULE_METRICS,
    *telemetry.TRIGGER_METRICS,
}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Synthesised:
    return synthesised(TOLD, tmp_path_factory.mktemp("told"))


def sections() -> list[str]:
    """The headings of the runbooks, in the page's own order."""
    text = OPERATIONS.read_text()
    found = re.search(r"\n## Alarms\n(.*?)\n## ", text, re.DOTALL)
    assert found is not None
    return re.findall(r"\n### ([A-Z]\w+)\n", found[1])


def test_every_kind_of_alarm_has_a_runbook_and_every_runbook_an_alarm() -> None:
    assert sections() == [*KINDS, *ROLL_OUT]


def test_every_alarm_says_what_it_means_and_links_its_runbook(told: Synthesised) -> None:
    anchors = {heading.lower() for heading in sections()}
    for alarm in told_alarms(told):
        sentence, _, link = alarm["AlarmDescription"].partition(" What to do: ")
        assert sentence.endswith("."), sentence
        assert "{" not in sentence
        page, _, anchor = link.partition("#")
        assert (page, anchor in anchors) == (RUNBOOK, True)
        assert alarm["AlarmName"].startswith("acta-prod-")
    assert len({alarm["AlarmName"] for alarm in told_alarms(told)}) == len(told_alarms(told))


def test_an_alarm_that_takes_a_release_back_says_what_it_means_and_links_its_runbook(
    told: Synthesised,
) -> None:
    found = told.stateless.resources("AWS::CloudWatch::Alarm")
    said = {
        name: each["Properties"].get("AlarmDescription", "")
        for name, each in found.items()
        if name.startswith("RollOut")
    }
    assert len(said) == len(told.environment.functions) + 1
    kinds = {f"{RUNBOOK}#{kind.lower()}": kind for kind in ROLL_OUT}
    for name, text in said.items():
        sentence, _, link = text.partition(" What to do: ")
        assert sentence.endswith("."), name
        assert "{" not in sentence
        assert kinds[link] == ("RollOutApiFails" if "ApiFails" in name else "NewVersionWorse")


def test_every_alarm_tells_the_topic_of_its_beginning_and_its_end(told: Synthesised) -> None:
    for alarm in told_alarms(told):
        assert [text_of(each) for each in alarm["AlarmActions"]] == ["AlarmsTopic"]
        assert alarm["OKActions"] == alarm["AlarmActions"]
    assert text_of(told.stateless.body["Outputs"]["AlarmsTopicArn"]["Value"]) == "AlarmsTopic"


def allowed_to_publish(made: Synthesised) -> dict[str, Any]:
    """A service -> the conditions under which the topic of alarms takes what it publishes."""
    found = {}
    for policy in made.stateless.properties("AWS::SNS::TopicPolicy"):
        if [text_of(each) for each in policy["Topics"]] == ["AlarmsTopic"]:
            for one in policy["PolicyDocument"]["Statement"]:
                if one["Effect"] == "Allow":
                    assert (one["Action"], text_of(one["Resource"])) == ("sns:Publish", "AlarmsTopic")
                    found[one["Principal"]["Service"]] = one["Condition"]
    return found


def test_the_topic_takes_what_cloudwatch_says_of_the_environments_own_alarms(each: Synthesised) -> None:
    """A policy takes the place of the one that a topic has without one, and that lets everybody of the account publish.

    Source: AWS re:Post, "Why didn't I receive an SNS notification for my CloudWatch alarm trigger?".
    """
    expected = {
        "StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}},
        "ArnLike": {
            "aws:SourceArn": f"arn:aws:cloudwatch:region:account:alarm:acta-{each.environment.name}-*"
        },
    }
    found = allowed_to_publish(each)
    for condition in found.values():
        condition["ArnLike"]["aws:SourceArn"] = text_of(condition["ArnLike"]["aws:SourceArn"])
    assert found == ({"cloudwatch.amazonaws.com": expected} if each.environment.alarms else {})
    assert bool(told_alarms(each)) == each.environment.alarms


def test_an_encrypted_topic_takes_what_cloudwatch_says_by_the_key(told: Synthesised) -> None:
    (topic,) = told.stateless.properties("AWS::SNS::Topic")
    (key,) = told.stateful.properties("AWS::KMS::Key")
    assert text_of(topic["KmsMasterKeyId"]) == "Key.Arn"
    users = {each["Sid"]: each for each in key["KeyPolicy"]["Statement"] if "Sid" in each}
    assert users["Alarms"]["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    assert users["Alarms"]["Action"] == ["kms:Decrypt", "kms:GenerateDataKey"]
    # AWS's own constructs grant CloudWatch the key of a topic under this condition (November 2026):
    # aws/modern-data-architecture-accelerator, grantCloudWatchAlarmsTopicAccess
    assert users["Alarms"]["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
    assert set(allowed_to_publish(told)) == {"cloudwatch.amazonaws.com", "budgets.amazonaws.com"}


def test_a_deployment_with_a_few_runs_a_day_reaches_the_thresholds(prod: Synthesised) -> None:
    by_name = {alarm["AlarmName"].removeprefix("acta-prod-"): alarm for alarm in told_alarms(prod)}
    failed = by_name["ExecutionsFailed"]
    assert (failed["Threshold"], failed["Period"], failed["EvaluationPeriods"]) == (3, 3_600, 1)
    stuck = by_name["SessionsStuck"]
    assert (stuck["Threshold"], stuck["Period"], stuck["EvaluationPeriods"]) == (1, 300, 3)
    assert by_name["StepErrors"]["Threshold"] == 5


def test_each_round_of_recovery_is_watched_and_drawn_and_one_that_is_never_heard_of_is_told(
    prod: Synthesised,
) -> None:
    alarms = {each["AlarmName"]: each for each in told_alarms(prod) if each["MetricName"] == "RecoveryRounds"}
    assert len(alarms) == len(ROUNDS)
    for round in ROUNDS:
        alarm = alarms[f"acta-prod-{round.capitalize()}RecoveryStopped"]
        assert alarm["Dimensions"] == [{"Name": "round", "Value": round}]
        assert (alarm["ComparisonOperator"], alarm["TreatMissingData"]) == ("LessThanThreshold", "breaching")
        assert (alarm["Threshold"], alarm["Period"], alarm["EvaluationPeriods"]) == (1, 300, 3)
        assert f"round {round}," in alarm["AlarmDescription"]
    for each in told_alarms(prod):
        warms_up = each.get("WarmUpConfiguration", {}).get("WarmUpPeriodDurationInMinutes", 0) * 60
        judged = each.get("Period", 0) * each["EvaluationPeriods"]
        assert (warms_up > judged) == (each["TreatMissingData"] == "breaching"), (
            "else it is raised at the first deployment"
        )
    drawn = [metric for one in graphs(prod) for metric in one["properties"]["metrics"]]
    assert [metric[3] for metric in drawn if metric[1:2] == ["RecoveryRounds"]] == list(ROUNDS)


def test_what_models_may_cost_in_an_hour_is_the_environments(told: Synthesised, tmp_path: Path) -> None:
    (cost,) = (alarm for alarm in told_alarms(told) if alarm["AlarmName"] == "acta-prod-CostPerHour")
    assert (cost["MetricName"], cost["Threshold"], cost["Period"]) == ("CostUsd", 50, 3_600)
    made = synthesised(replace(STAGING, watch=Watch(usd_per_hour=None)), tmp_path)
    assert not [alarm for alarm in told_alarms(made) if alarm["MetricName"] == "CostUsd"]


def test_people_channels_and_webhooks_subscribe_and_cdk_nag_has_nothing_to_say(told: Synthesised) -> None:
    subscribed = [
        (one["Protocol"], one["Endpoint"]) for one in told.stateless.properties("AWS::SNS::Subscription")
    ]
    assert sorted(subscribed) == [
        ("email", "oncall@example.com"),
        ("https", "https://events.example.com/sns"),
    ]
    (slack,) = told.stateless.properties("AWS::Chatbot::SlackChannelConfiguration")
    assert (slack["SlackWorkspaceId"], slack["SlackChannelId"]) == ("T012ABCDE", "C012ABCDE")
    (guard,) = slack["GuardrailPolicies"]
    assert text_of(guard).endswith("policy/CloudWatchReadOnlyAccess"), (
        "without it a channel may do everything"
    )
    assert told.findings == ()


def test_a_budget_of_the_month_tells_the_same_topic(told: Synthesised, prod: Synthesised) -> None:
    (budget,) = told.stateless.properties("AWS::Budgets::Budget")
    assert budget["Budget"]["BudgetLimit"] == {"Amount": 1_000, "Unit": "USD"}
    assert budget["Budget"]["CostFilters"] == {"TagKeyValue": ["user:environment$prod"]}
    said = [
        (each["Notification"]["NotificationType"], each["Notification"]["Threshold"])
        for each in budget["NotificationsWithSubscribers"]
    ]
    assert said == [("ACTUAL", 80), ("ACTUAL", 100), ("FORECASTED", 100)]
    receivers = {
        text_of(each["Subscribers"][0]["Address"]) for each in budget["NotificationsWithSubscribers"]
    }
    assert receivers == {"AlarmsTopic"}
    policies = json.dumps(told.stateless.properties("AWS::SNS::TopicPolicy"))
    assert "budgets.amazonaws.com" in policies
    keys = json.dumps(told.stateful.properties("AWS::KMS::Key"))
    assert "budgets.amazonaws.com" in keys, "the topic is encrypted"
    assert not prod.stateless.properties("AWS::Budgets::Budget")


@pytest.mark.parametrize(
    ("wrong", "names"),
    [
        (lambda: Watch(emails=("nobody",)), "Watch.emails"),
        (lambda: Watch(webhooks=("http://events.example.com",)), "Watch.webhooks"),
        (lambda: Watch(runbook="http://wiki.example.com"), "Watch.runbook"),
        (lambda: Watch(usd_per_hour=0), "Watch.usd_per_hour"),
        (lambda: SlackChannel("workspace", "C012ABCDE"), "SlackChannel.workspace_id"),
        (lambda: SlackChannel("T012ABCDE", "#alarms"), "SlackChannel.channel_id"),
        (lambda: MonthlyBudget(0), "MonthlyBudget.usd"),
        (lambda: MonthlyBudget(1, warn_at_percent=100), "MonthlyBudget.warn_at_percent"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(wrong: Any, names: str) -> None:
    with pytest.raises(ValueError, match=names):
        wrong()


def widgets(made: Synthesised) -> list[Mapping[str, Any]]:
    (page,) = made.stateless.properties("AWS::CloudWatch::Dashboard")
    assert page["DashboardName"] == f"acta-{made.environment.name}"
    body = page["DashboardBody"]
    parts = body["Fn::Join"][1] if isinstance(body, dict) else [body]
    found: list[Mapping[str, Any]] = json.loads("".join(x if isinstance(x, str) else "REF" for x in parts))[
        "widgets"
    ]
    return found


def graphs(made: Synthesised) -> list[Mapping[str, Any]]:
    return [each for each in widgets(made) if each["type"] == "metric"]


def test_every_environment_has_a_page_whose_first_row_reads_like_the_loop(each: Synthesised) -> None:
    first = [one for one in graphs(each) if one["y"] == 1]
    assert [one["x"] for one in first] == sorted(one["x"] for one in first)
    subjects = ["Requests", "Runs started", "Plans", "Turns", "Tool calls", "Questions to people"]
    titles = [one["properties"]["title"] for one in first]
    assert len(titles) == len(subjects)
    assert all(title.startswith(subject) for title, subject in zip(titles, subjects, strict=True)), titles
    after = [one["properties"]["title"] for one in graphs(each) if one["y"] > 1]
    assert after[0].startswith("Runs that ended, by how")


def test_every_graph_has_a_title_in_words_with_its_unit(prod: Synthesised) -> None:
    for one in graphs(prod):
        assert re.fullmatch(r"[A-Z][^()]+ \([a-zA-Z ,]+\)", one["properties"]["title"]), one["properties"][
            "title"
        ]
        assert one["x"] + one["width"] <= 24


def own_metrics(made: Synthesised) -> Iterator[str]:
    """Names of metrics in the deployment's namespace that are drawn or alarmed on without dimensions."""
    namespace = f"Acta/{made.environment.name}"
    for one in graphs(made):
        for metric in one["properties"]["metrics"]:
            if metric[0] == namespace:
                yield metric[1]
    for alarm in told_alarms(made):
        if alarm["Namespace"] == namespace and not alarm.get("Dimensions"):
            yield alarm["MetricName"]


def test_what_is_drawn_and_alarmed_on_is_what_the_functions_count(prod: Synthesised) -> None:
    of_the_access_log = {"Refused", "BeyondRate"}
    drawn = set(own_metrics(prod)) - of_the_access_log
    assert drawn <= OWN
    assert {
        "RunsStarted",
        "PlansCreated",
        "QuestionsAsked",
        "CostUsd",
        "SessionsStuck",
        "ProviderErrors",
    } <= drawn


SEARCHED = re.compile(
    r"SEARCH\('\{(\"[^\"]+\"|[A-Za-z0-9/]+)(?:,(?:\"[^\"]+\"|[A-Za-z0-9]+))*\} .+', '\w+', \d+\)"
)
"""A search whose namespace and dimensions are in quotes if they have other characters than letters, digits and, in the
namespace, slashes. Source: CloudWatch user guide, "CloudWatch search expression syntax" (November 2026).
"""


def test_the_page_searches_an_environment_whose_name_has_a_hyphen(tmp_path: Path) -> None:
    made = synthesised(replace(STAGING, name="dev-ann"), tmp_path)
    metrics = [metric for one in graphs(made) for metric in one["properties"]["metrics"]]
    searches = [metric[0]["expression"] for metric in metrics if isinstance(metric[0], dict)]
    assert len(searches) == 2
    for search in searches:
        found = SEARCHED.fullmatch(search)
        assert found, search
        assert found[1].strip('"') == "Acta/dev-ann"


def test_a_page_and_alarms_can_be_left_out(tmp_path: Path) -> None:
    bare: Environment = replace(STAGING, alarms=False, dashboard=False)
    made = synthesised(bare, tmp_path)
    assert made.stateless.resources("AWS::CloudWatch::Dashboard") == {}
    assert told_alarms(made) == []


def test_the_questions_of_the_page_are_saved_where_logs_are_asked(
    prod: Synthesised, local: Synthesised
) -> None:
    saved = {one["Name"]: one for one in prod.stateless.properties("AWS::Logs::QueryDefinition")}
    text = OPERATIONS.read_text()
    for name, one in saved.items():
        written = "\n".join(f"    {line}" for line in one["QueryString"].splitlines())
        assert f"    # {name.removeprefix('Acta/prod/')}\n{written}\n" in text
        assert len(one["LogGroupNames"]) == len(prod.environment.functions)
    assert len(saved) == 5
    assert not local.stateless.properties("AWS::Logs::QueryDefinition")
