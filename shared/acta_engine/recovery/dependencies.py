"""Everything `recover` needs, put together once per process."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from acta_engine.aws.step_functions import StepFunctionsWorkflow
from acta_engine.clock import Clock
from acta_engine.limits.concurrency import LambdaConcurrency
from acta_engine.limits.dynamodb import DynamoLongPolls
from acta_engine.limits.store import LoadMeter, LongPollStore
from acta_engine.log.blobs import BlobStore
from acta_engine.log.dynamodb import DynamoLog
from acta_engine.log.dynamodb_index import DynamoIndex
from acta_engine.log.repository import SessionRepository
from acta_engine.log.s3_blobs import S3Blobs
from acta_engine.log.store import SessionIndex, SessionLog
from acta_engine.queue.dynamodb import DynamoAdmission
from acta_engine.queue.places import ProviderLimits
from acta_engine.queue.store import AdmissionStore
from acta_engine.recovery.dynamodb import DynamoRecoveryScans
from acta_engine.recovery.execution_events import StatusChanges
from acta_engine.recovery.lambda_workers import InvokedWorkers
from acta_engine.recovery.outage import OutageLimits
from acta_engine.recovery.scans import RecoveryScans
from acta_engine.recovery.sweep import Unreadable
from acta_engine.recovery.workers import RecoveryWorkers
from acta_engine.settings import settings
from acta_engine.system_clock import SystemClock
from acta_engine.turn.workflow import ExecutionEvents, Workflow

THREADS = 4
"""A session takes three or four requests, which an invocation mostly waits for."""


class Dependencies(NamedTuple):
    """`grace`, `warn`: seconds, as in `SweepDeps` (`shared/acta_engine/recovery/sweep.py`). `unreadable`: what this
    process could not read. `erase_again_after`: as `after` in `ErasureDeps`
    (`shared/acta_engine/sessions/erasure.py`). `load`: None where nothing measures it. `limits`: as in `restart`
    (`shared/acta_engine/recovery/restart.py`).
    """

    repository: SessionRepository
    session_index: SessionIndex
    workflow: Workflow
    execution_events: ExecutionEvents
    grace: float
    warn: float
    unreadable: Unreadable
    log: SessionLog
    blobs: BlobStore
    clock: Clock
    erase_again_after: float
    long_polls: LongPollStore
    load: LoadMeter | None
    scans: RecoveryScans
    limits: OutageLimits = OutageLimits()
    ended_sessions_days: int = 0
    """As `days` in `RetentionDeps` (`shared/acta_engine/sessions/retention.py`)."""
    admission: AdmissionStore | None = None
    provider_limits: Mapping[str, ProviderLimits] = MappingProxyType({})
    """As in `AdmitDeps` (`shared/acta_engine/queue/admit_one.py`)."""
    workers: RecoveryWorkers | None = None
    threads: int = 1
    """As in `SweepDeps`."""


@cache
def dependencies() -> Dependencies:
    chosen = settings()
    clock = SystemClock()
    log, blobs = DynamoLog(chosen.table, clock), S3Blobs(chosen.session_bucket)
    return Dependencies(
        repository=SessionRepository(
            log, blobs, clock, write_version=chosen.write_version, limits=chosen.limits
        ),
        session_index=DynamoIndex(chosen.table, clock),
        workflow=StepFunctionsWorkflow(chosen.state_machine_arn),
        execution_events=StatusChanges(),
        grace=chosen.recovery_grace_seconds,
        warn=chosen.intervention_warn_seconds,
        unreadable=Unreadable(),
        log=log,
        blobs=blobs,
        clock=clock,
        erase_again_after=chosen.erase_again_seconds,
        long_polls=DynamoLongPolls(chosen.table),
        load=LambdaConcurrency(chosen.status_function, chosen.status_concurrency)
        if chosen.measure_load
        else None,
        scans=DynamoRecoveryScans(chosen.table),
        limits=chosen.outage_limits,
        ended_sessions_days=chosen.ended_sessions_days,
        admission=DynamoAdmission(chosen.table),
        provider_limits=chosen.limits_of_providers,
        workers=InvokedWorkers(chosen.recover_function, chosen.recovery_workers)
        if chosen.recovery_workers
        else None,
        threads=THREADS,
    )
