"""How people are asked is the agent's to say: for how long, what happens otherwise, and who may decide
(docs/design/people.md 8)."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, get_args

import pytest

from acta.engine.errors import Forbidden
from acta.engine.people.policies import (
    DEFAULTS,
    OPTIONS,
    STUCK_OPTIONS,
    InterventionType,
    Policy,
    default_problem,
)
from acta.engine.tools.execute import run_call
from acta.engine.tools.port import CallContext
from acta.engine.tools.tool import ToolSpec
from tests.in_process.scripted import call, plans, says
from tests.people.policies import DELETE, ENDS, files, house_with, recorded, waiting
from tests.tools.test_effect_ledger import Crash, RefundRegistry, Sink, run_with_a_crash

TYPES: tuple[InterventionType, ...] = get_args(InterventionType)
EXPIRIES = [
    (type, option)
    for type in TYPES
    for option in (STUCK_OPTIONS if type == "error_recovery" else OPTIONS[type])
    if default_problem(type, option) is None
]
ENDING = {
    ("approval_required", "reject"): "completed",
    ("clarification_needed", "cancel"): "cancelled",
    ("error_recovery", "retry"): "failed",
    ("error_recovery", "cancel"): "cancelled",
    ("checkpoint_review", "continue"): "completed",
    ("checkpoint_review", "cancel"): "cancelled",
    ("budget_exceeded", "finish"): "completed",
    ("budget_exceeded", "cancel"): "cancelled",
}


@pytest.mark.parametrize("type", TYPES)
def test_without_a_policy_only_an_approval_has_a_deadline_and_any_member_decides(
    type: InterventionType,
) -> None:
    house, _, one = waiting(type)
    deadline = house.clock.now() + timedelta(seconds=house.settings.approval_timeout_seconds)
    assert one.timeout_at == (deadline if type == "approval_required" else None)
    assert (one.default_action, one.role) == (DEFAULTS[type], None)


@pytest.mark.parametrize("type", TYPES)
def test_a_policy_s_timeout_and_role_are_those_of_every_question_of_its_type(type: InterventionType) -> None:
    house, _, one = waiting(type, timeout_seconds=90, role="approver")
    assert one.timeout_at == house.clock.now() + timedelta(seconds=90)
    assert one.role == "approver"


@pytest.mark.parametrize(("type", "option"), EXPIRIES)
def test_every_default_is_applied_when_nobody_decides_and_recorded_as_an_expiry(
    type: InterventionType, option: str
) -> None:
    house, session, one = waiting(type, timeout_seconds=600, default_action=option)
    assert one.default_action == option
    house.clock.advance(301)
    house.time_out(session)
    for _ in range(9):
        if house.head(session).is_over:
            break
        house.clock.advance(600)
        house.time_out(session)
        house.run()
    expired = recorded(house, one)
    assert (expired.state, expired.resolution, expired.resolved_by) == ("expired", option, None)
    events = [seen.event for seen in house.poll(session).events]
    of_it = [e.type for e in events if e.data.get("intervention_id") == one.intervention_id]
    assert of_it == ["intervention.opened", "intervention.warned", "intervention.expired"]
    assert house.head(session).state == ENDING[type, option]
    assert files(house) == ["a.txt", "b.txt"]
    assert [e.type for e in events].count("run.finished") == 1


def test_nobody_is_quoted_as_having_said_what_only_expired() -> None:
    house, session, _ = waiting("error_recovery", timeout_seconds=60, default_action="retry")
    house.clock.advance(61)
    house.time_out(session)
    assert house.head(session).progress.hint.startswith("Nobody has said anything in time")


def test_the_timeout_of_the_policy_comes_before_that_of_the_limits() -> None:
    limits = {"approval_timeout_seconds": 20}
    by_policy: dict[InterventionType, Policy] = {"approval_required": Policy(timeout_seconds=40)}
    for policies, seconds in ((by_policy, 40), ({}, 20)):
        house = house_with(plans("delete"), DELETE, policies=policies, limits=limits)
        session = house.start("Go").session_id
        house.run()
        (one,) = house.head(session).interventions
        assert one.timeout_at == house.clock.now() + timedelta(seconds=seconds)


@pytest.mark.parametrize("type", TYPES)
def test_who_lacks_the_role_changes_nothing_and_who_has_it_decides(type: InterventionType) -> None:
    house, session, one = waiting(type, role="approver")
    given = {"text": "a.txt"} if type == "clarification_needed" else {}
    option = "answer" if given else DEFAULTS[type]
    for roles in ({"member"}, {"admin", "member"}, set[str]()):
        house.roles = frozenset(roles)
        with pytest.raises(Forbidden, match="approver"):
            house.resolve(session, one, option, **given)
    assert house.head(session).interventions == (one,)
    house.roles = frozenset({"approver", "member"})
    assert house.resolve(session, one, option, **given).resolved_by == "ann"


def test_an_admin_is_a_member_where_that_is_the_role() -> None:
    house, session, one = waiting("approval_required", role="member")
    house.roles = frozenset({"admin"})
    assert house.resolve(session, one, "reject").state == "resolved"


def test_a_message_cannot_answer_what_needs_a_role() -> None:
    house, session, one = waiting("clarification_needed", role="approver")
    before = house.head(session)
    with pytest.raises(Forbidden, match="approver"):
        house.say(session, "The first one")
    assert house.head(session) == before
    house.roles = frozenset({"approver"})
    house.say(session, "The first one")
    assert recorded(house, one).resolution == "answer"


def test_resuming_is_deciding_a_review_the_agent_asked_for() -> None:
    house, session, one = waiting("checkpoint_review", role="approver")
    with pytest.raises(Forbidden):
        house.resume(session)
    assert house.head(session).interventions == (one,)
    house.roles = frozenset({"approver"})
    house.resume(session)
    assert recorded(house, one).resolution == "continue"


def test_a_pause_is_nobody_s_policy_it_never_ends_by_itself_and_any_member_ends_it() -> None:
    policy = Policy(timeout_seconds=1, default_action="cancel", role="approver")
    house = house_with(plans("delete"), DELETE, *ENDS, policies={"checkpoint_review": policy})
    session = house.start("Go").session_id
    pause = house.pause(session).interventions[0]
    assert (pause.timeout_at, pause.role, pause.context["asked_by"]) == (None, None, "person")
    house.run()
    house.clock.advance(10_000)
    house.time_out(session)
    assert house.head(session).interventions == (pause,)
    house.resume(session)
    assert recorded(house, pause).resolution == "continue"


@pytest.mark.parametrize(
    ("default", "ending"), [("skip", "completed"), ("retry", "cancelled"), (None, "cancelled")]
)
def test_a_call_of_unknown_outcome_is_asked_about_under_the_policy_and_never_repeated_by_default(
    default: str | None, ending: str
) -> None:
    policy = Policy(timeout_seconds=60, default_action=default, role="approver")
    house = house_with(
        plans("pay"), says("", call("refund", order=7)), *ENDS, policies={"error_recovery": policy}
    )
    sink = Sink("after")
    house.registry = RefundRegistry("once")
    house.runtime = house.runtime._replace(registry=house.registry, toolbox=sink)
    session = house.start("Pay back order 7").session_id
    run_with_a_crash(house)
    (one,) = house.head(session).interventions
    assert one.timeout_at == house.clock.now() + timedelta(seconds=60)
    assert (one.role, one.default_action) == ("approver", default if default == "skip" else "cancel")
    house.clock.advance(61)
    house.time_out(session)
    house.run()
    assert (recorded(house, one).state, house.head(session).state) == ("expired", ending)
    assert len(sink.effects) == 1


def test_a_question_about_the_tenant_s_hour_needs_the_role_and_keeps_its_own_end() -> None:
    policy = Policy(timeout_seconds=60, default_action="cancel", role="approver")
    house = house_with(plans("look"), *ENDS, policies={"budget_exceeded": policy})
    house.settings = house.settings.but(tenant_tokens_per_hour=1)
    session = house.start("Go").session_id
    house.run()
    (one,) = house.head(session).interventions
    assert (one.role, one.default_action) == ("approver", "continue")
    assert one.timeout_at is not None
    assert one.timeout_at.minute == one.timeout_at.second == 0


class Dying:
    """A tool whose worker never comes back."""

    def run(self, spec: ToolSpec, arguments: Mapping[str, Any], context: CallContext) -> str:
        raise Crash


def test_when_several_are_due_at_once_a_default_that_ends_the_run_ends_the_rest_too() -> None:
    batch = says("", call("refund", order=7), call("refund", order=8))
    house = house_with(plans("pay"), batch, policies={"error_recovery": Policy(timeout_seconds=60)})
    house.registry = RefundRegistry("once")
    house.runtime = house.runtime._replace(registry=house.registry, toolbox=Dying())
    session = house.start("Go").session_id
    with pytest.raises(Crash):
        house.run()
    act = house.decisions[-1]
    with pytest.raises(Crash):
        run_call(house.runtime, act.at, (act.calls or ())[1], 0, 60)
    house.go_on(act)
    opened = house.head(session).interventions
    house.clock.advance(61)
    house.time_out(session)
    house.run()
    assert [recorded(house, one).state for one in opened] == ["expired", "withdrawn"]
    assert house.head(session).state == "cancelled"
    kinds = [seen.event.type for seen in house.poll(session).events]
    assert (kinds.count("run.finished"), kinds.count("intervention.expired")) == (1, 1)
