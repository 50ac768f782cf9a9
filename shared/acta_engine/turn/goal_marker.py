"""How a model says that the goal is reached: the first line of its answer begins with a marker (design §5).

The marker is between Acta and the model. The conversation keeps it, people are not shown it (ADR 66).
"""

GOAL_COMPLETE = "GOAL_COMPLETE"


def claims_completion(text: str) -> bool:
    """Whether the first line says that the goal is complete. A marker further down may be quoted, from a file say."""
    return text.lstrip().split("\n", 1)[0].startswith(GOAL_COMPLETE)


def without_marker(text: str) -> str:
    """The answer without `GOAL_COMPLETE`."""
    text = text.strip()
    return text[len(GOAL_COMPLETE) :].lstrip(" :.-\n") if claims_completion(text) else text


def value_after_marker(text: str) -> str:
    """The same where the answer is JSON, of which a number may begin with the minus that a title would lose."""
    text = text.strip()
    return text[len(GOAL_COMPLETE) :].lstrip(" :.\n") if claims_completion(text) else text


def for_people(reply: str) -> str:
    """A reply as people see it: without its marker, else to the letter."""
    return without_marker(reply) if claims_completion(reply) else reply


def running_for_people(text: str) -> str:
    """Of a reply that is still written, which may have the marker's beginning alone."""
    return "" if GOAL_COMPLETE.startswith(text.strip()) else for_people(text)


def in_words(told: str) -> str:
    """What the model was told, as people see it."""
    return told.replace(GOAL_COMPLETE, "the mark of completion")
