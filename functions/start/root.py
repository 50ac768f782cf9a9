"""Everything `start` needs, put together once per process."""

from functools import cache
from typing import NamedTuple

from shared.adapters.clock import SystemClock
from shared.adapters.dynamodb.definitions import DynamoDefinitions
from shared.adapters.dynamodb.index import DynamoIndex
from shared.adapters.dynamodb.log import DynamoLog
from shared.adapters.s3.blobs import S3Blobs
from shared.adapters.stepfunctions import StepFunctionsWorkflow
from shared.agent.journal import Journal
from shared.api.once import Once
from shared.ports.definitions import Definitions
from shared.ports.workflow import Workflow
from shared.settings import settings


class Root(NamedTuple):
    journal: Journal
    workflow: Workflow
    once: Once
    definitions: Definitions


@cache
def root() -> Root:
    chosen = settings()
    clock = SystemClock()
    return Root(
        journal=Journal(DynamoLog(chosen.table, clock), S3Blobs(chosen.bucket), clock),
        workflow=StepFunctionsWorkflow(chosen.state_machine_arn),
        once=Once(DynamoIndex(chosen.table, clock), clock),
        definitions=DynamoDefinitions(chosen.table, clock),
    )
