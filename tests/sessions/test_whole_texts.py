"""What a view has the beginning of can be had whole: answers and results (docs/design/api.md 8)."""

import pytest

from acta.engine.models.model import ModelReply
from tests.api.session_functions import Person
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step

LONG = "Zeile über Flüsse.\n" * 12_000
ANSWER = "An answer of many words. " * 400


def ended(*answer: ModelReply) -> tuple[House, str]:
    read = says("", call("read_file", path="long.txt"))
    last = answer or (completes(ANSWER),)
    house = House(ScriptedModel([plans("read"), read, says("", step(1, "completed", "ok")), *last]))
    house.files.write(TENANT, "long.txt", LONG.encode())
    session = str(Person(house).start().data["session_id"])
    house.run()
    return house, session


def test_the_trace_has_the_whole_answer_and_whole_results_where_they_are_wanted() -> None:
    house, session = ended()
    path = f"/v1/sessions/{session}"
    assert len(Person(house).get(path).data["session"]["result"]["answer"]) == 4_000
    plain = Person(house).get(f"{path}/trace").data
    assert "answer" not in plain
    (cut,) = [row["observation"] for row in plain["items"] if row.get("action") == "read_file"]
    assert len(cut) < len(LONG)
    whole = Person(house).get(f"{path}/trace", include="answer,results").data
    assert whole["answer"] == ANSWER.strip()
    (observation,) = [row["observation"] for row in whole["items"] if row.get("action") == "read_file"]
    assert LONG in observation
    assert Person(house).get(f"{path}/trace", include="answer", limit="1").data["answer"] == ANSWER.strip()


def test_an_answer_is_whole_where_the_marker_came_after_it() -> None:
    house, session = ended(says(ANSWER), says("GOAL_COMPLETE"))
    trace = Person(house).get(f"/v1/sessions/{session}/trace", include="answer").data
    assert trace["answer"] == ANSWER.strip()


def test_a_session_without_an_answer_says_so() -> None:
    house = House(ScriptedModel([plans("read")]))
    session = Person(house).start().data["session_id"]
    assert Person(house).get(f"/v1/sessions/{session}/trace", include="answer").data["answer"] is None


@pytest.mark.parametrize("include", ["all", "answer,all", "answer results"])
def test_what_is_not_there_to_include_is_refused(include: str) -> None:
    house, session = ended()
    refused = Person(house).get(f"/v1/sessions/{session}/trace", include=include)
    assert (refused.status, list(refused.error["details"])) == (400, ["include"])


def test_a_long_result_is_read_part_by_part_in_whole_characters() -> None:
    house, session = ended()
    messages = Person(house).get(f"/v1/sessions/{session}/messages").data["items"]
    (told,) = [one["whole"] for one in messages if "whole" in one]
    text = ""
    offset: int | None = 0
    while offset is not None:
        path = f"/v1/sessions/{session}/texts/{told['text_id']}"
        part = Person(house).get(path, offset=str(offset), limit="100001").data
        assert part["bytes"] == told["bytes"]
        text, offset = text + part["text"], part["next_offset"]
    assert LONG in text
    assert len(text.encode()) == told["bytes"]
    assert Person(house).get(path, offset=str(told["bytes"] + 9)).data["text"] == ""


def test_only_the_session_s_own_texts_are_read_by_who_may_see_it() -> None:
    house, session = ended()
    other = str(Person(house).start(visibility="private").data["session_id"])
    messages = Person(house).get(f"/v1/sessions/{session}/messages").data["items"]
    (text_id,) = [one["whole"]["text_id"] for one in messages if "whole" in one]
    for name in ("0" * 64, "conversation-0000000032", "reply-1"):
        assert Person(house).get(f"/v1/sessions/{session}/texts/{name}").error["code"] == "NOT_FOUND"
    assert Person(house).get(f"/v1/sessions/{other}/texts/{text_id}").error["code"] == "NOT_FOUND"
    hidden = Person(house, "mia").get(f"/v1/sessions/{other}/texts/{text_id}")
    assert hidden.error["code"] == "SESSION_NOT_FOUND"
