"""One outage for a session at each stage: brought there together, left to it, and followed to their ends."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event, Thread
from typing import NamedTuple

from acta.infra.local.deploy import DeployProgress
from tests.faults.ending import Ending
from tests.faults.outages.outage import KINDS, SERVICES, Outage, OutageCase
from tests.faults.outages.session import Followed, Outcome
from tests.faults.outages.stages import ASKING, BEFORE_ITS_FIRST_REPLY, STAGES, Stage
from tests.faults.outages.stand import OutageStand
from tests.faults.script import CHARGE

SHORTEST_SECONDS = 12.0
LONGEST_SECONDS = 150.0
"""An outage lasts until steps have used up all their retries: those take about 10 seconds where pauses are short and a
refusal comes at once, and 45 where each call waits for its time limit.
"""
AT_ONCE = 2
"""Outages side by side, each with sessions of its own: most of the time they wait."""
WARM = 8
RECOVERY_SECONDS = 3.0
"""Between two runs of scheduled recovery, which is a minute in AWS."""


class OutageVerdict(NamedTuple):
    """`refused`: how many calls the outage met. `gave_up`: how many sessions used up their retries in it."""

    case: OutageCase
    outcomes: tuple[Outcome, ...]
    problems: tuple[tuple[str, ...], ...]
    refused: int
    gave_up: int
    seconds: float

    @property
    def failed(self) -> int:
        return sum(one.failed for one in self.outcomes)

    @property
    def asked(self) -> int:
        return sum(bool(one.asked) for one in self.outcomes)

    @property
    def bought_twice(self) -> int:
        return sum(one.bill.bought_twice for one in self.outcomes)

    @property
    def misbilled(self) -> int:
        return sum(bool(one.misbilled) for one in self.outcomes)

    @property
    def same_end(self) -> int:
        return sum(not found for found in self.problems)

    @property
    def is_good(self) -> bool:
        return self.was_felt and self.same_end == len(self.outcomes)

    @property
    def was_felt(self) -> bool:
        return self.refused > 0 and (self.gave_up > 0 or not self.case.uses_up_retries)


@contextmanager
def outage_stand(progress: DeployProgress | None = None) -> Iterator[OutageStand]:
    """Recovery comes all the time on it."""
    over = Event()

    def recover(stand: OutageStand) -> None:
        client = stand.client("lambda")
        while not over.wait(RECOVERY_SECONDS):
            for round in ("due", "woken"):
                event = json.dumps({"round": round}).encode()
                client.invoke(FunctionName="acta-local-recover", Payload=event)["Payload"].read()

    with OutageStand(progress) as stand:
        recovering = Thread(target=recover, args=(stand,), daemon=True)
        recovering.start()
        try:
            yield stand
        finally:
            over.set()
            recovering.join()


def undisturbed(stand: OutageStand, sessions: int = WARM) -> Ending:
    """How sessions end that meet no outage. There are several at once, and processes are warm then: so each of those
    that follow reaches its stage at once.
    """
    outage = Outage(OutageCase("model", "failing"))
    outage.end()
    followed = [Followed(stand, ASKING, outage) for _ in range(sessions)]
    with ThreadPoolExecutor(sessions) as pool:
        list(pool.map(Followed.come_near, followed))
        found = list(pool.map(Followed.follow, followed))
    endings = [one.ending for one in found if one.ending is not None]
    assert endings[1:] == endings[:-1], [one.problems for one in found]
    return endings[0]


def cases() -> list[OutageCase]:
    """Of the Lambda service no call is slow: an invocation that takes long is a worker that hangs, which is a fault."""
    return [
        OutageCase(service, kind)
        for service in SERVICES
        for kind in KINDS
        if (service, kind) != ("lambda", "slow")
    ]


def stages_of(case: OutageCase, chosen: Sequence[Stage] = STAGES) -> list[Stage]:
    left_out = BEFORE_ITS_FIRST_REPLY if case == ("model", "denied") else ()
    return [stage for stage in chosen if stage not in left_out]


def run(
    stand: OutageStand, clean: Ending, case: OutageCase, chosen: Sequence[Stage] = STAGES
) -> OutageVerdict:
    outage = Outage(case)
    followed = [Followed(stand, stage, outage) for stage in stages_of(case, chosen)]
    with ThreadPoolExecutor(len(followed)) as pool:
        coming = {one: pool.submit(one.come_near) for one in followed}
        stuck = {one: future.exception() for one, future in coming.items()}
        for at_model in (False, True):
            taking = {
                one: pool.submit(one.take_place) for one in followed if one.stage.is_at_model == at_model
            }
            stuck.update({one: stuck[one] or future.exception() for one, future in taking.items()})
        began = time.monotonic()
        outage.begin()
        following = [pool.submit(one.follow) for one in followed]
        outage.last(SHORTEST_SECONDS, LONGEST_SECONDS)
        if case.service == "secrets":
            stand.key.rotate(outage.take_keys_from)
        outage.end()
        outcomes = tuple(future.result() for future in following)
    problems = tuple(
        tuple(problems_of(outcome, clean, stuck[one]))
        for one, outcome in zip(followed, outcomes, strict=True)
    )
    lasted = time.monotonic() - began
    return OutageVerdict(case, outcomes, problems, outage.refused, len(outage.gave_up), lasted)


def problems_of(one: Outcome, clean: Ending, stuck: BaseException | None) -> Iterator[str]:
    """Everything that is not as it would have been without the outage."""
    if stuck is not None:
        yield f"before the outage: {stuck!r}"
    yield from one.problems
    yield from one.misbilled
    if one.bill.bought_twice:
        yield f"{one.bill.bought_twice} replies bought twice"
    for tool in one.asked:
        if tool != CHARGE:
            yield f"asked about {tool}"
    for answer, count in one.answers.items():
        if answer not in ("200", "503"):
            yield f"{count} polls answered {answer}"
    if one.ending is None:
        return
    if one.stage.ends == "cancelled":
        state = (one.ending.session["state"], one.ending.pending, one.ending.listed)
        if state != ("cancelled", 0, True):
            yield f"ended {state} instead of cancelled"
        return
    beside = (*one.asked, *(["pause"] if one.stage.is_paused else []))
    yield from one.ending.differences(clean, beside)


def run_all(
    stand: OutageStand,
    clean: Ending,
    wanted: Sequence[OutageCase],
    chosen: Sequence[Stage] = STAGES,
    told: Callable[[OutageVerdict], object] = lambda verdict: None,
) -> list[OutageVerdict]:
    """Several at once, in the order given."""
    verdicts = []
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for verdict in pool.map(lambda case: run(stand, clean, case, chosen), wanted):
            told(verdict)
            verdicts.append(verdict)
    return verdicts
