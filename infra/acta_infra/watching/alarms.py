"""Alarms for an operator, each with what it means and where its runbook is. Which there are: `catalogue.py`."""

from collections.abc import Mapping
from typing import Any

from aws_cdk import Duration
from aws_cdk import aws_apigatewayv2 as apigw
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from acta_engine.api.operations import OPERATIONS, operations_in
from acta_engine.recovery.store import ROUNDS
from acta_engine.telemetry import (
    KEY_REFUSED_METRIC,
    NOT_RECORDED_METRIC,
    SESSIONS_HIDDEN_METRIC,
    SPANS_LOST_METRIC,
    SPANS_WAITING_METRIC,
)
from acta_infra.environments import Environment
from acta_infra.names import ALIAS, metrics_namespace, service_name
from acta_infra.sizing import FunctionName
from acta_infra.watching.catalogue import KINDS, description

ANSWERING = tuple(dict.fromkeys(route.function for route in OPERATIONS))
RECORDING = tuple(
    name for name in ANSWERING if any(route.action is not None for route in operations_in(name))
)
"""Functions that do what the audit trail has."""
WITH_SESSIONS = tuple(
    name for name in ANSWERING if any("{session_id}" in route.path for route in operations_in(name))
)
"""Functions that can be asked for somebody's private session."""


class Alarms(Construct):
    """Every alarm tells `topic` when it is raised and when it is over.

    `own_tools`: the functions of folders of Python tools, by folder. `refusals`: what the API refused, by name
    (`infra/acta_infra/api/http_api.py`). `notify_queue` holds the notifications that could not be delivered yet; None
    where nobody is notified.
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
    ) -> None:
        super().__init__(scope, "Raised")
        self._environment = environment
        self._action = actions.SnsAction(topic)
        self._of_each("Function", functions)
        self._of_requests()
        self._of_each("OwnTool", own_tools)
        self._of_runs(state_machine)
        self._of_the_api(http_api, refusals)
        usage = functions["usage"].function_name
        # How old the oldest commit is that is not in its tenant's usage, in milliseconds.
        behind = {"FunctionName": usage, "Resource": f"{usage}:{ALIAS}"}
        self._alarm(
            "UsageBehind", self._metric("UsageBehind", "IteratorAge", "AWS/Lambda", "Maximum", **behind)
        )
        if "traces" in functions:
            for kind in (SPANS_LOST_METRIC, SPANS_WAITING_METRIC):
                self._alarm(kind, self._metric(kind, service=service_name("traces")))
            # Those that were not handed over.
            lost = self._metric(SPANS_LOST_METRIC, service=service_name("usage"))
            self._alarm(SPANS_LOST_METRIC, lost, "usage")
        if notify_queue is not None:
            # A message between two attempts counts as in flight. The metric for the age of the oldest message would not
            # do: SQS leaves out messages that were received three times or more.
            waiting = notify_queue.metric_approximate_number_of_messages_not_visible(
                period=_period("NotificationsNotDelivered")
            )
            self._alarm("NotificationsNotDelivered", waiting)

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
        refused = self._metric("KeysRefused", KEY_REFUSED_METRIC, service=service_name("step"))
        self._alarm("KeysRefused", refused)
        for kind in ("ProviderErrors", "SessionsStuck", "SessionsRecovered"):
            self._alarm(kind, self._metric(kind))
        for round in ROUNDS:
            self._alarm(
                "RecoveryStopped", self._metric("RecoveryStopped", "RecoveryRounds", round=round), round
            )
        most = self._environment.watch.usd_per_hour
        if most is not None:
            self._alarm("CostPerHour", self._metric("CostPerHour", "CostUsd"), threshold=most)

    def _of_the_api(self, http_api: apigw.IHttpApi, refusals: Mapping[str, cloudwatch.IMetric]) -> None:
        server_errors = self._metric("Api5xx", "5xx", "AWS/ApiGateway", ApiId=http_api.api_id)
        for kind, metric in {"Api5xx": server_errors, **refusals}.items():
            self._alarm(kind, metric)

    def _alarm(
        self,
        kind: str,
        metric: cloudwatch.IMetric,
        function: str | None = None,
        *,
        threshold: float | None = None,
    ) -> None:
        """`function`: where each function, folder of tools or round of recovery has an alarm. `threshold`: where the
        environment says it.
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
        alarm.add_alarm_action(self._action)
        alarm.add_ok_action(self._action)

    def _metric(
        self, kind: str, metric: str = "", namespace: str = "", statistic: str = "Sum", **dimensions: str
    ) -> cloudwatch.Metric:
        """Over the period of the kind. `metric` empty: it is called like the kind. `namespace` empty: what the
        functions count themselves, all of them together unless a `service` is named.
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
