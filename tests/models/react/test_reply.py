"""One JSON object in one of two forms, or nothing."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acta.engine.models.react import ReActAction, ReActAnswer, UnreadableReply, parse_reply

ACTION = {"thought": "look", "action": "read_file", "action_input": {"path": "a.txt"}}
ANSWER = {"thought": "done", "final_answer": "Here it is."}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(ACTION),
        json.dumps(ACTION, indent=2),
        f"\n  {json.dumps(ACTION)}\n\n",
        f"```json\n{json.dumps(ACTION)}\n```",
        f"```\n{json.dumps(ACTION, indent=4)}\n```\n",
        f"```json\r\n{json.dumps(ACTION)}\r\n```",
        f"~~~text\n{json.dumps(ACTION)}\n~~~",
        f"\ufeff{json.dumps(ACTION)}\xa0",
        '{"action_input": {"path": "a.txt"}, "action": " read_file ", "thought": "look"}',
    ],
)
def test_an_action_is_read_bare_or_in_one_block(text: str) -> None:
    assert parse_reply(text) == ReActAction("look", "read_file", {"path": "a.txt"})


@pytest.mark.parametrize(
    "value", [{"b": 1, "a": [0.5, {"ä": None}]}, [], {}, 7, 12345678901234567890, True, None]
)
def test_an_answer_for_programs_is_the_json_of_its_value(value: object) -> None:
    written = parse_reply(json.dumps({"thought": "", "final_answer": value}), for_programs=True)

    assert isinstance(written, ReActAnswer)
    assert (json.loads(written.text), "\n" in written.text) == (value, False)


@pytest.mark.parametrize("text", ['{"total": 7}', "Here it is.", "7"])
def test_an_answer_for_programs_that_is_a_text_stays_as_it_stands(text: str) -> None:
    written = json.dumps({"thought": "", "final_answer": text})

    assert parse_reply(written, for_programs=True) == ReActAnswer("", text)


def test_a_final_answer_is_read_as_it_stands() -> None:
    text = json.dumps({"thought": "", "final_answer": ' two\nlines, "quotes" and {"action": 1} '})

    assert parse_reply(text) == ReActAnswer("", ' two\nlines, "quotes" and {"action": 1} ')


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        (" \n ", "empty"),
        ("I will read the file.", "begin with {"),
        (f"Thought: look\n{json.dumps(ACTION)}", "begin with {"),
        (f"<think>hm</think>{json.dumps(ACTION)}", "begin with {"),
        (f"{json.dumps(ACTION)}\nObservation: alpha", "not valid JSON"),
        (f"{json.dumps(ACTION)}\n{json.dumps(ANSWER)}", "not valid JSON"),
        (f"```json\n{json.dumps(ACTION)}\n```\n```json\n{json.dumps(ANSWER)}\n```", "not valid JSON"),
        (f"```json\n{json.dumps(ACTION)}\n```\nThat will do.", "not valid JSON"),
        (f"```json\n{json.dumps(ACTION)}\n``` That will do.", "not valid JSON"),
        (f"Here:\n```json\n{json.dumps(ACTION)}\n```", "begin with {"),
        (f"```json\n{json.dumps(ACTION)}", "not valid JSON"),
        (f"[{json.dumps(ACTION)}]", "a JSON array"),
        ('"GOAL_COMPLETE"', "a JSON string"),
        ("null", "a JSON null"),
        ("{}", "lacks action and action_input and thought"),
        ('{"thought": "x"}', "lacks action and action_input"),
        ('{"action": "a", "action_input": {}}', "lacks thought"),
        ('{"thought": "x", "action": "a"}', "lacks action_input"),
        ('{"final_answer": "x"}', "lacks thought"),
        ('{"thought": "x", "action": "a", "action_input": {}, "final_answer": "y"}', "both"),
        ('{"thought": "x", "action": "a", "final_answer": "y"}', "both"),
        ('{"thought": "x", "final_answer": "y", "observation": "z"}', "unknown key 'observation'"),
        ('{"thought": "x", "ReActAction": "a", "action_input": {}}', "unknown key 'ReActAction'"),
        ('{"thought": 1, "final_answer": "y"}', "thought is not a string"),
        ('{"thought": null, "final_answer": "y"}', "thought is not a string"),
        ('{"thought": "x", "final_answer": {"a": 1}}', "final_answer is not a string"),
        ('{"thought": "x", "final_answer": "  "}', "final_answer is empty"),
        ('{"thought": "x", "action": "", "action_input": {}}', "action is empty"),
        ('{"thought": "x", "action": ["a"], "action_input": {}}', "action is not a string"),
        ('{"thought": "x", "action": "a", "action_input": "path"}', "action_input is not a JSON object"),
        ('{"thought": "x", "action": "a", "action_input": null}', "action_input is not a JSON object"),
        ('{"thought": "x", "action": "a", "action": "b", "action_input": {}}', "key 'action' twice"),
        ('{"thought": "x", "action": "a", "action_input": {"p": 1, "p": 2}}', "key 'p' twice"),
        ('{"thought": "x", "action": "a", "action_input": {"p": NaN}}', "not valid JSON"),
        ('{"thought": "x", "action": "a", "action_input": {"p": 1e999}}', "too large"),
        ('{"thought": "x", "action": "a", "action_input": {"p": "\\ud800"}}', "Unicode"),
        ("{'thought': 'x', 'final_answer': 'y'}", "not valid JSON"),
        ('{"thought": "x", "final_answer": "y",}', "not valid JSON"),
        ('{"thought": "two\nlines", "final_answer": "y"}', "not valid JSON"),
        ('{"thought": "x", "action": "a", "action_input": ' + '{"a":' * 5_000, "nested more than 100 deep"),
    ],
)
def test_anything_else_is_refused_with_what_is_wrong(text: str, why: str) -> None:
    with pytest.raises(UnreadableReply) as caught:
        parse_reply(text)

    assert why in str(caught.value)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("whole", [ACTION, ANSWER])
def test_no_beginning_of_a_reply_is_taken_for_the_whole(whole: dict[str, Any]) -> None:
    for text in (json.dumps(whole), f"```json\n{json.dumps(whole)}\n```"):
        for length in range(len(text)):
            with pytest.raises(UnreadableReply):
                parse_reply(text[:length])


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
inputs = st.dictionaries(st.text(), values, max_size=4)
names = st.text(min_size=1).filter(lambda name: bool(name.strip()))


@given(st.text(), names, inputs, st.booleans())
def test_what_is_written_in_a_form_is_read_back(
    thought: str, name: str, arguments: dict[str, Any], ascii_only: bool
) -> None:
    written = {"thought": thought, "action": name, "action_input": arguments}

    read = parse_reply(json.dumps(written, ensure_ascii=ascii_only))

    assert read == ReActAction(thought, name.strip(), arguments)


@given(st.dictionaries(st.sampled_from(["thought", "action", "action_input", "final_answer", "x"]), values))
def test_only_the_two_forms_are_read(written: dict[str, Any]) -> None:
    acting = set(written) == {"thought", "action", "action_input"}
    answering = set(written) == {"thought", "final_answer"}
    try:
        read = parse_reply(json.dumps(written))
    except UnreadableReply:
        return
    assert acting or answering
    assert isinstance(read, ReActAction) == acting


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    with suppress(UnreadableReply):
        parse_reply(text)
