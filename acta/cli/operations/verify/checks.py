"""What a check of `acta verify` has to ask with, and how it answers.

A check is a function. It returns its figures where the deployment does what the check is about, and raises CheckFailed
or CheckUnanswered otherwise. The report is sent to strangers, so nothing can get into it that a deployment said: every
sentence is a text of this package, and `answer` lets a figure be a number or a `word`.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeVar, get_args

from acta.client.api import Client
from acta.client.errors import SignInEndedError
from acta.engine.aws.clients import Service
from acta.engine.aws.errors import AwsRefused
from acta.engine.errors import AwsDenied, StoreThrottled, StoreUnavailable
from acta.infra.deployed.account import Account, pages
from acta.infra.environments import Environment
from acta.infra.names import ALIAS, function_name
from acta.infra.sizing import FunctionName

T = TypeVar("T")
State = Literal["passed", "failed", "not answered"]
Needs = Literal["read-only", "a session", "a change"]
EVERY_NEED: frozenset[Needs] = frozenset(get_args(Needs))
Figures = Mapping[str, float | str]
LONGEST_WORD = 64
MOST_DIGITS = 4
"""As many as `x86_64` has; an account, an id of a session and a date have more."""
LOOK_SECONDS = 2.0


def word(text: object) -> str:
    """A name that AWS or Acta gives to a kind of thing, such as an error's code or a resource's type. Whatever else it
    is, such as an ARN, an address, a sentence or an id, becomes `other`.
    """
    found = str(text)
    parts = found.replace("::", ".").replace("-", ".").split(".")
    is_name = all(part.isascii() and (part.isidentifier() or len(part) == 1) for part in parts)
    has_an_id = sum(char.isdecimal() for char in found) > MOST_DIGITS
    return found if is_name and not has_an_id and len(found) <= LONGEST_WORD else "other"


class _Said(Exception):
    def __init__(self, said: str, **figures: float | str) -> None:
        super().__init__(said)
        self.said = said
        self.figures = figures


class CheckFailed(_Said):
    """The deployment does not do what the check is about. `said`: what is wrong, and what to do."""


class CheckUnanswered(_Said):
    """Nobody can tell whether the deployment does it. `said`: why, and how it can be answered."""


class NotPutBack(Exception):
    """A check changed the deployment, and AWS did not let it put that back. No other check runs. The arguments are the
    commands that put it back.
    """

    def __str__(self) -> str:
        return " && ".join(self.args)


@dataclass
class Verified:
    """The deployment that is checked."""

    environment: Environment
    account: Account
    outputs: Mapping[str, str]
    """Of the stack that a release replaces."""
    client: Client | None = None
    """Calls the API as the person who has signed in. None: nobody has."""
    pause: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    warn: Callable[[str], None] = lambda line: None
    """Tells the person at the terminal how to put back what a check is about to change."""
    worked: Mapping[str, Any] | None = None
    """The session that a check has followed to its end: later checks look at what it left behind."""
    canary: str = ""
    """A word that only that session's file and conversation have."""
    tokens_before: int | None = None
    """What was counted of the person's usage before that session. None: the API did not say."""
    started: list[str] = field(default_factory=list)
    """The ids of all sessions that checks have started."""
    written: list[str] = field(default_factory=list)
    """The paths of all private files that checks have written."""

    @property
    def name(self) -> str:
        return self.environment.name

    def has(self, option: str) -> bool:
        """Whether the environment has this option. The local one has a receiver only where one listens."""
        value = getattr(self.environment, option)
        return bool(getattr(value, "is_listening", value))

    @property
    def api(self) -> Client:
        """Raises CheckUnanswered."""
        if self.client is None:
            raise CheckUnanswered(
                "Nobody is signed in here: run `acta login --env NAME`, then this command again."
            )
        return self.client

    def aws(self, service: str) -> Service:
        return Service(service, self.account.client(service))

    def seconds_since(self, begun: float) -> float:
        return round(self.clock() - begun, 1)

    def all(
        self, service: str, operation: str, items: str, cursor: str = "NextToken", **asked: Any
    ) -> Iterator[Any]:
        """The items of all pages of a listing of AWS."""
        for page in pages(self.aws(service), operation, cursor, **asked):
            yield from page.get(items, ())

    def configuration(self, function: FunctionName) -> Mapping[str, Any]:
        """Of the version that the alias names."""
        name = function_name(self.name, function)
        found: Mapping[str, Any] = self.aws("lambda").call(
            "get_function_configuration", FunctionName=name, Qualifier=ALIAS
        )
        return found

    def metric(self, queries: Iterable[Mapping[str, Any]], since: timedelta) -> dict[str, list[float]]:
        """Id of each query -> its values since then. Raises CheckFailed where CloudWatch refuses one."""
        now = datetime.now(UTC)
        found: dict[str, list[float]] = {}
        for page in pages(
            self.aws("cloudwatch"),
            "get_metric_data",
            "NextToken",
            MetricDataQueries=[*queries],
            StartTime=now - since,
            EndTime=now,
        ):
            results = page.get("MetricDataResults", ())
            for each in (
                *page.get("Messages", ()),
                *(one for result in results for one in result.get("Messages", ())),
            ):
                raise CheckFailed(
                    "CloudWatch does not accept a query of the dashboard or of this check. Send us this report.",
                    code=each.get("Code", "none"),
                )
            for each in results:
                found.setdefault(each["Id"], []).extend(each["Values"])
        return found

    def until(self, seconds: float, look: Callable[[], T | None]) -> T | None:
        """What `look` finds, as soon as it finds something. None: it found nothing in this time."""
        end = self.clock() + seconds
        while (found := look()) is None and self.clock() < end:
            self.pause(LOOK_SECONDS)
        return found

    def until_found(self, seconds: float, look: Callable[[], T | None], unless: CheckFailed) -> T:
        """Like `until`. Raises `unless` where there is nothing."""
        found = self.until(seconds, look)
        if found is None:
            raise unless
        return found


def sum_of(id: str, namespace: str, metric: str, statistic: str = "Sum", **dimensions: str) -> dict[str, Any]:
    """A query for `Verified.metric`, in periods of five minutes."""
    named = [{"Name": name, "Value": value} for name, value in dimensions.items()]
    return {
        "Id": id,
        "MetricStat": {
            "Metric": {"Namespace": namespace, "MetricName": metric, "Dimensions": named},
            "Period": 300,
            "Stat": statistic,
        },
    }


class Check(NamedTuple):
    name: str
    run: Callable[[Verified], Figures]
    proves: str
    """What is true of the deployment if the check passes: a sentence."""
    only_aws: str
    """What the check finds out that only AWS can say: a sentence that begins with whether, how or what."""
    needs: Needs = "read-only"
    not_here: str = ""
    """Why the local AWS cannot answer the check. Empty: it can."""
    sessions: int = 0
    """How many sessions the check starts."""


class CheckAnswer(NamedTuple):
    check: Check
    state: State
    said: str = ""
    figures: Figures = MappingProxyType({})


def answer(check: Check, deployed: Verified, allowed: frozenset[Needs]) -> CheckAnswer:
    """Runs the check, unless the local AWS cannot answer it or nobody has asked for what it needs. An error that the
    check does not expect ends this check and no other one, except NotPutBack, which is raised.
    """
    if deployed.environment.is_local and check.not_here:
        return CheckAnswer(check, "not answered", check.not_here)
    if check.needs not in allowed:
        return CheckAnswer(check, "not answered", WITHOUT[check.needs])
    state: State = "not answered"
    said = ""
    try:
        state, figures = "passed", check.run(deployed)
    except NotPutBack:
        raise
    except _Said as told:
        state = "failed" if isinstance(told, CheckFailed) else "not answered"
        said, figures = told.said, told.figures
    except Exception as error:
        said, figures = _explained(error)
    # here, and not in each check, because a report must hold nothing else
    words = {name: each if isinstance(each, int | float) else word(each) for name, each in figures.items()}
    return CheckAnswer(check, state, said, words)


WITHOUT: Mapping[Needs, str] = {
    "a session": "It starts sessions, which --no-sessions forbids.",
    "a change": "It changes the deployment for a moment: give --changes to allow that.",
}


def _explained(error: Exception) -> tuple[str, Figures]:
    """A sentence about an error that a check let through, without the error's own text."""
    operation, _, code = str(error).partition(":")
    named = {"call": operation, "code": code.strip()}
    match error:
        case AwsDenied():
            return (
                "Your AWS credentials may not make this call: docs/real-aws.md lists what they need.",
                named,
            )
        case StoreThrottled() | StoreUnavailable():
            return "AWS did not answer this call: run the same command again.", named
        case AwsRefused():
            return "AWS refused this call: send us this report.", {"call": operation, "code": error.code}
        case SignInEndedError():
            return "Your sign-in has ended: run `acta login --env NAME`, then this command again.", {}
    status = getattr(error, "status", None)
    if status == 403:
        return "Your sign-in does not allow it: sign in as somebody with the role admin.", {"status": 403}
    if isinstance(status, int):
        return "The API answered with an error: `acta logs` of the session may say more.", {
            "status": status,
            "code": str(getattr(error, "code", "")),
        }
    return "The check could not be carried out: send us this report.", {"error": type(error).__name__}
