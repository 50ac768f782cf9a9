"""Everything `step` needs, put together once per process."""

import os
from functools import cache

from shared.adapters.clock import SystemClock
from shared.adapters.dynamodb.definitions import DynamoDefinitions
from shared.adapters.dynamodb.index import DynamoIndex
from shared.adapters.dynamodb.log import DynamoLog
from shared.adapters.dynamodb.memories import DynamoMemories
from shared.adapters.llm.catalogue import context_window
from shared.adapters.llm.choose import choose_for
from shared.adapters.registry import TenantRegistry
from shared.adapters.s3.blobs import S3Blobs
from shared.adapters.secrets import secret_text
from shared.agent.attempts import Attempts
from shared.agent.journal import Journal
from shared.agent.leasing import HourlyLimit
from shared.agent.people import Timeouts
from shared.agent.recollection import Recollections
from shared.agent.worker import Worker
from shared.domain.agent import AgentDefinition, Purpose
from shared.ports.model import Model
from shared.settings import settings


@cache
def worker() -> Worker:
    chosen = settings()
    clock = SystemClock()
    journal = Journal(DynamoLog(chosen.table, clock), S3Blobs(chosen.bucket), clock)
    timeouts = Timeouts(chosen.approval_timeout_seconds, chosen.intervention_warn_seconds)
    definitions = DynamoDefinitions(chosen.table, clock)
    directory = DynamoIndex(chosen.table, clock)
    return Worker(
        journal=journal,
        choose_model=_choose_model,
        definitions=definitions,
        recollections=Recollections(DynamoMemories(chosen.table, clock)),
        registry=TenantRegistry(definitions.last),
        timeouts=timeouts,
        hourly=HourlyLimit(journal, directory, timeouts, chosen.tenant_tokens_per_hour),
        attempts=Attempts(),
        roll_over_events=chosen.roll_over_events,
        max_output_tokens=chosen.max_output_tokens,
        context_window=lambda model: chosen.context_window_tokens or context_window(model),
    )


def _choose_model(agent: AgentDefinition, purpose: Purpose) -> tuple[Model, str]:
    model = agent.model_for(purpose)
    return choose_for(settings(), os.environ, secret_text, agent.provider, model, agent.protocol)
