"""The marker with which a model says that it is done is between it and Acta: nobody is shown it
(docs/design/turn.md 17)."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acta.engine.log.beside import PartialReply
from acta.engine.log.conversation import INLINE_BYTES
from acta.engine.people.answers import intervention_view
from acta.engine.sessions.answers import partial_view
from acta.engine.turn.final_answer import GOAL_COMPLETE, claims_completion, for_people, without_marker
from tests.api.gateway import Gateway, api_of, claims
from tests.doubles.audit import memory_audit
from tests.in_process.house import TENANT, USER, House
from tests.in_process.scripted import ScriptedModel, Turn, call, completes, plans, says, step

LONG = "long " * INLINE_BYTES


def told(*turns: Turn) -> tuple[House, str]:
    house = House(ScriptedModel(turns))
    session = house.start("Do it").session_id
    house.run()
    return house, session


def gateway(house: House) -> Gateway:
    deps = house.app(audit=memory_audit(), limiter=None)
    return Gateway(api_of("status", deps).handler, claims(tenant=TENANT, user=USER))


def answers(house: House, session: str) -> dict[str, str]:
    """Everything that is told of a session, by path."""
    paths = ("", "/events", "/messages", "/plan", "/steps", "/trace", "/interventions")
    asked = {path: gateway(house).request("GET", f"/v1/sessions/{session}{path}") for path in paths}
    return {path: answer.body.decode() for path, answer in asked.items() if answer.status == 200}


def test_an_answer_is_shown_without_the_marker_wherever_it_is_shown() -> None:
    done = step(1, "completed", "ok")
    for answer in ("All read.", LONG):
        house, session = told(plans("tell"), says("", done), completes(answer))
        assert house.head(session).state == "completed"
        shown = answers(house, session)
        assert set(shown) == {"", "/events", "/messages", "/plan", "/steps", "/trace", "/interventions"}
        assert [path for path, text in shown.items() if GOAL_COMPLETE in text] == []
        assert answer[:20] in shown["/messages"]


CLAIMS = {
    "GOAL_COMPLETE\n4": "4",
    "**GOAL_COMPLETE**\n4": "4",
    "__GOAL_COMPLETE__\n\n4": "4",
    "`GOAL_COMPLETE`: 4": "4",
    "“GOAL_COMPLETE”\n4": "4",
    "## **GOAL_COMPLETE**\n4": "4",
    "**GOAL_COMPLETE: 4**": "4",
    "**GOAL_COMPLETE\n4**": "4",
    "<GOAL_COMPLETE>\n4": "4",
    "<GOAL_COMPLETE>4</GOAL_COMPLETE>": "4",
    "<GOAL_COMPLETE>\n4\n</GOAL_COMPLETE>\n": "4",
    "GOAL_COMPLETE：四": "四",
    "GOAL_COMPLETE：\n四": "四",
    "GOAL_COMPLETE。四个文件。": "四个文件。",
    "GOAL\\_COMPLETE\n4": "4",
    "✅ GOAL_COMPLETE\n4": "4",
    "\ufeffGOAL_COMPLETE\n4": "4",
    "\xa0GOAL_COMPLETE\xa0\r\n4\r\n5": "4\r\n5",
    "```\nGOAL_COMPLETE\n```\n4": "4",
    "```text\nGOAL_COMPLETE\n4\n```": "4",
    "GOAL_COMPLETE: -4": "-4",
    "GOAL_COMPLETE\n- a\n- b": "- a\n- b",
    "GOAL_COMPLETE\n    indented\nnot": "    indented\nnot",
    "GOAL_COMPLETE:**4**": "**4**",
    "GOAL_COMPLETE The total is 4.": "The total is 4.",
    "GOAL_COMPLETE\n4\n**GOAL_COMPLETE**": "4",
    "<think>GOAL_COMPLETE comes next</think>\nGOAL_COMPLETE\n4": "4",
    "<Thinking>a</thinking>\r\n<reasoning>b</reasoning>**GOAL_COMPLETE**\n4": "4",
    "<think>a <think>b</think> c</think>\nGOAL_COMPLETE\n4": "4",
    "[THINK]a[/THINK]GOAL_COMPLETE\n4": "4",
    "GOAL_COMPLETE\n<think>a</think>\n\n4": "4",
    "<mm:think>a</mm:think>GOAL_COMPLETE\n4": "4",
    "</think>4\n\nGOAL_COMPLETE": "4",
    "I count.\n</think>\n\nGOAL_COMPLETE\n4": "4",
    "I count.</think>GOAL_COMPLETE\n4": "4",
    "<think>I count, and never close it.\nGOAL_COMPLETE\n4": "4",
    "Done.\nGOAL_COMPLETE\n4": "4",
    "The total is 4.\n\nGOAL_COMPLETE\n\nMore is in a.md.": "The total is 4.\n\nMore is in a.md.",
    "The total is 4.\n**GOAL_COMPLETE**": "The total is 4.",
    "- apples\n- pears\n\nGOAL_COMPLETE\n": "- apples\n- pears",
    "All are merged into out.csv. GOAL_COMPLETE": "All are merged into out.csv.",
    "First.\n\n**All done!** **GOAL_COMPLETE**\n": "First.\n\n**All done!**",
    "**All are merged. GOAL_COMPLETE**": "**All are merged.**",
    "It says “4.” GOAL_COMPLETE.": "It says “4.”",
    "合计是4。GOAL_COMPLETE": "合计是4。",
    "The report is in may.md.\n\n```\nGOAL_COMPLETE\n```": "The report is in may.md.",
    "```\n4\n```\nIt is 4.\n~~~text\n**GOAL_COMPLETE**\n~~~\n": "```\n4\n```\nIt is 4.",
    "🎯 GOAL_COMPLETE\n4": "4",
    "🏁 **GOAL_COMPLETE** 🏁\n4": "4",
    "**Status:** GOAL_COMPLETE\n\n4": "4",
    "The total is 4.\n\n**Final status: GOAL_COMPLETE**": "The total is 4.",
    "GOAL_COMPLETE\n4<|im_end|>": "4",
    "GOAL_COMPLETE\n4\n<|eot_id|><|end_of_text|>\n\n\n\n": "4\n",
    "4\n\nGOAL_COMPLETE<|endoftext|>": "4",
    "GOAL_COMPLETE<|eot_id|>": "",
    "**GOAL_COMPLETE** <|eot_id|>\n\n4": "4",
    "GOAL_COMPLETE\n4<｜end▁of▁sentence｜>": "4",
    "GOAL_COMPLETE\nIt ends with <|im_end|>": "It ends with <|im_end|>",
    "GOAL_COMPLETE\n`<|im_end|>`": "`<|im_end|>`",
    "<|im_start|>assistant\nGOAL_COMPLETE\n4": "4",
    "<|start_header_id|>assistant<|end_header_id|>\n\n<think>a</think>GOAL_COMPLETE\n4": "4",
    "<|channel|>final<|message|>GOAL_COMPLETE\n4<|return|>": "4",
    "<|start|>assistant<|channel|>final <|constrain|>json<|message|>GOAL_COMPLETE\n4": "4",
    "<|channel|>analysis<|message|>All is done: GOAL_COMPLETE.<|end|><|start|>assistant<|channel|>final<|message|>"
    "GOAL_COMPLETE\n4": "4",
    "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary<|message|>b<|end|><|start|>assistant"
    "<|channel|>final<|message|>4\n\nGOAL_COMPLETE<|return|>": "4",
}
CLAIMS_NOTHING = [
    "I will say GOAL_COMPLETE when all is done.",
    "GOAL_COMPLETE is what I say at the end.",
    "GOAL_COMPLETE will follow once the tests pass",
    "GOAL_COMPLETE: not yet",
    "GOAL_COMPLETE: false\nI still need the number.",
    "GOAL_COMPLETE: Not all files are there.",
    "GOAL_COMPLETE = pending",
    "GOAL_COMPLETE? Not yet.",
    "GOAL_COMPLETE？还没有。",
    "GOAL_COMPLETE, then, is the word.",
    "`GOAL_COMPLETE`: say this when it is done",
    '"GOAL_COMPLETE" means that it is over',
    "NOT GOAL_COMPLETE",
    "MY_GOAL_COMPLETE\n4",
    "GOAL_COMPLETED\n4",
    "> GOAL_COMPLETE\n> 4",
    "The file says:\nGOAL_COMPLETE",
    "I will end with the words\nGOAL_COMPLETE\nonce the tests pass.",
    "The notes:\n```\nGOAL_COMPLETE\n```\nGo on with them.",
    "One.\n\nTwo.\n\nGOAL_COMPLETE\n\nThree, a part of the document.",
    "<think>GOAL_COMPLETE</think>\nI go on.",
    "<think>\nGOAL_COMPLETE\n4\n</think>",
    "<|channel|>analysis<|message|>GOAL_COMPLETE comes next.<|end|>",
    "I say <|channel|>final<|message|> before GOAL_COMPLETE.",
    "I will reply with GOAL_COMPLETE when done.",
    "When all is merged, I reply with GOAL_COMPLETE",
    "When all is merged, I reply with a marker, i.e. GOAL_COMPLETE",
    "The prompt ends with these words: “Give the answer. GOAL_COMPLETE”",
    "The first step is done. `GOAL_COMPLETE`",
    "Is all merged? GOAL_COMPLETE",
    "It reads settings.GOAL_COMPLETE",
    "The file says:\nAll is merged. GOAL_COMPLETE",
    "> All is merged. GOAL_COMPLETE",
    "```\nAll is merged. GOAL_COMPLETE\n```",
    "```\nAll is merged. GOAL_COMPLETE",
    "At the end I write:\n```\nGOAL_COMPLETE\n```",
    "At the end I write this\n\n```\nGOAL_COMPLETE\n```",
    "Status: not GOAL_COMPLETE",
    "Status: GOAL_COMPLETE is what I say at the end",
    "Next: GOAL_COMPLETE",
]


@pytest.mark.parametrize("text", CLAIMS, ids=ascii)
def test_the_marker_is_found_where_models_put_it_and_the_rest_is_the_answer(text: str) -> None:
    assert claims_completion(text)
    assert for_people(text) == CLAIMS[text]


@pytest.mark.parametrize("text", CLAIMS_NOTHING, ids=ascii)
def test_a_sentence_about_the_marker_claims_nothing(text: str) -> None:
    assert not claims_completion(text)


@given(st.text(st.sampled_from("ab \n`*<>/#-.:\ufeff\r"), max_size=30))
def test_words_without_a_marker_and_tags_are_shown_to_the_letter(text: str) -> None:
    assert for_people(text) == text
    assert for_people(f"GOAL_COMPLETE\n{text}").strip("\ufeff \n\r") == text.strip("\ufeff \n\r")


BEFORE = [
    "",
    "\ufeff",
    "\xa0\n",
    "<think>GOAL_COMPLETE?</think>",
    "<think>\na\n</think>\n\n",
    "a\n</think>\n",
    "All done.\n\n",
]
MARKS = [
    "{}",
    "**{}**",
    "__{}__",
    "***{}***",
    "`{}`",
    "'{}'",
    "«{}»",
    "# {}",
    "### **{}**",
    "[{}]",
    "{}:",
    "**{}.**",
    "🎉 {}",
]


@given(
    st.sampled_from(BEFORE),
    st.sampled_from(MARKS),
    st.sampled_from(["\n", "\r\n", "\n\n"]),
    st.text(max_size=40),
)
def test_the_words_after_a_marker_are_the_answer_to_the_letter(
    before: str, mark: str, end: str, words: str
) -> None:
    words = f"= {words} ="
    text = before + mark.format("GOAL_COMPLETE") + end + words
    assert (for_people(text), claims_completion(text)) == (words, True)


@given(
    st.sampled_from(MARKS),
    st.sampled_from(["is what I say", "will follow", "when it is done", "means the end"]),
)
def test_no_spelling_of_the_marker_makes_a_sentence_a_claim(mark: str, rest: str) -> None:
    word = mark.format("GOAL_COMPLETE")
    for text in (f"I say {word} when it is done.", f"Not yet {word}", f"The word:\n{word}", f"> {word}\n> 4"):
        assert not claims_completion(text)
    if not word.endswith(":") and "." not in word:
        assert not claims_completion(f"{word} {rest}")


def test_a_reply_without_words_shows_what_was_thought() -> None:
    assert for_people("<think>Look first.</think>\n") == "<think>Look first.</think>"
    assert for_people("<think>Look first.</think>\nGOAL_COMPLETE") == ""


def test_special_tokens_at_the_edges_of_a_reply_are_no_words() -> None:
    assert for_people("4<|im_end|>") == for_people("<|im_start|>assistant\n4\n<|im_end|>").strip() == "4"
    assert (
        for_people("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>4")
        == "4"
    )
    assert without_marker("<|im_end|>") == ""
    for text in ("It is <|im_end|>", "`<|im_end|>`", "<|im_end|> ends it", "a <|b|> c", "<||>", "<|a b|>"):
        assert for_people(text) == text


def test_the_marker_and_a_token_alone_make_an_answer_of_the_reply_before() -> None:
    done = says("", step(1, "completed", "ok"))
    house, session = told(plans("tell"), done, says("The total is 7."), says("GOAL_COMPLETE<|eot_id|>"))
    result = house.head(session).result
    assert result is not None
    assert (house.head(session).state, result.answer) == ("completed", "The total is 7.")


def test_tags_in_prose_are_prose() -> None:
    for text in (
        "Close it with </think> and go on.",
        "<think> is a tag",
        "`</think>`\nends it",
        "a\n```\n</think>\n```",
    ):
        assert for_people(text) == text


def test_an_answer_that_comes_with_the_completed_plan_is_shown_without_marker_and_reasoning() -> None:
    done = step(1, "completed", "ok")
    for text, reason in (
        ("<think>private</think>\n**GOAL_COMPLETE**\nAll read.", "done"),
        ("<think>private</think>All read.\n\nGOAL_COMPLETE", "**GOAL_COMPLETE**"),
        ("", "`GOAL_COMPLETE`\nAll read."),
    ):
        house, session = told(
            plans("tell"), says(text, done, call("update_plan", action="complete", reason=reason))
        )
        result = house.head(session).result
        assert result is not None
        assert result.answer == "All read."
        shown = answers(house, session)
        assert [path for path in ("", "/events", "/plan") if GOAL_COMPLETE in shown[path]] == []
        assert [path for path in ("", "/events", "/messages") if "private" in shown[path]] == []


def test_an_event_tells_the_bytes_of_what_it_shows() -> None:
    house, session = told(plans("tell"), says("", step(1, "completed", "ok")), completes("Ünder"))
    (event,) = (e.event.data for e in house.poll(session).events if e.event.data.get("content") == "Ünder")
    assert event["bytes"] == 6


def test_what_the_model_is_reminded_of_names_no_marker_to_people() -> None:
    house, session = told(
        plans("tell"), says("", step(1, "completed", "ok")), *[says(word) for word in ("1.", "2.", "3.")]
    )
    hints = [
        one.event.data["text"] for one in house.poll(session).events if one.event.type == "hint.injected"
    ]
    assert any(GOAL_COMPLETE in text for text in hints), "the model is told the word"
    shown = answers(house, session)
    assert GOAL_COMPLETE not in shown[""] + shown["/events"]
    assert "begin your reply with the mark of completion" in shown[""]


def test_a_question_shows_what_the_agent_said_without_it() -> None:
    asks = call("update_plan", action="wait_for_user", reason=f"{GOAL_COMPLETE}: which?")
    house, session = told(plans("tell"), says(f"{GOAL_COMPLETE}\nAlmost.", asks))
    context: dict[str, Any] = dict(intervention_view(house.head(session).interventions[0])["context"])
    assert (context["question"], context["agent_said"]) == ("which?", "Almost.")


def test_a_person_s_own_words_stay_as_they_are() -> None:
    house = House(ScriptedModel([]))
    session = house.start(f"{GOAL_COMPLETE} is the word").session_id
    assert f"{GOAL_COMPLETE} is the word" in answers(house, session)[""]


def test_a_reply_that_is_still_written_shows_neither_the_marker_nor_its_beginning() -> None:
    house = House(ScriptedModel([]))
    head = house.head(house.start("Do it").session_id)
    written = ["", "GOAL", "GOAL_COMPLETE", "GOAL_COMPLETE\nAll", "GOALS are", "All read"]
    written += ["**GOAL_", "# GOAL_COMPLETE", "<think>I am", "<think>I am</think>\nHi", "All.\n\nGOAL_COM"]
    written += ["GOAL_COMPLETE：", "<GOAL_COMPLETE>\nAll.\n</GOAL_COM"]
    written += ["All.\nIt is 4. GOAL_", "Vitamin GOALS"]
    written += ["<|channel|>ana", "<|channel|>analysis<|message|>I am", "<|channel|>final<|message|>Hi"]
    partials = [
        PartialReply(key="1/1/think", text=text, at=datetime(2026, 1, 1, tzinfo=UTC)) for text in written
    ]
    shown = [partial_view(one, head)["text"] for one in partials]
    assert shown == [
        "",
        "",
        "",
        "All",
        "GOALS are",
        "All read",
        "",
        "",
        "",
        "Hi",
        "All.\n",
        "",
        "All.",
        "All.\nIt is 4. ",
        "Vitamin GOALS",
        "",
        "",
        "Hi",
    ]


def test_a_call_is_told_with_its_input_where_it_is_asked_for_and_a_large_one_without() -> None:
    calls = [call("create_file", path="a.txt", content=text) for text in ("hi", LONG)]
    house, session = told(
        plans("tell"), says("", *calls), says("", step(1, "completed", "ok")), completes(".")
    )
    told_calls = [e.event.data for e in house.poll(session).events if e.event.type == "tool.requested"]
    assert told_calls[0]["input"] == {"path": "a.txt", "content": "hi"}
    assert "input" not in told_calls[1]
    assert all(
        "input" not in e.event.data for e in house.poll(session).events if e.event.type == "tool.started"
    )
