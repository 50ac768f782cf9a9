"""What wakes an operator: functions that break, executions that fail, an API that answers 5xx."""

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

from infra.environments import FunctionName

PERIOD = Duration.minutes(5)
RETRIED = 10
"""Errors per period: the engine retries what is transient, so a few of them are an ordinary day."""


class Alarms(Construct):
    """`self.topic` gets every alarm; whoever is on call subscribes to it."""

    def __init__(
        self,
        scope: Construct,
        functions: Mapping[FunctionName, lambda_.IFunction],
        state_machine: sfn.IStateMachine,
        http_api: apigw.IHttpApi,
        untold: sqs.IQueue | None,
    ) -> None:
        super().__init__(scope, "Alarms")
        # Not encrypted with the account's SNS key: CloudWatch may not publish through it.
        self.topic = sns.Topic(self, "Topic", enforce_ssl=True)
        for name, function in functions.items():
            title = name.capitalize()
            self._alarm(f"{title}Errors", function.metric_errors(period=PERIOD), RETRIED)
            self._alarm(f"{title}Throttles", function.metric_throttles(period=PERIOD), 1)
        self._alarm("ExecutionsFailed", state_machine.metric_failed(period=PERIOD), RETRIED)
        self._alarm("ExecutionsTimedOut", state_machine.metric_timed_out(period=PERIOD), 1)
        server_errors = cloudwatch.Metric(
            namespace="AWS/ApiGateway",
            metric_name="5xx",
            dimensions_map={"ApiId": http_api.api_id},
            statistic="Sum",
            period=PERIOD,
        )
        self._alarm("Api5xx", server_errors, 5)
        if untold is not None:
            # Between its attempts a message is in flight. The queue's age leaves out what was tried three times.
            waiting = untold.metric_approximate_number_of_messages_not_visible(period=PERIOD)
            self._alarm("NotificationsNotDelivered", waiting, 1, periods=3)

    def _alarm(self, name: str, metric: cloudwatch.IMetric, threshold: int, *, periods: int = 1) -> None:
        """Fires when `metric` reaches the threshold in so many periods in a row; no data is good news."""
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
