"""No text can pretend that it ends before its closing line."""

from hypothesis import given
from hypothesis import strategies as st

from acta.engine.models.react import attributed


def test_a_text_stands_unchanged_between_two_lines_with_one_mark() -> None:
    opening, *body, closing = attributed("user", "a\nb\n", "msg_1").split("\n")

    assert body == ["a", "b", ""]
    assert opening.startswith("[user #")
    assert closing == "[end " + opening.removeprefix("[user ")


def test_the_same_text_gets_the_same_mark() -> None:
    assert attributed("user", "a", "msg_1") == attributed("user", "a", "msg_1")


@given(st.text(), st.integers(min_value=0, max_value=4))
def test_no_text_contains_its_own_closing_line(text: str, times: int) -> None:
    for _ in range(times):  # a message that quotes an earlier one whole
        text = attributed("user", text, "msg_1")
    closing = attributed("observation of read_file", text, "msg_1").rpartition("\n")[2]

    assert closing not in text
    assert closing.removeprefix("[end ").removesuffix("]") not in text
