"""OpenAI's reasoning items: kept beside the reply, sent back as they came, over the wire of the official SDK."""

import pytest

from shared.domain.errors import (
    ProviderRejected,
)
from shared.ports.model import RequestedCall
from tests.contracts.llm.conversations import assistant, call, result, user
from tests.contracts.llm.responding import CUT, JSON, ask, tell
from tests.contracts.llm.served import Served
from tests.contracts.llm.wires import called, reasoned, said

pytestmark = pytest.mark.contract


def test_text_calls_and_reasoning_come_back_in_their_order(served: Served) -> None:
    tell(
        served,
        reasoned(1, summary="Hm."),
        said("Both."),
        called(1, '{"path":"a"}'),
        called(2, '{"path":"b"}'),
    )

    reply = ask(served)

    assert (reply.text, reply.stop, reply.thinking) == ("Both.", "tools", "Hm.")
    assert reply.calls == (
        RequestedCall("read_file", {"path": "a"}),
        RequestedCall("read_file", {"path": "b"}),
    )
    assert reply.raw == {
        "api": "responses",
        "model": "gpt-6-sol",
        "items": [
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": "Hm."}],
                "encrypted_content": "gAAA==",
            },
            {"type": "message", "chars": 5, "id": "msg_1"},
            {"type": "function_call", "id": "fc_1", "call_id": "call_1"},
            {"type": "function_call", "id": "fc_2", "call_id": "call_2"},
        ],
    }


def test_what_was_kept_goes_back_as_it_came(served: Served) -> None:
    items = [reasoned(1), said("Look.", phase="commentary"), called(1, '{"path":"a"}')]
    tell(served, *items)
    tell(served, said("Done."))
    reply = ask(served)
    entry = assistant(reply.text, call("c1", path="a"), provider="openai", raw=reply.raw)

    ask(served, user("go"), entry, result("c1", "A"))

    sent = served.asked[1].body["input"]
    told = [{key: value for key, value in item.items() if key != "status"} for item in items]
    assert [{k: v for k, v in item.items() if k != "status"} for item in sent[2:5]] == told
    assert sent[5] == {"type": "function_call_output", "call_id": "call_1", "output": "A"}


def test_reasoning_that_cannot_be_sent_back_is_not_kept(served: Served) -> None:
    tell(served, reasoned(1, encrypted=None), called(1, "{}"))

    assert ask(served).raw is None


def test_reasoning_that_cannot_be_stored_as_it_came_is_not_kept(served: Served) -> None:
    tell(served, reasoned(1), reasoned(2, summary="half \ud83d"), said("So.", phase="commentary"))

    reply = ask(served)

    assert (reply.text, reply.raw) == ("So.", None)
    assert reply.thinking.encode()


def test_a_cut_call_leaves_the_others_in_their_places(served: Served) -> None:
    tell(served, reasoned(1), called(1, '{"path": "b"}'), called(2, "{", status="incomplete"), **CUT)
    tell(served, said("ok"))
    reply = ask(served)
    broken = call("c2").model_copy(update={"input": None, "malformed": "cut off"})
    entry = assistant("", call("c1", path="b"), broken, provider="openai", raw=reply.raw)

    ask(served, user("go"), entry, result("c1", "B"), result("c2", "Error: cut off", ok=False))

    sent = served.asked[1].body["input"]
    assert [item.get("type") for item in sent[2:7]] == [
        "reasoning", "function_call", "function_call", "function_call_output", "function_call_output",
    ]  # fmt: skip
    assert [item["call_id"] for item in sent[3:7]] == ["call_1", "c2", "call_1", "c2"]


def test_reasoning_nobody_can_read_any_more_does_not_end_the_session(served: Served) -> None:
    refusal = (
        b'{"error": {"message": "no", "type": "invalid_request_error", "code": "invalid_encrypted_content"}}'
    )
    served.tell(refusal, status=400, headers=JSON)
    tell(served, said("On we go."))
    kept = {
        "api": "responses",
        "model": "gpt-6-sol",
        "items": [{**reasoned(1)}, {"type": "message", "chars": 5}],
    }
    entries = (user("go"), assistant("Look.", provider="openai", raw=kept), user("and?"))

    assert ask(served, *entries).text == "On we go."

    first, second = (asked.body["input"] for asked in served.asked)
    assert [item.get("type") for item in first].count("reasoning") == 1
    assert [item.get("type") for item in second].count("reasoning") == 0


def test_such_a_refusal_without_reasoning_is_one(served: Served) -> None:
    refusal = (
        b'{"error": {"message": "no", "type": "invalid_request_error", "code": "invalid_encrypted_content"}}'
    )
    for _ in range(2):
        served.tell(refusal, status=400, headers=JSON)

    with pytest.raises(ProviderRejected):
        ask(served)
