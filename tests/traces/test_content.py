"""What was said is in spans only where an operator asked for it, and never of a private session."""

import json
from typing import Any

import pytest

from acta.engine.log.conversation import AMENDED, INLINE_BYTES, Content, ToolEntry
from acta.engine.people.opening import amended_note
from acta.engine.traces.spans import Span, spans_of
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, plans, says
from tests.traces.scripts import finishes

SECRETS = ("Write about waves", "I shall look", "sea.txt", "roaring", "It roars.")


def session(text: str = "roaring", **limits: Any) -> tuple[House, str]:
    house = House(
        ScriptedModel(
            [
                plans("look", goal="waves"),
                says("I shall look.", call("read_file", path="sea.txt")),
                finishes("It roars."),
            ]
        )
    )
    house.files.write(TENANT, "sea.txt", text.encode())
    session_id = house.start("Write about waves", **limits).session_id
    house.run()
    assert house.head(session_id).state == "completed"
    return house, session_id


def spans(made: tuple[House, str], *, with_content: bool) -> list[Span]:
    house, session_id = made
    commits = house.log.read(TENANT, session_id, 1).commits
    return [span for commit in commits for span in spans_of(commit, with_content=with_content)]


def test_spans_have_goal_answer_replies_calls_and_results_where_they_are_asked_for() -> None:
    found = spans(session(), with_content=True)
    (root,) = (span for span in found if not span.parent_id)
    assert json.loads(str(root.attributes["gen_ai.input.messages"])) == [
        {"role": "user", "parts": [{"type": "text", "content": "Write about waves"}]}
    ]
    (answer,) = json.loads(str(root.attributes["gen_ai.output.messages"]))
    assert answer["parts"][0]["content"].endswith("It roars.")
    replies = [span.attributes["gen_ai.output.messages"] for span in found if span.name.startswith("chat")]
    (looked,) = (reply for (reply,) in map(json.loads, map(str, replies)) if "I shall look." in str(reply))
    asked = looked["parts"][1]
    assert (asked["type"], asked["name"], asked["arguments"]) == (
        "tool_call",
        "read_file",
        {"path": "sea.txt"},
    )
    assert looked["finish_reason"] == "tool_call"
    (tool,) = (span for span in found if span.name.startswith("execute_tool"))
    assert tool.attributes["gen_ai.tool.call.id"] == asked["id"]
    assert "roaring" in str(tool.attributes["gen_ai.tool.call.result"])


@pytest.mark.parametrize(("with_content", "limits"), [(False, {}), (True, {"visibility": "private"})])
def test_nothing_that_was_said_is_in_a_span_else(with_content: bool, limits: dict[str, Any]) -> None:
    told = str(spans(session(**limits), with_content=with_content))
    assert [words for words in SECRETS if words in told] == []


def test_the_note_with_the_input_that_a_person_wrote_is_not_in_the_result() -> None:
    house = House(
        ScriptedModel(
            [
                plans("look", goal="waves"),
                says("I delete.", call("delete_file", path="sea.txt")),
                finishes("ok"),
            ]
        )
    )
    for path in ("sea.txt", "persons-own-words.txt"):
        house.files.write(TENANT, path, b"x")
    session_id = house.start("Write about waves").session_id
    house.run()
    house.resolve(session_id, house.head(session_id).interventions[0], "modify", path="persons-own-words.txt")
    house.run()
    (tool,) = (
        span for span in spans((house, session_id), with_content=True) if span.name.startswith("execute_tool")
    )
    assert "A person changed the input" in str(house.log.read(TENANT, session_id, 1).commits)
    assert tool.attributes["gen_ai.tool.call.result"] == "Deleted persons-own-words.txt."


@pytest.mark.parametrize("told", [f"roaring{AMENDED}nothing) and more", "{'and more'})"])
def test_a_tool_that_writes_the_note_s_words_hides_nothing_of_its_answer(told: str) -> None:
    (tool,) = (
        span for span in spans(session(told), with_content=True) if span.name.startswith("execute_tool")
    )
    assert "and more" in str(tool.attributes["gen_ai.tool.call.result"])


@pytest.mark.parametrize("written", ["", f"roaring{AMENDED}{{}})", f"roaring{AMENDED}{{}})\nmore"])
def test_only_the_last_note_is_taken_from_a_result(written: str) -> None:
    ran = {"path": f"own words{AMENDED}{{}})"}
    house, session_id = session()
    (commit,) = (
        each
        for each in house.log.read(TENANT, session_id, 1).commits
        if each.step is not None and each.step.kind == "tool"
    )
    (entry,) = (each for each in commit.entries if isinstance(each, ToolEntry))
    entry = entry.model_copy(update={"content": Content.of(written + amended_note(ran))})
    (span,) = spans_of(commit.model_copy(update={"entries": (entry,)}), with_content=True)
    assert span.attributes["gen_ai.tool.call.result"] == written


def test_long_texts_stay_where_they_are() -> None:
    found = spans(session("z" * 2 * INLINE_BYTES), with_content=True)
    (tool,) = (span for span in found if span.name.startswith("execute_tool"))
    assert "gen_ai.tool.call.result" not in tool.attributes
    assert max(len(str(span.attributes)) for span in found) < 3 * INLINE_BYTES


def test_ids_and_times_are_the_same_with_content_and_without() -> None:
    made = session()
    bare, told = spans(made, with_content=False), spans(made, with_content=True)
    assert [each[:7] for each in bare] == [each[:7] for each in told]
