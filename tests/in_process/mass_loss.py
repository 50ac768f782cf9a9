"""Very many sessions lose their executions at once and nobody tells of it: the real function `recover`, minute after
minute, on stores in memory, with a simulated clock and AWS's quotas.

Nothing is timed. Each request takes a stated time of its invocation's and a place in its quota's second; where there is
none it is tried again as the SDK does, and is throttled after three attempts. Invocations of one minute run one after
the other, each from its own beginning on, and share the quotas' seconds.
"""

import json
import logging
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from acta.engine.errors import StoreThrottled
from acta.engine.log.commit import Commit
from acta.engine.log.dynamodb import DynamoLog
from acta.engine.log.dynamodb_index import DynamoIndex
from acta.engine.log.store import LivePage
from acta.engine.recovery.aws import to_event
from acta.engine.recovery.recovery import THREADS
from acta.engine.recovery.store import SHARE, LostSessions, PaidPlaces
from acta.engine.turn.engine import ExecutionStatus
from acta.infra.sizing import SIZES
from acta.testing.clock import FakeClock
from acta.testing.workflow import MemoryWorkflow
from docs.quotas import QUOTAS
from tests.in_process.house import RECOVER, House
from tests.in_process.scripted import ScriptedModel

MINUTE = 60
GRACE, WARN = 60.0, 300.0
SECONDS: Mapping[str, float] = {
    "Query": 0.01, "PutItem": 0.01, "StartExecution": 0.03, "DescribeExecution": 0.03, "ListExecutions": 0.1,
    "SendTaskSuccess": 0.03, "Invoke": 0.05,
}  # fmt: skip
"""How long a request takes: assumptions."""
BACK_OFF = (0.5, 1.0)
"""Seconds between the three attempts of the SDK: the mean of what it waits."""
COLD_START = 2.0
"""Seconds until an invocation that was handed something begins."""
PAGE = 1_000
OTHERS: Mapping[str, float] = {"StartExecution": 12.0}
"""A second: what everybody else asks for meanwhile; a million sessions a day."""


class Bucket:
    """A quota that one invocation at a time asks for: a token bucket."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate, self._burst, self._left, self._at = rate, burst, burst, 0.0

    def take(self, at: float) -> bool:
        self._left = min(self._burst, self._left + max(0.0, at - self._at) * self._rate)
        self._at = max(self._at, at)
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Seconds:
    """A quota that all invocations of a minute ask for, out of order: so many in each second, and a burst that is there
    once, which is less than there is. `others`: what everybody else asks for, a second.
    """

    def __init__(self, rate: float, burst: float, others: float) -> None:
        self._rate, self._left = rate - others, burst
        self._used: Counter[int] = Counter()

    def take(self, at: float) -> bool:
        second = int(at)
        if self._used[second] + 1 <= self._rate:
            self._used[second] += 1
            return True
        if self._left >= 1:
            self._left -= 1
            return True
        return False


class Aws:
    """What the requests of all invocations meet. `made`, `refused`: attempts, by name."""

    def __init__(self, clock: FakeClock, region: str) -> None:
        self.clock = clock
        self.threads = 1
        self.made: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self._buckets: dict[str, Bucket | Seconds] = {}
        for name, quota in QUOTAS.items():
            rate, burst = quota.of(region), quota.burst_of(region)
            others = OTHERS.get(name)
            self._buckets[name] = Bucket(rate, burst) if others is None else Seconds(rate, burst, others)

    def request(self, name: str) -> None:
        """Raises StoreThrottled."""
        for pause in (*BACK_OFF, None):
            self.made[name] += 1
            bucket = self._buckets.get(name)
            if bucket is None or bucket.take(self.clock.now().timestamp()):
                alone = name in ("ListExecutions", "Invoke")
                self.clock.advance(SECONDS[name] / (1 if alone else self.threads))
                return
            self.refused[name] += 1
            if pause is not None:
                self.clock.advance(pause / self.threads)
        raise StoreThrottled(name)


class CountedIndex(DynamoIndex):
    def __init__(self, house: House, aws: Aws) -> None:
        vars(self).update(vars(house.index))
        self._aws = aws

    def live(self, *which: Any, **more: Any) -> LivePage:
        self._aws.request("Query")
        return super().live(*which, **more)


class CountedLog(DynamoLog):
    def __init__(self, house: House, aws: Aws) -> None:
        vars(self).update(vars(house.log))
        self._aws = aws

    def latest(self, tenant: str, session_id: str) -> Commit | None:
        self._aws.request("Query")
        return super().latest(tenant, session_id)

    def append(self, *what: Any) -> None:
        self._aws.request("PutItem")
        super().append(*what)


class CountedWorkflow(MemoryWorkflow):
    """`begun`: when an execution began, by name."""

    def __init__(self, house: House, aws: Aws) -> None:
        vars(self).update(vars(house.workflow))
        self._aws = aws

    def start(self, decision: Any) -> bool:
        self._aws.request("StartExecution")
        return super().start(decision)

    def status(self, session_id: str, run_id: str, generation: int) -> ExecutionStatus:
        self._aws.request("DescribeExecution")
        return super().status(session_id, run_id, generation)

    def running(self) -> Iterator[str]:
        yield from self._listed(super().running())

    def _listed(self, found: Any) -> Iterator[Any]:
        self._aws.request("ListExecutions")
        for number, one in enumerate(found, start=1):
            yield one
            if number % PAGE == 0:
                self._aws.request("ListExecutions")


class Handed:
    """RecoveryWorkers that remember what they were handed."""

    def __init__(self, aws: Aws, most: int, share: int) -> None:
        self.most, self.share = most, share
        self._aws = aws
        self.events: list[tuple[datetime, str]] = []

    def admit(self, paid: PaidPlaces) -> None:
        raise AssertionError("nobody waits in a line here")

    def hand_over(self, lost: LostSessions) -> None:
        self._aws.request("Invoke")
        self.events.append((self._aws.clock.now(), json.dumps(to_event(lost))))


class Context:
    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self._end = clock.now() + timedelta(seconds=SIZES["recover"].timeout)

    def get_remaining_time_in_millis(self) -> int:
        return int((self._end - self._clock.now()).total_seconds() * 1_000)


class Minute(NamedTuple):
    """`lost`: that are still without an execution at its end. `last_at`: seconds into it when the last invocation
    ended.
    """

    lost: int
    restarted: int
    started: int
    invocations: int
    last_at: float
    made: Mapping[str, int]
    refused: Mapping[str, int]


class MassLoss:
    """`sessions` that all have an execution, which is then lost. `most`: how many more invocations may be at work."""

    def __init__(self, sessions: int, region: str, most: int | None, share: int = SHARE) -> None:
        self.house = house = House(ScriptedModel([]))
        self.aws = Aws(house.clock, region)
        self.sessions = [house.start("Tidy up").session_id for _ in range(sessions)]
        for name in house.workflow.executions:
            house.workflow.executions[name] = False
        house.clock.advance(GRACE + 1)
        index, log = CountedIndex(house, self.aws), CountedLog(house, self.aws)
        self.handed = None if most is None else Handed(self.aws, most, share)
        house.log = log
        self.workflow = CountedWorkflow(house, self.aws)
        self.aws.threads = 1 if most is None else THREADS
        self.recovery = house.recovery(
            session_index=index, workflow=self.workflow, recovery_workers=self.handed
        )

    def standing_still(self) -> int:
        return len(self.sessions) - len(set(MemoryWorkflow.running(self.workflow)))

    def minute(self) -> Minute:
        """One scan, and whatever it has handed over."""
        clock, began = self.house.clock, self.house.clock.now()
        made, refused = Counter(self.aws.made), Counter(self.aws.refused)
        level = RECOVER.logger.log_level
        RECOVER.logger.setLevel(logging.CRITICAL)
        try:
            answers = [self._invoke({"round": "due"})]
            ends = [clock.now()]
            events = [] if self.handed is None else self.handed.events
            while events:
                at, event = events.pop(0)
                clock.set(at + timedelta(seconds=COLD_START))
                answers.append(self._invoke(json.loads(event)))
                ends.append(clock.now())
        finally:
            RECOVER.logger.setLevel(level)
        clock.set(began + timedelta(seconds=MINUTE))
        return Minute(
            self.standing_still(),
            sum(each["restarted"] for each in answers),
            sum(each["started"] for each in answers),
            len(answers),
            (max(ends) - began).total_seconds(),
            self.aws.made - made,
            self.aws.refused - refused,
        )

    def _invoke(self, event: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = self.recovery.handle(event, Context(self.house.clock))
        return answer
