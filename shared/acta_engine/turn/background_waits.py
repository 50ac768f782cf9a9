"""Model calls in the background: the provider makes the answer by itself, and the engine waits and looks again, at no
compute cost (design §9, ADR 60). Pure functions; all in seconds.

The waits grow with the time that has passed, so an answer is fetched late by a third of its own time at most, and an
hour takes some twenty looks.
"""

FIRST_WAIT = 10
LONGEST_WAIT = 240
"""Under five minutes: providers keep an answer for ten at least, and a cancel is not passed on late."""
SHARE = 0.5
"""Of the time that has passed, until the next look."""
MOST_SECONDS = 7_200
"""The longest that a deployment may allow: `Settings.background_seconds`."""


def next_wait(passed: float, first: float = FIRST_WAIT) -> int:
    """Whole seconds until the next look. `passed`: since the call was made. `first`: the shortest wait."""
    return round(min(LONGEST_WAIT, max(first, SHARE * passed)))


def looks(passed: float) -> int:
    """How many looks there have been at most in so much time, none of them by chance."""
    count, at = 0, 0.0
    while at < passed:
        at += next_wait(at)
        count += 1
    return count
