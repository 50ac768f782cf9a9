"""The state machine as it is deployed: its role, its log and the definition with the functions' ARNs."""

import json
from collections.abc import Mapping

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from infra.engine.workflow import PLACEHOLDERS, definition
from infra.environments import Environment
from infra.log_retention import new_log_group
from infra.names import machine_name
from infra.sizing import FunctionName

_COLON = ArnFormat.COLON_RESOURCE_NAME


class StateMachine(Construct):
    """`self.machine` is the state machine.

    Its name is fixed. So functions get its ARN before it exists, while it needs the ARNs of the functions.
    """

    def __init__(
        self,
        scope: Construct,
        environment: Environment,
        called: Mapping[FunctionName, lambda_.IFunction],
    ) -> None:
        """`called`: the aliases of the functions."""
        super().__init__(scope, "Workflow")
        arns = {name: called[function].function_arn for name, function in PLACEHOLDERS.items()}
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("states.amazonaws.com"),
            inline_policies={
                "acta": iam.PolicyDocument(
                    statements=[
                        iam.PolicyStatement(
                            sid="Functions",
                            actions=["lambda:InvokeFunction"],
                            resources=list(dict.fromkeys(arns.values())),
                        )
                    ]
                )
            },
        )
        log_group = new_log_group(
            self, "Logs", f"/aws/vendedlogs/states/{machine_name(environment.name)}", environment
        )
        self.machine = sfn.StateMachine(
            self,
            "Machine",
            state_machine_name=machine_name(environment.name),
            state_machine_type=sfn.StateMachineType.STANDARD,
            definition_body=sfn.DefinitionBody.from_string(json.dumps(definition(environment))),
            definition_substitutions=arns,
            role=role,
            logs=sfn.LogOptions(
                destination=log_group, level=sfn.LogLevel.ERROR, include_execution_data=False
            ),
            tracing_enabled=not environment.is_local,
        )


def machine_arn(stack: Stack, environment: Environment) -> str:
    """Known from the name, without the construct."""
    return stack.format_arn(
        service="states",
        resource="stateMachine",
        resource_name=machine_name(environment.name),
        arn_format=_COLON,
    )


def execution_arns(stack: Stack, environment: Environment) -> str:
    """A pattern for the executions of this state machine and of no other."""
    return stack.format_arn(
        service="states",
        resource="execution",
        resource_name=f"{machine_name(environment.name)}:*",
        arn_format=_COLON,
    )
