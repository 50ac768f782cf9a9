"""Adds what sessions have used to the usage of their tenants, as the table's stream tells of commits (ADR 67). Where
the environment exports traces, hands the commits over to the function that does (ADR 78).

An error makes the stream bring the same commits again. A line is logged for each finished run, and one for each batch,
both with metrics in them (ADR 77). Dimensions are the environment (the namespace) and how runs ended, which comes out
of fixed sets.
"""

import os
from dataclasses import dataclass
from typing import Any

from aws_lambda_powertools import Logger

from acta.engine.audit.record import Pseudonyms
from acta.engine.aws.errors import AwsRefused
from acta.engine.bound_tenant import tenant_hash
from acta.engine.errors import AwsDenied, StoreThrottled, StoreUnavailable
from acta.engine.store.keys import part_text
from acta.engine.telemetry import BATCH_METRICS, RUN_METRICS, Telemetry, embedded
from acta.engine.traces.spans import CommitName, CommitQueue, RunName
from acta.engine.usage.dynamodb import committed_in
from acta.engine.usage.fold import Addition, EndedRun, FoldResult, fold
from acta.engine.usage.store import UsagePartition, UsageStore
from acta.engine.usage.usage import NOTHING, Amounts


@dataclass(eq=False, repr=False)
class UsageCount:
    """Answers the events of the function `usage`: records of the table's stream."""

    store: UsageStore
    pseudonyms: Pseudonyms
    traces: CommitQueue | None
    """The queue of the commits that become spans. None: the environment exports no traces."""
    telemetry: Telemetry

    def handle(self, event: dict[str, Any], context: Any = None) -> dict[str, Any]:
        """Raises StoreThrottled, StoreUnavailable, AwsDenied, all of them by the table alone."""
        lines, commits = Lines(self.telemetry.logger), tuple(committed_in(event))
        folded = fold(self.store, self.pseudonyms, commits, lines.added, lines.unreadable)
        lines.counted(folded)
        if self.traces is not None:
            try:
                self.traces.put([CommitName(each.partition, each.number) for each in commits])
            except (StoreThrottled, StoreUnavailable, AwsDenied, AwsRefused) as error:
                # The spans are lost: the stream does not wait for the queue, and counting goes on.
                self.telemetry.spans_lost(len(commits), why=f"not handed over: {type(error).__name__}")
        return folded._asdict()


class Lines:
    """One batch of the stream."""

    def __init__(self, logger: Logger) -> None:
        self._logger = logger
        self._namespace = os.environ.get("POWERTOOLS_METRICS_NAMESPACE", "Acta")
        self._more = NOTHING

    def added(self, addition: Addition) -> None:
        for run in addition.ended:
            self._logger.info("run finished", extra=self._run(run))
        if addition.unread:
            ids = _ids(addition.partition)
            self._logger.info("run finished", extra={**ids, "state": "unread", "runs": addition.unread})
        before = addition.before.amounts if addition.before is not None else NOTHING
        self._more = self._more.plus(addition.now.amounts.minus(before))

    def unreadable(self, partition: UsagePartition, error: Exception) -> None:
        """An operator has to see to it: this session's usage is missing from its tenant's from now on."""
        told = {**_ids(partition), "error": type(error).__name__}
        self._logger.error("count unreadable", extra=told)

    def counted(self, folded: FoldResult) -> None:
        """Logs the end of the batch."""
        if folded.sessions or folded.unread:
            values = {**_sums(self._more), "Unread": folded.unread}
            metrics = embedded(self._namespace, BATCH_METRICS)
            self._logger.info("counted", extra={**folded._asdict(), **values, **metrics})

    def _run(self, run: EndedRun) -> dict[str, Any]:
        values = {
            "RunsEnded": 1,
            "RunTokens": run.tokens,
            "RunCostUsd": run.cost_usd,
            "RunSeconds": run.seconds,
            "RunTurns": run.turns,
        }
        known = {name: value for name, value in values.items() if value is not None}
        told = run._asdict() | {"ended_at": run.at.isoformat()}
        tenant, _ = told.pop("tenant"), told.pop("at")
        trace_id = RunName(tenant, run.session_id, run.run_id).trace_id.hex()
        metrics = embedded(self._namespace, {name: RUN_METRICS[name] for name in known})
        by_end = embedded(self._namespace, {"RunsEnded": "Count"}, [["end"]])
        metrics["_aws"]["CloudWatchMetrics"] += by_end["_aws"]["CloudWatchMetrics"]
        ids = {"tenant_hash": tenant_hash(tenant), "trace_id": trace_id}
        return {**told, **ids, **known, **metrics}


def _ids(partition: UsagePartition) -> dict[str, str]:
    tenant = part_text(partition.tenant) or partition.tenant
    return {"session_id": partition.session, "tenant_hash": tenant_hash(tenant)}


def _sums(more: Amounts) -> dict[str, float]:
    return {
        "RunsStarted": more.runs,
        "PlansCreated": more.plans,
        "PlansCompleted": more.plans_completed,
        "QuestionsAsked": more.asked,
        "QuestionsClosed": more.answered + more.expired + more.withdrawn,
        "ToolCalls": more.tools_ok + more.tools_failed,
        "ToolsFailed": more.tools_failed,
        "ModelCalls": more.calls,
        "Tokens": more.fresh + more.cached + more.output,
        "CostUsd": round(more.microdollars / 1_000_000, 6),
    }
