"""Claude on Amazon Bedrock: the same Messages API behind `InvokeModelWithResponseStream`, with anthropic's SDK.

There is no key: requests are signed with the function's role. Bedrock's names for what went wrong are those that it
documents for that call.
"""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from shared.adapters.llm import errors as failures
from shared.adapters.llm.anthropic.client import AnthropicModel
from shared.adapters.llm.errors import message_of, told
from shared.domain.errors import ActaError, ProviderKeyRefused

PROVIDER = "bedrock"
_NO_CREDENTIALS = (
    "RuntimeError",  # the SDK's own
    "NoCredentialsError",
    "PartialCredentialsError",
    "CredentialRetrievalError",
    "ProfileNotFound",
)


class BedrockModel(AnthropicModel):
    def __init__(self, region: str | None = None, base_url: str | None = None) -> None:
        """`region` None: what the AWS configuration says."""
        super().__init__("", base_url)
        self._region = region or None

    @property
    def provider(self) -> str:
        return PROVIDER

    @cached_property
    def _client(self) -> Any:
        return self._sdk.AnthropicBedrock(
            aws_region=self._region, base_url=self._base_url, max_retries=0, open_telemetry=False
        )

    def _failure(self, error: Exception, opened: bool, began: bool) -> ActaError:
        if not opened and type(error).__name__ in _NO_CREDENTIALS:
            return ProviderKeyRefused(f"{PROVIDER}: there are no AWS credentials")
        return super()._failure(error, opened, began)

    def _answered(self, error: Any, opened: bool, began: bool) -> ActaError:
        headers = error.response.headers
        name = error_name(headers, error.body)
        if opened:
            kinds = (name, in_our_words(name))
            return failures.from_stream(PROVIDER, headers, kinds=kinds, begun=began)
        status, kinds = status_of(name, error.status_code), (name, told(message_of(error.body)))
        return failures.from_status(PROVIDER, status, headers, kinds=kinds)


_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

_OURS = {
    "throttling_exception": "rate_limit_error",
    "service_unavailable_exception": "overloaded_error",
    "internal_server_exception": "api_error",
    "model_stream_error_exception": "api_error",
    "model_timeout_exception": "timeout_error",
    "validation_exception": "invalid_request_error",
}
"""Those that a stream may hold, and the Messages API's names for them."""

_STATUS = {"service_quota_exceeded_exception": 429, "model_error_exception": 500}
"""Two come as 4xx and pass by waiting: a quota of the account as 400, a model that failed as 424."""


def error_name(headers: Mapping[str, str], body: object) -> str | None:
    """`throttling_exception`, from the answer's header (`ThrottlingException:http://…`) or from an exception in its
    stream, which the SDK hands over like an error event of the Messages API."""
    inner = body.get("error") if isinstance(body, dict) else None
    named = inner.get("type") if isinstance(inner, dict) else None
    word = str(named or headers.get("x-amzn-errortype") or "").partition(":")[0]
    return _WORDS.sub("_", word).lower() or None


def in_our_words(name: str | None) -> str | None:
    return _OURS.get(name or "")


def status_of(name: str | None, status: int) -> int:
    """The status by which the failure is judged."""
    return _STATUS.get(name or "", status)
