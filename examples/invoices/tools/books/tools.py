"""The books of a company. Here a file of the tenant's has them; yours will be a service."""

from typing import Annotated

from pydantic import Field

from acta import Call, tool


def _book(supplier: str, number: str, amount_eur: float, call: Call) -> str:
    path = f"booked/{number}.txt"
    call.files.write_text(path, f"{supplier}, invoice {number}: {amount_eur:.2f} EUR\n", replace=True)
    return f"Booked under {path}."


@tool(effect="idempotent", files="write", high_stakes=False)
def book_invoice(
    supplier: str, number: str, amount_eur: Annotated[float, Field(gt=0, le=1_000)], call: Call
) -> str:
    """Books an invoice of up to 1,000 EUR."""
    return _book(supplier, number, amount_eur, call)


@tool(effect="idempotent", files="write", approver_role="finance", approver_must_differ=False)
def book_large_invoice(
    supplier: str, number: str, amount_eur: Annotated[float, Field(gt=1_000)], call: Call
) -> str:
    """Books an invoice above 1,000 EUR. Somebody of finance approves it first."""
    return _book(supplier, number, amount_eur, call)
