"""What calls recovery: executions that end before their run does, and, as a net below, each of its rounds every minute
(design §2).
"""

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from shared.adapters.aws.execution_events import DETAIL_TYPE, ENDED, SOURCE
from shared.ports.deployment.recovery_scans import ROUNDS

WORTH_TELLING = Duration.minutes(5)
"""By then the scan has found the session. So an event that could not be delivered is dropped and kept nowhere."""


def call_recovery(
    scope: Construct, recover: lambda_.Alias, machine: sfn.IStateMachine, *, admits: bool = False
) -> None:
    """Calls `recover` with each execution of `machine` that was stopped, failed or ran out of time, and with each
    round every minute. `admits`: sessions may wait for their provider, so each minute it looks after their line, too
    (ADR 106).
    """
    queue = lambda_.EventInvokeConfig(
        scope,
        "RecoveryEvents",
        function=recover.lambda_,
        qualifier=recover.alias_name,
        max_event_age=WORTH_TELLING,  # in Lambda's own queue, where a call waits that is throttled
        retry_attempts=0,  # a round that is killed would be made thrice a minute; the next one does its work
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
