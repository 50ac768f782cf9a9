"""Alarms for an operator, each with what it means and where its runbook is. Which there are: `catalogue.py`."""

from collections.abc import Mapping
from types import MappingProxyType

from aws_cdk import Duration
from aws_cdk import aws_apigatewayv2 as apigw
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from infra.environments import Environment
from infra.names import ALIAS, metrics_namespace, service_name
from infra.sizing import FunctionName
from infra.watching.catalogue import KINDS, description
from shared.api.routes import ROUTES, routes_in
from shared.ports.deployment.recovery_scans import ROUNDS
from shared.telemetry import (
    KEY_REFUSED_METRIC,
    NOT_RECORDED_METRIC,
    SESSIONS_HIDDEN_METRIC,
    SPANS_LOST_METRIC,
    SPANS_WAITING_METRIC,
)

ANSWERING = tuple(dict.fromkeys(route.function for route in ROUTES))
RECORDING = tuple(name for name in ANSWERING if any(route.action is not None for route in routes_in(name)))
"""Functions that do what the audit trail has."""
WITH_SESSIONS = tuple(
    name for name in ANSWERING if any("{session_id}" in route.path for route in routes_in(name))
)
"""Functions that can be asked for somebody's private session."""


class Alarms(Construct):
    """Every alarm tells `topic` when it is raised and when it is over.

    `own_tools`: the functions of folders of Python tools, by folder. `refusals`: what the API refused, by name
    (`infra/api/http_api.py`). `notify_queue` holds the notifications that could not be delivered yet; None where nobody
    is notified.
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
        self._of_functions(functions)
        for folder, tools in own_tools.items():
            self._alarm("OwnToolErrors", tools.metric_errors(period=_period("OwnToolErrors")), folder)
            self._alarm(
                "OwnToolThrottles", tools.metric_throttles(period=_period("OwnToolThrottles")), folder
            )
        self._of_runs(state_machine, functions)
        self._of_the_api(http_api, refusals)
        self._alarm("UsageBehind", _behind(functions["usage"].function_name))
        if "traces" in functions:
            for kind in (SPANS_LOST_METRIC, SPANS_WAITING_METRIC):
                self._alarm(kind, self._counted(kind, kind, "traces"))
            # Those that were not handed over.
            lost = self._counted(SPANS_LOST_METRIC, SPANS_LOST_METRIC, "usage")
            self._alarm(SPANS_LOST_METRIC, lost, "usage")
        if notify_queue is not None:
            # A message between two attempts counts as in flight. The metric for the age of the oldest message would not
            # do: SQS leaves out messages that were received three times or more.
            waiting = notify_queue.metric_approximate_number_of_messages_not_visible(
                period=_period("NotificationsNotDelivered")
            )
            self._alarm("NotificationsNotDelivered", waiting)

    def _of_functions(self, functions: Mapping[FunctionName, lambda_.IFunction]) -> None:
        for name, function in functions.items():
            errors = function.metric_errors(period=_period("FunctionErrors"))
            throttles = function.metric_throttles(period=_period("FunctionThrottles"))
            self._alarm("FunctionErrors", errors, name)
            self._alarm("FunctionThrottles", throttles, name)
        for name in RECORDING:
            self._alarm("NotRecorded", self._counted("NotRecorded", NOT_RECORDED_METRIC, name), name)
        for name in WITH_SESSIONS:
            self._alarm("SessionsHidden", self._counted("SessionsHidden", SESSIONS_HIDDEN_METRIC, name), name)

    def _of_runs(
        self, state_machine: sfn.IStateMachine, functions: Mapping[FunctionName, lambda_.IFunction]
    ) -> None:
        self._alarm("ExecutionsFailed", state_machine.metric_failed(period=_period("ExecutionsFailed")))
        self._alarm(
            "ExecutionsTimedOut", state_machine.metric_timed_out(period=_period("ExecutionsTimedOut"))
        )
        self._alarm("KeysRefused", self._counted("KeysRefused", KEY_REFUSED_METRIC, "step"))
        for kind in ("ProviderErrors", "SessionsStuck", "SessionsRecovered"):
            self._alarm(kind, self._counted(kind, kind))
        for round in ROUNDS:
            ended = self._counted("RecoveryStopped", "RecoveryRounds", dimensions={"round": round})
            self._alarm("RecoveryStopped", ended, round)
        most = self._environment.watch.usd_per_hour
        if most is not None:
            self._alarm("CostPerHour", self._counted("CostPerHour", "CostUsd"), threshold=most)

    def _of_the_api(self, http_api: apigw.IHttpApi, refusals: Mapping[str, cloudwatch.IMetric]) -> None:
        server_errors = cloudwatch.Metric(
            namespace="AWS/ApiGateway",
            metric_name="5xx",
            dimensions_map={"ApiId": http_api.api_id},
            statistic="Sum",
            period=_period("Api5xx"),
        )
        self._alarm("Api5xx", server_errors)
        for kind, refused in refusals.items():
            self._alarm(kind, refused)

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

    def _counted(
        self,
        kind: str,
        metric: str,
        function: FunctionName | None = None,
        dimensions: Mapping[str, str] = MappingProxyType({}),
    ) -> cloudwatch.Metric:
        """What the functions count themselves: one function alone, or all of them."""
        return cloudwatch.Metric(
            namespace=metrics_namespace(self._environment.name),
            metric_name=metric,
            dimensions_map={"service": service_name(function)} if function else dict(dimensions),
            statistic="Sum",
            period=_period(kind),
        )


def _behind(function: str) -> cloudwatch.Metric:
    """How old the oldest commit is that is not in its tenant's usage, in milliseconds."""
    return cloudwatch.Metric(
        namespace="AWS/Lambda",
        metric_name="IteratorAge",
        dimensions_map={"FunctionName": function, "Resource": f"{function}:{ALIAS}"},
        statistic="Maximum",
        period=_period("UsageBehind"),
    )


def _period(kind: str) -> Duration:
    return Duration.minutes(KINDS[kind].minutes)
