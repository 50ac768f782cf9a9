"""The Lambda of a folder of Python tools, with its log group and a role that reaches nothing of Acta (ADR 87)."""

import json

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from acta_infra.data_stores import new_log_group
from acta_infra.environments import Environment
from acta_infra.lambdas.function import ARCHITECTURES
from acta_infra.names import own_tool_function, own_tool_secret
from acta_infra.packaging.asset import code_of_folder
from acta_infra.packaging.tool_folders import HANDLER, BuiltFolder

SECRETS_VARIABLE = "ACTA_TOOL_SECRETS"
"""Read by `acta/tools/secrets.py`."""


class ToolFolderFunction(Construct):
    """`self.version`: what `tool` calls, the published version that belongs to this release; None locally, where the
    newest code is called. It has no URL, no alias and no permission for anybody: who may invoke it is what roles say,
    and of Acta's only that of `tool` does.
    """

    def __init__(self, scope: Construct, environment: Environment, built: BuiltFolder) -> None:
        folder = built.folder
        super().__init__(scope, f"Tools-{folder.name}")
        name = own_tool_function(environment.name, folder.name)
        log_group = new_log_group(self, "Logs", f"/aws/lambda/{name}", environment)
        secrets = {each: own_tool_secret(environment.name, folder.name, each) for each in folder.secrets}
        self.function = lambda_.Function(
            self,
            "Function",
            function_name=name,
            runtime=lambda_.Runtime("python{}.{}".format(*environment.python), lambda_.RuntimeFamily.PYTHON),
            architecture=ARCHITECTURES[environment.architecture],
            current_version_options=lambda_.VersionOptions(
                removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
            ),
            code=code_of_folder(built),
            handler=HANDLER,
            role=self._role(log_group, list(secrets.values())),
            memory_size=folder.memory,
            timeout=Duration.seconds(built.timeout_seconds),
            log_group=log_group,
            tracing=lambda_.Tracing.DISABLED,  # its role writes its logs and nothing else
            environment={
                **(folder.variables or {}),
                **({SECRETS_VARIABLE: json.dumps(secrets, separators=(",", ":"))} if secrets else {}),
                "PYDANTIC_DISABLE_PLUGINS": "__all__",
            },
        )
        self.version = None if environment.is_local else self.function.current_version.version

    def _role(self, log_group: logs.ILogGroup, secrets: list[str]) -> iam.IRole:
        statements = [
            iam.PolicyStatement(
                sid="Logs",
                actions=["logs:CreateLogStream", "logs:PutLogEvents"],
                resources=[log_group.log_group_arn],
            )
        ]
        if secrets:
            stack = Stack.of(self)
            prefix = f"arn:{stack.partition}:secretsmanager:{stack.region}:{stack.account}:secret:"
            statements.append(
                iam.PolicyStatement(
                    sid="Secrets",
                    actions=["secretsmanager:GetSecretValue"],
                    # Secrets Manager ends each ARN with six characters of its own.
                    resources=[f"{prefix}{name}-??????" for name in secrets],
                )
            )
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
            inline_policies={"acta": iam.PolicyDocument(statements=statements)},
        )
        return role.without_policy_updates()
