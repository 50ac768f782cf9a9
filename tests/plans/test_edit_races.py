"""A person edits the plan while a worker stands at any of the calls that it makes, alone or with turns fused.

An edit that was accepted is carried out: nothing that the model wrote before it changes the plan or begins an effect
after it, and the run ends by the plan as the person left it.
"""

import re
from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

import pytest

from acta.engine.errors import CallerError
from acta.engine.log.commit import Commit, Decision
from acta.engine.log.conversation import AssistantEntry, ToolEntry
from acta.engine.models.model import ModelReply, ModelRequest
from acta.engine.plans.edit import AddStep, Operation, SkipStep
from acta.engine.tools.execute import run_call
from tests.in_process.house import TENANT, House
from tests.in_process.lockstep import Lockstep
from tests.in_process.scripted import call, completes, plans, says, step
from tests.turn.test_fused_crashes import Gate, GatedAttempts, GatedBlobs, GatedLog, GatedTools

CAPS = (1, 8)
SAMPLED = (pytest.param(1, marks=pytest.mark.thorough), 8)
EDIT: tuple[Operation, ...] = (
    SkipStep(op="skip", step_number=3),
    AddStep(op="add", description="write more"),
)


class ByPlan:
    """Works on the first open step of the plan that it is shown: writes a file, and then says that the step is done.
    A file is named after the step, and after the plan's version that the model was shown.
    """

    provider = "scripted"

    def __init__(self, gate: Gate) -> None:
        self.gate = gate

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        self.gate()
        reply = self._reply(request)
        self.gate()
        return reply

    def _reply(self, request: ModelRequest) -> ModelReply:
        replies = [entry for entry in request.entries if isinstance(entry, AssistantEntry)]
        if not replies:
            return plans("write a", "write b", "write c")
        (version,) = re.findall(r"^Plan(?:, version)? (\d+)", request.suffix, re.MULTILINE)
        pending = re.findall(r"^\[ \] (\d+)\.|(?:: |, )(\d+)[^,]* open\.", request.suffix, re.MULTILINE)
        pending = [one or other for one, other in pending]
        if not pending:
            return completes("Done.")
        last = request.entries[request.entries.index(replies[-1]) + 1 :]
        written = [entry for entry in last if isinstance(entry, ToolEntry) and entry.name == "create_file"]
        asked = [one.input for one in replies[-1].calls if one.name == "create_file" and one.input]
        if written and written[0].ok and asked[0]["path"].startswith(f"{pending[0]}-"):
            return says("", step(int(pending[0]), "completed", "ok"))
        name = f"{pending[0]}-v{version}-{len(replies)}.md"
        return says("", call("create_file", path=name, content=name))


class Scene:
    """One session; `edits`: what became of the person's requests."""

    def __init__(self, cap: int) -> None:
        self.cap = cap
        self.house = House(ByPlan(lambda: None), turns_per_step=cap)
        self.session = self.house.start("Write").session_id
        first = self.house.workflow.take()
        assert first is not None
        self.first = first
        self.accepted = False

    def process(self, gate: Gate) -> House:
        """Cold processes, behind a gate of their own."""
        house, common = House(ByPlan(gate), turns_per_step=self.cap), self.house
        house.clock, house.workflow, house.registry = common.clock, common.workflow, common.registry
        house.index, house.definitions = common.index, common.definitions
        house.log, house.blobs = GatedLog(common.log, gate), GatedBlobs(common.blobs, gate)
        house.attempts = GatedAttempts(common.attempts, gate)
        house.repository = house.fresh_repository()
        toolbox = GatedTools(common.runtime.toolbox, gate, [])
        house.runtime = house.runtime._replace(
            repository=house.fresh_repository(), registry=house.registry, toolbox=toolbox
        )
        return house

    def engine(self, house: House) -> None:
        decision = self.first
        for _ in range(200):
            match decision.next:
                case "plan" | "think" as kind:
                    decision = house.step(kind, decision.at)
                case "act":
                    for call_id in decision.calls or ():
                        run_call(house.runtime, decision.at, call_id, 0, 60)
                    decision = Decision(next="think", at=decision.at)
                case "done":
                    return
                case other:
                    raise AssertionError(f"nobody asked for {other}")
        raise AssertionError("the execution does not end")

    def edit(self, house: House) -> None:
        try:
            house.edit_plan(self.session, *EDIT)
        except CallerError:  # there is no plan yet, the step is done, the run is over
            return
        self.accepted = True

    def check(self) -> None:
        told = Told(self.house.log.read(TENANT, self.session, 1).commits)
        head = self.house.head(self.session)
        assert (head.state, head.undelivered) == ("completed", ())
        assert head.result is not None
        assert head.result.goal_met
        assert head.plan is not None
        statuses = [one.status for one in head.plan.steps]
        if not self.accepted:
            assert statuses == ["completed"] * 3
            assert told.edited_at is None
            return
        assert (head.plan.version, statuses) == (2, ["completed", "completed", "skipped", "completed"])
        assert told.edited_at is not None
        assert told.delivered_at is not None
        for begun in told.started:
            assert begun.number < told.edited_at or begun.path.split("-")[1] != "v1", begun
        assert not [number for number in told.plan_changes if told.edited_at < number < told.delivered_at]
        assert not [one for one in told.started if one.path.startswith("3-") and one.number > told.edited_at]
        placed, _ = self.house.history(self.session).messages(0, 200)
        entries = [one.entry for one in placed]
        calls = [one.call_id for entry in entries if isinstance(entry, AssistantEntry) for one in entry.calls]
        assert sorted(calls) == sorted(one.call_id for one in entries if isinstance(one, ToolEntry))


class Begun(NamedTuple):
    number: int
    path: str


class Told:
    """What the log says, by numbers of commits."""

    def __init__(self, commits: Sequence[Commit]) -> None:
        self.edited_at = next((one.number for one in commits if one.key.startswith("plan/")), None)
        message = next((one.key.partition("/")[2] for one in commits if one.key.startswith("plan/")), "")
        self.delivered_at = next(
            (one.number for one in commits if message and message in one.delivered), None
        )
        paths = {
            each.call_id: str((each.input or {}).get("path"))
            for one in commits
            for entry in one.entries
            if isinstance(entry, AssistantEntry)
            for each in entry.calls
        }
        self.started = [
            Begun(one.number, paths[event.data["call_id"]])
            for one in commits
            for event in one.events
            if event.type == "tool.started"
        ]
        changes = ("plan.step", "plan.created", "plan.closed")
        self.plan_changes = [one.number for one in commits for event in one.events if event.type in changes]


def gates(cap: int) -> int:
    passed, scene = 0, Scene(cap)

    def count() -> None:
        nonlocal passed
        passed += 1

    scene.engine(scene.process(count))
    return passed


@pytest.mark.parametrize("cap", SAMPLED)
def test_an_edit_at_any_call_that_a_worker_makes_is_carried_out(cap: int) -> None:
    accepted = 0
    for nth in range(1, gates(cap) + 1):
        passed, scene = 0, Scene(cap)

        def edit_at(nth: int = nth, scene: Scene = scene) -> None:
            nonlocal passed
            passed += 1
            if passed == nth:
                scene.edit(scene.house)

        scene.engine(scene.process(edit_at))
        scene.check()
        accepted += scene.accepted
    assert accepted > gates(cap) // 2


@pytest.mark.parametrize("cap", SAMPLED)
def test_limits_that_are_changed_at_any_call_stay_changed(cap: int) -> None:
    for nth in range(1, gates(cap) + 1):
        passed, scene = 0, Scene(cap)

        def limit_at(nth: int = nth, scene: Scene = scene) -> None:
            nonlocal passed
            passed += 1
            if passed == nth:
                scene.house.limit(scene.session, max_steps=77, token_budget=777_777)

        scene.engine(scene.process(limit_at))
        scene.check()
        head = scene.house.head(scene.session)
        assert (head.max_steps, head.budget.token_budget) == (77, 777_777), nth


@pytest.mark.parametrize("cap", CAPS)
def test_an_edit_that_is_overtaken_at_any_of_its_own_calls_is_carried_out(cap: int) -> None:
    """From the worker's nth call on the two make one call each in turn."""
    for nth in range(1, gates(cap) + 1, 2):
        beside(Scene(cap), InTurn(nth).choose)


class InTurn:
    """The worker until its nth call, then both by turns."""

    def __init__(self, nth: int) -> None:
        self.left, self.last = nth, 0

    def choose(self, waiting: Sequence[int]) -> int:
        self.left -= 1
        wanted = 0 if self.left > 0 else 1 - self.last
        self.last = wanted if wanted in waiting else waiting[0]
        return self.last


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("cap", CAPS)
def test_an_edit_beside_a_worker_is_carried_out_however_they_take_turns(cap: int, seed: int) -> None:
    chance = Random(seed)
    beside(Scene(cap), lambda waiting: waiting[0] if chance.random() < 0.9 else waiting[-1])


def beside(scene: Scene, choose: Callable[[Sequence[int]], int]) -> None:
    lockstep = Lockstep(choose)
    worker, person = (scene.process(lambda number=number: lockstep.pause(number)) for number in (0, 1))  # type: ignore[misc]
    lockstep.run([lambda: scene.engine(worker), lambda: scene.edit(person)])
    scene.check()
