"""Definitions' files hold JSON's values, and reading gives what was written."""

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from acta.yaml_text import NoYaml, read, write

WORDS = st.sampled_from(
    [
        "no",
        "on",
        "1e3",
        "007",
        "~",
        "2020-01-01",
        "0x1f",
        "1_000",
        "=",
        "<<",
        "- x",
        ".inf",
        "12:30",
        "1e400",
        "0.12345678901234567890",
    ]
)
LINES = st.lists(st.one_of(WORDS, st.text(max_size=12)), max_size=4).map("\n".join)
TEXTS = st.one_of(WORDS, LINES).filter(lambda text: not any("\ud800" <= char <= "\udfff" for char in text))
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.one_of(st.lists(inner), st.dictionaries(TEXTS, inner)), max_leaves=8
)


@settings(max_examples=300, deadline=None)
@given(VALUES)
@example("\x85")
@example("0\n\x85")
def test_what_is_written_is_read_as_it_was(value: Any) -> None:
    assert read(write(value)).value == value


@pytest.mark.parametrize(
    "text", ["no", "Yes", "on", "2020-01-01", "12:30:45", "0x1f", "1_000", "007", ".inf", "+x"]
)
def test_a_word_that_only_yaml_takes_for_something_else_is_text(text: str) -> None:
    assert read(f"a: {text}").value == {"a": text}


def test_a_long_text_is_written_line_by_line() -> None:
    assert write({"prompt": "One.\n\nTwo: no.\n"}) == "prompt: |\n  One.\n\n  Two: no.\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: &x 1\nb: *x", 2),
        ("a: !!set {}", 1),
        ("a: 1\nb: 2\na: 3", 3),
        ("a: 1\n---\nb: 2", 2),
        ("a:\n  - 1e400", 2),
        ("a: 0.12345678901234567890", 1),
        ("a: 9007199254740993.5", 1),
    ],
)
def test_what_json_does_not_have_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(NoYaml) as refused:
        read(text)
    assert refused.value.line == line


def test_a_file_that_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(NoYaml):
        read("[" * 50_000)
