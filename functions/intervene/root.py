"""Everything `intervene` needs, put together once per process."""

from functools import cache
from typing import NamedTuple

from shared.adapters.clock import SystemClock
from shared.adapters.dynamodb.definitions import DynamoDefinitions
from shared.adapters.dynamodb.index import DynamoIndex
from shared.adapters.dynamodb.log import DynamoLog
from shared.adapters.registry import TenantRegistry
from shared.adapters.s3.blobs import S3Blobs
from shared.adapters.stepfunctions import StepFunctionsWorkflow
from shared.agent.journal import Journal
from shared.agent.people import Timeouts
from shared.agent.resolve import Desk
from shared.api.once import Once
from shared.ports.blobs import BlobStore
from shared.ports.log import SessionLog
from shared.settings import settings


class Root(NamedTuple):
    desk: Desk
    log: SessionLog
    blobs: BlobStore
    once: Once
    timeouts: Timeouts


@cache
def root() -> Root:
    chosen = settings()
    clock = SystemClock()
    log, blobs = DynamoLog(chosen.table, clock), S3Blobs(chosen.bucket)
    directory = DynamoIndex(chosen.table, clock)
    return Root(
        desk=Desk(
            journal=Journal(log, blobs, clock),
            directory=directory,
            workflow=StepFunctionsWorkflow(chosen.state_machine_arn),
            registry=TenantRegistry(DynamoDefinitions(chosen.table, clock).at),
            max_answer_chars=chosen.max_message_chars,
        ),
        log=log,
        blobs=blobs,
        once=Once(directory, clock),
        timeouts=Timeouts(chosen.approval_timeout_seconds, chosen.intervention_warn_seconds),
    )
