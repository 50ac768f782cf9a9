"""Everything `intervene` needs, put together once per process."""

from functools import cache
from typing import NamedTuple

from acta_engine.agents.agent import policies_of
from acta_engine.agents.dynamodb import DynamoDefinitions
from acta_engine.api.idempotency import IdempotencyGuard
from acta_engine.audit.store import Audit
from acta_engine.audit.trail import audit
from acta_engine.aws.step_functions import StepFunctionsWorkflow
from acta_engine.limits.dynamodb import DynamoRateLeases
from acta_engine.limits.limiter import Limiter, limiter_of
from acta_engine.log.blobs import BlobStore
from acta_engine.log.dynamodb import DynamoLog
from acta_engine.log.dynamodb_attempts import DynamoAttempts
from acta_engine.log.dynamodb_index import DynamoIndex
from acta_engine.log.repository import SessionRepository
from acta_engine.log.s3_blobs import S3Blobs
from acta_engine.log.store import SessionLog
from acta_engine.people.options_and_defaults import Policies
from acta_engine.people.resolve import ResolveDeps
from acta_engine.recovery.handle_error import ErrorDeps
from acta_engine.recovery.wait_out import OutageRules
from acta_engine.settings import Settings, settings
from acta_engine.system_clock import SystemClock
from acta_engine.tools.registry import TenantRegistry
from acta_engine.turn.engine_decision import Timeouts


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
