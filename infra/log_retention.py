"""How long CloudWatch keeps a log, and whether it outlives its stack."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_logs as logs

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


def retention(days: int) -> logs.RetentionDays:
    """CDK's value for `days` (`Environment.log_retention_days`). Raises ValueError for a number not listed: CloudWatch
    accepts certain ones only.
    """
    if days not in _DAYS:
        raise ValueError(f"log_retention_days is one of {sorted(_DAYS)}, not {days}")
    return _DAYS[days]


def log_removal(environment: Environment) -> RemovalPolicy:
    """Where data outlives the stack, what was logged about it does, too: it still ends after its retention."""
    return RemovalPolicy.RETAIN if environment.retain else RemovalPolicy.DESTROY
