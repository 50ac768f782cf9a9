"""The deepest input that is taken from a model or a person is stored, and read again."""

from typing import Any

import pytest

from acta.engine.store.table_layout import from_commit, to_commit
from acta.engine.untrusted.exact_json import MAX_DEPTH
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step
from tests.tools.test_effect_ledger import RefundRegistry, Sink


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth - 1):
        value = {"a": value}
    return value


@pytest.mark.parametrize("people_decide", [False, True])
def test_an_input_as_deep_as_may_be_can_be_read_again(people_decide: bool) -> None:
    model = ScriptedModel(
        [
            plans("pay"),
            says("", call("refund", **nested(MAX_DEPTH))),
            says("", step(1, "completed", "ok")),
            completes("Paid."),
        ]
    )
    house, registry, sink = House(model), RefundRegistry("idempotent"), Sink()
    registry.refund = registry.refund.model_copy(update={"high_stakes": people_decide})
    house.registry = registry
    house.runtime = house.runtime._replace(registry=registry, toolbox=sink)
    session = house.start("Pay").session_id
    house.run()
    if people_decide:
        house.resolve(session, house.head(session).interventions[0], "modify", input=nested(MAX_DEPTH - 1))
        house.run()
    assert house.head(session).state == "completed"
    for commit in house.log.read(TENANT, session, 1).commits:
        assert to_commit(commit.version, from_commit(commit)) == commit
