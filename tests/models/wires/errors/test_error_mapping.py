"""Headers, names and wordings of providers' errors become errors of the domain."""

import json

import pytest

from acta.engine.errors import (
    ActaError,
    ContextTooLong,
    ProviderKeyRefused,
    ProviderOverloaded,
    ProviderQuotaExceeded,
    ProviderTimeout,
    ProviderUnavailable,
    StreamBroken,
)
from acta.engine.models.errors import (
    FILTERED,
    NO_CREDIT,
    TOO_LONG,
    TOO_LONG_FOR_SLOT,
    error_from_status,
    error_from_stream,
    message_of,
    name_in,
    retry_after,
)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "12"}, 12.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:27:00 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 0.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Wed, 21 Oct 20260000000000000000000 07:28:00 GMT"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_parsed_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


@pytest.mark.parametrize(
    ("status", "kinds", "expected"),
    [
        (429, ("insufficient_quota",), ProviderQuotaExceeded),
        (400, ("invalid_request_error", "credit_balance"), ProviderQuotaExceeded),
        (400, ("invalid_api_key",), ProviderKeyRefused),
        (408, (), ProviderTimeout),
        (409, (), ProviderUnavailable),
        (424, (), ProviderUnavailable),
        (498, (), ProviderOverloaded),
        (499, (), ProviderUnavailable),
        (599, (), ProviderUnavailable),
        (400, ("invalid_request_error", "context_length_exceeded"), ContextTooLong),
        (500, ("context_length_exceeded",), ProviderUnavailable),
        (400, ("exceed_context_size_error",), ContextTooLong),
        (500, ("exceed_context_size_error",), ContextTooLong),
        (413, (), ContextTooLong),
        (400, ("no_db_connection", "400"), ProviderKeyRefused),
        (503, ("no_db_connection", "503"), ProviderOverloaded),
        (429, ("rate_limit_error", "enforced_spend_limit_reached"), ProviderQuotaExceeded),
        (429, ("rate_limit_error", "contract_spend_limit_reached"), ProviderQuotaExceeded),
        (403, ("linked_organization_spend_limit_reached",), ProviderQuotaExceeded),
        (429, ("rate_limit_error", "ramp_limit_exceeded"), ProviderOverloaded),
    ],
)
def test_the_providers_name_for_a_failure_decides_too(
    status: int, kinds: tuple[str, ...], expected: type[ActaError]
) -> None:
    assert type(error_from_status("p", status, {}, names=kinds)) is expected


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("overloaded_error", ProviderOverloaded),
        ("api_error", ProviderUnavailable),
        ("insufficient_quota", ProviderQuotaExceeded),
        ("context_length_exceeded", ContextTooLong),
        ("request_too_large", ContextTooLong),
        ("server_is_overloaded", ProviderOverloaded),
        ("slow_down", ProviderOverloaded),
        ("service_unavailable_error", ProviderOverloaded),
        (429, ProviderOverloaded),
        ("529", ProviderOverloaded),
        (401, ProviderKeyRefused),
        ("402", ProviderQuotaExceeded),
        (403, ProviderKeyRefused),
        ("never_heard_of", StreamBroken),
    ],
)
def test_an_error_inside_a_stream_is_recognised_by_its_name(kind: object, expected: type[ActaError]) -> None:
    assert type(error_from_stream("p", {}, names=(kind,))) is expected


@pytest.mark.parametrize("kind", ["overloaded_error", "api_error", "timeout_error", "rate_limit_exceeded"])
def test_a_temporary_failure_after_an_answer_began_is_a_broken_stream(kind: str) -> None:
    assert type(error_from_stream("p", {}, names=(kind,), begun=True)) is StreamBroken


@pytest.mark.parametrize("kind", [400, {"a": 1}, ["x"], None, True, 1.5])
def test_a_name_that_is_neither_text_nor_number_is_ignored(kind: object) -> None:
    assert str(error_from_status("p", 400, {}, names=(kind, "bad"))) == "p answered 400 (bad)"
    assert type(error_from_stream("p", {}, names=(kind,))) is StreamBroken


@pytest.mark.parametrize(
    ("sentence", "name"),
    [
        ("This model's maximum context length is 4096 tokens. However, you", TOO_LONG),
        ("the request exceeds the available context size. try", TOO_LONG_FOR_SLOT),
        ("Too many tokens, please wait before trying again.", None),
        ("Your credit balance is too low", NO_CREDIT),
        ("Input tokens exceed the configured limit of 272000 tokens.", TOO_LONG),
        ("Your input exceeds the context window of this model.", TOO_LONG),
        ("Prompt too long: 9 tokens exceeds max context window of 8 tokens", TOO_LONG),
        (
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8. Given: 9 `inputs`",
            TOO_LONG,
        ),
        ("prompt too long; exceeded max context length by 4021 tokens", TOO_LONG_FOR_SLOT),
        ("litellm.ContextWindowExceededError: OpenAIException - {cut", TOO_LONG),
        (f"{'x' * 2000} maximum context length", None),
        ("Invalid schema for function 'x': \"prompt is too long\" is not a type", None),
        ("Invalid value 'credit balance that is quoted and does not end", None),
        ({"a": 1}, None),
        (None, None),
    ],
)
def test_a_message_is_recognised_by_its_wording_where_there_is_no_name(
    sentence: object, name: str | None
) -> None:
    assert name_in(sentence) == name


_BALANCE = {"type": "error", "error": {"type": "x", "message": "Your credit balance is too low."}}
_GEMINI = (
    b'{\n  "error": {\n    "message": "It\'s 9, which exceeds the maximum number of tokens allowed"\n  }\n}'
)


@pytest.mark.parametrize(
    ("message", "name"),
    [
        (
            f"litellm.BadRequestError: AnthropicException - {json.dumps(_BALANCE)}. Received Model Group=m",
            NO_CREDIT,
        ),
        (
            'litellm.BadRequestError: DeepseekException - {"error": {"message": "Content Exists Risk"}}',
            FILTERED,
        ),
        ('litellm.BadRequestError: BedrockException - {"message":"Input is too long for it."}', TOO_LONG),
        ('litellm.BadRequestError: XaiException - {"error": "The maximum prompt length is 8"}', TOO_LONG),
        ('litellm.APIConnectionError: O - {"error":"exceeded max context length by 4"}', TOO_LONG_FOR_SLOT),
        (f"litellm.BadRequestError: Vertex_aiException - {_GEMINI!r}", TOO_LONG),
        (_GEMINI.decode(), TOO_LONG),
        ({"error": {"message": json.dumps(_BALANCE)}}, NO_CREDIT),
        ('litellm.BadRequestError: O - {"error": {"message": "x", "code": "cyber_policy"}}', "cyber_policy"),
        ('litellm.BadRequestError: O - {"error": {"message": "No tool \'prompt is too long\'"}}', None),
        ('litellm.BadRequestError: O - {"input": {"message": "prompt is too long"}}', None),
        ('Invalid arguments: {"message": "prompt is too long"}', None),
        ('litellm.BadRequestError: O - {"error": {"message": "prompt is too long', None),
        (f"litellm.BadRequestError: O - {'[' * 100_000}", None),
        (f"litellm.BadRequestError: O - {[1]!r} prompt is too long", TOO_LONG),
        ("litellm.BadRequestError: O - b'{\\x", None),
    ],
)
def test_the_error_that_a_gateway_passes_on_is_no_quotation(message: object, name: str | None) -> None:
    assert name_in(message) == name


@pytest.mark.parametrize(
    "body",
    [
        [
            {
                "error": {
                    "code": 400,
                    "message": "API key expired. Please renew it.",
                    "status": "INVALID_ARGUMENT",
                }
            }
        ],
        [{"error": {"code": 400, "message": "API key not valid. Please pass a valid one.", "status": "X"}}],
        {"code": "The client specified an invalid argument", "error": "Incorrect API key provided: xa***yz."},
    ],
)
def test_a_key_that_is_refused_with_a_400_is_known_by_the_words(body: object) -> None:
    assert name_in(message_of(body)) == "invalid_api_key"


def test_what_a_server_behind_openrouter_said_is_the_message() -> None:
    error = {"message": "Provider returned error", "code": 400, "metadata": {"raw": json.dumps(_BALANCE)}}

    assert name_in(message_of(error)) == NO_CREDIT
    assert name_in(message_of({**error, "metadata": {"raw": "prompt is too long"}})) == TOO_LONG
    assert name_in(message_of({**error, "metadata": {"raw": _BALANCE}})) == NO_CREDIT
    assert message_of({**error, "metadata": None}) == "Provider returned error"
    assert name_in(json.dumps({"error": error})) == NO_CREDIT


def test_the_wording_does_not_count_where_a_code_names_something_else() -> None:
    sentence = "Invalid schema: prompt is too long"

    assert name_in(sentence, "invalid_function_parameters") == "invalid_function_parameters"
    assert {name_in(sentence, code) for code in (None, 400, "invalid_request_error")} == {TOO_LONG}


def test_an_error_quotes_only_what_looks_like_a_name_or_an_id() -> None:
    headers = {"request-id": "req_1 and the prompt"}

    text = str(error_from_status("p", 400, headers, names=("bad: the prompt", "invalid_request_error")))

    assert text == "p answered 400 (invalid_request_error)"
