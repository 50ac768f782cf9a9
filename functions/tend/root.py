"""Everything `tend` needs, put together once per process."""

from functools import cache
from typing import NamedTuple

from shared.adapters.clock import SystemClock
from shared.adapters.dynamodb.index import DynamoIndex
from shared.adapters.dynamodb.log import DynamoLog
from shared.adapters.s3.blobs import S3Blobs
from shared.adapters.stepfunctions import StepFunctionsWorkflow
from shared.agent.journal import Journal
from shared.ports.log import SessionIndex
from shared.ports.workflow import Workflow
from shared.settings import settings


class Root(NamedTuple):
    journal: Journal
    directory: SessionIndex
    workflow: Workflow
    grace: float
    warn: float


@cache
def root() -> Root:
    chosen = settings()
    clock = SystemClock()
    return Root(
        journal=Journal(DynamoLog(chosen.table, clock), S3Blobs(chosen.bucket), clock),
        directory=DynamoIndex(chosen.table, clock),
        workflow=StepFunctionsWorkflow(chosen.state_machine_arn),
        grace=chosen.tend_grace_seconds,
        warn=chosen.intervention_warn_seconds,
    )
