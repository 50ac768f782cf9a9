"""A house whose provider takes only so many calls: sessions wait in its line until the dispatcher is called."""

import json
from collections.abc import Callable
from typing import Any

from acta.engine.log.head import Head
from acta.engine.models.model import Model
from acta.engine.queue.dispatcher import AdmissionCounts, AdmitDeps, Sharing, admit, admit_paid
from acta.engine.recovery.aws import paid_event
from acta.engine.recovery.recovery import Paid
from acta.engine.recovery.store import SHARE, LostSessions, PaidPlaces
from tests.in_process.house import House

PROVIDER = "scripted"


class Handed:
    """RecoveryWorkers that remember what they were handed, as the event that says so."""

    share = SHARE

    def __init__(self, most: int = 6) -> None:
        self.most = most
        self.events: list[str] = []
        self.sizes: list[int] = []

    def hand_over(self, lost: LostSessions) -> None:
        raise AssertionError("no scan is made here")

    def admit(self, paid: PaidPlaces) -> None:
        self.sizes.append(len(paid.places))
        self.events.append(json.dumps(paid_event(paid)))


class QueueHouse(House):
    """`requests`, `tokens`: of a minute. `learns`: the model's answers say what they are."""

    def __init__(
        self,
        model: Model,
        *,
        requests: int | None = None,
        tokens: int | None = None,
        learns: bool = False,
        **more: Any,
    ) -> None:
        given = {"requests_per_minute": requests, "tokens_per_minute": tokens}
        limits = {name: most for name, most in given.items() if most is not None}
        super().__init__(model, provider_limits={model.provider: "learn" if learns else limits}, **more)
        self.tallies: list[AdmissionCounts] = []
        self.workers: Handed | None = None
        """What admits the places of a long line; None: nothing does."""
        self.sharing = Sharing()
        self.began = 0
        """When the bucket was idle, in milliseconds since 1970."""

    def of(self, tenant: str, session_id: str) -> Head:
        return self.fresh_repository().newest(tenant, session_id).head

    def dispatch(self, most: int = 1_000) -> AdmissionCounts:
        """One call of the dispatcher, which has time for so many looks."""
        left = iter(range(most))
        self.tallies.append(admit(self.admit_deps(lambda: next(left, None) is not None)).counts)
        return self.tallies[-1]

    def admit_deps(self, time_is_left: Callable[[], bool] = lambda: True) -> AdmitDeps:
        return AdmitDeps(
            self.fresh_repository(),
            self.workflow,
            self.line,
            self.settings.limits_of_providers,
            time_is_left,
            workers=self.workers,
            sharing=self.sharing,
        )

    def work(self, most: int = 1_000) -> AdmissionCounts:
        """What was handed over is admitted, as far as its events are not lost; of each so many places."""
        done = AdmissionCounts()
        assert self.workers is not None
        while self.workers.events:
            event = self.workers.events.pop(0)
            left = iter(range(most))
            deps = self.admit_deps(lambda left=left: next(left, None) is not None)  # type: ignore[misc]
            found = admit_paid(deps, Paid.model_validate_json(event).places)
            done = AdmissionCounts(*(one + more for one, more in zip(done, found, strict=True)))
        return done

    def run_all(self, rounds: int = 500) -> None:
        """Until nobody waits for an admission any more."""
        for _ in range(rounds):
            self.run()
            if not any(self.dispatch(most=3)) and self.line.first_after(self.model.provider, "") is None:
                return
        raise AssertionError("the line did not come to an end")
