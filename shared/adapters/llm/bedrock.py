"""Claude on Amazon Bedrock: the same Messages API behind `InvokeModelWithResponseStream`, with anthropic's SDK.

There is no key: requests are signed with the function's role, by botocore, which the Lambda runtime brings along.
Models are named as Bedrock names them: a model, an inference profile (`global.anthropic.claude-…`) or its ARN.
"""

from functools import cached_property
from typing import Any

from shared.adapters.llm import failures
from shared.adapters.llm.anthropic import AnthropicModel
from shared.adapters.llm.bedrock_errors import error_name, in_our_words, status_of
from shared.adapters.llm.sentences import message_of, told
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
