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
    │   └── AgentMissing, PriceUnknown, ModelRefused, ProviderRejected, ContextTooLong, ProviderKeyRefused,
    │       ProviderQuotaExceeded
    ├── ModelFeedback        the model is told, as text, and goes on
    │   └── ToolFailed, ToolInputInvalid, PlanRefused
    └── CallerError          the HTTP caller is told, as `code` and status
        └── ValidationFailed, NotFound, Conflict, ... (see shared/api/response/errors.py for the statuses)

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
    """429, 503 or 529. `retry_after`: seconds the provider asked for, None if it named none. `lost`: models asked
    before in the same turn that gave no answer and may have to be paid for.
    """

    def __init__(self, message: str, retry_after: float | None = None, lost: int = 0) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.lost = lost


class ProviderTimeout(TransientError):
    """No answer within the time the step had. `began`: whether a part of one had come."""

    def __init__(self, message: str, began: bool = False) -> None:
        super().__init__(message)
        self.began = began


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
    """A stored document of a version this release knows cannot be read: it is damaged, and stays so."""


class SessionError(ActaError):
    """Ends the run `failed`; `code` is shown to the user, the message too, and behind it what a person can do."""

    code = "INTERNAL_ERROR"
    remedy = ""

    @property
    def explained(self) -> str:
        """The reason and the remedy, as two sentences."""
        reason = str(self).strip()
        if reason and reason[-1] not in ".!?":
            reason += "."
        return f"{reason} {self.remedy}".strip()


class AgentMissing(SessionError):
    """The agent the session runs as is not there any more."""

    code = "AGENT_NOT_FOUND"
    remedy = "Make the agent again under its id, or start a session with another one."


class PriceUnknown(SessionError):
    """The session has a cost budget, and a model of its agent has no price the calls could be counted at."""

    code = "PRICE_UNKNOWN"
    remedy = (
        "Start a session with a token budget and without a cost budget, or give the agent models whose prices are "
        "known and write to the session again."
    )


class ModelRefused(SessionError):
    """The model declined to answer."""

    code = "MODEL_REFUSED"
    remedy = "Put the request in other words, or use another model."


class ProviderRejected(SessionError):
    """400: the provider does not accept the request as it is."""

    code = "PROVIDER_REJECTED"
    remedy = "Check that the agent's model exists at this provider and takes tools."


class ContextTooLong(ProviderRejected):
    """The request is longer than the model's window, although the conversation is kept to what that is taken for."""

    code = "CONTEXT_TOO_LONG"
    remedy = (
        "Use a model with a larger window, or have the deployment's setting for the context window say how small "
        "this model's is; then write to the session again."
    )


class ProviderKeyRefused(SessionError):
    """401 or 403: the API key is missing or not accepted."""

    code = "PROVIDER_KEY_REFUSED"
    remedy = "Store a valid key for this provider, then write to the session again."


class ProviderQuotaExceeded(SessionError):
    """402, or 429 that says the quota is used up: waiting does not help, a person must act."""

    code = "PROVIDER_QUOTA_EXCEEDED"
    remedy = "Raise the quota or the balance at the provider, then write to the session again."


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


class CursorInvalid(ValidationFailed):
    """`field`: the parameter that the cursor came in."""

    def __init__(self, field: str = "cursor") -> None:
        message = "This is not a cursor of an earlier answer; without one, reading begins at the start."
        super().__init__("The cursor is not valid.", {field: [message]})


class Unauthorized(CallerError):
    code = "UNAUTHORIZED"


class Forbidden(CallerError):
    code = "FORBIDDEN"


class RoleMissing(Forbidden):
    """Whoever decides needs a role of their own. `ids` tell a log what was refused."""

    def __init__(self, role: str, session_id: str, intervention_id: str) -> None:
        super().__init__(f"Deciding this needs the role {role}.", {"role": [role]})
        self.ids = {"session_id": session_id, "intervention_id": intervention_id}


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


class Unavailable(CallerError):
    code = "UNAVAILABLE"
