"""Log groups: how long CloudWatch keeps a log, and whether it outlives its stack."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.environments import Environment

_DAYS = {
    1: logs.RetentionDays.ONE_DAY,
    7: logs.RetentionDays.ONE_WEEK,
    14: logs.RetentionDays.TWO_WEEKS,
    30: logs.RetentionDays.ONE_MONTH,
    90: logs.RetentionDays.THREE_MONTHS,
    180: logs.RetentionDays.SIX_MONTHS,
    365: logs.RetentionDays.ONE_YEAR,
}


def new_log_group(scope: Construct, id: str, name: str, environment: Environment) -> logs.LogGroup:
    """`name`: CloudWatch's for it. Where data outlives the stack, what was logged about it does, too: it still ends
    after its retention. Raises ValueError for an `Environment.log_retention_days` that CloudWatch does not accept.
    """
    days = environment.log_retention_days
    if days not in _DAYS:
        raise ValueError(f"log_retention_days is one of {sorted(_DAYS)}, not {days}")
    return logs.LogGroup(
        scope,
        id,
        log_group_name=name,
        retention=_DAYS[days],
        removal_policy=RemovalPolicy.RETAIN if environment.retain else RemovalPolicy.DESTROY,
    )
