"""An agent's effort and temperature, as each provider takes them, and left out where a model does not."""

from typing import Any

import pytest

from acta.engine.models.anthropic.request import to_body as messages_body
from acta.engine.models.fallback import with_fallbacks
from acta.engine.models.model import ModelRequest
from acta.engine.models.openai.chat import OpenAIModel
from acta.engine.models.openai.chat import to_body as chat_body
from acta.engine.models.openai.responses import OpenAIResponsesModel
from acta.engine.models.openai.responses import to_body as responses_body
from acta.engine.models.providers import ModelParameters
from acta.engine.models.react import ReActModel
from tests.models.wires.conversations import KEY, request
from tests.models.wires.fake_provider import FakeProvider
from tests.models.wires.openai.test_thinking_servers import queue_answer, queue_refusal

TIMEOUT = 20.0


def asked(model: str, effort: str | None = None, temperature: float | None = None) -> ModelRequest:
    return request(model=model)._replace(parameters=ModelParameters(effort, temperature))


def parameters(body: dict[str, Any]) -> dict[str, Any]:
    names = ("output_config", "thinking", "reasoning", "reasoning_effort", "temperature")
    return {name: body[name] for name in names if name in body}


@pytest.mark.parametrize(
    ("model", "effort", "sent"),
    [
        ("claude-opus-5-5", "low", {"output_config": {"effort": "low"}}),
        ("claude-opus-5-5", "max", {"output_config": {"effort": "max"}}),
        ("claude-sonnet-5-5", "high", {"output_config": {"effort": "high"}}),
        ("claude-sonnet-5-5", None, {"thinking": {"type": "between_tools"}}),
        ("claude-opus-4-6", "xhigh", {}),
        ("claude-haiku-4-5", "low", {}),
        ("claude-opus-5-5", "none", {}),
        ("claude-of-next-year", "xhigh", {"output_config": {"effort": "xhigh"}}),
    ],
)
def test_claude_takes_an_effort_and_no_temperature(
    model: str, effort: str | None, sent: dict[str, Any]
) -> None:
    assert parameters(messages_body(asked(model, effort, 0.5))) == sent
    at_aws = messages_body(asked(f"global.anthropic.{model}", effort, 0.5), "bedrock")
    assert parameters(at_aws) == sent


@pytest.mark.parametrize(
    ("model", "effort", "temperature", "sent"),
    [
        ("gpt-6.2-sol", "max", None, {"reasoning": {"effort": "max"}}),
        ("gpt-6.2-sol", "none", 0.5, {"reasoning": {"effort": "low"}}),
        ("gpt-6-sol", "none", 0.0, {"reasoning": {"effort": "none"}, "temperature": 0.0}),
        ("gpt-6-sol", "high", 0.5, {"reasoning": {"effort": "high"}}),
        ("gpt-5-mini", "minimal", 1.0, {"reasoning": {"effort": "minimal"}}),
        ("gpt-4.1", "high", 0.2, {"temperature": 0.2}),
        ("o3", None, 0.2, {"reasoning": {"effort": "low"}}),
    ],
)
def test_the_responses_api_gets_what_the_model_takes(
    model: str, effort: str | None, temperature: float | None, sent: dict[str, Any]
) -> None:
    for background in (False, True):
        body = responses_body(asked(model, effort, temperature), official=True, background=background)
        assert parameters(body) == sent


@pytest.mark.parametrize(
    ("model", "official", "effort", "temperature", "sent"),
    [
        ("llama-4", False, "high", 0.7, {"reasoning_effort": "high", "temperature": 0.7}),
        ("gpt-4o", True, None, 1.5, {"temperature": 1.5}),
        ("openai/gpt-6.2-sol", False, "high", 0.7, {"reasoning_effort": "high"}),
        ("openai/gpt-6-sol", False, "medium", None, {"reasoning_effort": "medium"}),
        ("gpt-6-sol", True, "medium", None, {"reasoning_effort": "none"}),
    ],
)
def test_chat_completions_get_what_the_model_and_its_tools_take(
    model: str, official: bool, effort: str | None, temperature: float | None, sent: dict[str, Any]
) -> None:
    assert parameters(chat_body(asked(model, effort, temperature), official=official)) == sent


def test_a_server_that_refuses_an_effort_is_asked_without_it_and_other_efforts_are_still_sent(
    server: FakeProvider,
) -> None:
    model = OpenAIModel(KEY, server.url)
    queue_refusal(server, "Unsupported value: 'reasoning_effort' does not support 'xhigh' with this model.")
    for _ in range(3):
        queue_answer(server)

    for effort in ("xhigh", "xhigh", "low"):
        assert model.complete(asked("own", effort, 0.5), timeout=TIMEOUT).text == "Yes."

    sent = [parameters(each.body) for each in server.requests]
    hot = {"temperature": 0.5}
    assert sent == [{"reasoning_effort": "xhigh", **hot}, hot, hot, {"reasoning_effort": "low", **hot}]


def test_a_fallback_gets_what_it_takes_of_what_the_agent_wants(server: FakeProvider) -> None:
    first, name = with_fallbacks(
        (OpenAIResponsesModel(KEY, server.url), "gpt-6.2-sol"), [(OpenAIModel(KEY, server.url), "gpt-4o")]
    )
    server.queue(status=503)
    queue_answer(server)

    first.complete(asked(name, "max", 0.5), timeout=TIMEOUT)

    assert [parameters(each.body) for each in server.requests] == [
        {"reasoning": {"effort": "max"}},
        {"temperature": 0.5},
    ]


def test_the_parameters_are_those_of_a_model_without_tools_too(server: FakeProvider) -> None:
    queue_answer(server)
    ReActModel(OpenAIModel(KEY, server.url)).complete(asked("own", "high", 0.1), timeout=TIMEOUT)

    assert parameters(server.requests[0].body) == {"reasoning_effort": "high", "temperature": 0.1}
