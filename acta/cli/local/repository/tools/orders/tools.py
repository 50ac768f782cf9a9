"""Tools of the folder orders: every function with @tool is one."""

from acta import ToolError, tool

STATES = {"7": "It was sent on Monday.", "8": "It is being packed."}


@tool(effect="read", timeout_seconds=20)
def lookup_orders(number: str) -> str:
    """Looks up the state of a number, such as 7, in orders."""
    if number not in STATES:
        raise ToolError(f"there is no number {number}. Ask the user for another one.")
    return STATES[number]
