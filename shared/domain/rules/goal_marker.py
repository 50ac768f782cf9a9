"""How a model says that the goal is reached: the first line of its answer begins with a marker (design §5)."""

GOAL_COMPLETE = "GOAL_COMPLETE"


def claims_completion(text: str) -> bool:
    """Whether the first line says that the goal is complete. A marker further down may be quoted, from a file say."""
    return text.lstrip().split("\n", 1)[0].startswith(GOAL_COMPLETE)


def without_marker(text: str) -> str:
    """The answer without `GOAL_COMPLETE`."""
    text = text.strip()
    return text[len(GOAL_COMPLETE) :].lstrip(" :.-\n") if claims_completion(text) else text
