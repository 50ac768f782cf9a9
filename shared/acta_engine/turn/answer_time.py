"""How long a model call may take: from the tokens that it may write and the speed of its model (design §9).
Less, where less is left of the invocation: `shared/acta_engine/turn/model_call.py`.

Speeds are tokens per second. No provider promises one. These are estimates, low on purpose: an answer that is given too
little time is paid for and lost, one that is given too much costs nothing. A setting replaces them all. The first
pattern that fits a name counts; patterns allow for what providers put around a name.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

_SPEEDS = (
    (r"offline-.*", 1_000),
    (r"(.*[./])?claude-.*haiku.*", 80),
    (r"(.*[./])?claude-.*(opus|fable|mythos).*", 40),
    (r"(.*[./])?claude-.*", 50),
    (r"(.*/)?(gpt-|o\d).*\bpro\b.*", 20),
    (r"(.*/)?gpt-.*astra.*", 40),
    (r"(.*/)?(gpt-|o\d).*(mini|nano|luna).*", 80),
    (r"(.*/)?(gpt-|o\d).*", 50),
)
UNKNOWN_SPEED = 30
DEFAULT_SPEED = 50
"""Of the providers' default models, the slowest. For where it is not known yet which of them is asked."""


@cache
def speed_of(model: str) -> int:
    return next((speed for name, speed in _SPEEDS if re.fullmatch(name, model)), UNKNOWN_SPEED)


class AnswerTime(NamedTuple):
    """All in seconds. `least`, `most`: of one call, whatever it needs. `first_token`: until a model begins.
    `tokens_per_second`: the speed of every model; 0: each has its own.
    """

    least: float = 120
    most: float = 840
    first_token: float = 30
    tokens_per_second: float = 0

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
