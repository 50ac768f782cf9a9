"""Everything `start` needs, put together once per process."""

from functools import cache
from typing import NamedTuple

from shared.adapters.audit.trail import audit
from shared.adapters.aws.step_functions import StepFunctionsWorkflow
from shared.adapters.dynamodb.definitions import DynamoDefinitions
from shared.adapters.dynamodb.limits.rate_leases import DynamoRateLeases
from shared.adapters.dynamodb.receivers import DynamoTenantReceivers
from shared.adapters.dynamodb.session_index import DynamoIndex
from shared.adapters.dynamodb.session_log import DynamoLog
from shared.adapters.egress.address import FOR_NOTIFICATIONS, AddressGuard
from shared.adapters.s3.blobs import S3Blobs
from shared.adapters.system_clock import SystemClock
from shared.agent.session.repository import SessionRepository
from shared.api.limiter import Limiter, limiter_of
from shared.api.request.idempotency import IdempotencyGuard
from shared.ports.audit import Audit
from shared.ports.definitions import Definitions
from shared.ports.log import SessionLog
from shared.ports.notifier import TenantReceivers
from shared.ports.workflow import Workflow
from shared.settings import Settings, settings


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
