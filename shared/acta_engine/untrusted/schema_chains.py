"""Schemas of JSON Schema that apply to one value, each inside the one before or referred to by it."""

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter

MAX_CHAIN = 32
"""Schemas that apply to the same value, each inside the one before or referred to by it. The validator calls itself for
each of them, so their number is limited."""
MAX_FOR_ONE_VALUE = 1_000
"""The most schemas that apply to the same value. A schema that is referred to twice is counted twice, and references
that fan out multiply the number.
"""


class EndlessSchema(Exception):
    """The message is a sentence for whoever wrote the schema."""


def check_chains(following: Mapping[int, list[int]]) -> None:
    """Raises EndlessSchema where a chain has no end or is too long, or where all chains together are too many.
    `following`: by schema, the schemas that come next for the same value.
    """
    lengths: dict[int, int] = {}
    counts: dict[int, int] = {}
    try:
        for each in TopologicalSorter(following).static_order():
            lengths[each] = 1 + max((lengths[one] for one in following[each]), default=0)
            counts[each] = 1 + sum(counts[one] for one in following[each])
    except CycleError:
        raise EndlessSchema("A $ref leads back to itself: no value can ever be checked.") from None
    if max(lengths.values()) > MAX_CHAIN:
        raise EndlessSchema(f"More than {MAX_CHAIN} schemas follow each other for one value.")
    if max(counts.values()) > MAX_FOR_ONE_VALUE:
        raise EndlessSchema(
            f"More than {MAX_FOR_ONE_VALUE:,} schemas apply to one value, because references fan out."
        )
