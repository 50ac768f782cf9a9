"""Everything `start` needs, put together once per process."""

from functools import cache
from typing import NamedTuple

from acta_engine.agents.dynamodb import DynamoDefinitions
from acta_engine.agents.store import Definitions
from acta_engine.api.idempotency import IdempotencyGuard
from acta_engine.audit.store import Audit
from acta_engine.audit.trail import audit
from acta_engine.aws.step_functions import StepFunctionsWorkflow
from acta_engine.egress.address import FOR_NOTIFICATIONS, AddressGuard
from acta_engine.limits.dynamodb import DynamoRateLeases
from acta_engine.limits.limiter import Limiter, limiter_of
from acta_engine.log.dynamodb import DynamoLog
from acta_engine.log.dynamodb_index import DynamoIndex
from acta_engine.log.repository import SessionRepository
from acta_engine.log.s3_blobs import S3Blobs
from acta_engine.log.store import SessionLog
from acta_engine.notifications.dynamodb import DynamoTenantReceivers
from acta_engine.notifications.notifier import TenantReceivers
from acta_engine.settings import Settings, settings
from acta_engine.system_clock import SystemClock
from acta_engine.turn.workflow import Workflow


class Dependencies(NamedTuple):
    settings: Settings
    repository: SessionRepository
    workflow: Workflow
    idempotency: IdempotencyGuard
    log: SessionLog
    definitions: Definitions
    audit: Audit
    receivers: TenantReceivers
    hosts: AddressGuard
    limiter: Limiter | None = None


@cache
def dependencies() -> Dependencies:
    chosen = settings()
    clock = SystemClock()
    log = DynamoLog(chosen.table, clock)
    return Dependencies(
        settings=chosen,
        log=log,
        repository=SessionRepository(
            log,
            S3Blobs(chosen.session_bucket),
            clock,
            write_version=chosen.write_version,
            limits=chosen.limits,
        ),
        workflow=StepFunctionsWorkflow(chosen.state_machine_arn),
        idempotency=IdempotencyGuard(DynamoIndex(chosen.table, clock)),
        definitions=DynamoDefinitions(chosen.table, clock),
        audit=audit(chosen, clock),
        receivers=DynamoTenantReceivers(chosen.table),
        hosts=AddressGuard(chosen, lists=FOR_NOTIFICATIONS),
        limiter=limiter_of(chosen.limits, DynamoRateLeases(chosen.table), clock),
    )
