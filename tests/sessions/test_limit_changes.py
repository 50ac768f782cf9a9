"""`PATCH /v1/sessions/{id}`: limits of a session while it runs and before its next run (docs/design/api.md,
budgets.md)."""

from typing import Any

import pytest

from acta.engine.agents.agent import DEFAULT_AGENT, AgentDefinition, Limits, built_in
from acta.engine.audit.record import Audit
from acta.engine.limits.caps import Caps
from acta.engine.models.model import ModelReply, TokenUsage
from acta.engine.models.providers import OFFLINE
from acta.engine.people.policies import Policy
from acta.testing.clock import FakeClock
from tests.api.gateway import Answer
from tests.api.session_functions import Person, functions_of
from tests.doubles.audit import MemoryTrail, PlainPseudonyms
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step

AGENT_CAPS = {"max_steps": 20, "token_budget": 90_000, "cost_budget_usd": 5}


def house_of(replies: list[ModelReply], provider: str = "scripted", **agent: Any) -> House:
    model = ScriptedModel(replies)
    model.provider = provider
    house = House(model)
    definition = AgentDefinition(agent_id=DEFAULT_AGENT, name="A", version=1, **agent)
    house.definitions.replace_agent(TENANT, built_in(), definition)
    return house


def paused(**agent: Any) -> tuple[House, str]:
    """After two turns of thinking."""
    look = says("", call("list_files"))
    house = house_of([plans("look"), look, says("", call("recall", query="x")), *ENDS], **agent)
    session = str(Person(house).start(max_steps=10, token_budget=50_000).data["session_id"])
    model = house.model
    assert isinstance(model, ScriptedModel)
    model.meanwhile = lambda: len(model.requests) == 3 and house.pause(session)
    house.run()
    return house, session


ENDS = [says("", step(1, "completed", "ok")), completes("Done.")]


def patch(house: House, session: str, *roles: str, **limits: Any) -> Answer:
    return Person(house, "ann", *roles).ask("PATCH", f"/v1/sessions/{session}", json_body=limits)


def test_limits_hold_for_the_run_at_work_and_what_is_not_named_stays() -> None:
    house, session = paused()
    changed = patch(house, session, max_steps=12)
    assert (changed.status, changed.data["run"]["max_steps"]) == (202, 12)
    assert changed.data["budget"]["token_budget"] == 50_000
    assert patch(house, session, token_budget=40_000, review_every=3).data["budget"]["token_budget"] == 40_000
    head = house.head(session)
    assert (head.max_steps, head.run and head.run.max_steps, head.review_every) == (12, 12, 3)


def test_limits_of_a_session_that_is_over_are_shown_for_its_next_run() -> None:
    house, session = paused()
    house.resume(session)
    house.run()
    changed = patch(house, session, max_steps=80, review_every=4)
    assert (changed.status, changed.data["state"]) == (202, "completed")
    assert changed.data["run"]["max_steps"] == 10
    told = {"max_steps": 80, "token_budget": 50_000, "cost_budget_usd": None, "review_every": 4}
    assert changed.data["limits"] == told
    assert patch(house, session, max_steps=None, review_every=0).data["limits"] == {**told, "review_every": 0}


def test_who_changed_what_is_told() -> None:
    house, session = paused()
    trail = MemoryTrail()
    gateway = functions_of(house, user="mia", audit=Audit(trail, PlainPseudonyms(), FakeClock())).intervene
    assert gateway.request("PATCH", f"/v1/sessions/{session}", json_body={"max_steps": 12}).status == 202
    event = house.poll(session).events[-1].event
    assert (event.type, event.data["by"], event.data["limits"]["max_steps"]) == ("state.changed", "mia", 12)
    _, ended = trail.records[TENANT]
    assert (ended.action, ended.outcome) == ("session.limits", "done")
    told = {"limits.max_steps": "12", "budget.token_budget": "50000", "limits.review_every": "0"}
    assert ended.details == {"session_id": session, **told}


def test_of_a_session_that_has_ended_the_trail_has_the_limit_of_its_next_run() -> None:
    house, session = paused()
    trail = MemoryTrail()
    gateway = functions_of(house, audit=Audit(trail, PlainPseudonyms(), FakeClock())).intervene
    assert gateway.request("POST", f"/v1/sessions/{session}/cancel").status == 202
    changed = gateway.request("PATCH", f"/v1/sessions/{session}", json_body={"max_steps": 80})
    assert (changed.status, changed.data["state"]) == (202, "cancelled")
    assert changed.data["run"]["max_steps"] != 80
    assert trail.records[TENANT][-1].details["limits.max_steps"] == "80"


@pytest.mark.parametrize(("field", "cap"), AGENT_CAPS.items())
def test_above_the_agent_s_caps_is_an_admin_s_to_give(field: str, cap: int) -> None:
    house, session = paused(caps=Caps(**AGENT_CAPS))
    refused = patch(house, session, **{field: cap + 1})
    assert (refused.status, list(refused.error["details"])) == (403, [field])
    assert patch(house, session, **{field: cap}).status == 202
    assert patch(house, session, "admin", **{field: cap + 1}).status == 202


@pytest.mark.parametrize(("roles", "status"), [((), 403), (("admin",), 400)])
def test_nobody_goes_above_the_deployment_s_caps(roles: tuple[str, ...], status: int) -> None:
    house, session = paused()
    assert patch(house, session, *roles, token_budget=5_000_001).status == status


@pytest.mark.parametrize(
    ("limits", "field"), [({"max_steps": 2}, "max_steps"), ({"token_budget": 200}, "token_budget")]
)
def test_what_is_used_up_already_is_no_limit(limits: dict[str, int], field: str) -> None:
    house, session = paused()
    refused = patch(house, session, **limits)
    assert (refused.status, list(refused.error["details"])) == (400, [field])


@pytest.mark.parametrize(
    "body", [{"max_steps": 0}, {"token_budget": "1"}, {"cost_budget_usd": -1}, {"budget": 1}]
)
def test_what_is_no_limit_is_refused(body: dict[str, Any]) -> None:
    house, session = paused()
    assert patch(house, session, **body).status == 400


def test_dollars_are_no_limit_where_a_call_had_no_known_price() -> None:
    house, session = paused()
    assert list(patch(house, session, cost_budget_usd=2.5).error["details"]) == ["cost_budget_usd"]


def test_a_run_ends_at_the_lower_number_of_steps() -> None:
    house, session = paused()
    patch(house, session, max_steps=3)
    house.resume(session)
    house.run()
    head = house.head(session)
    assert (head.state, head.result and head.result.reason, head.run and head.run.iteration) == (
        "completed",
        "max_steps",
        3,
    )


def test_a_session_at_rest_has_its_limits_for_the_next_run() -> None:
    house, session = paused()
    house.cancel(session)
    assert patch(house, session, max_steps=1).status == 202
    house.say(session, "Again")
    head = house.head(session)
    assert (head.max_steps, head.run and head.run.max_steps) == (1, 1)


DEAR = TokenUsage(input=4_000, output=100)


def without_tokens(at_limit: Any) -> tuple[House, str]:
    looks = [says("", call("list_files", path=f"folder{n}")) for n in range(6)]
    replies = [reply._replace(usage=DEAR) for reply in (plans("look"), *looks, *ENDS)]
    house = house_of(replies, limits=Limits(at_token_limit=at_limit))
    return house, str(Person(house).start(token_budget=20_000).data["session_id"])


def test_a_run_that_waits_for_tokens_goes_on_at_once() -> None:
    house, session = without_tokens("wait")
    waits: list[Any] = []

    def before(decision: Any) -> None:
        if decision.next == "wait" and not waits:
            waits.append(decision)
            raised = patch(house, session, token_budget=900_000)
            assert (raised.status, raised.data["state_reason"], raised.data["retry_at"]) == (202, None, None)
            raise Halt

    with pytest.raises(Halt):
        house.run(before)
    house.run()
    assert waits
    assert house.head(session).state == "completed"
    assert house.waits == []


class Halt(Exception):
    pass


def test_a_question_about_the_budget_is_decided_and_not_gone_around() -> None:
    house, session = without_tokens("ask")
    house.run()
    assert patch(house, session, token_budget=900_000).error["code"] == "CONFLICT"
    assert patch(house, session, max_steps=60).status == 202
    (one,) = house.head(session).interventions
    assert Person(house).resolve(session, one.intervention_id, "raise", token_budget=900_000).status == 200
    house.run()
    assert house.head(session).state == "completed"


def test_a_repeat_under_its_key_changes_nothing_again() -> None:
    house, session = paused()
    person, path, key = Person(house), f"/v1/sessions/{session}", {"Idempotency-Key": "k"}
    first = person.ask("PATCH", path, json_body={"max_steps": 12}, headers=key)
    patch(house, session, max_steps=15)
    again = person.ask("PATCH", path, json_body={"max_steps": 12}, headers=key)
    assert (again.status, again.data) == (202, first.data)
    assert house.head(session).max_steps == 15


def test_the_agent_s_notes_are_read() -> None:
    noted = says("", call("remember", scope="session", text="The table is in cm."))
    house = house_of([plans("look"), noted, *ENDS])
    session = Person(house).start().data["session_id"]
    path = f"/v1/sessions/{session}/scratchpad"
    assert Person(house).get(path).data == {"notes": []}
    house.run()
    assert Person(house).get(path).data == {"notes": ["The table is in cm."]}
    assert Person(house).get("/v1/sessions/ses_none/scratchpad").error["code"] == "SESSION_NOT_FOUND"


GUARDED = {"budget_exceeded": Policy(role="finance"), "checkpoint_review": Policy(role="finance")}


@pytest.mark.parametrize(
    "limits",
    [
        {"token_budget": 50_001},
        {"cost_budget_usd": 1.01},
        {"review_every": 0},
        {"review_every": 3},
        {"review_every": 0, "token_budget": 4_000_000},
    ],
)
def test_more_budget_and_fewer_reviews_need_the_role_that_decides_the_question(
    limits: dict[str, Any],
) -> None:
    house, session = paused(provider=OFFLINE, interventions=GUARDED)
    assert patch(house, session, cost_budget_usd=1, review_every=2).status == 202
    before = house.head(session)
    for roles in ((), ("admin",)):
        refused = patch(house, session, *roles, **limits)
        assert (refused.status, refused.error["code"]) == (403, "FORBIDDEN")
        assert "finance" in str(refused.error["details"])
    assert house.head(session) == before
    assert patch(house, session, "finance", **limits).status == 202


@pytest.mark.parametrize(
    "limits",
    [{"token_budget": 40_000}, {"cost_budget_usd": 0.5}, {"review_every": 1}, {"max_steps": 12}],
)
def test_lower_limits_and_more_reviews_stay_everybody_s(limits: dict[str, Any]) -> None:
    house, session = paused(provider=OFFLINE, interventions=GUARDED)
    assert patch(house, session, cost_budget_usd=1, review_every=2).status == 202
    assert patch(house, session, **limits).status == 202
