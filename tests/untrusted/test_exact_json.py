"""A number of JSON keeps the value that was written, or is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acta.engine.log.conversation import input_hash
from acta.engine.people.intervention import Intervention, PendingCall
from acta.engine.store.schema import CURRENT, to_json
from acta.engine.untrusted.exact_json import (
    InvalidJson,
    canonical_json,
    parse_answer,
    read_exactly,
    written_exactly,
)
from tests.stores.documents import make_intervention


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("9007199254740993", "9007199254740993"), ("-9007199254740993", "-9007199254740993"),
        ("1" + "0" * 40, "1" + "0" * 40), ("0", "0"), ("-0", "0"), ("-0.0", "-0.0"),
        ("0.1", "0.1"), ("0.10", "0.1"), ("1e2", "100.0"), ("1E+22", "1e+22"), ("5e-324", "5e-324"),
        ("0.10000000000000001", "0.1"), ("0.30000000000000004", "0.30000000000000004"),
        ("0.1000000000000000055511151231257827021181583404541015625", "0.1"),
        ("9007199254740992.0", "9007199254740992.0"),
    ],
)  # fmt: skip
def test_a_number_has_one_text_of_the_value_that_was_written(written: str, kept: str) -> None:
    assert canonical_json(read_exactly(written)) == kept


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("1e400", "too large"), ("-1e400", "too large"), ("NaN", "not a JSON number"),
        ("Infinity", "not a JSON number"), ("-Infinity", "not a JSON number"),
        ("0.1000000000000000010", "would be kept as 0.1"), ("9007199254740993.0", "9007199254740992.0"),
        ("1e-400", "would be kept as 0.0"), ("1" * 301, "too long"), ("0." + "1" * 300, "too long"),
        ('{"a": 1, "a": 2}', "the key 'a' twice"),
    ],
)  # fmt: skip
def test_what_cannot_be_kept_is_refused_and_the_message_says_why(written: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_exactly(f'{{"x": {written}}}')


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("0.1234567890123456789012", 0.12345678901234568), ("1e-400", 0.0), ('"a\\ud800b"', "a\\ud800b"),
        ('{"\\udc00": 1}', {"\\udc00": 1}), ('"\\ud83d\\ude00"', "\U0001f600"), ('{"a": 1, "a": 2}', {"a": 2}),
    ],
)  # fmt: skip
def test_no_answer_is_lost_for_how_it_is_written(written: str, kept: object) -> None:
    assert parse_answer(written) == kept


@given(
    st.lists(
        st.decimals(-(10**30), 10**30, places=25)
        | st.integers()
        | st.sampled_from(["1e5", "1.50", "-0.0", '"1.5"'])
    )
)
def test_an_answer_is_passed_on_with_the_digits_that_it_had(digits: list[object]) -> None:
    text = ", ".join(str(each) if isinstance(each, str | int) else f"{each:f}" for each in digits)
    assert written_exactly(parse_answer(f'{{"a": [{text}]}}')) == f'{{"a": [{text}]}}'


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("NaN", "not a JSON number"), ("-Infinity", "not a JSON number"), ("1e400", "too large"),
        ("1" * 301, "too long"), ("[" * 101 + "]" * 101, "nested more than 100 deep"),
        ("[" * 500_000, "nested more than 100 deep"),
    ],
)  # fmt: skip
def test_an_answer_that_could_not_be_stored_is_refused(written: str, said: str) -> None:
    with pytest.raises(InvalidJson, match=said):
        parse_answer(written)


numbers = st.integers(-(10**299) + 1, 10**299) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    numbers | st.text() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), values, max_size=4))
def test_the_text_is_read_as_the_value_it_was_made_of_and_stored_without_a_change(
    arguments: dict[str, object],
) -> None:
    text = canonical_json(arguments)
    assert canonical_json(read_exactly(text)) == text
    call = PendingCall(call_id="c", name="pay", input=arguments, input_hash=input_hash(arguments))
    asked = make_intervention("ses_1", "int_1", tool_call=call)
    stored = to_json(asked, CURRENT)
    assert canonical_json(json.loads(stored)["tool_call"]["input"]) == text
    again = Intervention.model_validate_json(stored)
    assert again.tool_call is not None
    assert input_hash(again.tool_call.input) == call.input_hash
