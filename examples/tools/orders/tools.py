"""Orders of a shop. Here they stand in a file; yours stand in a database or behind a service."""

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from acta import ToolError, tool

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
