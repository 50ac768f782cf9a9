"""How long a model call may take: from the tokens that it may write and the speed of its model
(docs/design/providers.md 13). Less, where less is left of the invocation: `shared/acta_engine/turn/model_call.py`.

The speeds are estimates of `shared/acta_engine/models/providers.py`. A setting replaces them all.

In the background the provider makes the answer by itself, and the engine waits and looks again, at no compute cost
(ADR 60). The waits grow with the time that has passed, so an answer is fetched late by a third of its own time at most,
and an hour takes some twenty looks.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from acta_engine.models.providers import speed_of

DEFAULT_SPEED = 50
"""Of the providers' default models, the slowest. For where it is not known yet which of them is asked."""


class AnswerTime(NamedTuple):
    """All times are in seconds."""

    least: float = 120
    """What a call gets at least, however little it needs."""
    most: float = 840
    first_token: float = 30
    """What a model may take to begin its answer."""
    tokens_per_second: float = 0
    """The speed of every model. 0: each has its own."""

    def speed(self, model: str) -> float:
        """`model` empty: a default model."""
        return self.tokens_per_second or (speed_of(model) if model else DEFAULT_SPEED)

    def of_answer(self, model: str, max_tokens: int) -> float:
        """What one model needs, from the request to the last token."""
        return self.first_token + max_tokens / self.speed(model)

    def of_call(self, models: Iterable[str], max_tokens: int) -> float:
        """What a call gets that asks these models one after the other until one answers."""
        return min(self.most, max(self.least, sum(self.of_answer(model, max_tokens) for model in models)))

    def most_tokens(self, models: Sequence[str]) -> int:
        """The longest answer that fits into a call: of the slowest of the models, after the others did not begin."""
        writing = self.most - self.first_token * len(models)
        return max(1, int(writing * min(self.speed(model) for model in models)))

    def begins_within(self, left: float, others: Sequence[str], max_tokens: int) -> float:
        """How long a model may be silent before the next of `others` is asked: an equal share of the time that is
        `left`, but no more than leaves one of them its whole answer, nor less than a model needs to begin.
        """
        share = left / (len(others) + 1)
        spare = left - max(self.of_answer(model, max_tokens) for model in others)
        return min(share, max(self.first_token, spare))


FIRST_WAIT = 10
LONGEST_WAIT = 240
"""Under five minutes: providers keep an answer for ten at least, and a cancel is not passed on late."""
SHARE = 0.5
"""Of the time that has passed, until the next look."""


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
