"""Moves the aliases of a release step by step, and back if the new version fails more often than the old one.

CodeDeploy does this while CloudFormation updates an alias. If CodeDeploy stops, the update fails, and CloudFormation
moves all aliases back, even those that had already moved.
"""

from collections.abc import Mapping

from aws_cdk import Duration
from aws_cdk import aws_apigatewayv2 as apigw
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_codedeploy as codedeploy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from acta.infra.environments import Environment
from acta.infra.names import ALIAS, function_name
from acta.infra.options import AtOnce, Canary, Linear
from acta.infra.sizing import FunctionName
from acta.infra.watching.alarms import MAX_SERVER_ERRORS, description

PERIOD = Duration.minutes(1)
FEWEST_ERRORS = 3
"""The least number of errors of the new version in a minute that can take a release back."""
WORSE = 2
"""How many times as often calls of the new version have to fail as calls of the old one."""
WORSE_THAN_THE_OLD = (
    "IF(all_calls > new_calls AND new_errors >= {fewest} "
    "AND new_errors * (all_calls - new_calls) >= {worse} * new_calls * (all_errors - new_errors), 1, 0)"
)
"""An outage of a provider or of AWS fails calls of both versions, so it takes nothing back. If the old version gets no
calls any more, there is nothing to compare with and nothing to take back."""


class GradualRollOut(Construct):
    """Creates nothing if the environment's `roll_out` is `AtOnce`."""

    def __init__(
        self,
        scope: Construct,
        environment: Environment,
        aliases: Mapping[FunctionName, lambda_.Alias],
        http_api: apigw.IHttpApi,
    ) -> None:
        super().__init__(scope, "RollOut")
        self._runbook = environment.watch.runbook
        way = environment.roll_out
        if isinstance(way, AtOnce):
            return
        application = codedeploy.LambdaApplication(
            self, "Application", application_name=f"acta-{environment.name}"
        )
        role = self._role(aliases)
        metric = _sum("5xx", "AWS/ApiGateway", ApiId=http_api.api_id)
        says = description("RollOutApiFails", self._runbook)
        server_errors = self._alarm("ApiFails", metric, MAX_SERVER_ERRORS, says)
        for name, alias in aliases.items():
            codedeploy.LambdaDeploymentGroup(
                self,
                name.capitalize(),
                application=application,
                deployment_group_name=function_name(environment.name, name),
                deployment_config=_configuration(way),
                alias=alias,
                alarms=[self._worse(name, alias), server_errors],
                auto_rollback=codedeploy.AutoRollbackConfig(
                    failed_deployment=True, stopped_deployment=True, deployment_in_alarm=True
                ),
                role=role,
            )

    def _role(self, aliases: Mapping[FunctionName, lambda_.Alias]) -> iam.IRole:
        """CodeDeploy's role. It does not use AWS's managed policy, which reaches every function of the account."""
        own = [alias.lambda_.function_arn for alias in aliases.values()]
        functions = [arn for each in own for arn in (each, f"{each}:{ALIAS}")]
        moves = iam.PolicyStatement(
            sid="Aliases",
            actions=["lambda:GetAlias", "lambda:GetProvisionedConcurrencyConfig", "lambda:UpdateAlias"],
            resources=functions,
        )
        looks = iam.PolicyStatement(sid="Alarms", actions=["cloudwatch:DescribeAlarms"], resources=["*"])
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("codedeploy.amazonaws.com"),
            inline_policies={"acta": iam.PolicyDocument(statements=[moves, looks])},
        )
        return role.without_policy_updates()

    def _worse(self, name: FunctionName, alias: lambda_.Alias) -> cloudwatch.IAlarm:
        """The alarm for a worse version. It is raised only while an alias names two versions; nobody is told."""
        function = alias.lambda_.function_name
        both = {"FunctionName": function, "Resource": f"{function}:{alias.alias_name}"}
        new = {**both, "ExecutedVersion": alias.version.version}
        compared = cloudwatch.MathExpression(
            expression=WORSE_THAN_THE_OLD.format(fewest=FEWEST_ERRORS, worse=WORSE),
            label="the new version fails more than the old one",
            using_metrics={
                "all_calls": _sum("Invocations", **both),
                "all_errors": _sum("Errors", **both),
                "new_calls": _sum("Invocations", **new),
                "new_errors": _sum("Errors", **new),
            },
            period=PERIOD,
        )
        says = description("NewVersionWorse", self._runbook, name)
        return self._alarm(f"{name.capitalize()}Worse", compared, 1, says)

    def _alarm(self, name: str, metric: cloudwatch.IMetric, threshold: int, says: str) -> cloudwatch.Alarm:
        return cloudwatch.Alarm(
            self,
            name,
            alarm_description=says,
            metric=metric,
            threshold=threshold,
            evaluation_periods=1,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )


def _sum(metric: str, namespace: str = "AWS/Lambda", **dimensions: str) -> cloudwatch.Metric:
    return cloudwatch.Metric(
        namespace=namespace, metric_name=metric, dimensions_map=dimensions, statistic="Sum", period=PERIOD
    )


def _configuration(way: Canary | Linear) -> codedeploy.ILambdaDeploymentConfig:
    """One of AWS's own deployment configurations, as CDK names it."""
    minutes = f"{way.minutes}_MINUTE{'S' if way.minutes > 1 else ''}"
    name = f"CANARY_10_PERCENT_{minutes}" if isinstance(way, Canary) else f"LINEAR_10_PERCENT_EVERY_{minutes}"
    found: codedeploy.ILambdaDeploymentConfig = getattr(codedeploy.LambdaDeploymentConfig, name)
    return found
