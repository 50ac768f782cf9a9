"""A house whose provider takes only so many calls: sessions wait in its line until the dispatcher is called."""

from typing import Any

from shared.agent.recovery.admit import AdmitDeps, Tally, admit
from shared.domain.session.head import Head
from shared.ports.model import Model
from tests.in_process.house import House

PROVIDER = "scripted"


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
        self.tallies: list[Tally] = []

    def of(self, tenant: str, session_id: str) -> Head:
        return self.fresh_repository().newest(tenant, session_id).head

    def dispatch(self, most: int = 1_000) -> Tally:
        """One call of the dispatcher, which has time for so many looks."""
        left = iter(range(most))
        deps = AdmitDeps(
            self.fresh_repository(),
            self.workflow,
            self.line,
            self.settings.limits_of_providers,
            lambda: next(left, None) is not None,
        )
        self.tallies.append(admit(deps))
        return self.tallies[-1]

    def run_all(self, rounds: int = 500) -> None:
        """Until nobody waits for an admission any more."""
        for _ in range(rounds):
            self.run()
            if not any(self.dispatch(most=3)) and self.line.first_after(self.model.provider, "") is None:
                return
        raise AssertionError("the line did not come to an end")
