"""A session's receipt and a tenant's usage as JSON (design §3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from acta_engine.log.head import Head
from acta_engine.models.providers import PRICED_AT
from acta_engine.sessions.views import instant, instant_or_none
from acta_engine.untrusted.visible import visible
from acta_engine.usage.aws_estimate import (
    COUNTED_ON,
    NOT_COUNTED,
    AwsEstimate,
    AwsRates,
    SessionCosts,
    estimated,
    models_usd,
    total_usd,
)
from acta_engine.usage.aws_prices import AwsPrices
from acta_engine.usage.usage import Amounts

if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta_engine.usage import receipt_shapes as receipts
    from acta_engine.usage import shapes as usage
    from acta_engine.usage.report import By, Report


def usage_view(
    report: Report,
    by: By,
    names: Sequence[str],
    next_cursor: str | None,
    rates: AwsRates,
    agent_names: Mapping[str, str],
) -> usage.TenantUsage:
    """`names`: the items of this page. `agent_names`: what agents are called, by their ids."""
    return {
        "by": by,
        "from": instant(report.span.since),
        "to": instant(report.span.until),
        "complete_until": instant_or_none(report.complete_until),
        "items": [_item(name, by, report.items[name], rates, agent_names.get(name)) for name in names],
        "next_cursor": next_cursor,
        "total": {
            "tokens": _tokens(report.total),
            "cost": _cost(report.total, rates),
            "work": _work(report.total),
            "runs_ended": dict(report.ends) if report.ends is not None else None,
        },
    }


def _item(name: str, by: By, row: Amounts, rates: AwsRates, agent_name: str | None) -> usage.UsageItem:
    of_model = by == "model"
    return {
        "key": visible(name),
        "agent_name": agent_name,
        "tokens": _tokens(row),
        "cost": _model_cost(row, rates) if of_model else _cost(row, rates),
        "work": None if of_model else _work(row),
    }


def _tokens(row: Amounts) -> usage.Tokens:
    return {
        "fresh_input": row.fresh,
        "cached_input": row.cached,
        "output": row.output,
        "total": row.fresh + row.cached + row.output,
        "model_calls": row.calls,
    }


def _cost(row: Amounts, rates: AwsRates) -> usage.UsageCost:
    models = None if row.unpriced else round(row.microdollars / 1_000_000, 6)
    aws = estimated(row.done, row.calls, rates).usd
    return {
        "models_usd": models,
        "unpriced_calls": row.unpriced,
        "estimated_aws_usd": aws,
        "total_usd": total_usd(models, aws),
    }


def _model_cost(row: Amounts, rates: AwsRates) -> usage.UsageCost:
    """What AWS asks is not a model's."""
    return {**_cost(row, rates), "estimated_aws_usd": None, "total_usd": None}


def _work(row: Amounts) -> usage.Work:
    standing = {
        "idle": row.idle,
        "active": row.active,
        "waiting_for_user": row.waiting_for_user,
        "completed": row.completed,
        "failed": row.failed,
        "cancelled": row.cancelled,
        "deleted": row.deleted,
    }
    messages = row.user_messages + row.agent_messages
    return {
        "sessions": {"started": sum(standing.values()), "now": standing},  # type: ignore[typeddict-item]
        "runs": {
            "started": row.runs,
            "completed": row.runs_completed,
            "failed": row.runs_failed,
            "cancelled": row.runs_cancelled,
        },
        "plans": {"created": row.plans, "completed": row.plans_completed},
        "messages": {
            "from_people": row.user_messages,
            "from_agents": row.agent_messages,
            "per_run": round(messages / row.runs, 2) if row.runs > 0 else None,
        },
        "interventions": {
            "opened": row.asked,
            "resolved": row.answered,
            "expired": row.expired,
            "withdrawn": row.withdrawn,
            "waited_seconds": row.waited_ms / 1_000,
        },
        "tools": {"ok": row.tools_ok, "failed": row.tools_failed},
    }


def cost_view(receipt: SessionCosts) -> receipts.Cost:
    """The sums alone, in the snapshot."""
    return {
        "models_usd": receipt.models_usd,
        "estimated_aws_usd": receipt.aws.usd,
        "total_usd": receipt.total_usd,
    }


def receipt_view(head: Head, receipt: SessionCosts, prices: AwsPrices) -> receipts.Receipt:
    done = head.tally.done
    return {
        "session_id": head.session_id,
        "state": head.state,
        "at": instant(head.updated_at),
        "total_usd": receipt.total_usd,
        "counts": {
            "runs": done.runs,
            "model_calls": head.usage.llm_calls,
            "tool_calls": done.tools_ok + done.tools_failed,
            "questions": done.asked,
            "waits": done.waits,
            "executions": done.runs + done.executions,
        },
        "models": {
            "usd": receipt.models_usd,
            "vanished_tokens": head.budget.vanished_tokens,
            "items": [
                {
                    "model": name,
                    "calls": use.calls,
                    "fresh_input_tokens": use.input - use.cached,
                    "cached_input_tokens": use.cached,
                    "output_tokens": use.output,
                    "usd": models_usd([use]),
                }
                for name, use in receipt.models.items()
            ],
        },
        "aws": _aws(receipt.aws),
        "prices": {
            "models": {"as_of": PRICED_AT},
            "aws": {"region": prices.region, "as_of": prices.as_of or None, "source": prices.source or None},
        },
        "not_counted": list(NOT_COUNTED),
    }


def _aws(aws: AwsEstimate) -> receipts.AwsCost:
    use = aws.use
    return {
        "is_estimate": True,
        "estimated_from": COUNTED_ON,
        "usd": aws.usd,
        "step_functions": {"transitions": round(use.transitions), "usd": aws.step_functions_usd},
        "lambda": {
            "requests": round(use.invocations),
            "gb_seconds": round(aws.gb_seconds, 3),
            "usd": aws.lambda_usd,
        },
        "dynamodb": {
            "write_units": round(use.write_units),
            "read_units": round(use.read_units),
            "usd": aws.dynamodb_usd,
        },
        "s3": {"get_requests": round(use.gets), "put_requests": round(use.puts), "usd": aws.s3_usd},
    }
