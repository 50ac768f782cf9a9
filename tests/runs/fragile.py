"""A house whose executions can be lost, and workers that die just before they ask the engine for something."""

from collections.abc import Callable, Mapping, Sequence
from operator import add
from typing import Any

import pytest

from acta.engine.log.commit import Decision
from acta.engine.log.head import Head
from acta.engine.recovery.store import RoundCounts
from acta.engine.recovery.sweep import SweepDeps, Unreadable, sweep
from acta.engine.tools.port import CallContext
from acta.engine.tools.registry import BuiltinRegistry
from acta.engine.tools.tool import Effect, ToolSpec
from acta.testing.workflow import MemoryWorkflow
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, Turn, call, completes, plans, says, step

GRACE = 60.0
WARN = 300.0
DELETE = says("", step(1, "in_progress"), call("delete_file", path="a.md"))
SCRIPT = [plans("tidy up"), DELETE, says("", step(1, "completed", "gone")), completes("Tidied.")]
ASKS = [plans("ask"), says("Which one?", call("update_plan", action="wait_for_user", reason="Which one?"))]


class Crash(BaseException):
    """The worker is gone: nothing between here and the test may swallow it."""


class MortalWorkflow(MemoryWorkflow):
    """`dies_before` names the request that is never made, once, because its worker dies."""

    def __init__(self) -> None:
        super().__init__()
        self.dies_before = ""

    def start(self, decision: Decision) -> bool:
        self._perhaps_die("start")
        return super().start(decision)

    def wake(self, token: str, decision: Decision) -> None:
        self._perhaps_die("wake")
        super().wake(token, decision)

    def stop(self, session_id: str, run_id: str, generation: int) -> None:
        self._perhaps_die("stop")
        super().stop(session_id, run_id, generation)

    def _perhaps_die(self, request: str) -> None:
        if self.dies_before == request:
            self.dies_before = ""
            raise Crash


class FragileHouse(House):
    """A house whose executions can be lost; `sink` is its toolbox where a test wants calls to be counted."""

    def __init__(self, script: Sequence[Turn], effect: Effect = "idempotent", **settings: Any) -> None:
        super().__init__(ScriptedModel(script), **settings)
        self.mortal = self.workflow = MortalWorkflow()
        self.sink = Sink()
        self.unreadable = Unreadable()
        self.files.write(TENANT, "a.md", b"x")
        self._effect = effect

    def with_refunds(self) -> "FragileHouse":
        self.registry = RefundRegistry(self._effect)
        self.runtime = self.runtime._replace(registry=self.registry, toolbox=self.sink)
        return self

    def lose(self, session: str) -> None:
        """An operator stops the execution, or the engine restarts."""
        run = self.head(session).run
        assert run is not None
        self.workflow.stop(session, run.run_id, run.generation)
        while self.workflow.take() is not None:
            pass

    def run_until(self, state: str) -> None:
        """Whatever ran is interrupted just before the engine's first state of that kind."""

        def before(decision: Decision) -> None:
            if decision.next == state:
                raise Crash

        with pytest.raises(Crash):
            self.run(before)

    def sweep(
        self, *, everything: bool = False, time_is_left: Callable[[], bool] = lambda: True
    ) -> RoundCounts:
        """Everything, or the two rounds of a minute one after the other."""
        deps = self.sweep_deps(time_is_left)
        if everything:
            return sweep(deps, "everything")
        return RoundCounts(*map(add, sweep(deps, "due"), sweep(deps, "woken")))

    def sweep_deps(self, time_is_left: Callable[[], bool]) -> SweepDeps:
        self.told: list[tuple[str, str]] = []
        return SweepDeps(
            self.app(),
            self.unreadable,
            time_is_left,
            on_error=lambda what, error: self.told.append((what, type(error).__name__)),
        )

    def recover(self) -> RoundCounts:
        """A minute and more later."""
        self.clock.advance(GRACE + 1)
        return self.sweep()


class Sink:
    """A tool that counts its effects and takes its worker down with it, once."""

    def __init__(self) -> None:
        self.effects: list[str] = []
        self.dies = True

    def run(self, spec: ToolSpec, arguments: Mapping[str, Any], context: CallContext) -> str:
        self.effects.append(context.effect_id)
        if self.dies:
            self.dies = False
            raise Crash
        return "Refunded."


class RefundRegistry(BuiltinRegistry):
    def __init__(self, effect: Effect) -> None:
        self._refund = ToolSpec(
            name="refund", description="Pay", input_schema={"type": "object"}, effect=effect, risk="write"
        )

    def specs(self, tenant: str, agent_id: str) -> Mapping[str, ToolSpec]:
        return {**super().specs(tenant, agent_id), "refund": self._refund}


REFUND = [
    plans("pay"),
    says("", call("refund", order=7)),
    says("", step(1, "completed", "ok")),
    completes("Paid."),
]


def generation(head: Head) -> int:
    assert head.run is not None
    return head.run.generation


def outcome(house: House, session: str) -> object:
    """What a person sees of how it ended, ids and times aside."""
    head = house.head(session)
    types = [seen.event.type for seen in house.poll(session).events]
    return head.state, head.result and head.result.answer, head.usage, types, files(house)


def files(house: House) -> list[str]:
    return [each.path for each in house.files.list(TENANT, "", 9).files]
