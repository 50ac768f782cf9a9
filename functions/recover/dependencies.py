"""Everything `recover` needs, put together once per process."""

from functools import cache
from typing import NamedTuple

from shared.adapters.aws.step_functions import StepFunctionsWorkflow
from shared.adapters.dynamodb.session_index import DynamoIndex
from shared.adapters.dynamodb.session_log import DynamoLog
from shared.adapters.s3.blobs import S3Blobs
from shared.adapters.system_clock import SystemClock
from shared.agent.recovery.unreadable import Unreadable
from shared.agent.session.repository import SessionRepository
from shared.ports.log import SessionIndex
from shared.ports.workflow import Workflow
from shared.settings import settings


class Dependencies(NamedTuple):
    """`grace`, `warn`: seconds, as in `SweepDeps` (`shared/agent/recovery/sweep.py`). `unreadable`: what this process
    could not read.
    """

    repository: SessionRepository
    session_index: SessionIndex
    workflow: Workflow
    grace: float
    warn: float
    unreadable: Unreadable


@cache
def dependencies() -> Dependencies:
    chosen = settings()
    clock = SystemClock()
    return Dependencies(
        repository=SessionRepository(
            DynamoLog(chosen.table, clock), S3Blobs(chosen.bucket), clock, write_version=chosen.write_version
        ),
        session_index=DynamoIndex(chosen.table, clock),
        workflow=StepFunctionsWorkflow(chosen.state_machine_arn),
        grace=chosen.recovery_grace_seconds,
        warn=chosen.intervention_warn_seconds,
        unreadable=Unreadable(),
    )
