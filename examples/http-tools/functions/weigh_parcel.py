"""A tool of kind `lambda`. docs/tools.md says what it gets and answers. It needs nothing but Python."""

GRAMS = {"A-1007": 1_250, "A-1008": 480}


def handler(event: dict, context: object) -> dict:
    order_id = event["arguments"]["order_id"]
    if order_id not in GRAMS:
        raise LookupError(f"there is no parcel of {order_id}")  # the agent is told, and may go another way
    return {"order_id": order_id, "grams": GRAMS[order_id]}
