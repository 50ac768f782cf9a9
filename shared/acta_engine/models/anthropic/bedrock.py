"""Claude on Amazon Bedrock: the Messages API behind `InvokeModelWithResponseStream`, with Anthropic's SDK.

There is no key: requests are signed with the function's role. Failures come under the names that Bedrock documents for
that call.
"""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from acta_engine.errors import ActaError, ProviderKeyRefused
from acta_engine.models.anthropic.client import AnthropicModel
from acta_engine.models.errors import error_from_status, error_from_stream, message_of, name_in

PROVIDER = "bedrock"
_NO_CREDENTIALS = (
    "RuntimeError",  # the SDK's own
    "NoCredentialsError",
    "PartialCredentialsError",
    "CredentialRetrievalError",
    "ProfileNotFound",
)
"""Names of exceptions."""


class BedrockModel(AnthropicModel):
    def __init__(self, region: str | None = None, base_url: str | None = None) -> None:
        """`region` None: the one of the AWS configuration. `base_url` None: the region's own endpoint."""
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

    def _failure(self, error: Exception, opened: bool, begun: bool) -> ActaError:
        if not opened and type(error).__name__ in _NO_CREDENTIALS:
            return ProviderKeyRefused(f"{PROVIDER}: there are no AWS credentials")
        return super()._failure(error, opened, begun)

    def _reported_failure(self, error: Any, opened: bool, begun: bool) -> ActaError:
        headers = error.response.headers
        name = _error_name(headers, error.body)
        if opened:
            names = (name, _MESSAGES_API_NAMES.get(name or ""))
            return error_from_stream(PROVIDER, headers, names=names, begun=begun)
        status = _STATUSES.get(name or "", error.status_code)
        names = (name, name_in(message_of(error.body)))
        return error_from_status(PROVIDER, status, headers, names=names)


_MESSAGES_API_NAMES = {
    "throttling_exception": "rate_limit_error",
    "service_unavailable_exception": "overloaded_error",
    "internal_server_exception": "api_error",
    "model_stream_error_exception": "api_error",
    "model_timeout_exception": "timeout_error",
    "validation_exception": "invalid_request_error",
}
"""The exceptions that a stream may hold, by what the Messages API calls them."""

_STATUSES = {"service_quota_exceeded_exception": 429, "model_error_exception": 500}
"""Two failures pass by waiting and come with a status that says otherwise: an account's quota with 400, a model that
failed with 424.
"""

_WORD_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def _error_name(headers: Mapping[str, str], body: object) -> str | None:
    """For example `throttling_exception`. It comes in a header of the answer (`ThrottlingException:http://…`), or from
    an exception in the stream, which the SDK presents like an error event of the Messages API. None: the failure has no
    name.
    """
    inner = body.get("error") if isinstance(body, dict) else None
    in_stream = inner.get("type") if isinstance(inner, dict) else None
    name = str(in_stream or headers.get("x-amzn-errortype") or "").partition(":")[0]
    return _WORD_BOUNDARY.sub("_", name).lower() or None
