"""Tests of the tools: they are called directly, as functions, and as an agent would call them."""

from decimal import Decimal

import pytest

from acta import ToolError
from acta.testing import call, load

tools = load(__file__)


def test_an_order_is_found_by_its_number() -> None:
    order = tools.lookup_order("1007")

    assert (order.state, order.total) == ("delivered", Decimal("62.90"))


def test_an_agent_is_told_what_to_ask_for() -> None:
    with pytest.raises(ToolError, match="Ask for the number on the receipt"):
        call(tools.lookup_order, {"order_id": "7"})


def test_only_delivered_orders_are_paid_back() -> None:
    assert call(tools.refund_order, {"order_id": "1007", "reason": "broken"}, user="ann", tenant="shop") == {
        "order": "1007",
        "amount": "62.90",
        "by": "ann for shop: broken",
    }
    with pytest.raises(ToolError, match="Cancel it instead"):
        call(tools.refund_order, {"order_id": "1008", "reason": "too late"})


def test_a_receipt_is_a_file_of_the_user() -> None:
    files: dict[str, str | bytes] = {}

    assert call(tools.write_receipt, {"order_id": "1008"}, files=files) == "Wrote receipts/1008.md."
    assert files["receipts/1008.md"] == (
        "# Order 1008 of 05 March 2026\n\n- 12 × notebook: 25.20\n\nTotal: 25.20\n"
    )
