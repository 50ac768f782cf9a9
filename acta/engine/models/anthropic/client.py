"""Claude over the Messages API, with Anthropic's SDK: at Anthropic or another base URL, and on Amazon Bedrock.

Requests are streamed: only a stream shows long before the turn's deadline that the provider has stalled, and the API
refuses long answers otherwise. The SDK is imported at the first call, so importing this module or making the model
costs nothing.

On Bedrock the Messages API is behind `InvokeModelWithResponseStream`. There is no key: requests are signed with the
function's role. Failures come under the names that Bedrock documents for that call.
"""

from functools import cached_property, partial
from typing import Any

from acta.engine.errors import (
    ActaError,
    ProviderKeyRefused,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnavailable,
    StreamBroken,
)
from acta.engine.models.anthropic.request import PROVIDER, to_body
from acta.engine.models.anthropic.stream import MessagesReplyBuilder
from acta.engine.models.calls import (
    CallProgress,
    ask_streamed,
    ask_with_format,
    loading,
    require_sendable,
    run_within,
    silence_loggers,
    time_limits,
)
from acta.engine.models.errors import (
    error_from_bedrock,
    error_from_status,
    error_from_stream,
    message_of,
    name_in,
)
from acta.engine.models.model import ModelReply, ModelRequest
from acta.engine.models.wire import CLAUDE_TOOLS, body_size, with_own_names

STALL_SECONDS = 60.0
"""The longest silence inside an answer. The API sends pings at shorter intervals while it works."""


class ThinkingUnreadable(ProviderRejected):
    """The server cannot read the thinking that was sent back: another account signed it."""


class AnthropicModel:
    def __init__(self, api_key: str, base_url: str | None = None, provider: str = PROVIDER) -> None:
        """`base_url` None: Anthropic's own. `provider`: whose server it is."""
        self._api_key = api_key
        self._base_url = base_url or None
        self._provider = provider

    @property
    def provider(self) -> str:
        return self._provider

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        # Loaded before the time runs: a new process takes seconds for it, and asks nobody.
        client, begins_within = self._client, request.stream_options.begins_within
        reply = run_within(
            timeout,
            self.provider,
            lambda progress: ask_with_format(
                lambda each: self._call(client, each, timeout, progress), request
            ),
            begins_within,
        )
        return with_own_names(reply, request.tools, CLAUDE_TOOLS)

    @cached_property
    def _sdk(self) -> Any:
        with loading("anthropic"):
            import anthropic

        silence_loggers(anthropic)
        return anthropic

    @cached_property
    def _client(self) -> Any:
        key = require_sendable(self.provider, self._api_key)
        return self._sdk.Anthropic(api_key=key, base_url=self._base_url, max_retries=0, open_telemetry=False)

    def _call(self, client: Any, request: ModelRequest, timeout: float, progress: CallProgress) -> ModelReply:
        """Asks again without the thinking of earlier replies if it cannot be read any more: a gateway may have asked
        another account for it, and the session could never go on.
        """
        for thinking in (True, False):
            body = to_body(request, self.provider, thinking=thinking)
            limits = time_limits(self._sdk, timeout, STALL_SECONDS)
            send = partial(client.messages.create, **body, stream=True, timeout=limits)
            size, on_text = partial(body_size, body), request.stream_options.on_text
            builder = MessagesReplyBuilder(request.model, size, on_text, self.provider)
            try:
                return ask_streamed(send, builder, request, progress, self.provider, self._failure)
            except ThinkingUnreadable as refused:
                failure = refused
        raise failure

    def _failure(self, error: Exception, opened: bool, begun: bool) -> ActaError:
        """`opened`: the server had answered with 200. `begun`: a part of the answer had come."""
        sdk, provider = self._sdk, self.provider
        if isinstance(error, sdk.APIStatusError):
            return self._reported_failure(error, opened, begun)
        if isinstance(error, sdk.APITimeoutError) or type(error).__name__.endswith("Timeout"):
            return ProviderTimeout(f"{provider}: no answer in time", begun)
        if opened:
            return StreamBroken(f"{provider}: the answer broke off ({type(error).__name__})")
        if isinstance(error, sdk.APIConnectionError):
            return ProviderUnavailable(f"{provider}: no connection")
        return ProviderRejected(f"{provider}: the request could not be made ({type(error).__name__})")

    def _reported_failure(self, error: Any, opened: bool, begun: bool) -> ActaError:
        """For a failure that the server describes, by a status or inside its stream."""
        code, headers = error.error_code, error.response.headers
        names = (error.type, code, name_in(error.api_message, code))
        if opened:
            return error_from_stream(self.provider, headers, names=names, begun=begun)
        failure = error_from_status(self.provider, error.status_code, headers, names=names)
        words = str(error.api_message).lower()
        if type(failure) is ProviderRejected and "thinking" in words and "signature" in words:
            return ThinkingUnreadable(str(failure))
        return failure


BEDROCK = "bedrock"
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
        super().__init__("", base_url, BEDROCK)
        self._region = region or None

    @cached_property
    def _client(self) -> Any:
        return self._sdk.AnthropicBedrock(
            aws_region=self._region, base_url=self._base_url, max_retries=0, open_telemetry=False
        )

    def _failure(self, error: Exception, opened: bool, begun: bool) -> ActaError:
        if not opened and type(error).__name__ in _NO_CREDENTIALS:
            return ProviderKeyRefused(f"{BEDROCK}: there are no AWS credentials")
        return super()._failure(error, opened, begun)

    def _reported_failure(self, error: Any, opened: bool, begun: bool) -> ActaError:
        """Its name comes in a header of the answer, or from an exception in the stream, which the SDK presents like an
        error event of the Messages API.
        """
        headers, body = error.response.headers, error.body
        inner = body.get("error") if isinstance(body, dict) else None
        in_stream = inner.get("type") if isinstance(inner, dict) else None
        name, status = in_stream or headers.get("x-amzn-errortype"), None if opened else error.status_code
        return error_from_bedrock(BEDROCK, status, headers, name, message_of(body), begun=begun)
