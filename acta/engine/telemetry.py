"""Logs and metrics of one function: ids, counts, states and durations, never content (docs/design/usage.md 8).

Some metrics are written as a part of a log line, so that both say the same and neither costs a request (ADR 77).
CloudWatch reads them out of the line (Embedded Metric Format). Each name with each set of values of its dimensions is
one metric on the bill, so dimensions have few values: never a tenant, a session or a person.

Lambda itself traces each invocation (`acta/infra/lambdas/function.py`). A tracer of our own would add the
handler's name and cost a fifth of a cold start (ADR 59).
"""

import gc
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from aws_lambda_powertools import Logger, Metrics

from acta.engine.bound_tenant import tenant_hash
from acta.engine.errors import Fenced, TransientError

if TYPE_CHECKING:
    from acta.engine.log.commit import Position
    from acta.engine.turn.engine import EngineEvent

Unit = Literal["Count", "Seconds", "Percent", "None"]
Units = Mapping[str, Unit]

RUN_METRICS: Units = MappingProxyType(
    {
        "RunsEnded": "Count",
        "RunTokens": "Count",
        "RunCostUsd": "None",
        "RunSeconds": "Seconds",
        "RunTurns": "Count",
    }
)
"""Metrics of each finished run. `RunsEnded` is also counted by `end`."""
BATCH_METRICS: Units = MappingProxyType(
    {
        "RunsStarted": "Count",
        "PlansCreated": "Count",
        "PlansCompleted": "Count",
        "QuestionsAsked": "Count",
        "QuestionsClosed": "Count",
        "ToolCalls": "Count",
        "ToolsFailed": "Count",
        "ModelCalls": "Count",
        "Tokens": "Count",
        "CostUsd": "None",
        "Unread": "Count",
    }
)
"""Metrics of what all sessions did since the last count, a minute or two ago."""
FAILURE_METRICS: Units = MappingProxyType(
    {"Failures": "Count", "Retries": "Count", "ProviderErrors": "Count"}
)
"""Metrics of the engine's failed invocations: all of them, those that it retries, and those caused by a model's
provider. `Failures` is also counted by `error`, the name of the class.
"""
SWEEP_METRICS: Units = MappingProxyType({"SessionsRecovered": "Count", "SessionsStuck": "Count"})
"""Metrics of each scan of `recover`: sessions that it made go on, and stuck sessions that it cannot help."""
ROUND_METRICS: Units = MappingProxyType({"RecoveryRounds": "Count"})
"""The metric of each round of `recover` that came to its end, by `round`. An alarm watches each
(`acta/infra/watching/alarms.py`)."""
LINE_METRICS: Units = MappingProxyType({"SessionsInLine": "Count"})
"""The metric of each minute in which sessions wait for their provider, by `provider`: how many `recover` saw in its
queue at once. It looks at no more of a long queue than it can admit, so at least so many wait.
"""

SCHEDULE_METRICS: Units = MappingProxyType({"SchedulesFailing": "Count"})
"""The metric of each time of a schedule that fails after many that failed (`FAILS_AFTER` in
`acta/engine/schedules/schedule.py`)."""
TRIGGER_METRICS: Units = MappingProxyType({"TriggersFailing": "Count"})
"""The metric of each event of a trigger that is refused or fails. Those that a paused trigger refuses do not count."""
POLICY_METRICS: Units = MappingProxyType({"PackedPolicySize": "Percent"})
"""The metric of each session policy that STS was asked to take, in percent of AWS's limit."""


def embedded(
    namespace: str,
    units: Units,
    dimensions: Sequence[Sequence[str]] = ((),),
    at: float | None = None,
) -> dict[str, Any]:
    """The member `_aws` of a line whose other members have the values of the metrics and of the dimensions.

    `units`: metric -> its unit. `dimensions`: sets of names of members; the empty one is the sum over everything.
    `at`: seconds since 1970; None: now.
    """
    return {
        "_aws": {
            "Timestamp": round((time.time() if at is None else at) * 1_000),
            "CloudWatchMetrics": [
                {
                    "Namespace": namespace,
                    "Dimensions": [list(names) for names in dimensions],
                    "Metrics": [{"Name": name, "Unit": unit} for name, unit in units.items()],
                }
            ],
        }
    }


KEY_REFUSED_METRIC = "KeysRefused"
"""Counts turns of `step` whose provider refused the key or the quota (`acta/infra/watching/alarms.py`)."""
NOT_RECORDED_METRIC = "NotRecorded"
"""Counts requests of which the audit trail lacks the record, the outcome or the sender
(`acta/infra/watching/alarms.py`).
"""
SESSIONS_HIDDEN_METRIC = "SessionsHidden"
"""Counts requests for somebody else's private session, which are answered 404
(`acta/infra/watching/alarms.py`)."""
PROVIDER = "PROVIDER_"
"""The prefix of providers' error codes."""
SPANS_LOST_METRIC = "SpansLost"
"""Counts spans that nobody will get (`acta/infra/watching/alarms.py`)."""
SPANS_WAITING_METRIC = "SpansNotDelivered"
"""Counts attempts to send spans that the endpoint did not take (`acta/infra/watching/alarms.py`)."""
EVENTS_FAILED_METRIC = "EventsFailed"
"""Counts attempts at events of the operator's sources that cannot be used as they are."""
Handler = Callable[[dict[str, Any], Any], Any]

# An invocation may have no metric of its own.
warnings.filterwarnings("ignore", message="No application metrics to publish", category=UserWarning)


class Telemetry:
    """Service and namespace come from the environment (`POWERTOOLS_…`); the fallbacks are for tests."""

    def __init__(self, function: str) -> None:
        self._function = function
        gc.freeze()  # what was imported stays as long as the process, so the collector need not look at it
        gc.enable()
        service = os.environ.get("POWERTOOLS_SERVICE_NAME", f"acta-{function}")
        self._namespace = os.environ.get("POWERTOOLS_METRICS_NAMESPACE", "Acta")
        self.logger = Logger(service=service, location=None)
        self.metrics = Metrics(service=service, namespace=self._namespace)

    def watch(self, handler: Handler) -> Handler:
        """The Lambda's entry point around `handler`; events, results and error texts are not recorded."""
        measured: Handler = self.metrics.log_metrics(handler, capture_cold_start_metric=True)
        logged: Handler = self.logger.inject_lambda_context(measured, log_event=False, clear_state=True)
        return logged

    def counted(
        self,
        message: str,
        metrics: Units,
        values: Mapping[str, float],
        dimensions: Sequence[Sequence[str]] = ((),),
        /,
        **ids: object,
    ) -> None:
        """Logs a line with metrics. `values`: of each. `dimensions`: sets of names of `ids`, as in `embedded`."""
        self.logger.info(message, extra={**ids, **values, **embedded(self._namespace, metrics, dimensions)})

    def turn(self, at: "Position", counts: Mapping[str, object]) -> None:
        """Logs a line about a turn, so that an operator can follow a session turn by turn."""
        self.logger.info("turn made", extra={**_ids(at), **counts})

    def key_refused(self, at: "Position", code: str) -> None:
        """An operator has to act: logs a line with ids, which the alarm `KeysRefused` counts."""
        self.logger.error("a key or a quota was refused", extra={**_ids(at), "code": code})
        self.metrics.add_metric(name=KEY_REFUSED_METRIC, unit="Count", value=1)

    def not_recorded(self, error: Exception, route: str, missing: str) -> None:
        """An operator has to act: logs a line, which the alarm `NotRecorded` counts. `missing`: `record`, `who`."""
        ids = {"route": route, "error": type(error).__name__, "missing": missing}
        self.logger.error("not recorded in the audit trail", extra=ids)
        self.metrics.add_metric(name=NOT_RECORDED_METRIC, unit="Count", value=1)

    def schedule_fails(self, tenant: str, schedule_id: str, in_a_row: int) -> None:
        """Somebody of the tenant has to act: logs a line with ids, which the alarm `SchedulesFailing` counts."""
        ids = {"schedule_id": schedule_id, "tenant_hash": tenant_hash(tenant), "in_a_row": in_a_row}
        self.counted("a schedule fails", SCHEDULE_METRICS, {"SchedulesFailing": 1}, **ids)

    def spans_not_delivered(self, why: str) -> None:
        """Logs a line, which the alarm `SpansNotDelivered` counts."""
        self.logger.warning("spans not delivered", extra={"why": why})
        self.metrics.add_metric(name=SPANS_WAITING_METRIC, unit="Count", value=1)

    def spans_lost(self, count: int, why: str) -> None:
        """Logs a line, which the alarm `SpansLost` counts. A commit that was not read counts as one span."""
        self.logger.warning("spans lost", extra={"spans": count, "why": why})
        self.metrics.add_metric(name=SPANS_LOST_METRIC, unit="Count", value=count)

    def event_failed(self, source: str, why: str) -> None:
        """`source`: the name of the operator's event source. `why` quotes nothing of the event."""
        self.logger.warning("event cannot be used", extra={"source": source, "why": why})
        self.metrics.add_metric(name=EVENTS_FAILED_METRIC, unit="Count", value=1)

    def session_hidden(self) -> None:
        """Counts a request for the alarms `SessionsHidden`."""
        self.metrics.add_metric(name=SESSIONS_HIDDEN_METRIC, unit="Count", value=1)

    @contextmanager
    def work(self, name: str, step: "EngineEvent") -> Iterator[None]:
        """Logs a line when work of the engine begins, and one more if it fails. Only the second has metrics of
        failures, so work that goes well costs nothing more.
        """
        ids = step.ids
        self.logger.append_keys(tenant_hash=tenant_hash(step.at.tenant))  # also to the lines in between
        self.logger.info(name, extra=ids)
        try:
            yield
        except Fenced:  # somebody else goes on: nothing failed
            self.logger.info("overtaken", extra=ids)
            raise
        except Exception as error:
            is_provider = str(getattr(error, "code", "")).startswith(PROVIDER)
            retried = isinstance(error, TransientError)
            counts = {"Failures": 1, "Retries": int(retried), "ProviderErrors": int(is_provider)}
            metrics = embedded(self._namespace, FAILURE_METRICS)
            by_error = embedded(self._namespace, {"Failures": "Count"}, [["error"]])
            metrics["_aws"]["CloudWatchMetrics"] += by_error["_aws"]["CloudWatchMetrics"]
            self.failure(error, **ids, **counts, **metrics)
            raise

    def failure(self, error: BaseException, **ids: object) -> None:
        """Logs an unexpected error: its class and the line that raised it, but not its text, which may quote a body."""
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        where = f"{trace.tb_frame.f_globals.get('__name__')}:{trace.tb_lineno}" if trace else "unknown"
        self.logger.error("failed", extra={"error": type(error).__name__, "where": where, **ids})


def policy_packed(tenant: str, percent: int) -> None:
    """Logs a line with the size of one of the tenant's session policies, which the alarm `PackedPolicySize` watches."""
    _log_of_tenant("session policy packed", POLICY_METRICS, tenant, PackedPolicySize=percent)


def trigger_fails(tenant: str, trigger_id: str, outcome: str, code: str) -> None:
    """Somebody of the tenant has to act: logs a line with ids, which the alarm `TriggersFailing` counts."""
    ids = {"trigger_id": trigger_id, "outcome": outcome, "code": code}
    _log_of_tenant("a trigger fails", TRIGGER_METRICS, tenant, **ids, TriggersFailing=1)


def _log_of_tenant(message: str, metrics: Units, tenant: str, **values: object) -> None:
    """With the process's own logger, for what has no Telemetry: it is below everything, or in several functions."""
    logger = Logger(service=os.environ.get("POWERTOOLS_SERVICE_NAME", "acta"), location=None)
    metric = embedded(os.environ.get("POWERTOOLS_METRICS_NAMESPACE", "Acta"), metrics)
    logger.info(message, extra={"tenant_hash": tenant_hash(tenant), **values, **metric})


def _ids(at: "Position") -> dict[str, object]:
    return {"session_id": at.session_id, "turn": at.turn, "generation": at.generation}
