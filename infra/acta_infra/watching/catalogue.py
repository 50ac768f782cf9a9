"""Every kind of alarm: what it means, from when on it is raised, and where its runbook is (ADR 84).

Thresholds are such that a deployment with a few runs a day reaches them, and one with thousands is not called for what
is usual. Counts are of one period.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from acta_infra.rollout.gradual import MAX_SERVER_ERRORS

FIVE_MINUTES: Literal[5] = 5
HOUR: Literal[60] = 60


@dataclass(frozen=True)
class Kind:
    """`means`: a sentence for whoever is told, `{function}` being the function where each has an alarm of this kind.
    `threshold`: reached or passed in `periods` periods in a row, each of `minutes`. `missing_is_bad`: where there is no
    data, that is what is wrong.
    """

    means: str
    threshold: float
    periods: int = 1
    minutes: Literal[5, 60] = FIVE_MINUTES
    missing_is_bad: bool = False
    below: bool = False
    """Raised below the threshold, not from it on."""


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "FunctionErrors": Kind(
            "The function {function} raised errors more often than the engine's retries account for.", 5
        ),
        "FunctionThrottles": Kind("Lambda had no concurrency left for {function}.", 1),
        "OwnToolErrors": Kind("Calls of Python tools in the folder {function} raised errors.", 5),
        "OwnToolThrottles": Kind(
            "Lambda had no concurrency left for the Python tools in the folder {function}.", 1
        ),
        "ExecutionsFailed": Kind(
            "Runs ended as failed: three or more within an hour. Outages do not count, they are waited out.",
            3,
            minutes=HOUR,
        ),
        "ExecutionsTimedOut": Kind("An execution of the state machine ran into its limit of a year.", 1),
        "Api5xx": Kind("The API answered with 500 or 503.", 3),
        "KeysRefused": Kind(
            "A model's provider refused a key, or its quota is used up. Sessions wait or fail.", 1
        ),
        "ProviderErrors": Kind(
            "Calls of a model's provider have failed for a quarter of an hour. Sessions wait for it.",
            3,
            periods=3,
        ),
        "SessionsStuck": Kind(
            "Sessions stand still, and recovery cannot read them: stored data is damaged or of another release.",
            1,
            periods=3,
        ),
        "SessionsRecovered": Kind(
            "Executions of sessions get lost: recovery had to go on with ten or more of them within five minutes.",
            10,
        ),
        "RecoveryStopped": Kind(
            "Recovery's round {function}, which is made each minute, has not come to its end for a quarter of an hour.",
            1,
            periods=3,
            missing_is_bad=True,
            below=True,
        ),
        "CostPerHour": Kind(
            "Model calls of the last hour cost more than the environment expects.", 0, minutes=HOUR
        ),
        "NotRecorded": Kind(
            "A write of {function} could not be recorded in the audit trail, or not how it ended or by whom.",
            1,
        ),
        "Refused": Kind("Many requests came without a good token, or without the role (401, 403).", 100),
        "BeyondRate": Kind("Many requests were beyond a route's rate or a tenant's limit (429).", 100),
        "SessionsHidden": Kind(
            "Many requests to {function} asked for somebody else's private sessions, and were answered 404.",
            100,
        ),
        "UsageBehind": Kind(
            "Commits are 15 minutes old and not in their tenants' usage. Lines of finished runs are late, too.",
            15 * 60 * 1_000,
            periods=3,
        ),
        "NotificationsNotDelivered": Kind("No receiver took a notification for 15 minutes.", 1, periods=3),
        "SpansLost": Kind("Spans of sessions are lost: nobody will get them.", 1),
        "SpansNotDelivered": Kind(
            "The endpoint of the traces took nothing several times within an hour.", 5, minutes=HOUR
        ),
    }
)
ROLL_OUT: Mapping[str, str] = MappingProxyType(
    {
        "NewVersionWorse": (
            "The new version of {function} fails more than the one beside it, so the release goes back."
        ),
        "RollOutApiFails": (
            f"The API answered with 5xx {MAX_SERVER_ERRORS} times in a minute, so a release that goes out goes back."
        ),
    }
)
"""What the alarms mean that take a release back while it goes out; `infra/acta_infra/rollout/gradual.py` has when they
are raised. CodeDeploy alone looks at them."""


def description(kind: str, runbook: str, function: str = "") -> str:
    """What stands in the alarm, and so in each message about it: the sentence, and where to read on. `runbook`: the
    page's address.
    """
    means = KINDS[kind].means if kind in KINDS else ROLL_OUT[kind]
    return f"{means.format(function=function)} What to do: {runbook}#{kind.lower()}"
