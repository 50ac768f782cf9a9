"""A session's receipt as JSON (design §3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.api.response.views import instant, instant_or_none
from shared.domain.session.head import Head
from shared.domain.spending.receipt import NOT_COUNTED, Receipt

if TYPE_CHECKING:  # types alone: no cold start loads them
    from shared.api.response.shapes import receipts


def cost_view(receipt: Receipt) -> receipts.Cost:
    """The sums alone, in the snapshot."""
    return {
        "models_usd": receipt.models_usd,
        "aws_usd": receipt.aws_usd,
        "total_usd": receipt.total_usd,
        "is_whole": receipt.is_whole,
    }


def receipt_view(head: Head, receipt: Receipt) -> receipts.Receipt:
    stores, prices = receipt.stores, receipt.prices
    return {
        "session_id": head.session_id,
        "state": head.state,
        "at": instant(head.updated_at),
        "counted_since": instant_or_none(receipt.since),
        "is_whole": receipt.is_whole,
        "total_usd": receipt.total_usd,
        "models": {
            "usd": receipt.models_usd,
            "vanished_tokens": head.budget.vanished_tokens,
            "items": [
                {
                    "model": line.name,
                    "calls": line.use.calls,
                    "fresh_input_tokens": line.use.input - line.use.cached,
                    "cached_input_tokens": line.use.cached,
                    "output_tokens": line.use.output,
                    "usd": line.usd,
                }
                for line in receipt.models
            ],
        },
        "aws": {
            "usd": receipt.aws_usd,
            "step_functions": {"transitions": receipt.transitions, "usd": receipt.step_functions_usd},
            "lambda": {
                "usd": receipt.lambda_usd,
                "functions": [
                    {
                        "function": line.name,
                        "requests": line.use.invocations,
                        "ms": line.use.ms,
                        "gb_seconds": line.gb_seconds,
                        "usd": line.usd,
                    }
                    for line in receipt.functions
                ],
            },
            "dynamodb": {
                "read_requests": stores.reads,
                "read_units": stores.half_rru / 2,
                "write_requests": stores.writes,
                "write_units": stores.wcu,
                "usd": receipt.dynamodb_usd,
            },
            "s3": {"get_requests": stores.gets, "put_requests": stores.puts, "usd": receipt.s3_usd},
        },
        "prices": {
            "models": {"as_of": receipt.models_priced_at},
            "aws": {
                "region": prices.region,
                "as_of": prices.as_of or None,
                "source": prices.source or None,
            },
        },
        "not_counted": list(NOT_COUNTED),
    }
