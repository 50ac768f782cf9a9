"""A run with a judge ends as the undisturbed one wherever its worker dies (docs/design/recovery.md 1)."""

import pytest

from acta.engine.agents.agent import AgentDefinition, Judge, Models
from acta.engine.errors import ProviderRejected, StoreThrottled
from acta.engine.log.conversation import AssistantEntry
from acta.engine.models.model import Model, ModelReply, ModelRequest
from acta.engine.turn.engine import position
from acta.engine.turn.judge import SYSTEM
from acta.engine.turn.turn import take_turn
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step
from tests.turn.test_compaction_crashes import Fuse, run_to_the_end
from tests.turn.test_replies_in_hand import goes_down, shaky

REPLIES = (
    plans("look"),
    says("", call("list_files")),
    says("", step(1, "completed", "2 files")),
    completes("There are 2 files."),
    says("GOAL_COMPLETE\nThere are 2 files, a and b."),
)
VERDICTS = (
    says("", call("verdict", met=False, reason="Their names are missing.")),
    says("", call("verdict", met=True, reason="Both are named.")),
)


class ByPlace:
    """Says what belongs to the place in the session, however often it is asked."""

    provider = "scripted"
    house: House
    session: str

    def __init__(self, fuse: Fuse) -> None:
        self.fuse, self.judged = fuse, 0

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        self.fuse.before()
        if request.model == "final":
            self.fuse.behind()
            raise ProviderRejected("no such model")
        if request.system == SYSTEM:
            self.judged += 1
            reply = VERDICTS[self.house.head(self.session).progress.not_met]
        else:
            reply = REPLIES[sum(isinstance(entry, AssistantEntry) for entry in request.entries)]
        self.fuse.behind()
        return reply


def with_judge(model: Model, final: str | None = None) -> House:
    house, models = House(model), Models(final=final)
    agent = AgentDefinition(agent_id="a", name="A", version=1, judge=Judge(model="second"), models=models)
    house.definitions.create_agent(TENANT, agent)
    return house


def started(fuse: Fuse, final: str | None) -> tuple[House, ByPlace]:
    model = ByPlace(fuse)
    house = with_judge(model, final)
    model.house, model.session = house, house.start("How many files are there?", agent_id="a").session_id
    return house, model


def run(fuse: Fuse, final: str | None) -> tuple[House, ByPlace]:
    """The engine makes a step again, in a process that knows nothing, where the one before died."""
    house, model = started(fuse, final)
    run_to_the_end(house, fuse)
    return house, model


def told(house: House, model: ByPlace) -> tuple[object, ...]:
    """How it ended, and what was said of it."""
    head, events = house.head(model.session), house.poll(model.session).events
    judged = [each.event.data for each in events if each.event.type == "answer.judged"]
    types = [each.event.type for each in events if each.event.type not in ("state.changed", "tool.started")]
    result = head.result and head.result.model_copy(update={"message_id": None})
    return result, judged, types, head.usage.llm_calls, head.tally.ended, head.run and head.run.iteration


@pytest.mark.parametrize("final", [None, "final"], ids=["judged", "judged after the final model failed"])
def test_wherever_the_worker_dies_the_run_ends_the_same(final: str | None) -> None:
    whole = Fuse()
    expected = told(*run(whole, final))
    assert whole.count > 20
    result = expected[0]
    assert getattr(result, "answer", "") == "There are 2 files, a and b."
    assert getattr(result, "reason", "") == ("final_model_failed" if final else "goal_complete")
    for nth in range(1, whole.count + 1):
        for after in (False, True):
            assert told(*run(Fuse(nth, after=after), final)) == expected, f"call {nth}, {after=}"


MET = says("", call("verdict", met=True, reason="Fine."))
SHORTER = says("GOAL_COMPLETE\nTwo.")


@pytest.mark.parametrize(
    ("message", "rest", "answer"),
    [("", [], "There are 2 files."), ("Shorter, please", [SHORTER, MET], "Two.")],
)
def test_a_verdict_that_was_kept_is_not_bought_again_and_is_never_taken_for_the_agent_s(
    message: str, rest: list[ModelReply], answer: str
) -> None:
    model = ScriptedModel([*REPLIES[:4], MET, *rest])
    house = with_judge(model)
    session = house.start("How many files are there?", agent_id="a").session_id
    model.meanwhile = lambda: len(model.requests) == 4 and house.pause(session)
    house.run()
    house.resume(session)
    down, at = shaky(house), position(house.head(session))
    house.repository, model.meanwhile = house.fresh_repository(), goes_down(down, "log")
    with pytest.raises(StoreThrottled):
        take_turn(house.worker, "think", at, 0, 60)
    assert model.requests[-1].system == SYSTEM
    down.now, model.meanwhile = set(), lambda: None
    if message:
        house.say(session, message)

    house.repository = house.fresh_repository()
    house.go_on(take_turn(house.worker, "think", at, 1, 60).decision)

    head = house.head(session)
    assert head.result is not None
    assert (head.result.answer, head.result.verdict and head.result.verdict.met) == (answer, True)
    assert not model.left
    assert len(model.requests) == 5 + len(rest), "nobody is asked twice for the same"
    judged = [each for each in house.poll(session).events if each.event.type == "answer.judged"]
    assert len(judged) == 1
    assert not any("There is no tool" in str(request.entries) for request in model.requests)
