"""The form of an answer, as each protocol says it to its provider (ADR 192)."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from botocore.session import get_session
from botocore.validate import ParamValidator

from acta.engine.errors import ProviderRejected
from acta.engine.models import converse
from acta.engine.models.anthropic.request import to_body as messages_body
from acta.engine.models.converse import ConverseModel
from acta.engine.models.model import Model, ModelRequest, in_background
from acta.engine.models.openai.chat import to_body as chat_body
from acta.engine.models.openai.responses import OpenAIResponsesModel
from acta.engine.models.openai.responses import to_body as responses_body
from acta.engine.models.providers import ModelParameters
from acta.engine.models.react import ReActModel
from tests.doubles.background_responses import BackgroundResponses
from tests.doubles.http_sink import Heard, Reply
from tests.models.wires.conftest import MODELS
from tests.models.wires.conversations import KEY, TIMEOUT, request
from tests.models.wires.converse.events import BEGUN, delta, ended
from tests.models.wires.fake_provider import FakeProvider
from tests.models.wires.stream_formats import answer

pytestmark = pytest.mark.contract

SCHEMA = (
    '{"properties":{"total":{"type":"integer","minimum":0},"note":{"type":"string"}},"required":["total"]}'
)
OPEN = {
    "type": "object",
    "properties": {"total": {"type": "integer"}, "note": {"type": "string"}},
    "required": ["total"],
    "additionalProperties": False,
}
STRICT = {
    **OPEN,
    "properties": {
        "total": {"type": "integer"},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["total", "note"],
}
CHAT = {"type": "json_schema", "json_schema": {"name": "answer", "schema": STRICT, "strict": True}}
RESPONSES = {"format": {"type": "json_schema", "name": "answer", "schema": STRICT, "strict": True}}
CLAUDE = {"type": "json_schema", "schema": OPEN}
WITH_NOVA: dict[str, Callable[[str], Model]] = {**MODELS, "converse": lambda url: ConverseModel("nova", url)}
FIELDS = {
    "anthropic": "output_config",
    "bedrock": "output_config",
    "openai": "response_format",
    "openai-responses": "text",
    "converse": "outputConfig",
}


@pytest.fixture(params=list(WITH_NOVA))
def wire(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    return str(request.param)


def asked(schema: str = SCHEMA, **more: Any) -> ModelRequest:
    return request(**more)._replace(answer_schema=schema)


def test_each_protocol_has_its_own_words_for_the_form() -> None:
    assert messages_body(asked())["output_config"] == {"format": CLAUDE}
    assert chat_body(asked(), official=True)["response_format"] == CHAT
    assert chat_body(asked(), official=False)["response_format"] == CHAT
    for background in (False, True):
        body = responses_body(asked(), official=True, background=background)
        assert body["text"] == RESPONSES
    body = converse.to_body(asked(), "nova")
    text_format = body["outputConfig"]["textFormat"]
    assert text_format["type"] == "json_schema"
    told = text_format["structure"]["jsonSchema"]
    assert (told["name"], json.loads(told["schema"])) == ("answer", OPEN)
    shape = get_session().get_service_model("bedrock-runtime").operation_model("ConverseStream").input_shape
    assert not ParamValidator().validate(body, shape).has_errors()


def test_claude_gets_the_form_beside_an_agent_s_effort() -> None:
    thinking = asked(model="claude-opus-5-5")._replace(parameters=ModelParameters("high"))
    assert messages_body(thinking)["output_config"] == {"effort": "high", "format": CLAUDE}


@pytest.mark.parametrize("schema", ["", '{"type":"array","items":{"type":"string"}}'])
def test_nothing_else_of_a_request_depends_on_the_form(schema: str) -> None:
    for body in (
        messages_body,
        lambda each: chat_body(each, official=True),
        lambda each: responses_body(each, official=True),
        lambda each: converse.to_body(each, "nova"),
    ):
        free, formed = body(asked(schema)), body(asked())
        added = {name: value for name, value in formed.items() if name not in free}
        assert formed == {**free, **added}, "the cached beginning moved"
        assert len(added) == 1


def queue_answer(server: FakeProvider, wire: str) -> None:
    if wire == "converse":
        pieces = (BEGUN, delta(0, text="Yes."), *ended("end_turn"))
        server.queue(*pieces, headers={"content-type": "application/vnd.amazon.eventstream"})
        return
    stop = {"openai": "stop", "openai-responses": "completed"}.get(wire, "end_turn")
    kind = "application/vnd.amazon.eventstream" if wire == "bedrock" else "text/event-stream"
    server.queue(*answer(wire, "Yes.", stop), headers={"content-type": kind})


def refuse(server: FakeProvider, status: int = 400) -> None:
    error = {
        "type": "invalid_request_error",
        "message": "Function calling with application/json is unsupported",
    }
    body = {"type": "error", "error": error, "message": error["message"], "__type": "ValidationException"}
    headers = {"content-type": "application/json", "x-amzn-errortype": "ValidationException"}
    server.queue(json.dumps(body).encode(), status=status, headers=headers)


def test_a_provider_that_refuses_a_form_is_asked_without_it(wire: str, server: FakeProvider) -> None:
    refuse(server)
    queue_answer(server, wire)

    assert WITH_NOVA[wire](server.url).complete(asked(), timeout=TIMEOUT).text == "Yes."

    with_form, without = (each.body for each in server.requests)
    del with_form[FIELDS[wire]]
    assert with_form == without


def test_a_refusal_that_has_another_reason_is_told_as_ever(wire: str, server: FakeProvider) -> None:
    for _ in range(3):
        refuse(server)

    for schema, times in ((SCHEMA, 2), ("", 3)):
        with pytest.raises(ProviderRejected):
            WITH_NOVA[wire](server.url).complete(asked(schema), timeout=TIMEOUT)
        assert len(server.requests) == times


def test_a_form_that_is_refused_in_the_background_is_left_out_there() -> None:
    class WithoutForms(BackgroundResponses):
        def reply_to(self, heard: Heard) -> Reply:
            refused = Reply(400, b'{"error": {"message": "no", "type": "invalid_request_error"}}')
            return refused if "text" in heard.body else super().reply_to(heard)

    with WithoutForms() as server:
        calls = in_background(OpenAIResponsesModel(KEY, server.url("")))
        assert calls is not None
        assert calls.start(asked(model="gpt-6-sol"), timeout=TIMEOUT)
        assert ["text" in heard.body for heard in server.heard] == [True, False]


def test_a_model_without_tools_answers_in_its_own_form(server: FakeProvider) -> None:
    said = json.dumps({"thought": "Done.", "final_answer": {"total": 3}})
    server.queue(*answer("openai", said, "stop"), headers={"content-type": "text/event-stream"})
    ReActModel(MODELS["openai"](server.url)).complete(asked(), timeout=TIMEOUT)
    assert "response_format" not in server.requests[0].body
