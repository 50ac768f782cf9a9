"""However much a person says, the store takes it (docs/design/log.md 3, people.md)."""

import base64
import random
from collections.abc import Iterator
from typing import Any

import pytest
from moto import mock_aws

from acta.engine.log.conversation import UserEntry
from acta.engine.people.effects import MAX_KEPT_CHARS
from acta.engine.untrusted.exact_json import MAX_DEPTH
from tests.fixtures.house import StoredHouse
from tests.in_process.house import TENANT
from tests.in_process.scripted import ScriptedModel, call, plans, says
from tests.people.policies import ENDS, WAYS
from tests.stores.backends import Aws, moto_aws
from tests.tools.test_effect_ledger import RefundRegistry

pytestmark = pytest.mark.contract


@pytest.fixture
def aws() -> Iterator[Aws]:
    with mock_aws():
        yield moto_aws()


def noise(chars: int) -> str:
    """Text that hardly becomes smaller when it is compressed."""
    return base64.b64encode(random.Random(1).randbytes(chars))[:chars].decode()


def test_a_long_answer_is_kept_whole_as_a_message_and_its_beginning_with_the_decision(aws: Aws) -> None:
    turns, limits = WAYS["clarification_needed"]
    house = StoredHouse(ScriptedModel(turns), aws)
    session = house.start("Go", **limits).session_id
    house.run()
    (asked,) = house.head(session).interventions
    text = noise(500_000)

    house.say(session, text)
    house.run()

    kept = house.index.intervention(TENANT, asked.intervention_id)
    assert kept is not None
    assert kept.input is not None
    assert kept.input["text"] == text[: MAX_KEPT_CHARS - 1] + "…"
    assert house.head(session).state == "completed"
    told, _ = house.history(session).messages(0, 50)
    said = {one.entry.message_id: one.entry.content for one in told if isinstance(one.entry, UserEntry)}
    assert said[kept.input["message_id"]].text == text


def test_an_input_as_deep_as_may_be_is_stored_and_read_again_wherever_it_stands(aws: Aws) -> None:
    deep: list[Any] = []
    for _ in range(MAX_DEPTH):
        deep = [deep]
    batch = says("", call("refund", note=deep), call("refund", note=1))
    house = StoredHouse(ScriptedModel([plans("pay"), batch, *ENDS]), aws)
    registry = RefundRegistry("once")
    free = {"high_stakes": True, "input_schema": {"type": "object"}}
    registry.refund = registry.refund.model_copy(update=free)
    house.registry = registry
    house.runtime = house.runtime._replace(registry=registry)
    session = house.start("Go", review_every=1).session_id
    house.run()
    first, second, review = house.head(session).interventions
    house.resolve(session, first, "approve")
    assert house.resolve(session, second, "modify", input={"note": deep}).input == {"input": {"note": deep}}
    house.resolve(session, review, "continue")
    house.run()
    assert house.head(session).usage.tool_calls == 2
