"""Everything `step` needs, put together once per process."""

import os
from datetime import timedelta
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

from acta_engine.agents.agent import AgentDefinition, Purpose
from acta_engine.agents.dynamodb import DynamoDefinitions
from acta_engine.agents.store import DefinitionStore
from acta_engine.audit.store import Audit
from acta_engine.aws.secrets import secret_text
from acta_engine.clock import Clock
from acta_engine.limits.tenant_hour import TenantHour
from acta_engine.log.dynamodb import DynamoLog
from acta_engine.log.dynamodb_attempts import DynamoAttempts, DynamoPartials
from acta_engine.log.dynamodb_index import DynamoIndex
from acta_engine.log.repository import SessionRepository
from acta_engine.log.s3_blobs import S3Blobs
from acta_engine.memories.dynamodb import DynamoMemories
from acta_engine.memories.relevant import RelevantMemories
from acta_engine.models.choose import choose_for
from acta_engine.models.model import Model
from acta_engine.models.providers import context_window
from acta_engine.settings import Settings, settings
from acta_engine.system_clock import SystemClock
from acta_engine.tools.registry import TenantRegistry
from acta_engine.turn.context import TurnDeps
from acta_engine.turn.engine_decision import Timeouts
from acta_engine.turn.final_answer import CheckedAnswer
from acta_engine.turn.fused_turns import StepDeps
from acta_engine.turn.running_text import RunningText

if TYPE_CHECKING:
    from acta_engine.limits.limiter import Limiter
    from acta_engine.models.configured_models import ConfiguredModels
    from acta_engine.queue.admission import Admission
    from acta_engine.tools.runtime import ToolRuntime


@cache
def step_deps() -> StepDeps:
    return StepDeps(turn_deps(), settings().turns_per_step, bounded_tools)


@cache
def turn_deps() -> TurnDeps:
    chosen = settings()
    clock = SystemClock()
    repository = SessionRepository(
        DynamoLog(chosen.table, clock),
        S3Blobs(chosen.session_bucket),
        clock,
        write_version=chosen.write_version,
        limits=chosen.limits,
    )
    timeouts = Timeouts(chosen.approval_timeout_seconds, chosen.intervention_warn_seconds)
    definitions = DynamoDefinitions(chosen.table, clock)
    session_index = DynamoIndex(chosen.table, clock)
    return TurnDeps(
        repository=repository,
        clock=clock,
        choose_model=_choose_model,
        definitions=definitions,
        memories_of_run=RelevantMemories(
            DynamoMemories(chosen.table, clock, write_version=chosen.write_version)
        ),
        registry=TenantRegistry(
            definitions.last_snapshot, weather=chosen.weather, approvers=chosen.tool_approvers
        ),
        timeouts=timeouts,
        tenant_hour=TenantHour(repository, session_index, timeouts, chosen.tenant_tokens_per_hour),
        attempts=DynamoAttempts(chosen.table, write_version=chosen.write_version),
        roll_over_events=chosen.roll_over_events,
        max_output_tokens=chosen.max_output_tokens,
        cap_max_output_tokens=chosen.cap_max_output_tokens,
        answer_time=chosen.answer_time,
        context_window=lambda model: chosen.context_window_tokens or context_window(model),
        check_answer=_check_answer,
        running_text=_running_text(chosen, clock),
        outage_limits=chosen.outage_limits,
        token_window=chosen.token_window_seconds,
        background_seconds=chosen.background_seconds,
        admission=_admission(chosen, clock),
    )


def _admission(chosen: Settings, clock: Clock) -> "Admission | None":
    limits = chosen.limits_of_providers
    if not limits:
        return None
    # Only where a limit is known.
    from acta_engine.queue.admission import Admission
    from acta_engine.queue.dynamodb import DynamoAdmission
    from acta_engine.recovery.lambda_workers import call_dispatcher

    dispatcher = partial(call_dispatcher, chosen.recover_function)
    return Admission(DynamoAdmission(chosen.table), clock, limits, dispatcher)


def _check_answer(schema: str, text: str) -> CheckedAnswer:
    # Few sessions have a schema.
    from acta_engine.tools.schema.answer import check_answer

    return check_answer(schema, text)


@cache
def bounded_tools() -> "ToolRuntime":
    """For the calls that `step` makes itself; on the turns' repository and registry, which have read all they need."""
    # An invocation of one turn makes none.
    from acta_engine.files.s3 import S3Files
    from acta_engine.tools.builtin.files import BuiltinTools
    from acta_engine.tools.builtin.memory import MemoryTools
    from acta_engine.tools.runtime import ToolRuntime

    chosen, deps = settings(), turn_deps()
    memories = DynamoMemories(chosen.table, deps.clock, write_version=chosen.write_version)
    return ToolRuntime(
        repository=deps.repository,
        registry=deps.registry,
        toolbox=MemoryTools(BuiltinTools(S3Files(chosen.bucket), chosen), memories, deps.clock),
        agent=lambda tenant, agent_id: deps.definitions.snapshot(tenant).agent(agent_id),
        outage_limits=chosen.outage_limits,
    )


def _running_text(chosen: Settings, clock: Clock) -> RunningText | None:
    every = timedelta(milliseconds=chosen.partial_text_ms)
    return RunningText(DynamoPartials(chosen.table), clock, every) if every else None


def _choose_model(agent: AgentDefinition, purpose: Purpose) -> tuple[Model, str]:
    def named(provider: str | None, model: str | None) -> tuple[Model, str]:
        return choose_for(settings(), os.environ, secret_text, provider, model, agent.protocol)

    first = named(agent.provider, agent.model_for(purpose))
    if not agent.fallbacks:
        return first
    from acta_engine.models.fallback import with_fallbacks

    return with_fallbacks(
        first,
        [
            named(one.provider or agent.provider, one.model)
            for one in agent.fallbacks
            if settings().allowed.may_call(one.model)
        ],
        settings().answer_time,
    )


class ModelsDeps(NamedTuple):
    """What the API's part of `step` needs."""

    configured: "ConfiguredModels"
    definitions: DefinitionStore
    audit: Audit | None = None
    """For the pseudonyms in its log: what it does is not recorded."""
    limiter: "Limiter | None" = None


@cache
def models_deps() -> ModelsDeps:
    # Turns do not pay for the API's part.
    from acta_engine.audit.trail import audit
    from acta_engine.limits.dynamodb import DynamoRateLeases
    from acta_engine.limits.limiter import limiter_of
    from acta_engine.models.configured_models import ConfiguredModels

    configured, clock = ConfiguredModels(settings(), os.environ, secret_text), SystemClock()
    leases = DynamoRateLeases(settings().table)
    return ModelsDeps(
        configured,
        DynamoDefinitions(settings().table, clock),
        audit(settings(), clock),
        limiter_of(settings().limits, leases, clock),
    )
