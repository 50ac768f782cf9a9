"""Alarms for an operator, each with what it means, when it is raised, and where its runbook is (ADR 84). One topic and
its subscribers (`Environment.watch`) are told of the alarms and of the budget.

A deployment with a few runs a day can reach the thresholds, and one with thousands does not reach them in normal
operation. Counts are those of one period.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, cast

from aws_cdk import ArnFormat, CfnOutput, Duration, Stack
from aws_cdk import aws_apigatewayv2 as apigw
from aws_cdk import aws_budgets as budgets
from aws_cdk import aws_chatbot as chatbot
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from acta.engine.api.operations import OPERATIONS, operations_in
from acta.engine.recovery.store import ROUNDS
from acta.engine.telemetry import (
    KEY_REFUSED_METRIC,
    NOT_RECORDED_METRIC,
    SESSIONS_HIDDEN_METRIC,
    SPANS_LOST_METRIC,
    SPANS_WAITING_METRIC,
)
from acta.infra.environments import Environment
from acta.infra.event_feeds import EventFeeds
from acta.infra.names import ALIAS, metrics_namespace, service_name
from acta.infra.options import MonthlyBudget, SlackChannel
from acta.infra.sizing import FunctionName

FIVE_MINUTES: Literal[5] = 5
HOUR: Literal[60] = 60
WARM_UP_MINUTES = 30
"""How long a new alarm waits for its first data. It ends as soon as there is enough data to judge. Source: CloudWatch
user guide, "Alarm warm-up periods" (November 2026)."""


@dataclass(frozen=True)
class AlarmKind:
    """`means`: a sentence for whoever is told, `{function}` being the function where each has an alarm of this kind.
    `threshold`: the alarm is raised when the value reaches it in `periods` consecutive periods, each of `minutes`.
    `missing_is_bad`: the alarm is also raised when there is no data, but not within `WARM_UP_MINUTES` of its creation.
    """

    means: str
    threshold: float
    periods: int = 1
    minutes: Literal[5, 60] = FIVE_MINUTES
    missing_is_bad: bool = False
    below: bool = False
    """The alarm is raised when the value is below the threshold, instead of when it reaches it."""


KINDS: Mapping[str, AlarmKind] = MappingProxyType(
    {
        "FunctionErrors": AlarmKind(
            "The function {function} raised errors more often than the engine's retries account for.", 5
        ),
        "FunctionThrottles": AlarmKind("Lambda had no concurrency left for {function}.", 1),
        "OwnToolErrors": AlarmKind("Calls of Python tools in the folder {function} raised errors.", 5),
        "OwnToolThrottles": AlarmKind(
            "Lambda had no concurrency left for the Python tools in the folder {function}.", 1
        ),
        "ExecutionsFailed": AlarmKind(
            "Runs ended as failed: three or more within an hour. Outages do not count, they are waited out.",
            3,
            minutes=HOUR,
        ),
        "ExecutionsTimedOut": AlarmKind("An execution of the state machine ran into its limit of a year.", 1),
        "Api5xx": AlarmKind("The API answered with 500 or 503.", 3),
        "KeysRefused": AlarmKind(
            "A model's provider refused a key, or its quota is used up. Sessions wait or fail.", 1
        ),
        "ProviderErrors": AlarmKind(
            "Calls of a model's provider have failed for a quarter of an hour. Sessions wait for it.",
            3,
            periods=3,
        ),
        "SessionsStuck": AlarmKind(
            "Sessions stand still, and recovery cannot read them: stored data is damaged or of another release.",
            1,
            periods=3,
        ),
        "PackedPolicySize": AlarmKind(
            "The policy for a tenant's data takes 90 % or more of the packed size that AWS allows. Above 100 % the "
            "tenant can do nothing.",
            90,
            minutes=HOUR,
        ),
        "SessionsRecovered": AlarmKind(
            "Executions of sessions get lost: recovery had to go on with ten or more of them within five minutes.",
            10,
        ),
        "RecoveryStopped": AlarmKind(
            "Recovery's round {function}, which is made each minute, has not come to its end for a quarter of an hour.",
            1,
            periods=3,
            missing_is_bad=True,
            below=True,
        ),
        "SchedulesFailing": AlarmKind(
            "A schedule has failed five times or more in a row: it could not start its session, or the session failed.",
            1,
        ),
        "TriggersFailing": AlarmKind(
            "Triggers refused or failed five events or more within five minutes: no session was started for them.",
            5,
        ),
        "CostPerHour": AlarmKind(
            "Model calls of the last hour cost more than the environment expects.", 0, minutes=HOUR
        ),
        "NotRecorded": AlarmKind(
            "A write of {function} could not be recorded in the audit trail, or not how it ended or by whom.",
            1,
        ),
        "Refused": AlarmKind("Many requests came without a good token, or without the role (401, 403).", 100),
        "BeyondRate": AlarmKind("Many requests were beyond a route's rate or a tenant's limit (429).", 100),
        "SessionsHidden": AlarmKind(
            "Many requests to {function} asked for somebody else's private sessions, and were answered 404.",
            100,
        ),
        "UsageBehind": AlarmKind(
            "Commits are 15 minutes old and not in their tenants' usage. Lines of finished runs are late, too.",
            15 * 60 * 1_000,
            periods=3,
        ),
        "NotificationsNotDelivered": AlarmKind(
            "No receiver took a notification for 15 minutes.", 1, periods=3
        ),
        "EventsFailed": AlarmKind(
            "Events of the operator's sources could not be used, and wait in the queue events-failed.", 1
        ),
        "EventsBehind": AlarmKind(
            "Events of the operator's sources have waited for 15 minutes. What they start is late.",
            15 * 60,
            periods=3,
        ),
        "SpansLost": AlarmKind("Spans of sessions are lost: nobody will get them.", 1),
        "SpansNotDelivered": AlarmKind(
            "The endpoint of the traces took nothing several times within an hour.", 5, minutes=HOUR
        ),
    }
)
MAX_SERVER_ERRORS = 5
"""5xx answers of the API in a minute that stop a roll-out. They are counted because for Lambda a function that answers
500 has not failed."""
ROLL_OUT: Mapping[str, str] = MappingProxyType(
    {
        "NewVersionWorse": (
            "The new version of {function} fails more than the one beside it, so the release goes back."
        ),
        "RollOutApiFails": (
            f"The API answered with 5xx {MAX_SERVER_ERRORS} times in a minute, so a release that goes out goes back."
        ),
    }
)
"""What the alarms mean that take a release back during its roll-out; `acta/infra/watching/roll_out.py` says when
they are raised. Only CodeDeploy looks at them."""


def description(kind: str, runbook: str, function: str = "") -> str:
    """The alarm's description, which each message about it contains: the sentence, and where to read on. `runbook`: the
    page's address.
    """
    means = KINDS[kind].means if kind in KINDS else ROLL_OUT[kind]
    return f"{means.format(function=function)} What to do: {runbook}#{kind.lower()}"


ANSWERING = tuple(dict.fromkeys(route.function for route in OPERATIONS))
RECORDING = tuple(
    name for name in ANSWERING if any(route.action is not None for route in operations_in(name))
)
"""Functions whose actions the audit trail records."""
WITH_SESSIONS = tuple(
    name for name in ANSWERING if any("{session_id}" in route.path for route in operations_in(name))
)
"""Functions that can be asked for somebody's private session."""


class Alarms(Construct):
    """Every alarm sends a message to `topic` when it is raised and when it is over.

    `own_tools`: the functions of folders of Python tools, by folder. `refusals`: what the API refused, by name
    (`acta/infra/api/http_api.py`). `notify_queue` holds the notifications that could not be delivered yet; None
    where nobody is notified. `feeds`: the queues of the operator's event sources.
    """

    def __init__(
        self,
        scope: Construct,
        environment: Environment,
        topic: sns.ITopic,
        functions: Mapping[FunctionName, lambda_.IFunction],
        own_tools: Mapping[str, lambda_.IFunction],
        state_machine: sfn.IStateMachine,
        http_api: apigw.IHttpApi,
        refusals: Mapping[str, cloudwatch.IMetric],
        notify_queue: sqs.IQueue | None,
        feeds: EventFeeds,
    ) -> None:
        super().__init__(scope, "Raised")
        self._environment = environment
        self._action = actions.SnsAction(topic)
        self._of_each("Function", functions)
        self._of_requests()
        self._of_each("OwnTool", own_tools)
        self._of_runs(state_machine)
        server_errors = self._metric("Api5xx", "5xx", "AWS/ApiGateway", ApiId=http_api.api_id)
        for kind, metric in {"Api5xx": server_errors, **refusals}.items():
            self._alarm(kind, metric)
        usage = functions["usage"].function_name
        # The age, in milliseconds, of the oldest commit that is not yet counted in its tenant's usage.
        behind = {"FunctionName": usage, "Resource": f"{usage}:{ALIAS}"}
        self._alarm(
            "UsageBehind", self._metric("UsageBehind", "IteratorAge", "AWS/Lambda", "Maximum", **behind)
        )
        if "traces" in functions:
            for kind in (SPANS_LOST_METRIC, SPANS_WAITING_METRIC):
                self._alarm(kind, self._metric(kind, service=service_name("traces")))
            # Spans that `usage` could not hand over.
            lost = self._metric(SPANS_LOST_METRIC, service=service_name("usage"))
            self._alarm(SPANS_LOST_METRIC, lost, "usage")
        if notify_queue is not None:
            # A message between two attempts counts as in flight. The metric for the age of the oldest message would not
            # do: SQS leaves out messages that were received three times or more.
            waiting = notify_queue.metric_approximate_number_of_messages_not_visible(
                period=_period("NotificationsNotDelivered")
            )
            self._alarm("NotificationsNotDelivered", waiting)

        if feeds.queue is not None and feeds.failed is not None:
            failed = feeds.failed.metric_approximate_number_of_messages_visible(
                period=_period("EventsFailed")
            )
            self._alarm("EventsFailed", failed)
            oldest = feeds.queue.metric_approximate_age_of_oldest_message(period=_period("EventsBehind"))
            self._alarm("EventsBehind", oldest)

    def _of_each(self, prefix: str, functions: Mapping[Any, lambda_.IFunction]) -> None:
        for name, function in functions.items():
            errors, throttles = f"{prefix}Errors", f"{prefix}Throttles"
            self._alarm(errors, function.metric_errors(period=_period(errors)), name)
            self._alarm(throttles, function.metric_throttles(period=_period(throttles)), name)

    def _of_requests(self) -> None:
        for kind, metric, names in (
            ("NotRecorded", NOT_RECORDED_METRIC, RECORDING),
            ("SessionsHidden", SESSIONS_HIDDEN_METRIC, WITH_SESSIONS),
        ):
            for name in names:
                self._alarm(kind, self._metric(kind, metric, service=service_name(name)), name)

    def _of_runs(self, state_machine: sfn.IStateMachine) -> None:
        self._alarm("ExecutionsFailed", state_machine.metric_failed(period=_period("ExecutionsFailed")))
        self._alarm(
            "ExecutionsTimedOut", state_machine.metric_timed_out(period=_period("ExecutionsTimedOut"))
        )
        self._alarm("PackedPolicySize", self._metric("PackedPolicySize", statistic="Maximum"))
        refused = self._metric("KeysRefused", KEY_REFUSED_METRIC, service=service_name("step"))
        self._alarm("KeysRefused", refused)
        for kind in (
            "ProviderErrors",
            "SessionsStuck",
            "SessionsRecovered",
            "SchedulesFailing",
            "TriggersFailing",
        ):
            self._alarm(kind, self._metric(kind))
        for round in ROUNDS:
            self._alarm(
                "RecoveryStopped", self._metric("RecoveryStopped", "RecoveryRounds", round=round), round
            )
        most = self._environment.watch.usd_per_hour
        if most is not None:
            self._alarm("CostPerHour", self._metric("CostPerHour", "CostUsd"), threshold=most)

    def _alarm(
        self,
        kind: str,
        metric: cloudwatch.IMetric,
        function: str | None = None,
        *,
        threshold: float | None = None,
    ) -> None:
        """`function`: the function, folder of tools or round of recovery, for kinds of which each has an alarm.
        `threshold`: given where the environment decides it.
        """
        found = KINDS[kind]
        name = kind.removeprefix("Function") if function else kind
        name = f"{function.capitalize()}{name}" if function else name
        comparison = cloudwatch.ComparisonOperator
        missing = cloudwatch.TreatMissingData
        alarm = cloudwatch.Alarm(
            self,
            name,
            alarm_name=f"acta-{self._environment.name}-{name}",
            alarm_description=description(kind, self._environment.watch.runbook, function or ""),
            metric=metric,
            threshold=found.threshold if threshold is None else threshold,
            evaluation_periods=found.periods,
            comparison_operator=(
                comparison.LESS_THAN_THRESHOLD
                if found.below
                else comparison.GREATER_THAN_OR_EQUAL_TO_THRESHOLD
            ),
            treat_missing_data=missing.BREACHING if found.missing_is_bad else missing.NOT_BREACHING,
        )
        if found.missing_is_bad:
            # Of the time before the first deployment there is no data, which would raise the alarm.
            warm_up = cloudwatch.CfnAlarm.WarmUpConfigurationProperty(
                warm_up_period_duration_in_minutes=WARM_UP_MINUTES
            )
            cast(cloudwatch.CfnAlarm, alarm.node.default_child).warm_up_configuration = warm_up
        alarm.add_alarm_action(self._action)
        alarm.add_ok_action(self._action)

    def _metric(
        self, kind: str, metric: str = "", namespace: str = "", statistic: str = "Sum", **dimensions: str
    ) -> cloudwatch.Metric:
        """The metric over the period of the kind. `metric` empty: its name is that of the kind. `namespace` empty: a
        metric of the functions themselves, summed over all of them unless a `service` is named.
        """
        return cloudwatch.Metric(
            namespace=namespace or metrics_namespace(self._environment.name),
            metric_name=metric or kind,
            dimensions_map=dimensions,
            statistic=statistic,
            period=_period(kind),
        )


def _period(kind: str) -> Duration:
    return Duration.minutes(KINDS[kind].minutes)


READS_METRICS = "CloudWatchReadOnlyAccess"
"""The most that people in the Slack channel may ask of AWS. Without this policy the channel might do everything."""


class Receivers(Construct):
    """`self.topic`: the topic of alarms. Further receivers subscribe to its ARN, the output `AlarmsTopicArn`."""

    def __init__(self, scope: Construct, environment: Environment) -> None:
        super().__init__(scope, "Alarms")
        watch = environment.watch
        # Not encrypted with the AWS managed key for SNS: CloudWatch is not allowed to use that key.
        self.topic = sns.Topic(
            self, "Topic", enforce_ssl=True, display_name=f"Acta {environment.name}: alarms"
        )
        self._take_what_cloudwatch_says(environment.name)
        for address in watch.emails or ():
            self.topic.add_subscription(subscriptions.EmailSubscription(address))
        for url in watch.webhooks:
            self.topic.add_subscription(subscriptions.UrlSubscription(url))
        if watch.slack is not None:
            self._tell_slack(environment.name, watch.slack)
        if watch.budget is not None:
            self._watch_the_bill(environment.name, watch.budget)
        CfnOutput(Stack.of(self), "AlarmsTopicArn", value=self.topic.topic_arn).override_logical_id(
            "AlarmsTopicArn"
        )

    def _take_what_cloudwatch_says(self, name: str) -> None:
        """Lets CloudWatch publish. `enforce_ssl` creates a topic policy, which replaces the default one that lets
        everybody in the account publish. Source: AWS re:Post, "Why didn't I receive an SNS notification for my
        CloudWatch alarm trigger?".
        """
        alarms = Stack.of(self).format_arn(
            service="cloudwatch",
            resource="alarm",
            resource_name=f"acta-{name}-*",
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )
        self._let_publish("Alarms", "cloudwatch", {"ArnLike": {"aws:SourceArn": alarms}})

    def _let_publish(
        self, sid: str, service: str, conditions: Mapping[str, Mapping[str, str]] = MappingProxyType({})
    ) -> None:
        """Lets the service publish, but only in the name of this account."""
        self.topic.add_to_resource_policy(
            iam.PolicyStatement(
                sid=sid,
                principals=[iam.ServicePrincipal(f"{service}.amazonaws.com")],
                actions=["sns:Publish"],
                resources=[self.topic.topic_arn],
                conditions={"StringEquals": {"aws:SourceAccount": Stack.of(self).account}, **conditions},
            )
        )

    def _tell_slack(self, name: str, channel: SlackChannel) -> None:
        policy = iam.ManagedPolicy.from_aws_managed_policy_name(READS_METRICS)
        chatbot.SlackChannelConfiguration(
            self,
            "Slack",
            slack_channel_configuration_name=f"acta-{name}",
            slack_workspace_id=channel.workspace_id,
            slack_channel_id=channel.channel_id,
            notification_topics=[self.topic],
            guardrail_policies=[policy],
        )

    def _watch_the_bill(self, name: str, budget: MonthlyBudget) -> None:
        """AWS Budgets looks at the bill a few times a day, so it is hours behind."""
        self._let_publish("Budgets", "budgets")
        topic = budgets.CfnBudget.SubscriberProperty(subscription_type="SNS", address=self.topic.topic_arn)
        told = [
            budgets.CfnBudget.NotificationWithSubscribersProperty(
                notification=budgets.CfnBudget.NotificationProperty(
                    notification_type=kind,
                    comparison_operator="GREATER_THAN",
                    threshold=percent,
                    threshold_type="PERCENTAGE",
                ),
                subscribers=[topic],
            )
            for kind, percent in (("ACTUAL", budget.warn_at_percent), ("ACTUAL", 100), ("FORECASTED", 100))
        ]
        made = budgets.CfnBudget(
            self,
            "Budget",
            budget=budgets.CfnBudget.BudgetDataProperty(
                budget_name=f"acta-{name}",
                budget_type="COST",
                time_unit="MONTHLY",
                budget_limit=budgets.CfnBudget.SpendProperty(amount=budget.usd, unit="USD"),
                cost_filters={"TagKeyValue": [f"user:environment${name}"]} if budget.tagged_only else None,
            ),
            notifications_with_subscribers=told,
        )
        made.node.add_dependency(self.topic)
