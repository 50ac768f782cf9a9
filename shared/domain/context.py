"""How much of a model's context window a request takes, and when that is too much (design §9). Pure."""

from typing import NamedTuple

from shared.domain.value import Value

BYTES_PER_TOKEN = 3
"""Where nothing was measured; English has about 4, so that estimates are rather too high than too low."""
MOST_BYTES_PER_TOKEN = 8
"""A provider that counts fewer tokens than this is not believed: text is not that dense."""


class Measured(Value):
    """The last model call: bytes of its request and what the provider counted. 0: there was none yet."""

    bytes: int = 0
    tokens: int = 0

    @property
    def is_usable(self) -> bool:
        return 0 < self.bytes <= self.tokens * MOST_BYTES_PER_TOKEN


class Limits(NamedTuple):
    """Tokens of a request: above `most` the conversation is compacted, to `aim` or less where that is possible."""

    most: int
    aim: int


def limits(window: int, max_output: int) -> Limits:
    """The output has to fit as well; a tenth is kept back because the next request is only estimated."""
    most = (window - min(max_output, window // 4)) * 9 // 10
    return Limits(most, most // 2)


def estimated_tokens(size: int, last: Measured) -> int:
    """Tokens of a request of `size` bytes: what the last one had and the growth since, else a rule of thumb."""
    if not last.is_usable:
        return size // BYTES_PER_TOKEN + 1
    if size < last.bytes:
        return size * last.tokens // last.bytes + 1
    return last.tokens + (size - last.bytes) // BYTES_PER_TOKEN + 1
