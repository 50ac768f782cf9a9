"""A session's receipt as JSON (design §3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.api.response.views import instant
from shared.domain.rules.price_list import PRICED_AT
from shared.domain.session.head import Head
from shared.domain.spending.aws_estimate import COUNTED_ON, AwsEstimate
from shared.domain.spending.aws_prices import AwsPrices
from shared.domain.spending.receipt import NOT_COUNTED, Receipt, models_usd

if TYPE_CHECKING:  # types alone: no cold start loads them
    from shared.api.response.shapes import receipts


def cost_view(receipt: Receipt) -> receipts.Cost:
    """The sums alone, in the snapshot."""
    return {
        "models_usd": receipt.models_usd,
        "estimated_aws_usd": receipt.aws.usd,
        "total_usd": receipt.total_usd,
    }


def receipt_view(head: Head, receipt: Receipt, prices: AwsPrices) -> receipts.Receipt:
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
            "aws": {
                "region": prices.region,
                "as_of": prices.as_of or None,
                "source": prices.source or None,
            },
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
