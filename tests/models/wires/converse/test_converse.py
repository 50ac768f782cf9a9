"""Converse on Bedrock: what is asked, against botocore's own description of the service, and what its events become."""

from itertools import pairwise
from typing import Any

import pytest
from botocore.session import get_session
from botocore.validate import ParamValidator

from acta.engine.errors import (
    ActaError,
    ContextTooLong,
    ProviderKeyRefused,
    ProviderOverloaded,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnavailable,
    StreamBroken,
)
from acta.engine.models.converse import ConverseModel, to_body
from acta.engine.models.model import ModelReply, ModelRequest, TokenUsage
from acta.engine.models.providers import ModelParameters
from acta.local_aws.loopback import free_port
from tests.models.wires.anthropic.bedrock_front import SIGNED
from tests.models.wires.anthropic.event_stream import exception
from tests.models.wires.conversations import SECRET_TEXT, TIMEOUT, assistant, call, request, result, user
from tests.models.wires.converse.events import BEGUN, STREAM, TOOL, delta, ended, event
from tests.models.wires.fake_provider import FakeProvider

pytestmark = pytest.mark.contract
NOVA, GPT_OSS, CLAUDE = (
    "eu.amazon.nova-2-lite-v1:0",
    "openai.gpt-oss-120b-1:0",
    "eu.anthropic.claude-sonnet-4-6",
)


@pytest.fixture(autouse=True)
def _region(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")


def asked(server: FakeProvider, *pieces: bytes, of: ModelRequest | None = None, **queued: Any) -> ModelReply:
    server.queue(*pieces, headers=STREAM, **queued)
    return ConverseModel("nova", server.url).complete(of or request(model=NOVA), timeout=TIMEOUT)


def test_a_text_a_call_and_reasoning_are_read_and_the_cache_is_part_of_the_input(
    server: FakeProvider,
) -> None:
    heard: list[str] = []
    asked_for = request(model=GPT_OSS)
    asked_for = asked_for._replace(stream_options=asked_for.stream_options._replace(on_text=heard.append))
    reply = asked(
        server,
        BEGUN,
        delta(0, reasoningContent={"text": "Which "}),
        delta(0, reasoningContent={"text": "file?"}),
        delta(0, reasoningContent={"signature": "c2ln"}),
        event("contentBlockStop", contentBlockIndex=0),
        TOOL,
        delta(1, toolUse={"input": '{"path": '}),
        delta(1, toolUse={"input": '"a.md"}'}),
        event("contentBlockStop", contentBlockIndex=1),
        delta(2, text="I "),
        delta(2, text="look."),
        *ended("tool_use", cacheReadInputTokens=40, cacheWriteInputTokens=10),
        of=asked_for,
    )

    assert (reply.text, reply.thinking, reply.stop) == ("I look.", "Which file?", "tools")
    assert [(each.name, each.input) for each in reply.calls] == [("read_file", {"path": "a.md"})]
    assert reply.usage == TokenUsage(150, 7, 40, 10)
    assert heard == ["I ", "look."]
    kept = {"api": "converse", "model": GPT_OSS, "reasoning": [{"text": "Which file?", "signature": "c2ln"}]}
    assert reply.raw == kept

    entries = (user("Go"), assistant("I look.", call("c1", path="a.md"), provider="nova", raw=reply.raw))
    again = to_body(request(*entries, model=GPT_OSS), "nova")["messages"][1]["content"]
    assert again[0] == {"reasoningContent": {"reasoningText": {"text": "Which file?", "signature": "c2ln"}}}
    for others in (
        to_body(request(*entries, model=NOVA), "nova"),
        to_body(request(*entries, model=GPT_OSS), "else"),
    ):
        assert "reasoningContent" not in others["messages"][1]["content"][0]


def test_a_text_after_reasoning_is_another_and_texts_in_a_row_are_one(server: FakeProvider) -> None:
    said = (delta(0, text="Rome "), delta(1, text="fell."), delta(3, text="So "), delta(3, text="be it."))

    reply = asked(server, BEGUN, *said, delta(2, reasoningContent={"text": "Hm."}), *ended("end_turn"))

    assert reply.text == "Rome fell.\n\nSo be it."


def test_the_request_is_signed_for_the_service_and_names_the_model_in_its_path(server: FakeProvider) -> None:
    asked(server, BEGUN, delta(0, text="ok"), *ended("end_turn"))

    (sent,) = server.requests
    assert sent.path == f"/model/{NOVA.replace(':', '%3A')}/converse-stream"
    assert SIGNED.match(sent.headers["authorization"])
    assert sent.body["inferenceConfig"] == {"maxTokens": 500}
    warm = request(model=NOVA)._replace(parameters=ModelParameters(temperature=0.5))
    assert to_body(warm, "nova")["inferenceConfig"] == {"maxTokens": 500, "temperature": 0.5}


NOVA_LOW = {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "low"}}


@pytest.mark.parametrize(
    ("model", "effort", "sent"),
    [
        (NOVA, "low", NOVA_LOW),
        (NOVA, "high", None),
        (GPT_OSS, "high", {"reasoning_effort": "high"}),
        (CLAUDE, "max", {"output_config": {"effort": "max"}}),
        ("qwen.qwen3-32b-v1:0", "low", None),
        (GPT_OSS, None, None),
    ],
)
def test_an_effort_is_named_in_the_field_of_the_models_vendor(
    model: str, effort: str | None, sent: Any
) -> None:
    body = to_body(request(model=model)._replace(parameters=ModelParameters(effort)), "nova")

    assert body.get("additionalModelRequestFields") == sent


def test_redacted_reasoning_goes_back_as_it_came(server: FakeProvider) -> None:
    reply = asked(
        server,
        BEGUN,
        delta(0, reasoningContent={"redactedContent": "AAEC"}),
        delta(1, text="ok"),
        *ended("end_turn"),
    )

    body = to_body(request(user("Go"), assistant("ok", provider="nova", raw=reply.raw), model=NOVA), "nova")
    assert body["messages"][1]["content"][0] == {"reasoningContent": {"redactedContent": b"\x00\x01\x02"}}


CONVERSATION = (
    user("Read both."),
    assistant("I read.", call("c1", path="a.md"), call("c2", path="b.md")),
    result("c1", "text of a"),
    result("c2", "Error: no such file", ok=False),
    user("And be quick.", 2),
    assistant("I am."),
    assistant("Still."),
)


@pytest.mark.parametrize("model", [NOVA, GPT_OSS, CLAUDE])
@pytest.mark.parametrize("tools", [request().tools, ()])
@pytest.mark.parametrize("entries", [(), CONVERSATION[:1], CONVERSATION[:5], CONVERSATION, CONVERSATION[1:]])
@pytest.mark.parametrize("suffix", ["", "Plan: step 1."])
def test_every_request_is_one_that_the_service_describes(
    model: str, tools: Any, entries: Any, suffix: str
) -> None:
    asked_for = request(*entries, model=model, tools=tools, suffix=suffix)
    body = to_body(asked_for._replace(entries=tuple(entries)) if entries else asked_for, "nova")

    shape = get_session().get_service_model("bedrock-runtime").operation_model("ConverseStream").input_shape
    assert not ParamValidator().validate(body, shape).has_errors()
    roles = [each["role"] for each in body["messages"]]
    assert roles[0] == roles[-1] == "user"
    assert all(one != other for one, other in pairwise(roles))
    has_calls = any("toolUse" in block for each in body["messages"] for block in each["content"])
    assert "toolConfig" in body or not (has_calls or tools)
    assert ("cachePoint" in str(body)) == (model != GPT_OSS)


def test_the_results_of_calls_come_first_and_say_whether_they_failed() -> None:
    first, second, text, point = to_body(request(*CONVERSATION[:5], model=NOVA, suffix=""), "nova")[
        "messages"
    ][2]["content"]

    assert (first["toolResult"]["status"], second["toolResult"]["status"]) == ("success", "error")
    assert (text, point) == ({"text": "And be quick."}, {"cachePoint": {"type": "default"}})


@pytest.mark.parametrize(
    ("stop", "meaning"),
    [
        ("end_turn", "end"),
        ("stop_sequence", "end"),
        ("max_tokens", "max_tokens"),
        ("model_context_window_exceeded", "max_tokens"),
        ("guardrail_intervened", "refusal"),
        ("content_filtered", "refusal"),
    ],
)
def test_each_reason_to_stop_has_its_meaning(server: FakeProvider, stop: str, meaning: str) -> None:
    assert asked(server, BEGUN, delta(0, text="ok"), *ended(stop)).stop == meaning


def test_a_call_that_was_cut_off_never_runs(server: FakeProvider) -> None:
    reply = asked(server, BEGUN, TOOL, delta(1, toolUse={"input": '{"pa'}), *ended("max_tokens"))

    assert (reply.stop, reply.calls[0].input) == ("max_tokens", None)
    assert reply.calls[0].malformed


def test_an_answer_whose_connection_breaks_after_its_end_is_whole_and_its_tokens_are_estimated(
    server: FakeProvider,
) -> None:
    reply = asked(server, BEGUN, delta(0, text="ok, done"), ended("end_turn")[0], broken=True)

    assert reply.text == "ok, done"
    assert reply.usage.input > 100
    assert reply.usage.output == 2


def failure(server: FakeProvider) -> ActaError:
    with pytest.raises(ActaError) as caught:
        ConverseModel("nova", server.url).complete(request(model=NOVA), timeout=TIMEOUT)
    assert caught.value.__context__ is None
    assert SECRET_TEXT not in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("status", "name", "text", "kind"),
    [
        (400, "ValidationException", f"The tool is wrong: {SECRET_TEXT}", ProviderRejected),
        (400, "ValidationException", "Input is too long for requested model.", ContextTooLong),
        (403, "AccessDeniedException", "not authorized", ProviderKeyRefused),
        (404, "ResourceNotFoundException", "no such model", ProviderRejected),
        (408, "ModelTimeoutException", "", ProviderTimeout),
        (424, "ModelErrorException", "", ProviderUnavailable),
        (429, "ThrottlingException", "Too many tokens, please wait before trying again.", ProviderOverloaded),
        (429, "ModelNotReadyException", "", ProviderOverloaded),
        (500, "InternalServerException", "", ProviderUnavailable),
        (503, "ServiceUnavailableException", "", ProviderOverloaded),
    ],
)
def test_each_refusal_has_its_error_and_is_asked_once(
    server: FakeProvider, status: int, name: str, text: str, kind: type[ActaError]
) -> None:
    headers = {"x-amzn-errortype": name, "content-type": "application/json", "x-amzn-requestid": "r-1"}
    server.queue(b'{"message": "%s"}' % text.encode(), status=status, headers=headers)

    assert type(failure(server)) is kind
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("before", "name", "kind"),
    [
        ((), "throttlingException", ProviderOverloaded),
        ((), "validationException", ProviderRejected),
        ((), "modelStreamErrorException", ProviderUnavailable),
        ((delta(0, text="I"),), "throttlingException", StreamBroken),
        ((delta(0, text="I"),), "internalServerException", StreamBroken),
    ],
)
def test_a_failure_inside_the_stream_has_its_error(
    server: FakeProvider, before: tuple[bytes, ...], name: str, kind: type[ActaError]
) -> None:
    server.queue(BEGUN, *before, exception(name, SECRET_TEXT), headers=STREAM)

    assert type(failure(server)) is kind


@pytest.mark.parametrize("broken", [True, False])
def test_a_stream_that_ends_too_early_is_broken(server: FakeProvider, broken: bool) -> None:
    server.queue(BEGUN, delta(0, text="I"), headers=STREAM, broken=broken)

    assert type(failure(server)) is StreamBroken


def test_an_endpoint_that_is_not_there_is_unavailable(server: FakeProvider) -> None:
    with pytest.raises(ProviderUnavailable):
        ConverseModel("nova", f"http://127.0.0.1:{free_port()}").complete(
            request(model=NOVA), timeout=TIMEOUT
        )
