"""Sessions that a deployment overtakes in the middle of their work are finished by processes that know nothing of them
(docs/design/releases.md 6)."""

import re
from collections.abc import Iterator

import pytest
from moto import mock_aws

from acta.engine.log.commit import Decision
from acta.engine.log.conversation import ToolEntry, UserEntry
from acta.engine.models.model import ModelReply, ModelRequest
from acta.engine.prompts.prompt import AGENT_PLANNING_SYSTEM
from tests.fixtures.house import StoredHouse
from tests.fixtures.stored import Shape
from tests.fixtures.write import AGENT, LONG_TEXT, SHAPES
from tests.in_process.house import TENANT
from tests.in_process.scripted import ScriptedModel, Turn, call, completes, says, step
from tests.stores.backends import Aws, moto_aws

LATER_SECONDS = 60
HANDLE = re.compile(r"elided; handle ([0-9a-f]{64})")


@pytest.fixture
def aws() -> Iterator[Aws]:
    with mock_aws():
        yield moto_aws()


def house_with(name: str, aws: Aws, *turns: Turn) -> tuple[StoredHouse, Shape, ScriptedModel]:
    """A deployment after the session was left: processes that know nothing, the engine's executions as they were."""
    model = ScriptedModel(
        [*turns, says("", step(1, "completed", "ok"), step(2, "completed", "ok")), completes("Done.")]
    )
    shape = SHAPES[name](aws)
    house = StoredHouse(model, aws)
    house.clock.advance(LATER_SECONDS)
    execution = execution_of(shape)
    house.workflow.executions[execution] = True
    if shape.token:
        house.workflow.waiting[shape.token] = execution
    return house, shape, model


def execution_of(shape: Shape) -> str:
    at = Decision.model_validate(shape.decision).at
    return f"{at.session_id}-{at.run_id}-{at.generation}"


def reads_what_was_elided(request: ModelRequest) -> ModelReply:
    """A large result that was taken out of the conversation, by the handle that was left."""
    found = next(filter(None, (HANDLE.search(entry.content.loaded) for entry in request.entries)))
    return says("", call("read_result", handle=found[1]))


@pytest.mark.parametrize("name", SHAPES)
def test_what_is_stored_is_shown_as_before(name: str, aws: Aws) -> None:
    house, shape, _ = house_with(name, aws)
    placed, _ = house.history(shape.session_id).messages(0, 200)
    assert [(one.entry.kind, len(one.entry.content.loaded.encode())) for one in placed] == shape.messages
    assert [seen.event.type for seen in house.poll(shape.session_id).events] == shape.events


def test_an_approval_that_was_asked_for_is_given_and_the_run_completes(aws: Aws) -> None:
    house, shape, model = house_with("waiting_for_approval", aws, reads_what_was_elided)
    house.files.write(TENANT, "report-0.md", LONG_TEXT.encode())
    (asked,) = house.index.interventions(TENANT, state="pending", limit=10, cursor=None).items
    house.resolve(shape.session_id, asked, "approve")
    house.run()
    head = house.head(shape.session_id)
    assert (head.state, head.result and head.result.goal_met) == ("completed", True)
    assert [info.path for info in house.files.list(TENANT, "", 10).files] == []
    results = [entry for entry in model.requests[-1].entries if isinstance(entry, ToolEntry)]
    (page,) = [entry.content.loaded for entry in results if entry.name == "read_result"]
    assert LONG_TEXT[:8_000] in page


def test_calls_that_had_begun_are_made_once_and_the_run_completes(aws: Aws) -> None:
    house, shape, model = house_with("amid_calls", aws)
    house.go_on(Decision.model_validate(shape.decision))
    head = house.head(shape.session_id)
    assert (head.state, head.result and head.result.goal_met) == ("completed", True)
    assert [house.files.read(TENANT, f"copy-{n}.md").decode() for n in (1, 2)] == [LONG_TEXT] * 2
    events = [seen.event for seen in house.poll(shape.session_id).events]
    finished = [event.data["call_id"] for event in events if event.type == "tool.finished"]
    assert len(finished) == len(set(finished)) == 2
    said = [entry.content.loaded for entry in model.requests[-1].entries if isinstance(entry, UserEntry)]
    assert said.count(LONG_TEXT) == 1


def test_definitions_are_read(aws: Aws) -> None:
    house, _, _ = house_with("amid_calls", aws)
    definitions = house.definitions.snapshot(TENANT)
    agent = definitions.agent(AGENT)
    assert agent is not None
    assert agent.limits.max_steps == 20
    assert definitions.prompt(AGENT_PLANNING_SYSTEM).content == "Plan, then do."
    assert [tool.name for tool in definitions.tools()] == ["notify_desk"]
    assert [one.text for one in house.memories.relevant(TENANT, AGENT, "ann", "reports", 5, 999)] == [
        "Reports are kept a year."
    ]
    record = house.index.idempotency_record(TENANT, "POST /v1/sessions", "first")
    assert record is not None
    assert record.status == 202
