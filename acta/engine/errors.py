"""Every error Acta raises, grouped by who reacts to it.

    ActaError
    ├── EngineError          the state machine reacts, by class name (Retry / Catch)
    │   ├── TransientError   retried with backoff
    │   │   ├── StoreThrottled, StoreUnavailable, FunctionUnavailable, AwsDenied, CommitContention, SchemaUnknown
    │   │   ├── FunctionUnanswered, SessionPolicyTooLarge
    │   │   └── ProviderOverloaded, ProviderTimeout, ProviderUnavailable, StreamBroken, StopUnknown, AnswerWithheld
    │   ├── ToolUnanswered   retried as any failed task
    │   └── FinalError       never retried
    │       └── Fenced, Refused, PoisonedSession
    ├── SessionError         the run ends `failed` with `code`; if it has had a reply, it waits for a key or a quota
    │   └── AgentMissing, PriceUnknown, ModelRefused, AnswerInvalid, ProviderRejected, ModelNotAllowed,
    │       ContextTooLong, ProviderKeyRefused, ProviderQuotaExceeded
    ├── ToolNotRun           `run_call` takes the call's start back and raises the error for the engine
    ├── ToolAsks             `run_call` asks a person, and makes the call again with the answer
    ├── ToolWaits            `run_call` commits that the tool's server is still working; the engine looks again later
    ├── ModelFeedback        the model gets the message as the result of its call, and goes on
    │   └── ToolFailed, ToolInputInvalid, PlanRefused
    └── CallerError          the HTTP caller gets `code`, a status and the message
        └── ValidationFailed, NotFound, Conflict, ... (see acta/engine/api/error_answers.py for the statuses)

Any of these messages may reach a log, so no message quotes prompts, replies, plan text, files or tokens.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from acta.engine.untrusted.quoting import OutsideText


class ActaError(Exception):
    """The base of all errors below."""


class EngineError(ActaError):
    """An error that no Lambda catches, so that the state machine sees the name of its class."""


class TransientError(EngineError):
    """Another attempt may succeed, so the engine retries. `code`: the error's name in the step log."""

    code = "STEP_FAILED"


class StoreThrottled(TransientError):
    """DynamoDB, S3 or Step Functions refused because of too many requests."""


class StoreUnavailable(TransientError):
    """DynamoDB, S3 or Step Functions did not answer, or answered 5xx."""


class FunctionUnavailable(TransientError):
    """Lambda did not run the function of a tool."""

    code = "LAMBDA_UNAVAILABLE"


class FunctionUnanswered(FunctionUnavailable):
    """Lambda got the call of a tool that may run again, and its answer was a failure or was lost. The tool may have
    run, so the engine makes fewer attempts than for `FunctionUnavailable` before the session waits.
    """


class AwsDenied(TransientError):
    """A permission is missing, perhaps the one to read a provider's key. The session waits until somebody mends the
    role or until a new policy takes effect.
    """

    code = "AWS_DENIED"


class SessionPolicyTooLarge(AwsDenied):
    """AWS does not take the policy that narrows a role to the tenant's data: packed, it is above AWS's limit. No
    permission is missing. The tenant gets nothing until names in the policy are shorter.
    """

    code = "SESSION_POLICY_TOO_LARGE"


class CommitContention(TransientError):
    """Another writer was faster at every attempt to commit, or to take tokens of the tenant's hour."""


class SchemaUnknown(TransientError):
    """A stored document has a schema version that this release does not know. The document is not changed.

    A newer release wrote it, which is being deployed or was rolled back. An attempt that reaches its Lambda succeeds.
    """


class ProviderOverloaded(TransientError):
    """The provider answered 429, 503 or 529.

    `retry_after`: the seconds that the provider asks to wait. The engine waits that long (`wait_out` in
    `acta/engine/recovery/wait_out.py`). None: the provider named no time, and the engine retries.
    """

    code = "PROVIDER_OVERLOADED"

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ProviderTimeout(TransientError):
    """The provider did not finish its answer in time. `began`: whether part of the answer had arrived."""

    code = "PROVIDER_TIMEOUT"

    def __init__(self, message: str, began: bool = False) -> None:
        super().__init__(message)
        self.began = began


class ProviderUnavailable(TransientError):
    """The connection was refused or lost, or the provider answered with another 5xx."""

    code = "PROVIDER_UNAVAILABLE"


class StreamBroken(TransientError):
    """An answer began and did not end properly: the stream was dropped, truncated or not parseable."""

    code = "PROVIDER_STREAM_BROKEN"


class StopUnknown(StreamBroken):
    """The provider ended an answer with a word that Acta does not know. The next answer may end so, too: after a few
    tries a person is told the word. `word`: empty where it is not one word.
    """

    code = "PROVIDER_STOP_UNKNOWN"

    def __init__(self, message: str, word: str = "") -> None:
        super().__init__(message)
        self.word = word


class AnswerWithheld(TransientError):
    """The provider does not hand over an answer that it makes in the background. The answer has to be paid for, so Acta
    looks again, and in the end tells a person where it is.
    """

    code = "PROVIDER_ANSWER_WITHHELD"


class ToolUnanswered(EngineError):
    """A tool gave no answer, so nobody knows whether it had its effect.

    The next attempt finds the start of the call in the log. It runs an `idempotent` tool again under the same key, and
    asks a person about a tool whose effect is `once` (docs/design/tools.md 12).
    """


class ToolNotRun(ActaError):
    """It is certain that the call did not reach its tool: nothing has run, whatever the tool's effect.

    `reason`: the error for the engine, which then makes the call again. This error itself never leaves the Lambda.
    """

    def __init__(self, reason: TransientError) -> None:
        super().__init__(str(reason))
        self.reason = reason


class FinalError(EngineError):
    """A retry cannot help."""


class Fenced(FinalError):
    """Another run or generation has taken over the session. This worker is too late and has written nothing."""


class Refused(FinalError):
    """This Lambda does not understand the event that the state machine sent."""


class PoisonedSession(FinalError):
    """A stored document is damaged: this release knows its schema version and still cannot read it. Or a document would
    have been so, and was not stored.
    """


class SessionError(ActaError):
    """Ends the run as `failed`, unless the run waits for a key or a quota. The user sees `code`, the message, and
    `remedy`: what a person can do about it.
    """

    code = "INTERNAL_ERROR"
    remedy = ""

    @property
    def explained(self) -> str:
        """The message and the remedy, each as a sentence."""
        reason = str(self).strip()
        if reason and reason[-1] not in ".!?":
            reason += "."
        return f"{reason} {self.remedy}".strip()


class AgentMissing(SessionError):
    """The session's agent was deleted."""

    code = "AGENT_NOT_FOUND"
    remedy = "Create the agent again under its id, or start a session with another one."


class PriceUnknown(SessionError):
    """The session has a cost budget, but the price of one of its agent's models is unknown."""

    code = "PRICE_UNKNOWN"
    remedy = (
        "Have an operator give the price in `models` of the environment, or give the agent models whose prices are "
        "known; then write to the session again. Or start a session with a token budget instead of a cost budget."
    )


class ModelRefused(SessionError):
    """The model declined to answer."""

    code = "MODEL_REFUSED"
    remedy = (
        "What it was shown last is left out of the conversation from now on. Write to the session in other words what "
        "it should do, or use another model."
    )

    def __init__(self, message: str, usage: Any = None, category: str = "") -> None:
        """`usage`: the `TokenUsage` of the call, which has to be paid for. `category`: as of `ModelReply`."""
        super().__init__(message)
        self.usage, self.category = usage, category


class AnswerInvalid(SessionError):
    """The session has an output schema, and the agent's final answer did not fit it after several tries."""

    code = "ANSWER_INVALID"
    remedy = (
        "Write to the session what to do differently, use another model, or start a session with a simpler schema. "
        "The conversation has the last answer."
    )


class ProviderRejected(SessionError):
    """The provider answered 400: it does not accept the request."""

    code = "PROVIDER_REJECTED"
    remedy = "Check that the agent's model exists at this provider and can use tools."


class ModelNotAllowed(ProviderRejected):
    """The deployment allows only certain models, and this is not one of them. No provider was asked."""

    code = "MODEL_NOT_ALLOWED"
    remedy = "Give the agent an allowed model, or have an operator allow this one; then write to the session again."


class ContextTooLong(ProviderRejected):
    """The provider says that the request is too long, although it fits the context window that Acta assumes. Or the
    request alone needs more tokens than the provider allows in a minute.
    """

    code = "CONTEXT_TOO_LONG"
    remedy = (
        "Use a model with a larger window or a higher limit of tokens per minute, lower the agent's "
        "`limits.max_output_tokens`, or have an operator give this model's window in `models` of the environment; then "
        "write to the session again."
    )


class ProviderKeyRefused(SessionError):
    """The API key is missing, or the provider does not accept it. A run that has already had a reply waits for a valid
    key.
    """

    code = "PROVIDER_KEY_REFUSED"
    waiting = (
        "Store a valid key for the model's provider, or start the local stack with one; the session tries again by "
        "itself."
    )
    remedy = (
        "Store a valid key for the model's provider, or start the local stack with one; then write to the session "
        "again."
    )


class ProviderQuotaExceeded(SessionError):
    """The provider answered 402, or 429 because the quota is used up. A person must raise it; a run that has already
    had a reply waits for that.
    """

    code = "PROVIDER_QUOTA_EXCEEDED"
    waiting = "Raise the quota or the balance at the provider; the session tries again by itself."
    remedy = "Raise the quota or the balance at the provider, then write to the session again."


class ModelFeedback(ActaError):
    """The model gets the message as the result of its call. The message says what to do instead."""


class ToolFailed(ModelFeedback):
    """The tool ran and failed, or could not run. `outside`: a text from outside that explains the failure. The model
    gets it quoted as data; the message itself contains nothing from outside.

    `ran` False: it is certain that nothing was done. `remedy`: what an admin or an operator can do about it. Models are
    not told, because it may name a setting. `status`: the HTTP status of the answer.
    """

    def __init__(
        self,
        message: str,
        outside: OutsideText | None = None,
        *,
        ran: bool = True,
        remedy: str = "",
        status: int | None = None,
    ) -> None:
        super().__init__(message)
        self.outside = outside
        self.ran = ran
        self.remedy = remedy
        self.status = status


class ToolAsks(ActaError):
    """The server of a tool needs a person's answers before it goes on with the call. `question`: a `ToolQuestion`."""

    def __init__(self, tool: str, question: Any) -> None:
        super().__init__(f"{tool} asks a person")
        self.question = question


class ToolWaits(ActaError):
    """The server of a tool works on the call by itself, and Acta asks later for the result. `news`: a `TaskNews`."""

    def __init__(self, news: Any) -> None:
        super().__init__("a tool's server works on a call by itself")
        self.news = news


class ToolLater(ActaError):
    """The call is answered later. `later`: a `Later`."""

    def __init__(self, later: Any) -> None:
        super().__init__("a call is answered later")
        self.later = later


class ToolInputInvalid(ModelFeedback):
    """The input does not fit the tool's schema, or is not JSON."""


class PlanRefused(ModelFeedback):
    """The rules for plans do not allow this `update_plan`. `code` names the rule."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class CallerError(ActaError):
    """Something went wrong on Acta's side. Sending the request again may help; with an `Idempotency-Key` that is safe.

    The HTTP answer is an error envelope. `details`: field -> sentences about what is wrong with it. The first
    paragraph of a class with its own `code` is printed in docs/reference/errors.md.
    """

    code = "INTERNAL_ERROR"

    def __init__(self, message: str, details: Mapping[str, Sequence[str]] | None = None) -> None:
        super().__init__(message)
        self.details = details


class ValidationFailed(CallerError):
    """The request is not valid. `details` says for each field, parameter or header what is wrong."""

    code = "VALIDATION_ERROR"


class FieldsInvalid(ValidationFailed):
    """The message names the fields. `wrong`: field -> sentences about what is wrong with it."""

    def __init__(self, wrong: Mapping[str, Sequence[str]]) -> None:
        super().__init__(f"The request is not valid: {', '.join(wrong)}.", wrong)


class CursorInvalid(ValidationFailed):
    """`field`: the parameter that held the cursor."""

    def __init__(self, field: str = "cursor") -> None:
        message = "This is not a cursor of an earlier answer; without one, reading begins at the start."
        super().__init__("The cursor is not valid.", {field: [message]})


class Unauthorized(CallerError):
    """The token names no usable subject. If the token is missing or not valid, the gateway itself answers."""

    code = "UNAUTHORIZED"


class Forbidden(CallerError):
    """The token's roles do not allow the request, or it names no tenant. `details.role` has the role that is needed."""

    code = "FORBIDDEN"


def _one_of(roles: Sequence[str]) -> str:
    return f"the role {roles[0]}" if len(roles) == 1 else f"one of the roles {', '.join(roles)}"


class NotYours(Forbidden):
    """Somebody else has to decide. `ids`: the session and the intervention, for the log."""

    def __init__(
        self, message: str, details: Mapping[str, Sequence[str]] | None, session_id: str, intervention_id: str
    ) -> None:
        super().__init__(message, details)
        self.ids = {"session_id": session_id, "intervention_id": intervention_id}


class StartRoleMissing(Forbidden):
    """Only people with one of these roles may start sessions of the agent, and give it words."""

    def __init__(self, roles: Sequence[str]) -> None:
        super().__init__(f"Sessions of this agent need {_one_of(roles)}.", {"role": roles})


class RoleMissing(NotYours):
    """Only people with one of these roles may decide."""

    def __init__(self, roles: Sequence[str], session_id: str, intervention_id: str) -> None:
        super().__init__(
            f"Deciding this needs {_one_of(roles)}.", {"role": roles}, session_id, intervention_id
        )


class PersonMissing(NotYours):
    """A program's token decides nothing where the environment leaves decisions to people."""

    def __init__(self, session_id: str, intervention_id: str) -> None:
        message = "A person has to decide this: here tokens of programs do not. Have somebody decide who has signed in."
        super().__init__(message, None, session_id, intervention_id)


class ApproverMustDiffer(NotYours):
    """You asked for this call, so somebody else has to approve it. You may reject it.

    `role`: what somebody else needs to do so; None: nothing. `alone`: nobody else sees the question, because no role is
    named in a private session.
    """

    code = "APPROVER_MUST_DIFFER"

    def __init__(
        self, role: str | None, session_id: str, intervention_id: str, *, alone: bool = False
    ) -> None:
        other = f"somebody else with the role {role}" if role else "another member of the tenant"
        todo = f"Have {other} decide; you may reject it."
        if alone:
            todo = (
                "Nobody else sees it in this private session: reject it, or start one that the tenant sees."
            )
        super().__init__(
            f"You asked for this call: you started the session, or the agent has words of yours. {todo}",
            {"role": [role]} if role else None,
            session_id,
            intervention_id,
        )


class NotFound(CallerError):
    """There is nothing at this path, or nothing that you may see: another tenant's data does not exist for you."""

    code = "NOT_FOUND"


class SessionNotFound(NotFound):
    """There is no such session that you may see, or it was deleted."""

    code = "SESSION_NOT_FOUND"


class SessionHidden(SessionNotFound):
    """The session is private to somebody else. The answer is the same as for a session that does not exist."""

    def __init__(self) -> None:
        super().__init__("There is no such session.")


class PlanNotFound(NotFound):
    """The session has no plan yet."""

    code = "PLAN_NOT_FOUND"


class InterventionNotFound(NotFound):
    """The session has no such intervention."""

    code = "INTERVENTION_NOT_FOUND"


class Conflict(CallerError):
    """The request does not fit the present state, perhaps because somebody was faster. Read it, then decide again."""

    code = "CONFLICT"


class PreconditionFailed(CallerError):
    """It has changed since you read it: `If-Match` names another state, or `If-None-Match: *` asks for nothing where
    there is something. Nothing was done. Read it again, then decide."""

    code = "PRECONDITION_FAILED"


class PreconditionRequired(CallerError):
    """The request needs `If-Match` with the `ETag` of the state that you have read."""

    code = "PRECONDITION_REQUIRED"


class PayloadTooLarge(CallerError):
    """The body or the requested file is too large. For more than 10 MB the gateway itself answers."""

    code = "PAYLOAD_TOO_LARGE"


class IdempotencyMismatch(CallerError):
    """The same `Idempotency-Key` was used with another body. Use a new key for a new request."""

    code = "IDEMPOTENCY_MISMATCH"


class Unavailable(CallerError):
    """The storage cannot be reached just now. Try again after `Retry-After` seconds."""

    code = "UNAVAILABLE"


class TreeBusy(Unavailable):
    """A request was to change a whole tree of sessions, and its time was too short for all of them."""


class AnswerLost(Unavailable):
    """Nobody knows whether it was done: no answer came. Look before you send it again."""

    def __init__(self) -> None:
        super().__init__(
            "No answer came in time, so nobody knows whether it was done. Look before you send it again."
        )


class Quota(NamedTuple):
    """A limit in the form that clients get: `most` in `window` seconds. None: at the same time."""

    name: str
    most: int
    window: int | None = None


class LimitReached(CallerError):
    """Your tenant has reached its limit of requests or of new runs. Try again after `Retry-After` seconds.

    See ADR 65. `retry_after`: whole seconds until it is worth trying again.
    """

    code = "RATE_LIMITED"

    def __init__(self, message: str, quota: Quota, retry_after: int) -> None:
        super().__init__(message)
        self.quota = quota
        self.retry_after = retry_after


class TooManyOpenSessions(LimitReached):
    """Your tenant has as many open sessions as it may have. Wait until one ends, cancel one, or answer its question."""

    code = "TOO_MANY_OPEN_SESSIONS"
