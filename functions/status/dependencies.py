"""Everything `status` needs, put together once per process."""

import os
from functools import cache
from typing import NamedTuple

from shared.adapters.audit.trail import audit
from shared.adapters.dynamodb.attempts import DynamoPartials
from shared.adapters.dynamodb.deployment.long_polls import DynamoLongPolls
from shared.adapters.dynamodb.limits.rate_leases import DynamoRateLeases
from shared.adapters.dynamodb.session_index import DynamoIndex
from shared.adapters.dynamodb.session_log import DynamoLog
from shared.adapters.dynamodb.usage.store import DynamoUsage
from shared.adapters.s3.blobs import S3Blobs
from shared.adapters.system_clock import SystemClock
from shared.agent.queries.long_polls import LongPollLimit
from shared.api.limiter import Limiter, limiter_of
from shared.domain.spending.aws_estimate import AwsRates
from shared.domain.spending.aws_prices import prices_in
from shared.ports.attempts import Partials
from shared.ports.audit import Audit
from shared.ports.blobs import BlobStore
from shared.ports.clock import Clock
from shared.ports.log import SessionIndex, SessionLog
from shared.ports.meter import UsageReader
from shared.settings import Settings, settings


class Dependencies(NamedTuple):
    settings: Settings
    log: SessionLog
    blobs: BlobStore
    session_index: SessionIndex
    partials: Partials
    long_polls: LongPollLimit
    clock: Clock
    audit: Audit | None = None
    """For the pseudonyms in its log: what it does is not recorded."""
    rates: AwsRates = AwsRates(prices_in(""))
    limiter: Limiter | None = None
    usage: UsageReader | None = None


@cache
def dependencies() -> Dependencies:
    chosen = settings()
    clock = SystemClock()
    return Dependencies(
        settings=chosen,
        log=DynamoLog(chosen.table, clock),
        blobs=S3Blobs(chosen.session_bucket),
        session_index=DynamoIndex(chosen.table, clock),
        partials=DynamoPartials(chosen.table),
        long_polls=LongPollLimit(DynamoLongPolls(chosen.table), clock),
        clock=clock,
        rates=AwsRates(
            chosen.aws_prices or prices_in(os.environ.get("AWS_REGION", "")),
            os.uname().machine,
            chosen.step_memory_mb,
            chosen.tool_memory_mb,
        ),
        audit=audit(chosen, clock),
        limiter=limiter_of(chosen.limits, DynamoRateLeases(chosen.table), clock),
        usage=DynamoUsage(chosen.table, clock),
    )
