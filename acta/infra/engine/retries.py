"""Which errors of a Lambda the state machine tries again, how often, and after what pause.

A policy is a list of rules. Step Functions applies the first rule that names the error, and counts attempts for each
rule. `States.TaskFailed` matches every error but `States.Timeout`. The order in every policy therefore is:

1. errors that no further attempt can help,
2. errors by name, which pass by themselves,
3. a worker that hung or died,
4. every other error.

An error that remains after the retries goes to the state's Catch, and from there to
`acta/engine/recovery/handle_error.py` or, for a tool call, to `abandon_call` in
`acta/engine/tools/execute.py`. Where HandleError fails too, it is tried again after a pause, without end. The
reasons for the bounds are in docs/design/engine.md 33.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from acta.engine import errors
from acta.engine.recovery import outage


@dataclass(frozen=True)
class Retrier:
    """One rule: up to `attempts` more attempts after one of the errors.

    `errors` are class names that a Lambda raises, or the engine's own names. The first pause is one retry base long,
    each further pause is twice as long, up to `longest_pause` retry bases. Jitter shortens every pause at random, so
    that many sessions do not come back at the same moment.
    """

    errors: tuple[str, ...]
    attempts: int
    longest_pause: int = 1

    def to_asl(self, retry_base_seconds: int) -> dict[str, Any]:
        """A new object for the `Retry` list of a state; pauses in seconds.

        `retry_base_seconds`: `Environment.retry_base_seconds` in `acta/infra/environments.py`.
        """
        if self.attempts == 0:
            return {"ErrorEquals": list(self.errors), "MaxAttempts": 0}
        return {
            "ErrorEquals": list(self.errors),
            "IntervalSeconds": retry_base_seconds,
            "BackoffRate": 2,
            "MaxDelaySeconds": self.longest_pause * retry_base_seconds,
            "MaxAttempts": self.attempts,
            "JitterStrategy": "FULL",
        }


def _names(*classes: type[errors.EngineError]) -> tuple[str, ...]:
    return tuple(each.__name__ for each in classes)


_AWS_ERRORS = _names(
    errors.StoreThrottled,
    errors.StoreUnavailable,
    errors.FunctionUnavailable,
    errors.AwsDenied,
    errors.SessionPolicyTooLarge,
    errors.CommitContention,
    errors.SchemaUnknown,
)
_MODEL_ERRORS = _names(
    errors.ProviderOverloaded,
    errors.ProviderTimeout,
    errors.ProviderUnavailable,
    errors.StreamBroken,
    errors.AnswerWithheld,
)

NEVER = Retrier(_names(errors.Fenced, errors.Refused, errors.PoisonedSession), attempts=0)
"""Another attempt meets the same refusal. First, because `States.TaskFailed` would match these names too."""

STORE = Retrier(_AWS_ERRORS, attempts=8, longest_pause=60)
"""A throttled or unavailable store is back in seconds or minutes. So is the function of a tenant's tool, and the
release that wrote a document which an older release cannot read. The eight pauses are up to 183 retry bases long."""

STORE_OR_MODEL = Retrier((*_AWS_ERRORS, *_MODEL_ERRORS), attempts=8, longest_pause=60)
"""Like STORE, and also for an overloaded or unavailable model provider. A model call and its commit share the eight
attempts. An overloaded provider that names a Retry-After does not come here: `wait_out` in
`acta/engine/recovery/wait_out.py`.
"""

LAMBDA_SERVICE = Retrier(
    (
        "Lambda.TooManyRequestsException",
        "Lambda.ServiceException",
        "Lambda.AWSLambdaException",
        "Lambda.SdkClientException",
    ),
    attempts=8,
    longest_pause=60,
)
"""Lambda itself failed or throttled the call. AWS asks for retries here: Step Functions Developer Guide, "Handle
transient Lambda service exceptions"."""

WORKER_LOST = Retrier(("States.Timeout", *outage.WORKER_LOST), attempts=3, longest_pause=30)
"""The Lambda hung, ran out of its time or its process died. Few attempts: a session may kill every worker it gets."""

WORKER_LOST_BEFORE_A_WAIT = Retrier(outage.WORKER_LOST, attempts=3, longest_pause=30)
"""Like WORKER_LOST without `States.Timeout`, which in a wait for people means that a warning or an expiry is due."""

ANY_OTHER = Retrier(("States.TaskFailed",), attempts=2, longest_pause=30)
"""An exception that no rule names: a defect, or a tool that gave no answer (`ToolUnanswered`, `FunctionUnanswered`),
which should not run many times in a minute. Last, because it matches every name."""

POLICIES: Mapping[str, tuple[Retrier, ...]] = MappingProxyType(
    {
        "${ModelRetries}": (NEVER, STORE_OR_MODEL, LAMBDA_SERVICE, WORKER_LOST, ANY_OTHER),
        "${TaskRetries}": (NEVER, STORE, LAMBDA_SERVICE, WORKER_LOST, ANY_OTHER),
        "${ParkRetries}": (NEVER, ANY_OTHER),  # what cannot be parked now waits in its execution
        "${AskRetries}": (NEVER, STORE, LAMBDA_SERVICE, WORKER_LOST_BEFORE_A_WAIT, ANY_OTHER),
    }
)
"""What stands as `Retry` in `state_machine.asl.json` -> the rules that `workflow.definition()` puts there."""

PAUSE_SECONDS = "${PauseSeconds}"
"""What stands as `Seconds` in `state_machine.asl.json` where `pause_in_asl` goes."""
FIRST_PAUSE, LONGEST_PAUSE = 15, 450
"""In retry bases. With a base of two seconds, the first is half a minute, and they double up to 15 minutes."""


def pause_in_asl(retry_base_seconds: int) -> str:
    """An expression for a pause's seconds, from the number of pauses before. Up to half is subtracted at random."""
    first, longest = FIRST_PAUSE * retry_base_seconds, LONGEST_PAUSE * retry_base_seconds
    growing = f"$min([{longest}, {first} * $power(2, $min([$states.input.pauses, 20]) - 1)])"
    return f"{{% $ceil({growing} * (1 - $random() / 2)) %}}"
