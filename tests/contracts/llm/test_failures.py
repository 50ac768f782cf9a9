"""Headers and error names as errors."""

import pytest

from shared.adapters.llm.failures import from_status, from_stream, retry_after
from shared.domain.errors import (
    ActaError,
    ContextTooLong,
    ProviderOverloaded,
    ProviderQuotaExceeded,
    ProviderTimeout,
    ProviderUnavailable,
    StreamBroken,
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
        ({}, None),
    ],
)
def test_a_wait_is_read_in_every_spelling(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


@pytest.mark.parametrize(
    ("status", "kinds", "expected"),
    [
        (429, ("insufficient_quota",), ProviderQuotaExceeded),
        (400, ("invalid_request_error", "credit_balance"), ProviderQuotaExceeded),
        (408, (), ProviderTimeout),
        (409, (), ProviderUnavailable),
        (599, (), ProviderUnavailable),
        (400, ("invalid_request_error", "context_length_exceeded"), ContextTooLong),
        (500, ("context_length_exceeded",), ProviderUnavailable),
    ],
)
def test_the_providers_own_name_for_it_decides_too(
    status: int, kinds: tuple[str, ...], expected: type[ActaError]
) -> None:
    assert type(from_status("p", status, {}, kinds=kinds)) is expected


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("overloaded_error", ProviderOverloaded),
        ("api_error", ProviderUnavailable),
        ("insufficient_quota", ProviderQuotaExceeded),
        ("context_length_exceeded", ContextTooLong),
        ("never_heard_of", StreamBroken),
    ],
)
def test_an_error_inside_an_answer_is_told_by_its_name(kind: str, expected: type[ActaError]) -> None:
    assert type(from_stream("p", {}, kinds=(kind,))) is expected


def test_only_what_looks_like_a_name_or_an_id_is_repeated() -> None:
    headers = {"request-id": "req_1 and the prompt"}

    text = str(from_status("p", 400, headers, kinds=("bad: the prompt", "invalid_request_error")))

    assert text == "p answered 400 (invalid_request_error)"
