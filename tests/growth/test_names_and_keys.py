"""What is compared with what nobody chose for Acta: names of files, keys of a model's JSON. On each of these the code
before took minutes.
"""

import json

import pytest

from acta.engine.untrusted.exact_json import InvalidJson, parse_object
from acta.engine.untrusted.validation_messages import COMPARED_CHARS, similar

HOSTILE = [("ab" * 500 + "ba" * (n % 12))[: 1_000 + n % 24] for n in range(1_000)]
"""Names that have all their characters in common, in many orders."""


def test_a_thousand_long_names_are_compared_by_their_ends() -> None:
    assert similar("ba" * 500, HOSTILE, most=3)
    same_end = "y" * COMPARED_CHARS
    assert similar(f"a{same_end}", [f"b{same_end}"], most=1) == [f"b{same_end}"]


@pytest.mark.parametrize(
    ("name", "near"),
    [("raed_file", ["read_file"]), ("notes", ["notes.md"]), ("READ_FILE", ["read_file"]), ("zzz", [])],
)
def test_what_is_like_a_name_shares_its_pairs_of_characters(name: str, near: list[str]) -> None:
    assert similar(name, ["read_file", "notes.md", "x"], most=1) == near


def test_a_key_that_stands_twice_among_many_is_named() -> None:
    keys = ", ".join(f'"key{number}": 1' for number in range(100_000))
    with pytest.raises(InvalidJson, match="'last' twice"):
        parse_object(f'{{{keys}, "last": 1, "last": 2}}')
    assert len(parse_object(f"{{{keys}}}")) == len(json.loads(f"{{{keys}}}"))
