"""Alarms for an operator: failing functions and executions, 5xx answers and many refusals of the API, what the audit
trail lacks, refused keys, undelivered notifications, usage that is not counted."""

from collections.abc import Mapping

from aws_cdk import Duration
from aws_cdk import aws_apigatewayv2 as apigw
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from infra.names import ALIAS, metrics_namespace, service_name
from infra.sizing import FunctionName
from shared.api.routes import ROUTES
from shared.telemetry import KEY_REFUSED_METRIC, NOT_RECORDED_METRIC, SESSIONS_HIDDEN_METRIC

PERIOD = Duration.minutes(5)
MAX_RETRIED_ERRORS = 10
"""Errors per period that raise an alarm. The state machine retries transient errors, so a few are normal."""
MAX_REFUSALS = 100
"""Refusals per period that raise an alarm: requests without a good token or the role, or beyond a rate. Tokens that
have expired are refused on an ordinary day, too.
"""
MAX_BEHIND_MS = 15 * 60 * 1_000
"""How old the oldest commit may be that is not in its tenant's usage."""
RECORDING = tuple(dict.fromkeys(route.function for route in ROUTES if route.action is not None))
"""Functions that do what the audit trail has."""

WITH_SESSIONS = tuple(dict.fromkeys(route.function for route in ROUTES if "{session_id}" in route.path))
"""Functions that can be asked for somebody's private session."""


class Alarms(Construct):
    """`self.topic` gets every alarm; the person on call subscribes to it.

    `refusals`: what the API refused, by name (`infra/api/http_api.py`). `notify_queue` holds the notifications that
    could not be delivered yet; None where nobody is notified.
    """

    def __init__(
        self,
        scope: Construct,
        environment_name: str,
        functions: Mapping[FunctionName, lambda_.IFunction],
        state_machine: sfn.IStateMachine,
        http_api: apigw.IHttpApi,
        refusals: Mapping[str, cloudwatch.IMetric],
        notify_queue: sqs.IQueue | None,
    ) -> None:
        super().__init__(scope, "Alarms")
        # Not encrypted with the AWS managed key for SNS: CloudWatch is not allowed to use that key.
        self.topic = sns.Topic(self, "Topic", enforce_ssl=True)
        for name, function in functions.items():
            title = name.capitalize()
            self._alarm(f"{title}Errors", function.metric_errors(period=PERIOD), MAX_RETRIED_ERRORS)
            self._alarm(f"{title}Throttles", function.metric_throttles(period=PERIOD), 1)
        self._alarm("ExecutionsFailed", state_machine.metric_failed(period=PERIOD), MAX_RETRIED_ERRORS)
        self._alarm("ExecutionsTimedOut", state_machine.metric_timed_out(period=PERIOD), 1)
        server_errors = cloudwatch.Metric(
            namespace="AWS/ApiGateway",
            metric_name="5xx",
            dimensions_map={"ApiId": http_api.api_id},
            statistic="Sum",
            period=PERIOD,
        )
        self._alarm("Api5xx", server_errors, 5)
        self._alarm("KeysRefused", _counted(environment_name, KEY_REFUSED_METRIC, "step"), 1)
        for recording in RECORDING:
            missing = _counted(environment_name, NOT_RECORDED_METRIC, recording)
            self._alarm(f"{recording.capitalize()}NotRecorded", missing, 1)
        for asked in WITH_SESSIONS:
            hidden = _counted(environment_name, SESSIONS_HIDDEN_METRIC, asked)
            self._alarm(f"{asked.capitalize()}SessionsHidden", hidden, MAX_REFUSALS)
        for kind, refused in refusals.items():
            self._alarm(kind, refused, MAX_REFUSALS)
        counting = functions["usage"].function_name
        behind = cloudwatch.Metric(
            namespace="AWS/Lambda",
            metric_name="IteratorAge",
            dimensions_map={"FunctionName": counting, "Resource": f"{counting}:{ALIAS}"},
            statistic="Maximum",
            period=PERIOD,
        )
        self._alarm("UsageBehind", behind, MAX_BEHIND_MS, periods=3)
        if notify_queue is not None:
            # A message between two attempts counts as in flight. The metric for the age of the oldest message would not
            # do: SQS leaves out messages that were received three times or more.
            waiting = notify_queue.metric_approximate_number_of_messages_not_visible(period=PERIOD)
            self._alarm("NotificationsNotDelivered", waiting, 1, periods=3)

    def _alarm(self, name: str, metric: cloudwatch.IMetric, threshold: int, *, periods: int = 1) -> None:
        """Raises an alarm when `metric` reaches the threshold in that many periods in a row. No data is no alarm."""
        alarm = cloudwatch.Alarm(
            self,
            name,
            metric=metric,
            threshold=threshold,
            evaluation_periods=periods,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        alarm.add_alarm_action(actions.SnsAction(self.topic))


def _counted(environment_name: str, metric: str, function: FunctionName) -> cloudwatch.Metric:
    """What a function counts itself (`shared/telemetry.py`)."""
    return cloudwatch.Metric(
        namespace=metrics_namespace(environment_name),
        metric_name=metric,
        dimensions_map={"service": service_name(function)},
        statistic="Sum",
        period=PERIOD,
    )
