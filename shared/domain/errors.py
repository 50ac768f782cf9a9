"""Every error Acta raises, grouped by who reacts to it.

    ActaError
    ├── EngineError          the state machine reacts, by class name (Retry / Catch)
    │   ├── TransientError   retried with backoff
    │   │   ├── StoreThrottled, StoreUnavailable, CommitContention
    │   │   └── ProviderOverloaded, ProviderTimeout, ProviderUnavailable, StreamBroken
    │   ├── ToolUnanswered   retried as any failed task
    │   └── FinalError       never retried
    │       └── Fenced, Refused, SchemaUnknown, PoisonedSession
    ├── SessionError         the run ends `failed` with `code`
    │   └── AgentMissing, ModelRefused, ProviderRejected, ProviderKeyRefused, ProviderQuotaExceeded
    ├── ModelFeedback        the model is told, as text, and goes on
    │   └── ToolFailed, ToolInputInvalid, PlanRefused
    └── CallerError          the HTTP caller is told, as `code` and status
        └── ValidationFailed, NotFound, Conflict, ... (see shared/api/errors.py for the statuses)

A message of any of these may reach a log: it never quotes prompts, replies, plan text, files or tokens. The
text for the model or the caller is the message itself where the class says so (`ModelFeedback`, `CallerError`).
"""

from collections.abc import Mapping, Sequence


class ActaError(Exception):
    """Base of all."""


class EngineError(ActaError):
    """Leaves the Lambda, so that the engine sees the class name."""


class TransientError(EngineError):
    """May pass: the engine tries again."""


class StoreThrottled(TransientError):
    """DynamoDB, S3 or Step Functions asked for less."""


class StoreUnavailable(TransientError):
    """DynamoDB, S3 or Step Functions did not answer, or answered 5xx."""


class CommitContention(TransientError):
    """Too many writers took the next commit number in a row."""


class ProviderOverloaded(TransientError):
    """429, 503 or 529. `retry_after`: seconds the provider asked for, None if it named none."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ProviderTimeout(TransientError):
    """No answer within the time the step had."""


class ProviderUnavailable(TransientError):
    """Connection refused or lost, or another 5xx."""


class StreamBroken(TransientError):
    """An answer began and did not end: dropped, truncated or not parseable."""


class ToolUnanswered(EngineError):
    """Whether a tool outside had its effect is unknown. Another attempt finds the start logged: it reruns an
    `idempotent` tool under the same key and asks a person about one that runs `once` (design §6.3).
    """


class FinalError(EngineError):
    """Retrying cannot help."""


class Fenced(FinalError):
    """The session's head belongs to another run or generation: this worker is overtaken and wrote nothing."""


class Refused(FinalError):
    """The engine's event is not one this Lambda understands."""


class SchemaUnknown(FinalError):
    """A stored document has a schema version this release does not know; it is not touched."""


class PoisonedSession(FinalError):
    """This session has ended its worker too often."""


class SessionError(ActaError):
    """Ends the run `failed`; `code` is shown to the user, the message too."""

    code = "INTERNAL_ERROR"


class AgentMissing(SessionError):
    """The agent the session runs as is not there any more."""

    code = "AGENT_NOT_FOUND"


class ModelRefused(SessionError):
    """The model declined to answer."""

    code = "MODEL_REFUSED"


class ProviderRejected(SessionError):
    """400 or 413: the provider does not accept the request as it is."""

    code = "PROVIDER_REJECTED"


class ProviderKeyRefused(SessionError):
    """401 or 403: the API key is missing or not accepted."""

    code = "PROVIDER_KEY_REFUSED"


class ProviderQuotaExceeded(SessionError):
    """402, or 429 that says the quota is used up: waiting does not help, a person must act."""

    code = "PROVIDER_QUOTA_EXCEEDED"


class ModelFeedback(ActaError):
    """Goes back to the model as an ordinary error text: the message says what to do instead."""


class ToolFailed(ModelFeedback):
    """A tool's own failure."""


class ToolInputInvalid(ModelFeedback):
    """The input does not fit the tool's schema, or is not JSON."""


class PlanRefused(ModelFeedback):
    """An `update_plan` that the plan's rules do not allow. `code` names the rule."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class CallerError(ActaError):
    """Answered over HTTP in the error envelope; `details` maps a field to what is wrong with it."""

    code = "INTERNAL_ERROR"

    def __init__(self, message: str, details: Mapping[str, Sequence[str]] | None = None) -> None:
        super().__init__(message)
        self.details = details


class ValidationFailed(CallerError):
    code = "VALIDATION_ERROR"


class InvalidAction(CallerError):
    code = "INVALID_ACTION"


class Unauthorized(CallerError):
    code = "UNAUTHORIZED"


class Forbidden(CallerError):
    code = "FORBIDDEN"


class NotFound(CallerError):
    code = "NOT_FOUND"


class SessionNotFound(NotFound):
    code = "SESSION_NOT_FOUND"


class PlanNotFound(NotFound):
    code = "PLAN_NOT_FOUND"


class InterventionNotFound(NotFound):
    code = "INTERVENTION_NOT_FOUND"


class Conflict(CallerError):
    code = "CONFLICT"


class PayloadTooLarge(CallerError):
    code = "PAYLOAD_TOO_LARGE"


class IdempotencyMismatch(CallerError):
    code = "IDEMPOTENCY_MISMATCH"


class RateLimited(CallerError):
    code = "RATE_LIMITED"


class Unavailable(CallerError):
    code = "UNAVAILABLE"
