"""OpenAI's reasoning items are kept with the reply and sent back as they came."""

import json
from typing import Any

import pytest

from acta.engine.errors import ProviderRejected
from acta.engine.models.model import RequestedCall
from tests.models.wires.conversations import assistant, call, result, user
from tests.models.wires.fake_provider import FakeProvider
from tests.models.wires.openai.responses_api import CUT, JSON, ask, queue
from tests.models.wires.stream_formats import function_call, message, reasoning

pytestmark = pytest.mark.contract


def test_text_calls_and_reasoning_come_back_in_their_order(server: FakeProvider) -> None:
    queue(
        server,
        reasoning(1, summary="Hm."),
        message("Both."),
        function_call(1, '{"path":"a"}'),
        function_call(2, '{"path":"b"}'),
    )

    reply = ask(server)

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


def test_what_was_kept_goes_back_as_it_came(server: FakeProvider) -> None:
    items = [reasoning(1), message("Look.", phase="commentary"), function_call(1, '{"path":"a"}')]
    queue(server, *items)
    queue(server, message("Done."))
    reply = ask(server)
    entry = assistant(reply.text, call("c1", path="a"), provider="openai", raw=reply.raw)

    ask(server, user("go"), entry, result("c1", "A"))

    sent = server.requests[1].body["input"]
    kept = [{key: value for key, value in item.items() if key != "status"} for item in items]
    assert [{k: v for k, v in item.items() if k != "status"} for item in sent[2:5]] == kept
    assert sent[5] == {"type": "function_call_output", "call_id": "call_1", "output": "A"}


def test_reasoning_that_cannot_be_sent_back_is_not_kept(server: FakeProvider) -> None:
    queue(server, reasoning(1, encrypted=None), function_call(1, "{}"))

    assert ask(server).raw is None


def test_reasoning_that_cannot_be_stored_as_it_came_is_not_kept(server: FakeProvider) -> None:
    queue(server, reasoning(1), reasoning(2, summary="half \ud83d"), message("So.", phase="commentary"))

    reply = ask(server)

    assert (reply.text, reply.raw) == ("So.", None)
    assert reply.thinking.encode()


@pytest.mark.parametrize("id", [7, ["fc"], {"a": {}}])
def test_an_id_that_is_no_text_is_not_kept(server: FakeProvider, id: Any) -> None:
    queue(server, reasoning(1), {**function_call(1, "{}"), "id": id})

    assert ask(server).raw is None


def test_a_cut_call_leaves_the_others_in_their_places(server: FakeProvider) -> None:
    queue(
        server,
        reasoning(1),
        function_call(1, '{"path": "b"}'),
        function_call(2, "{", status="incomplete"),
        **CUT,
    )
    queue(server, message("ok"))
    reply = ask(server)
    broken = call("c2").model_copy(update={"input": None, "malformed": "cut off"})
    entry = assistant("", call("c1", path="b"), broken, provider="openai", raw=reply.raw)

    ask(server, user("go"), entry, result("c1", "B"), result("c2", "Error: cut off", ok=False))

    sent = server.requests[1].body["input"]
    assert [item.get("type") for item in sent[2:7]] == [
        "reasoning", "function_call", "function_call", "function_call_output", "function_call_output",
    ]  # fmt: skip
    assert [item["call_id"] for item in sent[3:7]] == ["call_1", "000001001"] * 2


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("invalid_encrypted_content", "no"),
        (None, "The encrypted content gAAA...wXBV could not be verified."),
        ("400", "litellm.BadRequestError: The encrypted content gAAA could not be verified."),
    ],
    ids=["OpenAI", "Azure", "LiteLLM"],
)
def test_reasoning_that_the_server_cannot_read_any_more_does_not_end_the_session(
    code: str | None, said: str, server: FakeProvider
) -> None:
    refusal = {"error": {"message": said, "type": "invalid_request_error", "code": code}}
    server.queue(json.dumps(refusal).encode(), status=400, headers=JSON)
    queue(server, message("On we go."))
    kept = {
        "api": "responses",
        "model": "gpt-6-sol",
        "items": [{**reasoning(1)}, {"type": "message", "chars": 5}],
    }
    entries = (user("go"), assistant("Look.", provider="openai", raw=kept), user("and?"))

    assert ask(server, *entries).text == "On we go."

    first, second = (asked.body["input"] for asked in server.requests)
    assert [item.get("type") for item in first].count("reasoning") == 1
    assert [item.get("type") for item in second].count("reasoning") == 0


def test_the_same_refusal_of_a_request_without_reasoning_ends_the_run(server: FakeProvider) -> None:
    refusal = (
        b'{"error": {"message": "no", "type": "invalid_request_error", "code": "invalid_encrypted_content"}}'
    )
    for _ in range(2):
        server.queue(refusal, status=400, headers=JSON)

    with pytest.raises(ProviderRejected):
        ask(server)
