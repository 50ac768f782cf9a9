"""Everything `step` needs, put together once per process."""

import os
from functools import cache

from shared.adapters.clock import SystemClock
from shared.adapters.dynamodb.log import DynamoLog
from shared.adapters.llm.choose import choose
from shared.adapters.registry import BuiltinRegistry
from shared.adapters.s3.blobs import S3Blobs
from shared.adapters.secrets import secret_text
from shared.agent.agents import default_agent
from shared.agent.attempts import Attempts
from shared.agent.journal import Journal
from shared.agent.people import Timeouts
from shared.agent.worker import Worker
from shared.settings import settings


@cache
def worker() -> Worker:
    chosen = settings()
    clock = SystemClock()
    model, model_name = choose(chosen, os.environ, secret_text)
    return Worker(
        journal=Journal(DynamoLog(chosen.table, clock), S3Blobs(chosen.bucket), clock),
        model=model,
        model_name=model_name,
        agent=default_agent(chosen.max_output_tokens),
        registry=BuiltinRegistry(),
        timeouts=Timeouts(chosen.approval_timeout_seconds, chosen.intervention_warn_seconds),
        roll_over_events=chosen.roll_over_events,
        attempts=Attempts(),
    )
