"""An MCP server made with the official Python package, which speaks 2026-07-28: `python till.py PORT`, in an
environment that has nothing of Acta. One of its tools asks a person before it goes on.
"""

import sys
from typing import Annotated

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field


class Account(BaseModel):
    account: str = Field(min_length=2)


async def which_account(order: str) -> Elicit[Account]:
    return Elicit(f"Which account pays order {order}?", Account)


def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


def pay(order: str, account: Annotated[Account, Resolve(which_account)]) -> str:
    """Pays an order."""
    return f"Order {order} was paid from {account.account}."


if __name__ == "__main__":
    server = MCPServer("till")
    server.add_tool(add, annotations=ToolAnnotations(readOnlyHint=True))
    server.add_tool(pay)
    server.run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
