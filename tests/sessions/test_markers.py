"""The marker with which a model says that it is done is between it and Acta: nobody is shown it
(docs/design/turn.md 17)."""

from datetime import UTC, datetime
from typing import Any

from acta_engine.limits.long_polls import LongPollLimit
from acta_engine.log.beside import PartialReply
from acta_engine.log.conversation import INLINE_BYTES
from acta_engine.people.answers import intervention_view
from acta_engine.sessions.answers import partial_view
from acta_engine.turn.final_answer import GOAL_COMPLETE
from tests.api.gateway import Gateway, api_of, claims
from tests.doubles.audit import memory_audit
from tests.doubles.long_polls import MemoryLongPolls
from tests.in_process.house import TENANT, USER, House
from tests.in_process.scripted import ScriptedModel, Turn, call, completes, plans, says, step

LONG = "long " * INLINE_BYTES


def told(*turns: Turn) -> tuple[House, str]:
    house = House(ScriptedModel(turns))
    session = house.start("Do it").session_id
    house.run()
    return house, session


def gateway(house: House) -> Gateway:
    long_polls = LongPollLimit(MemoryLongPolls(), house.clock)
    deps = house.app(long_poll_limit=long_polls, audit=memory_audit(), limiter=None)
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
    partials = [
        PartialReply(key="1/1/think", text=text, at=datetime(2026, 1, 1, tzinfo=UTC)) for text in written
    ]
    shown = [partial_view(one, head)["text"] for one in partials]
    assert shown == ["", "", "", "All", "GOALS are", "All read"]


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
