"""Everything `intervene` needs, put together once per process."""

from functools import cache
from typing import NamedTuple

from shared.adapters.audit.trail import audit
from shared.adapters.aws.step_functions import StepFunctionsWorkflow
from shared.adapters.dynamodb.attempts import DynamoAttempts
from shared.adapters.dynamodb.definitions import DynamoDefinitions
from shared.adapters.dynamodb.limits.rate_leases import DynamoRateLeases
from shared.adapters.dynamodb.session_index import DynamoIndex
from shared.adapters.dynamodb.session_log import DynamoLog
from shared.adapters.s3.blobs import S3Blobs
from shared.adapters.system_clock import SystemClock
from shared.adapters.tools.registry import TenantRegistry
from shared.agent.interventions.resolve import ResolveDeps
from shared.agent.outages.handle_error import ErrorDeps
from shared.agent.outages.wait_out import OutageRules
from shared.agent.session.engine_decision import Timeouts
from shared.agent.session.repository import SessionRepository
from shared.api.limiter import Limiter, limiter_of
from shared.api.request.idempotency import IdempotencyGuard
from shared.domain.definitions.agent import policies_of
from shared.domain.interventions.options_and_defaults import Policies
from shared.ports.audit import Audit
from shared.ports.blobs import BlobStore
from shared.ports.log import SessionLog
from shared.settings import Settings, settings


class Dependencies(NamedTuple):
    settings: Settings
    deps: ResolveDeps
    log: SessionLog
    blobs: BlobStore
    idempotency: IdempotencyGuard
    timeouts: Timeouts
    errors: ErrorDeps
    audit: Audit
    limiter: Limiter | None = None


@cache
def dependencies() -> Dependencies:
    chosen = settings()
    clock = SystemClock()
    log, blobs = DynamoLog(chosen.table, clock), S3Blobs(chosen.session_bucket)
    session_index = DynamoIndex(chosen.table, clock)
    definitions = DynamoDefinitions(chosen.table, clock)
    timeouts = Timeouts(chosen.approval_timeout_seconds, chosen.intervention_warn_seconds)

    def policies(tenant: str, agent_id: str) -> Policies:
        return policies_of(definitions.snapshot(tenant).agent(agent_id))

    repository = SessionRepository(
        log, blobs, clock, write_version=chosen.write_version, limits=chosen.limits
    )
    return Dependencies(
        settings=chosen,
        deps=ResolveDeps(
            repository=repository,
            session_index=session_index,
            workflow=StepFunctionsWorkflow(chosen.state_machine_arn),
            registry=TenantRegistry(
                definitions.last_snapshot, weather=chosen.weather, approvers=chosen.tool_approvers
            ),
            definitions=definitions,
            max_answer_chars=chosen.max_message_chars,
            caps=chosen.caps,
        ),
        log=log,
        blobs=blobs,
        idempotency=IdempotencyGuard(session_index),
        timeouts=timeouts,
        errors=ErrorDeps(
            repository,
            DynamoAttempts(chosen.table, write_version=chosen.write_version),
            OutageRules(chosen.outage_limits, timeouts, chosen.roll_over_events),
            chosen.token_window_seconds,
            policies,
        ),
        audit=audit(chosen, clock),
        limiter=limiter_of(chosen.limits, DynamoRateLeases(chosen.table), clock),
    )
