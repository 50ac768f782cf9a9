"""Everything `status` needs, put together once per process."""

import os
from functools import cache
from typing import NamedTuple

from acta_engine.audit.store import Audit
from acta_engine.audit.trail import audit
from acta_engine.clock import Clock
from acta_engine.limits.dynamodb import DynamoLongPolls, DynamoRateLeases
from acta_engine.limits.limiter import Limiter, limiter_of
from acta_engine.limits.long_polls import LongPollLimit
from acta_engine.log.attempts import Partials
from acta_engine.log.blobs import BlobStore
from acta_engine.log.dynamodb import DynamoLog
from acta_engine.log.dynamodb_attempts import DynamoPartials
from acta_engine.log.dynamodb_index import DynamoIndex
from acta_engine.log.s3_blobs import S3Blobs
from acta_engine.log.store import SessionIndex, SessionLog
from acta_engine.settings import Settings, settings
from acta_engine.system_clock import SystemClock
from acta_engine.usage.aws_estimate import AwsRates
from acta_engine.usage.aws_prices import prices_in
from acta_engine.usage.dynamodb import DynamoUsage
from acta_engine.usage.store import UsageReader


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
