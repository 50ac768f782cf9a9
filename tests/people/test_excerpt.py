"""A large input is shown by its beginning, and says how much there is."""

from typing import Any

import pytest

from acta.engine.log.conversation import input_hash
from acta.engine.people.opening import MAX_SHOWN_BYTES, excerpt


def size(value: Any) -> int:
    import json

    return len(json.dumps(value, ensure_ascii=False).encode())


def test_what_fits_is_shown_as_it_is() -> None:
    arguments = {"path": "a.txt", "content": "x" * 1_900}
    assert excerpt(arguments) == (arguments, False)


def test_a_long_text_is_cut_and_gives_its_length() -> None:
    shown, shortened = excerpt({"path": "a.txt", "content": "ä" * 3_000})
    assert shortened
    assert shown == {"path": "a.txt", "content": f"{'ä' * 200}… (6000 bytes)"}


@pytest.mark.parametrize(
    "arguments",
    [
        {"rows": [{"text": "x" * 150} for _ in range(1_000)]},
        {f"field-{number}": "x" * 150 for number in range(1_000)},
        {"x" * 5_000: "y" * 5_000},
        {"deep": {"a": {"b": {"c": {"d": ["x" * 100] * 100}}}}},
        {f"{number}": [["z" * 190] * 10] * 10 for number in range(10)},
        {f"n{number}" * 40: 10**300 + number for number in range(20)},
    ],
)
def test_any_input_has_a_small_excerpt(arguments: dict[str, Any]) -> None:
    shown, shortened = excerpt(arguments)
    assert shortened
    assert size(shown) <= MAX_SHOWN_BYTES
    assert input_hash(shown) != input_hash(arguments)
    assert size(excerpt(arguments, 512)[0]) <= 512
