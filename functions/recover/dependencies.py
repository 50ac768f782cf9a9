"""Everything `recover` needs, put together once per process."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from shared.adapters.aws.concurrency import LambdaConcurrency
from shared.adapters.aws.execution_events import StatusChanges
from shared.adapters.aws.recovery_workers import InvokedWorkers
from shared.adapters.aws.step_functions import StepFunctionsWorkflow
from shared.adapters.dynamodb.deployment.admission import DynamoAdmission
from shared.adapters.dynamodb.deployment.long_polls import DynamoLongPolls
from shared.adapters.dynamodb.deployment.recovery_scans import DynamoRecoveryScans
from shared.adapters.dynamodb.session_index import DynamoIndex
from shared.adapters.dynamodb.session_log import DynamoLog
from shared.adapters.s3.blobs import S3Blobs
from shared.adapters.system_clock import SystemClock
from shared.agent.recovery.sweep import Unreadable
from shared.agent.session.repository import SessionRepository
from shared.domain.limits.admission import ProviderLimits
from shared.domain.rules.outage import OutageLimits
from shared.ports.blobs import BlobStore
from shared.ports.clock import Clock
from shared.ports.deployment.admission import AdmissionStore
from shared.ports.deployment.recovery_scans import RecoveryScans
from shared.ports.deployment.recovery_workers import RecoveryWorkers
from shared.ports.load import LoadMeter, LongPollStore
from shared.ports.log import SessionIndex, SessionLog
from shared.ports.workflow import ExecutionEvents, Workflow
from shared.settings import settings

THREADS = 4
"""A session takes three or four requests, which an invocation mostly waits for."""


class Dependencies(NamedTuple):
    """`grace`, `warn`: seconds, as in `SweepDeps` (`shared/agent/recovery/sweep.py`). `unreadable`: what this process
    could not read. `erase_again_after`: as `after` in `ErasureDeps` (`shared/agent/lifecycle/erasure.py`).
    `load`: None where nothing measures it. `limits`: as in `restart` (`shared/agent/recovery/restart.py`).
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
    """As `days` in `RetentionDeps` (`shared/agent/lifecycle/retention.py`)."""
    admission: AdmissionStore | None = None
    provider_limits: Mapping[str, ProviderLimits] = MappingProxyType({})
    """As in `AdmitDeps` (`shared/agent/recovery/admit_one.py`)."""
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
