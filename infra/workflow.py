"""The state machine: `state_machine.asl.json` as it is, but for the retry base and the ARNs."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from aws_cdk import ArnFormat, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from infra.environments import Environment, FunctionName
from infra.retention import retention

_COLON = ArnFormat.COLON_RESOURCE_NAME

FILE = Path(__file__).with_name("state_machine.asl.json")
PLACEHOLDERS: Mapping[str, FunctionName] = {
    "StepFunctionArn": "step",
    "ToolFunctionArn": "tool",
    "InterveneFunctionArn": "intervene",
}
"""`${…}` in the file -> the function whose ARN stands there when it is deployed."""


class Workflow(Construct):
    """`self.state_machine`. Its name is fixed, so that functions know its ARN before it exists: it needs theirs."""

    def __init__(
        self, scope: Construct, environment: Environment, functions: Mapping[FunctionName, lambda_.IFunction]
    ) -> None:
        super().__init__(scope, "Workflow")
        arns = {name: functions[function].function_arn for name, function in PLACEHOLDERS.items()}
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("states.amazonaws.com"),
            inline_policies={
                "acta": iam.PolicyDocument(
                    statements=[
                        iam.PolicyStatement(
                            sid="Functions", actions=["lambda:InvokeFunction"], resources=list(arns.values())
                        )
                    ]
                )
            },
        )
        log_group = logs.LogGroup(
            self,
            "Logs",
            log_group_name=f"/aws/vendedlogs/states/{machine_name(environment)}",
            retention=retention(environment.log_retention_days),
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.state_machine = sfn.StateMachine(
            self,
            "Machine",
            state_machine_name=machine_name(environment),
            state_machine_type=sfn.StateMachineType.STANDARD,
            definition_body=sfn.DefinitionBody.from_string(json.dumps(definition(environment))),
            definition_substitutions=arns,
            role=role,
            logs=sfn.LogOptions(
                destination=log_group, level=sfn.LogLevel.ERROR, include_execution_data=False
            ),
            tracing_enabled=not environment.is_local,
        )


def machine_name(environment: Environment) -> str:
    return f"acta-{environment.name}"


def machine_arn(stack: Stack, environment: Environment) -> str:
    return stack.format_arn(
        service="states",
        resource="stateMachine",
        resource_name=machine_name(environment),
        arn_format=_COLON,
    )


def execution_arns(stack: Stack, environment: Environment) -> str:
    """Every execution of this machine and of no other."""
    return stack.format_arn(
        service="states",
        resource="execution",
        resource_name=f"{machine_name(environment)}:*",
        arn_format=_COLON,
    )


def definition(environment: Environment) -> dict[str, Any]:
    """The parsed file with its retry intervals, which are multiples of the base, in seconds.

    Raises ValueError where a Task's own timeout would end it before its function's: the engine would then start a
    second worker while the first still runs.
    """
    if environment.retry_base_seconds < 1:
        raise ValueError("retry_base_seconds is a whole number of seconds, at least 1")
    parsed: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    for name, state in states(parsed):
        for retrier in state.get("Retry", ()):
            for field in ("IntervalSeconds", "MaxDelaySeconds"):
                if field in retrier:
                    retrier[field] *= environment.retry_base_seconds
        limit = state.get("TimeoutSeconds")
        if isinstance(limit, int):
            function = PLACEHOLDERS[state["Arguments"]["FunctionName"].strip("${}")]
            if limit <= environment.sizes[function].timeout:
                raise ValueError(f"{name} in {FILE.name} times out before its function {function!r} does")
    return parsed


def states(machine: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every state by name, those inside a Map too."""
    for name, state in machine["States"].items():
        yield name, state
        if "ItemProcessor" in state:
            yield from states(state["ItemProcessor"])
