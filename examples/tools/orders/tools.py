"""Orders of a shop. Here they are in a file; yours will be in a database or behind a service."""

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from acta import Call, ToolError, tool

ORDERS = json.loads(Path(__file__).with_name("orders.json").read_text(encoding="utf-8"))


class Line(BaseModel):
    article: str
    count: int
    price: Decimal


class Order(BaseModel):
    number: str
    placed_on: date
    state: Literal["paid", "sent", "delivered"]
    lines: list[Line]

    @property
    def total(self) -> Decimal:
        return sum((line.count * line.price for line in self.lines), Decimal(0))


@tool(effect="read", timeout_seconds=20)
def lookup_order(order_id: str) -> Order:
    """Looks up an order by its number: when it was placed, where it stands, what was bought and at which price.

    The number is on the customer's receipt, for example 1007.
    """
    if order_id not in ORDERS:
        raise ToolError(f"there is no order {order_id}. Ask for the number on the receipt.")
    return Order.model_validate(ORDERS[order_id])


class Refund(BaseModel):
    order: str
    amount: Decimal
    by: str


@tool(effect="once", timeout_seconds=30, approver_role="support")
def refund_order(order_id: str, reason: str, call: Call) -> Refund:
    """Pays an order back, in the way it was paid. Somebody of the shop approves it first.

    Only orders that were delivered can be paid back. The reason is for the shop's books.
    """
    order = lookup_order(order_id)
    if order.state != "delivered":
        raise ToolError(f"order {order_id} was not delivered yet: it is {order.state}. Cancel it instead.")
    # Yours would ask the payment service here, with call.effect_id as its idempotency key and call.secret("…") as its
    # credential. Should this process die after that, nobody pays twice: Acta asks a person instead of calling again.
    return Refund(order=order_id, amount=order.total, by=f"{call.user} for {call.tenant}: {reason}")


@tool(effect="idempotent", files="write", high_stakes=False)
def write_receipt(order_id: str, call: Call) -> str:
    """Writes a receipt of an order to the user's files, as receipts/NUMBER.md. It replaces an earlier one."""
    order = lookup_order(order_id)
    lines = [f"- {line.count} × {line.article}: {line.count * line.price:.2f}" for line in order.lines]
    path = f"receipts/{order.number}.md"
    text = "\n".join(
        [f"# Order {order.number} of {order.placed_on:%d %B %Y}", "", *lines, "", f"Total: {order.total:.2f}"]
    )
    call.files.write_text(path, text + "\n", replace=True)
    return f"Wrote {path}."
