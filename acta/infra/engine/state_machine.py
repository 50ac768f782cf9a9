"""The deployed state machine, with its role, its log and the functions' ARNs in its definition; and what calls
recovery.
"""

import json
from collections.abc import Mapping

from aws_cdk import ArnFormat, Duration, Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from acta.engine.recovery.aws import DETAIL_TYPE, ENDED, SOURCE
from acta.engine.recovery.store import ROUNDS
from acta.infra.data_stores import new_log_group
from acta.infra.engine.workflow import PLACEHOLDERS, definition
from acta.infra.environments import Environment
from acta.infra.names import machine_name
from acta.infra.sizing import FunctionName

_COLON = ArnFormat.COLON_RESOURCE_NAME


class StateMachine(Construct):
    """`self.machine` is the state machine.

    Its name is fixed. So functions get its ARN before it exists, while it needs the ARNs of the functions.
    """

    def __init__(
        self, scope: Construct, environment: Environment, called: Mapping[FunctionName, lambda_.IFunction]
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
    """The state machine's ARN, computed from its name, so the construct need not exist."""
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


WORTH_TELLING = Duration.minutes(5)
"""After this time the scan has found the session anyway. So an event that could not be delivered by then is dropped."""


def call_recovery(
    scope: Construct, recover: lambda_.Alias, machine: sfn.IStateMachine, *, admits: bool = False
) -> None:
    """Recovery is called for executions that end before their run does and, as a safety net, for each of its rounds
    every minute (docs/design/recovery.md 17).

    Calls `recover` with each execution of `machine` that was stopped, failed or ran out of time, and with each round
    every minute. `admits`: sessions may wait for their provider, so recovery also serves the providers' queues each
    minute (ADR 106).
    """
    queue = lambda_.EventInvokeConfig(
        scope,
        "RecoveryEvents",
        function=recover.lambda_,
        qualifier=recover.alias_name,
        max_event_age=WORTH_TELLING,  # in Lambda's own queue, where throttled calls wait
        retry_attempts=0,  # a failing round would run three times a minute; the next round does its work
    )
    queue.node.add_dependency(recover)
    events.Rule(
        scope,
        "ExecutionEnded",
        event_pattern=events.EventPattern(
            source=[SOURCE],
            detail_type=[DETAIL_TYPE],
            detail={"status": list(ENDED), "stateMachineArn": [machine.state_machine_arn]},
        ),
        targets=[targets.LambdaFunction(recover, max_event_age=WORTH_TELLING)],
    )
    each_minute: dict[str, dict[str, object]] = {
        f"EveryMinute{round.capitalize()}": {"round": round} for round in ROUNDS
    }
    if admits:
        each_minute["EveryMinuteOfALine"] = {"admit": True}
    for name, event in each_minute.items():
        target = targets.LambdaFunction(
            recover, retry_attempts=0, event=events.RuleTargetInput.from_object(event)
        )
        events.Rule(scope, name, schedule=events.Schedule.rate(Duration.minutes(1)), targets=[target])
