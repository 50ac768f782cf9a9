"""Everything that Acta is put together from, in one place: stores, services and use cases.

Each part is made when it is first asked for, and then kept, so that a process imports and makes only what it uses. That
is why the imports stand inside the parts. A function's zip has only the modules of the parts that its code names
(`acta/infra/packaging/zip_contents.py`).

`App()` reads the settings from the environment. Other parts can be given by name, and everything that is made from
them uses them: `App(settings, clock=clock, log=log)`.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from acta.engine.settings import Settings, settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from acta.engine.agents.agent import AgentDefinition
    from acta.engine.agents.store import (
        DefinitionStore,
        McpServerStore,
        NamedDefinitions,
        ToolSecretNames,
        ToolSecretValues,
        ToolStore,
    )
    from acta.engine.api.idempotency import IdempotencyGuard
    from acta.engine.audit.record import Audit
    from acta.engine.clock import Clock
    from acta.engine.egress.address import AddressGuard
    from acta.engine.files.store import FileStore
    from acta.engine.limits.limiter import Limiter
    from acta.engine.limits.long_polls import LongPollLimit
    from acta.engine.limits.store import LoadMeter, LongPollStore
    from acta.engine.log.beside import AttemptStore, BlobStore, Partials
    from acta.engine.log.commit import Position
    from acta.engine.log.repository import SessionRepository
    from acta.engine.log.store import SessionIndex, SessionLog
    from acta.engine.memories.memory import MemoryStore, RelevantMemories
    from acta.engine.models.model import ModelChooser
    from acta.engine.notifications.notification import Notifier, OwnReceivers, TenantReceivers
    from acta.engine.notifications.notifications import Notifications
    from acta.engine.queue.admission import Admission
    from acta.engine.queue.places import AdmissionStore
    from acta.engine.recovery.recovery import Recovery
    from acta.engine.recovery.store import RecoveryScans, RecoveryWorkers
    from acta.engine.recovery.wait_out import OutageRules
    from acta.engine.schedules.fire import FireDeps
    from acta.engine.schedules.schedule import ScheduleStore
    from acta.engine.signed_urls import SignedUrls
    from acta.engine.store.dynamodb import ClockedTable
    from acta.engine.subagents.family import Family
    from acta.engine.telemetry import Telemetry
    from acta.engine.tools.mcp.servers import McpServers
    from acta.engine.tools.port import BuiltinReach, Registry, ToolFunction
    from acta.engine.tools.runtime import ToolRuntime
    from acta.engine.tools.secret_reader import ToolSecretReader
    from acta.engine.tools.tenant.functions import LambdaTool
    from acta.engine.tools.tenant.http import HttpTool
    from acta.engine.tools.tool import ToolSpec
    from acta.engine.traces.export import TraceExport
    from acta.engine.triggers.delivery import EventDelivery
    from acta.engine.triggers.store import TriggerEvents
    from acta.engine.triggers.trigger import Trigger
    from acta.engine.turn.context import TurnDeps
    from acta.engine.turn.engine import Timeouts, Workflow
    from acta.engine.turn.final_answer import CheckedAnswer
    from acta.engine.turn.fused_turns import StepDeps
    from acta.engine.turn.running_text import RunningText
    from acta.engine.usage.aws_estimate import AwsRates
    from acta.engine.usage.dynamodb import DynamoUsage
    from acta.engine.usage.usage_count import UsageCount

    Store = TypeVar("Store", bound=ClockedTable)


class App:
    def __init__(self, chosen: Settings | None = None, **parts: Any) -> None:
        """`parts`: by the names of the properties below, in place of what they would make."""
        self.settings = chosen or settings()
        if self.settings.providers:
            from acta.engine.models.own_providers import add_providers

            add_providers(self.settings.providers)
        if self.settings.models:
            from acta.engine.models.providers import add_models

            add_models(self.settings.models)
        unknown = [name for name in parts if not isinstance(getattr(type(self), name, None), cached_property)]
        if unknown:
            raise TypeError(f"no part of Acta: {', '.join(unknown)}")
        vars(self).update(parts)

    # The stores of sessions.

    @cached_property
    def dynamodb(self) -> Any:
        """The client of the stores on DynamoDB. None: this process's own, made at the first request."""
        return None

    @cached_property
    def s3(self) -> Any:
        """The same for S3."""
        return None

    @cached_property
    def clock(self) -> Clock:
        from acta.engine.clock import SystemClock

        return SystemClock()

    @cached_property
    def log(self) -> SessionLog:
        from acta.engine.log.dynamodb import DynamoLog

        return DynamoLog(self.settings.table, self.clock, self.dynamodb)

    @cached_property
    def blobs(self) -> BlobStore:
        from acta.engine.log.s3 import S3Blobs

        return S3Blobs(self.settings.session_bucket, self.s3)

    @cached_property
    def session_index(self) -> SessionIndex:
        from acta.engine.log.dynamodb_index import DynamoIndex

        return DynamoIndex(self.settings.table, self.clock, self.dynamodb)

    @cached_property
    def repository(self) -> SessionRepository:
        from acta.engine.log.repository import SessionRepository

        chosen = self.settings
        return SessionRepository(
            self.log, self.blobs, self.clock, write_version=chosen.write_version, limits=chosen.limits
        )

    @cached_property
    def attempts(self) -> AttemptStore:
        from acta.engine.log.dynamodb import DynamoAttempts

        return DynamoAttempts(self.settings.table, self.dynamodb, write_version=self.settings.write_version)

    @cached_property
    def partials(self) -> Partials:
        from acta.engine.log.dynamodb import DynamoPartials

        return DynamoPartials(self.settings.table, self.dynamodb)

    @cached_property
    def workflow(self) -> Workflow:
        from acta.engine.aws.step_functions import StepFunctionsWorkflow

        return StepFunctionsWorkflow(self.settings.state_machine_arn)

    # The stores of a tenant.

    def _made(self, store: type[Store]) -> Store:
        """A store of documents that read the time."""
        chosen = self.settings
        return store(chosen.table, self.clock, self.dynamodb, write_version=chosen.write_version)

    @cached_property
    def definitions(self) -> DefinitionStore:
        from acta.engine.agents.dynamodb import DynamoDefinitions

        return self._made(DynamoDefinitions)

    @cached_property
    def memories(self) -> MemoryStore:
        from acta.engine.memories.dynamodb import DynamoMemories

        return self._made(DynamoMemories)

    @cached_property
    def files(self) -> FileStore:
        from acta.engine.files.s3 import S3FileStore

        return S3FileStore(self.settings.bucket, self.s3)

    @cached_property
    def tool_definitions(self) -> ToolStore:
        from acta.engine.agents.dynamodb import DynamoToolStore

        return self._made(DynamoToolStore)

    @cached_property
    def server_definitions(self) -> McpServerStore:
        from acta.engine.agents.dynamodb import DynamoMcpServerStore

        return self._made(DynamoMcpServerStore)

    @cached_property
    def triggers(self) -> NamedDefinitions[Trigger]:
        from acta.engine.agents.dynamodb import DynamoTriggerStore

        return self._made(DynamoTriggerStore)

    @cached_property
    def trigger_events(self) -> TriggerEvents:
        from acta.engine.triggers.dynamodb import DynamoTriggerEvents

        return DynamoTriggerEvents(self.settings.table, self.clock, self.dynamodb)

    @cached_property
    def signed_urls(self) -> SignedUrls:
        from acta.engine.aws.secrets import secret_text
        from acta.engine.signed_urls import LOCAL_KEY, SignedUrls

        chosen = self.settings
        local, name = LOCAL_KEY if chosen.is_local else "", chosen.url_secret
        return SignedUrls(chosen.public_url, lambda: secret_text(name) if name else local)

    @cached_property
    def secret_names(self) -> ToolSecretNames:
        from acta.engine.tools.dynamodb import DynamoToolSecretNames

        return DynamoToolSecretNames(self.settings.table, self.dynamodb)

    @cached_property
    def secret_values(self) -> ToolSecretValues:
        """For those who set them. A call of a tool reads them with `secret_reader`."""
        from acta.engine.tools.secret_reader import ToolSecretStore

        return ToolSecretStore(self.settings.env, self.settings.tool_secrets_key)

    @cached_property
    def receivers(self) -> TenantReceivers:
        from acta.engine.notifications.dynamodb import DynamoTenantReceivers

        return DynamoTenantReceivers(self.settings.table, self.dynamodb)

    @cached_property
    def receiver_secrets(self) -> ToolSecretValues:
        from acta.engine.store.keys import notification_secrets_prefix
        from acta.engine.tools.secret_reader import ToolSecretStore

        return ToolSecretStore(
            self.settings.env, self.settings.tool_secrets_key, prefix=notification_secrets_prefix
        )

    @cached_property
    def receiver_hosts(self) -> AddressGuard:
        """Which hosts webhooks of tenants and sessions may have."""
        from acta.engine.egress.address import FOR_NOTIFICATIONS, AddressGuard

        return AddressGuard(self.settings, lists=FOR_NOTIFICATIONS)

    @cached_property
    def schedules(self) -> ScheduleStore:
        from acta.engine.schedules.dynamodb import DynamoSchedules

        return self._made(DynamoSchedules)

    @cached_property
    def firing(self) -> FireDeps:
        from acta.engine.schedules.fire import FireDeps

        return FireDeps(
            self.repository,
            self.workflow,
            self.definitions,
            self.schedules,
            self.attempts,
            self.settings,
        )

    # What the functions of the API share.

    @cached_property
    def made(self) -> Path:
        """The folder of files that were made when the function's zip was built. Its handler gives this part."""
        raise LookupError("nothing was made for this function")

    @cached_property
    def audit(self) -> Audit:
        from acta.engine.audit.trail import audit

        return audit(self.settings, self.clock, self.dynamodb)

    @cached_property
    def limiter(self) -> Limiter | None:
        """None: no tenant has limits."""
        from acta.engine.limits.dynamodb import DynamoRateLeases
        from acta.engine.limits.limiter import limiter_of

        return limiter_of(
            self.settings.limits, DynamoRateLeases(self.settings.table, self.dynamodb), self.clock
        )

    @cached_property
    def idempotency(self) -> IdempotencyGuard:
        from acta.engine.api.idempotency import IdempotencyGuard

        return IdempotencyGuard(self.session_index)

    @cached_property
    def tool_function(self) -> ToolFunction:
        from acta.engine.tools.lambda_function import LambdaToolFunction

        return LambdaToolFunction(self.settings.tool_function)

    @cached_property
    def long_poll_limit(self) -> LongPollLimit:
        from acta.engine.limits.long_polls import LongPollLimit

        return LongPollLimit(self.long_polls, self.clock)

    @cached_property
    def usage(self) -> DynamoUsage:
        from acta.engine.usage.dynamodb import DynamoUsage

        return DynamoUsage(self.settings.table, self.clock, self.dynamodb)

    @cached_property
    def rates(self) -> AwsRates:
        """What receipts count with."""
        from acta.engine.usage.aws_estimate import AwsRates
        from acta.engine.usage.aws_prices import prices_in

        chosen = self.settings
        prices = chosen.aws_prices or prices_in(os.environ.get("AWS_REGION", ""))
        return AwsRates(prices, os.uname().machine, chosen.step_memory_mb, chosen.tool_memory_mb)

    # Turns.

    @cached_property
    def models(self) -> ModelChooser:
        """Only `step` may ask a model: its handler gives this part."""
        raise LookupError("this function asks no model")

    @cached_property
    def turns(self) -> TurnDeps:
        from acta.engine.limits.tenant_hour import TenantHour
        from acta.engine.turn.context import TurnDeps

        chosen, models = self.settings, self.models
        hourly = chosen.tenant_tokens_per_hour
        return TurnDeps(
            settings=chosen,
            repository=self.repository,
            clock=self.clock,
            choose_model=models.choose,
            definitions=self.definitions,
            memories_of_run=self.memories_of_run,
            registry=self.registry,
            timeouts=self.timeouts,
            tenant_hour=TenantHour(
                self.repository, self.session_index, self.timeouts, hourly, chosen.usd_per_day
            ),
            attempts=self.attempts,
            context_tokens=models.context_tokens,
            check_answer=self._check_answer,
            running_text=self.running_text,
            on_key_refused=self.key_refused,
            on_turn=self.turn_told,
            files=self.files,
            admission=self.admission,
            family=lambda: self.family,
        )

    @cached_property
    def family(self) -> Family:
        """What sessions need that have a parent or children."""
        from acta.engine.subagents.family import Family

        return Family(
            self.repository,
            self.workflow,
            self.definitions,
            self.settings,
            self.attempts,
            self.log,
            self.blobs,
            lambda: self.results_of_calls,
        )

    @cached_property
    def steps(self) -> StepDeps:
        from acta.engine.turn.fused_turns import StepDeps

        return StepDeps(self.turns, self.settings.turns_per_step, lambda: self.bounded_tools)

    @cached_property
    def key_refused(self) -> Callable[[Position, str], None]:
        """Tells an operator that a key or a quota was refused: where the run stands, and the code."""
        return self.telemetry.key_refused

    @cached_property
    def turn_told(self) -> Callable[[Position, Mapping[str, object]], None]:
        """Tells an operator how a turn went."""
        return self.telemetry.turn

    @cached_property
    def memories_of_run(self) -> RelevantMemories:
        from acta.engine.memories.memory import RelevantMemories

        return RelevantMemories(self.memories)

    @cached_property
    def timeouts(self) -> Timeouts:
        from acta.engine.turn.engine import Timeouts

        return Timeouts(self.settings.approval_timeout_seconds, self.settings.intervention_warn_seconds)

    @cached_property
    def running_text(self) -> RunningText | None:
        """Where the text of a running turn is shown. None: nowhere."""
        if not self.settings.partial_text_ms:
            return None
        from datetime import timedelta

        from acta.engine.turn.running_text import RunningText

        every = timedelta(milliseconds=self.settings.partial_text_ms)
        return RunningText(self.partials, self.clock, every)

    @cached_property
    def admission(self) -> Admission | None:
        """None: no limit of a provider is known."""
        limits = self.settings.limits_of_providers
        if not limits:
            return None
        from functools import partial

        from acta.engine.queue.admission import Admission
        from acta.engine.recovery.aws import call_dispatcher

        dispatcher = partial(call_dispatcher, self.settings.recover_function)
        return Admission(self.lines, self.clock, limits, dispatcher)

    def _check_answer(self, schema: str, text: str) -> CheckedAnswer:
        """Imported here, because few sessions have a schema."""
        from acta.engine.turn.schema_check import check_answer

        return check_answer(schema, text)

    @cached_property
    def configured_models(self) -> Any:
        """What the API tells of the models, a `ModelListing`. Only `step` has the keys: its handler gives this."""
        raise LookupError("this function has no models")

    # Calls of tools.

    @cached_property
    def registry(self) -> Registry:
        """The registry on the definitions that a turn has already read, so that the turn sees one version of them."""
        return self._registry(self.definitions.last_snapshot)

    @cached_property
    def current_registry(self) -> Registry:
        return self._registry(self.definitions.snapshot)

    def _registry(self, snapshot: Callable[[str], Any]) -> Registry:
        from acta.engine.tools.registry import TenantRegistry

        return TenantRegistry(
            snapshot,
            optional=self.settings.offered_tools,
            approvers=self.settings.tool_approvers,
            environment=self.own_tools,
        )

    def tools_of(self, tenant: str, agent_id: str = "") -> Mapping[str, ToolSpec]:
        """All tools of a tenant, without what checks their inputs: that is large, and a start needs none of it.
        `agent_id`: with the agents that this agent may call.
        """
        from acta.engine.tools.tool import tools_of

        chosen, own = self.settings, self.own_tools(tenant)
        return tools_of(
            tenant, agent_id, self.definitions.snapshot, chosen.offered_tools, chosen.tool_approvers, own
        )

    @cached_property
    def own_tools(self) -> Callable[[str], Mapping[str, ToolSpec]]:
        """The Python tools of the environment that a tenant has."""
        from acta.engine.tools.tool import python_tools

        return python_tools

    @cached_property
    def tool_runtime(self) -> ToolRuntime:
        """The runtime of the function `tool`, which runs every tool."""
        from acta.engine.tools.runtime import ToolRuntime, Tools

        toolbox = Tools(
            self.builtin_reach,
            {
                "http": lambda: self.http_tools.run,
                "lambda": lambda: self.lambda_tools.run,
                "python": lambda: self.python_tools.run,
                "mcp": lambda: self.mcp_servers.run,
            },
        )
        return ToolRuntime(
            self.repository,
            self.current_registry,
            toolbox,
            self._agent,
            self.settings.outage_limits,
            self._mcp_servers,
            self.settings.high_stakes_approver,
            lambda: self.family,
            lambda tenant, *ids: self.signed_urls.url("callbacks", tenant, *ids),
        )

    @cached_property
    def bounded_tools(self) -> ToolRuntime:
        """The runtime for the calls that `step` makes itself, with the definitions that its turns have read."""
        from acta.engine.tools.runtime import ToolRuntime, Tools

        toolbox = Tools(self.builtin_reach)
        return ToolRuntime(
            self.repository,
            self.registry,
            toolbox,
            self._agent,
            self.settings.outage_limits,
            high_stakes_approver=self.settings.high_stakes_approver,
        )

    @cached_property
    def results_of_calls(self) -> ToolRuntime:
        """The runtime of whoever commits results that others have brought. It makes no call, so the zips of functions
        that only need this have no code of tenants' tools.
        """
        from acta.engine.tools.runtime import ToolRuntime, Tools

        return ToolRuntime(self.repository, self.current_registry, Tools(self.builtin_reach), self._agent)

    @cached_property
    def builtin_reach(self) -> BuiltinReach:
        from acta.engine.tools.port import BuiltinReach

        return BuiltinReach(self.files, self.memories, self.clock, self.settings.max_file_bytes)

    @cached_property
    def http_tools(self) -> HttpTool:
        from acta.engine.tools.tenant.http import HttpTool

        return HttpTool(self.tool_hosts, self.secret_reader, self.secret_names.all)

    @cached_property
    def lambda_tools(self) -> LambdaTool:
        from acta.engine.tools.tenant.functions import FunctionGuard, LambdaTool

        return LambdaTool(FunctionGuard(self.settings))

    @cached_property
    def python_tools(self) -> Any:
        from acta.engine.files.tool_credentials import FileCredentials
        from acta.engine.tools.tenant.functions import PythonTools

        chosen = self.settings
        credentials = FileCredentials(chosen.tenant_role, chosen.bucket, chosen.max_file_bytes)
        isolated = chosen.tool_processes == "per_tenant"
        return PythonTools(chosen.tool_versions, self.clock, credentials.for_call, isolated=isolated)

    @cached_property
    def tool_hosts(self) -> AddressGuard:
        from acta.engine.egress.address import AddressGuard

        return AddressGuard(self.settings)

    @cached_property
    def secret_reader(self) -> ToolSecretReader:
        from acta.engine.tools.secret_reader import ToolSecretReader

        return ToolSecretReader(self.settings.env)

    @cached_property
    def mcp_servers(self) -> McpServers:
        """The modules that speak HTTP are imported here, because most workers call no server."""
        from acta.engine.tools.mcp.servers import McpServers

        return McpServers(self.tool_hosts, self.secret_reader, self.secret_names.all)

    def _mcp_servers(self) -> McpServers:
        return self.mcp_servers

    def _agent(self, tenant: str, agent_id: str) -> AgentDefinition | None:
        return self.definitions.snapshot(tenant).agent(agent_id)

    # Recovery.

    @cached_property
    def outage_rules(self) -> OutageRules:
        from acta.engine.recovery.wait_out import OutageRules

        chosen = self.settings
        return OutageRules(chosen.outage_limits, self.timeouts, chosen.roll_over_events)

    @cached_property
    def recovery(self) -> Recovery:
        from acta.engine.recovery.aws import StatusChanges
        from acta.engine.recovery.recovery import Recovery

        return Recovery(self, StatusChanges())

    @cached_property
    def scans(self) -> RecoveryScans:
        from acta.engine.recovery.aws import DynamoRecoveryScans

        return DynamoRecoveryScans(self.settings.table, self.dynamodb)

    @cached_property
    def lines(self) -> AdmissionStore:
        """The queues of sessions that wait for their provider."""
        from acta.engine.queue.dynamodb import DynamoAdmission

        return DynamoAdmission(self.settings.table, self.dynamodb)

    @cached_property
    def recovery_workers(self) -> RecoveryWorkers | None:
        if not self.settings.recovery_workers:
            return None
        from acta.engine.recovery.aws import InvokedWorkers

        return InvokedWorkers(self.settings.recover_function, self.settings.recovery_workers)

    @cached_property
    def long_polls(self) -> LongPollStore:
        from acta.engine.limits.dynamodb import DynamoLongPolls

        return DynamoLongPolls(self.settings.table, self.dynamodb)

    @cached_property
    def load(self) -> LoadMeter | None:
        """None where nothing measures it."""
        if not self.settings.measure_load:
            return None
        from acta.engine.limits.lambda_concurrency import LambdaConcurrency

        return LambdaConcurrency(self.settings.status_function, self.settings.status_concurrency)

    # Events of the operator's sources.

    @cached_property
    def event_delivery(self) -> EventDelivery:
        from functools import partial

        from acta.engine.triggers.delivery import EventDelivery
        from acta.engine.triggers.fire import fire

        return EventDelivery(self.settings.event_sources, partial(fire, self), self.files, self.telemetry)

    # What the table's stream sets off.

    @cached_property
    def telemetry(self) -> Telemetry:
        """The telemetry of a function that is no part of the API. Its handler gives this part."""
        raise LookupError("this function has no telemetry of its own")

    @cached_property
    def notifications(self) -> Notifications:
        from acta.engine.notifications.aws import NotificationQueue, StreamedChanges
        from acta.engine.notifications.notification import Addresses
        from acta.engine.notifications.notifications import Notifications

        chosen = self.settings
        return Notifications(
            StreamedChanges(chosen.table, self.dynamodb),
            NotificationQueue(chosen.notify_queue_url),
            self.notifier,
            self.own_receivers if chosen.tells_tenants else None,
            Addresses(chosen.notify_api_url, chosen.notify_console_url),
            self.telemetry,
        )

    @cached_property
    def notifier(self) -> Notifier | None:
        """None: the deployment names no receiver, as a local stack without a URL."""
        from acta.engine.notifications.webhooks import DeploymentWebhook, SnsTopic, signing_secret

        if self.settings.notify_topic_arn:
            return SnsTopic(self.settings.notify_topic_arn)
        if self.settings.notify_webhook_url:
            secret = signing_secret(self.settings.notify_secret_name)
            return DeploymentWebhook(self.settings.notify_webhook_url, secret, self.clock)
        return None

    @cached_property
    def own_receivers(self) -> OwnReceivers:
        """The webhooks of tenants and sessions."""
        from acta.engine.notifications.dynamodb import ReceiversByPartition
        from acta.engine.notifications.webhooks import OwnWebhooks, secrets_of_tenants

        receivers = ReceiversByPartition(self.settings.table, self.dynamodb)
        secrets = secrets_of_tenants(self.settings.env)
        return OwnWebhooks(receivers, self.receiver_hosts, secrets, self.clock)

    @cached_property
    def usage_count(self) -> UsageCount:
        from acta.engine.usage.usage_count import UsageCount

        traces, queue = None, self.settings.traces_queue_url
        if queue:
            from acta.engine.traces.queue import TraceQueue

            traces = TraceQueue(queue)
        return UsageCount(self.usage, self.audit.pseudonyms, traces, self.telemetry)

    @cached_property
    def trace_export(self) -> TraceExport:
        from acta.engine.egress.address import FOR_TRACES, AddressGuard
        from acta.engine.traces.export import TraceExport
        from acta.engine.traces.otlp import OtlpReceiver, addressed, headers_of
        from acta.engine.traces.queue import DynamoTracedCommits, TraceQueue

        chosen = addressed(self.settings)
        guard = AddressGuard(chosen, lists=FOR_TRACES)
        return TraceExport(
            TraceQueue(chosen.traces_queue_url),
            DynamoTracedCommits(chosen.table, self.clock, self.dynamodb),
            OtlpReceiver(chosen.traces_url, guard, headers_of(chosen), chosen.env),
            self.clock,
            self.telemetry,
            chosen.traces_content,
        )
