"""What a client's model asks for over MCP decides nothing that a person has to decide, whatever route it gets to
(ADR 138).
"""

import pytest

from acta.engine.errors import NotYours
from acta.engine.limits.caps import LimitValues
from acta.engine.people.intervention import ENDS_WORK, Intervention, require_person
from acta.engine.people.policies import OPTIONS, InterventionType
from acta.engine.people.requester import Requester
from acta.engine.people.resolve import Resolution, resolve
from acta.engine.sessions import control
from tests.in_process.house import TENANT, USER
from tests.people.policies import WAYS, recorded, waiting

MODEL = Requester(TENANT, USER, {"member"}, via="mcp")


def is_refused(one: Intervention, option: str) -> bool:
    try:
        require_person(one, option, "mcp")
    except NotYours:
        return True
    return False


@pytest.mark.parametrize("type", list(OPTIONS))
def test_a_model_may_refuse_and_answer_what_the_agent_asks_of_anybody(type: InterventionType) -> None:
    _, _, one = waiting(type)
    allowed = {option for option in OPTIONS[type] if not is_refused(one, option)}
    own = {"answer"} if type == "clarification_needed" else set()
    assert allowed == set(OPTIONS[type]) & ENDS_WORK | own
    for_a_role = one.model_copy(update={"role": "finance"})
    assert {option for option in OPTIONS[type] if not is_refused(for_a_role, option)} <= ENDS_WORK
    for via in ("api", "mcp_form"):
        for option in OPTIONS[type]:
            require_person(for_a_role, option, via)


@pytest.mark.parametrize("type", list(WAYS))
def test_every_option_that_lets_something_run_is_refused_before_it_is_looked_at(
    type: InterventionType,
) -> None:
    house, session_id, one = waiting(type)
    for option in set(one.options) - ENDS_WORK - {"answer"}:
        with pytest.raises(NotYours):
            resolve(house.app(), MODEL, session_id, one.intervention_id, Resolution(option, None, None))
    assert recorded(house, one).state == "pending"


def test_neither_a_review_nor_a_budget_is_passed_by_another_way() -> None:
    house, session_id, one = waiting("checkpoint_review")
    app = house.app()
    with pytest.raises(NotYours):
        control.resume(app, MODEL, session_id, lambda: app.family)
    for new in (
        control.NewLimits(LimitValues(None, None, None), review_every=0),
        control.NewLimits(LimitValues(None, 4_000_000, None)),
    ):
        with pytest.raises(NotYours):
            control.change_limits(house.app(), MODEL, session_id, new)
    assert recorded(house, one).state == "pending"
