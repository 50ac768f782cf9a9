"""Questions for Logs Insights, saved as `Acta/<env>/…` over the logs of all functions; also in `docs/operations.md`."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.environments import Environment
from infra.names import function_name

QUERIES: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "a session's story": (
            'filter session_id = "ses_01…"',
            "sort @timestamp asc",
            "display @timestamp, service, message, op, turn, status, error",
        ),
        "runs by how they ended, with what they cost": (
            'filter message = "run finished"',
            "stats count() as runs, sum(tokens) as tokens, sum(cost_usd) as usd, avg(seconds) as seconds by end",
            "sort runs desc",
        ),
        "which tenants' runs fail, and why": (
            'filter message = "run finished" and state = "failed"',
            "stats count() by tenant_hash, code",
        ),
        "what the engine had to try again": (
            'filter message = "failed"',
            "stats count() by error, service, bin(5m)",
        ),
        "refusals, by route and code": (
            'filter message = "answered" and status >= 400',
            "stats count() by route, status, code",
        ),
    }
)
"""Name -> its steps."""


def save_queries(scope: Construct, environment: Environment) -> None:
    groups = [f"/aws/lambda/{function_name(environment.name, each)}" for each in environment.functions]
    for number, (name, steps) in enumerate(QUERIES.items(), start=1):
        logs.CfnQueryDefinition(
            scope,
            f"Query{number}",
            name=f"Acta/{environment.name}/{name}",
            log_group_names=groups,
            query_string="\n| ".join(steps),
        )
