"""A service that is away for as long as it lasts, for the sessions that share it and for nobody else."""

import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from math import inf
from typing import Literal, NamedTuple, get_args

from tests.faults.calls import LAMBDA, MODEL, Answer, Call, Request, Subject
from tests.faults.outages.rotated_key import number_of
from tests.faults.refusals import refusal

Service = Literal["model", "dynamodb", "s3", "states", "lambda", "secrets", "sts"]
Kind = Literal["throttled", "failing", "unreachable", "slow", "denied"]
"""`unreachable`: the connection is closed at once. `slow`: what is asked happens, and nobody hears of it in time."""
SERVICES: tuple[Service, ...] = get_args(Service)
KINDS: tuple[Kind, ...] = get_args(Kind)

GIVING_UP = ("give_up", "handle_error", "lost_tool")
"""What the engine runs once a step's or a call's retries are used up."""
ENOUGH = 4
"""Sessions of which a step has used up its retries."""
LOOK_SECONDS = 0.1
LONGEST_GATE_SECONDS = 120.0
LIVE_SECONDS = 600.0
"""Of a tenant's keys here: less than an invocation may take."""
HEARD_SECONDS = 2.5
"""Held for longer than this, a request to the model is closed without an answer: its caller, who waits for 4 seconds,
may be about to give up, and whether it heard a reply would be chance.
"""


class OutageCase(NamedTuple):
    service: Service
    kind: Kind

    @property
    def name(self) -> str:
        return f"{self.service} {self.kind}"

    @property
    def uses_up_retries(self) -> bool:
        """Step Functions itself goes on where its API does not answer, and no retry helps a key that is refused."""
        return self.service != "states" and self != ("model", "denied")


class Outage:
    """`refused`: how many calls it met. `gave_up`: the runs whose step used up its retries meanwhile. `unheard`: how
    many requests to the model got no answer, by run. `takes_keys_from`: the model takes no key before this one.
    """

    def __init__(self, case: OutageCase) -> None:
        self.case = case
        self.refused = 0
        self.gave_up: set[str] = set()
        self.unheard: Counter[str] = Counter()
        self.takes_keys_from = 0.0
        self.began = threading.Event()
        self.is_over = threading.Event()
        self._lock = threading.Lock()

    @property
    def is_on(self) -> bool:
        return self.began.is_set() and not self.is_over.is_set()

    def begin(self) -> None:
        """A process keeps the key that it has read. So secrets are missed once a key was rotated: the model refuses the
        one that is kept, for as long as nobody can read another.
        """
        if self.case.service == "secrets":
            self.take_keys_from(inf)
        self.began.set()

    def take_keys_from(self, number: float) -> None:
        self.takes_keys_from = number

    def end(self) -> None:
        self.is_over.set()

    def last(self, shortest: float, longest: float) -> None:
        """Returns when it may end: steps have used up their retries, and sessions wait. Seconds."""
        began = time.monotonic()
        while time.monotonic() < began + longest:
            is_long_enough = time.monotonic() > began + shortest
            if is_long_enough and (not self.case.uses_up_retries or len(self.gave_up) >= ENOUGH):
                return
            time.sleep(LOOK_SECONDS)

    def meets(self, subject: Subject) -> bool:
        return self.is_on and subject.operation.partition(":")[0] == self.case.service

    def takes_key_of(self, request: Request) -> bool:
        return (
            self.takes_keys_from == 0 or number_of(request.headers["authorization"]) >= self.takes_keys_from
        )

    def answer(
        self, request: Request, subject: Subject, carry_out: Callable[[Request], Answer]
    ) -> Answer | None:
        with self._lock:
            self.refused += 1
        match self.case.kind:
            case "unreachable":
                self.goes_unheard(request)
                return None
            case "slow":
                self._carry_out_unheard(request, carry_out)
                while not self.is_over.wait(LOOK_SECONDS) and not request.is_given_up():
                    pass
                return None
            case kind:
                return refusal(request, kind)

    def _carry_out_unheard(self, request: Request, carry_out: Callable[[Request], Answer]) -> None:
        self.goes_unheard(request)
        if request.at not in (
            MODEL,
            LAMBDA,
        ):  # a reply that nobody hears is not needed, an invocation not wanted
            carry_out(request)

    def goes_unheard(self, request: Request) -> None:
        if request.at == MODEL:
            with self._lock:
                self.unheard[request.tag or ""] += 1


class Gate:
    """Holds a session at the call of this name until it is opened. `was_reached`: it is held there."""

    def __init__(self, call: str) -> None:
        self.call = call
        self.opened = threading.Event()
        self.was_reached = threading.Event()

    def pass_by(self, call: Call | None) -> None:
        if call is not None and call.name == self.call:
            self.was_reached.set()
            self.opened.wait(LONGEST_GATE_SECONDS)


def short_lived(answer: Answer) -> Answer:
    """A tenant's keys that no later invocation is content with, so that each asks STS."""
    until = datetime.now(UTC) + timedelta(seconds=LIVE_SECONDS)
    stamp = f"<Expiration>{until:%Y-%m-%dT%H:%M:%SZ}</Expiration>".encode()
    return answer._replace(body=re.sub(rb"<Expiration>.*?</Expiration>", stamp, answer.body))


class Surroundings:
    """What one session meets: its gates, then the outage. The `disturbed_by` of its track. `now`: in seconds."""

    def __init__(
        self, outage: Outage, gates: Sequence[Gate], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._outage = outage
        self._gates = gates
        self._now = now

    def __call__(
        self, request: Request, subject: Subject, call: Call | None, carry_out: Callable[[Request], Answer]
    ) -> Answer | None:
        arrived = self._now()
        for gate in self._gates:
            gate.pass_by(call)
        is_late = request.at == MODEL and self._now() > arrived + HEARD_SECONDS
        if is_late or request.is_given_up():
            self._outage.goes_unheard(request)
            return None
        outage = self._outage
        if request.at == LAMBDA and outage.is_on and subject.what in GIVING_UP:
            outage.gave_up.add(request.tag or "")
        if request.at == MODEL and not outage.takes_key_of(request):
            return refusal(request, "denied")
        if outage.meets(subject):
            return outage.answer(request, subject, carry_out)
        return short_lived(carry_out(request)) if request.is_for_sts else carry_out(request)
