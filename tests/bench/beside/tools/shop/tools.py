"""The three tools of the tasks that Acta, LangGraph and Deep Agents are given (`tests/bench/beside/tasks.py`)."""

from typing import Annotated

from pydantic import Field

from acta import tool

OrderId = Annotated[str, Field(description="The order's number, as it stands on the receipt: A- and digits")]


@tool(effect="read")
def look_up_order(order_id: OrderId) -> str:
    """Looks up an order by its number: where it stands, when it was shipped, what it cost and who bought it."""
    days = int(order_id.removeprefix("A-"))
    return f"Order {order_id}: shipped {days} days ago by parcel, 34.50 EUR, customer jo.{days}@example.com"


@tool(effect="read")
def find_customer(mail: Annotated[str, Field(description="The address, as it stands in the order")]) -> str:
    """Finds a customer by the address of their mail: their name, where they live and what they bought before."""
    return f"Customer {mail}: Jo Miller, 12 Mill Lane, Leeds; 3 orders since 2024"


@tool(effect="once")
def refund(
    order_id: OrderId, cents: Annotated[int, Field(description="How much, at most what the order cost")]
) -> str:
    """Pays an order, or a part of it, back to the customer."""
    return f"Paid back {cents} cents of order {order_id}"
