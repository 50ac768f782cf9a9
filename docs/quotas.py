"""What AWS and a provider of models allow an account by default: one table, with where it stands and when it was read.

Read in copies of these pages, which may be some weeks older than the day. A quota that is `adjustable` is raised by a
request. Most of AWS's are per account and region; those of Step Functions are higher in three regions.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from acta.infra.sizing import LARGE_REGIONS, STARTS_A_SECOND

READ_ON = "2026-11-23"
STEP_FUNCTIONS = "https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html"
LAMBDA = "https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html"
DYNAMODB = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html"
GATEWAY = "https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html"
CLAUDE = "https://platform.claude.com/docs/en/api/rate-limits"


class Quota(NamedTuple):
    """`large`: in `LARGE_REGIONS`; `other`: elsewhere. `burst`: of a token bucket, in the same order. `adjustable`: who
    asks gets more of it.
    """

    what: str
    large: float
    other: float
    unit: str
    adjustable: bool
    source: str
    burst: tuple[float, float] = (0, 0)
    read_on: str = READ_ON

    def of(self, region: str | None) -> float:
        return self.large if region in LARGE_REGIONS else self.other

    def burst_of(self, region: str | None) -> float:
        return self.burst[0] if region in LARGE_REGIONS else self.burst[1]


QUOTAS: Mapping[str, Quota] = MappingProxyType(
    {
        "StartExecution": Quota(
            "starts of executions", *STARTS_A_SECOND, "a second", True, STEP_FUNCTIONS, (1_300, 800)
        ),
        "DescribeExecution": Quota(
            "looks at an execution", 15, 10, "a second", True, STEP_FUNCTIONS, (300, 250)
        ),
        "ListExecutions": Quota(
            "pages of 1,000 executions", 5, 2, "a second", True, STEP_FUNCTIONS, (200, 100)
        ),
        "SendTaskSuccess": Quota(
            "wake-ups of executions", 500, 300, "a second", True, STEP_FUNCTIONS, (3_000, 1_500)
        ),
        "StateTransition": Quota("transitions", 5_000, 800, "a second", True, STEP_FUNCTIONS, (5_000, 800)),
        "OpenExecutions": Quota("open executions", 1_000_000, 1_000_000, "at once", True, STEP_FUNCTIONS),
        "Concurrency": Quota("Lambda functions at work", 1_000, 1_000, "at once", True, LAMBDA),
        "ConcurrencyScaling": Quota(
            "more of one Lambda function", 100, 100, "a second", False, LAMBDA, (1_000, 1_000)
        ),
        "TableWrites": Quota("write units of a table", 40_000, 40_000, "a second", True, DYNAMODB),
        "TableReads": Quota("read units of a table", 40_000, 40_000, "a second", True, DYNAMODB),
        "PartitionWrites": Quota("write units of a partition", 1_000, 1_000, "a second", False, DYNAMODB),
        "PartitionReads": Quota("read units of a partition", 3_000, 3_000, "a second", False, DYNAMODB),
        "Requests": Quota("requests to HTTP APIs", 10_000, 10_000, "a second", True, GATEWAY, (5_000, 5_000)),
        "ModelRequests": Quota(
            "requests of a key to Claude Sonnet 5, tier Scale", 10_000, 10_000, "a minute", True, CLAUDE
        ),
        "ModelInput": Quota(
            "tokens of input that no cache has, the same", 10_000_000, 10_000_000, "a minute", True, CLAUDE
        ),
        "ModelOutput": Quota("tokens of output, the same", 2_000_000, 2_000_000, "a minute", True, CLAUDE),
    }
)
