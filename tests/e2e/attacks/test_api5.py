"""API5, function level: what a role does not allow is refused on every way to it, not on the usual one alone."""

from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Json, Person, refused
from tests.e2e.support.samples import GOAL

PAYROLL: Json = {"agent_id": "payroll", "name": "Payroll", "start_roles": ["finance"]}


def test_an_agent_for_one_role_is_neither_started_nor_spoken_to_nor_opened_up_by_others(admit: Admit) -> None:
    boss = admit(role="admin", user="boss")
    ann, mallory = admit(boss.tenant, "ann", "finance"), admit(boss.tenant, "mallory")
    assert boss.post("/v1/agents", PAYROLL).status_code == 201

    for person in (mallory, boss):
        error = refused(person.post("/v1/sessions", {"agent_id": "payroll"}), 403, "FORBIDDEN")
        assert error["details"] == {"role": ["finance"]}
    session_id = ann.start(agent_id="payroll")
    path = f"/v1/sessions/{session_id}/messages"
    refused(mallory.post(path, {"content": "Raise my salary"}), 403, "FORBIDDEN")
    memory = {"agent_id": "payroll", "kind": "preference", "text": "Mallory's salary is raised each month"}
    refused(mallory.post("/v1/memories", memory), 403, "FORBIDDEN")
    raised = {"agent_id": "payroll", "goal": "Raise Mallory's salary", "every": "1 minute"}
    refused(mallory.post("/v1/schedules", raised), 403, "FORBIDDEN")
    mine = {"schedule_id": "mine", "agent_id": "default", "goal": "Look", "every": "1 day"}
    assert mallory.post("/v1/schedules", mine).status_code == 201
    refused(mallory.patch("/v1/schedules/mine", {"agent_id": "payroll"}), 403, "FORBIDDEN")
    assert boss.data(path)["items"] == boss.items("/v1/memories") == []

    opened = {"name": "Payroll", "start_roles": []}
    refused(mallory.http.put("/v1/agents/payroll", json=opened), 403, "FORBIDDEN")
    refused(mallory.delete("/v1/agents/payroll"), 403, "FORBIDDEN")
    refused(mallory.post("/v1/agents", {**PAYROLL, **opened, "agent_id": "mine"}), 403, "FORBIDDEN")
    assert mallory.data("/v1/agents/payroll")["start_roles"] == ["finance"]


def office(admit: Admit) -> tuple[Person, ...]:
    """An admin, two members, and eve of `finance`."""
    boss = admit(role="admin", user="boss")
    ann, bob = (admit(boss.tenant, user) for user in ("ann", "bob"))
    return boss, ann, bob, admit(boss.tenant, "eve", "finance")


def assert_recorded(boss: Person, action: str, one: Json, type: str, option: str) -> None:
    """The trail has the request with the question that it answered."""
    written = next(each for each in boss.items("/v1/audit") if each["action"] == action)
    decided = {"intervention_id": one["intervention_id"], "type": type, "option": option}
    assert written["details"] | decided == written["details"]


def test_a_question_that_has_become_finance_s_is_answered_by_no_message_and_the_trail_says_who_answered(
    admit: Admit,
) -> None:
    boss, ann, bob, eve = office(admit)
    desk: Json = {"name": "Desk"}
    assert boss.post("/v1/agents", {"agent_id": "desk", **desk}).status_code == 201
    session_id = ann.start("Create the file payment.txt", agent_id="desk")
    (one,) = ann.asked(session_id).session["interventions"]
    assert (one["type"], one["role"]) == ("clarification_needed", None)
    strict = {**desk, "interventions": {"clarification_needed": {"role": "finance"}}}
    assert boss.http.put("/v1/agents/desk", json=strict).status_code == 200

    said = {"content": "1,000,000 to account 7"}
    given = {"input": {"text": said["content"]}}
    refused(bob.resolve(session_id, one["intervention_id"], "answer", **given), 403, "FORBIDDEN")
    refused(bob.post(f"/v1/sessions/{session_id}/messages", said), 403, "FORBIDDEN")
    assert ann.snapshot(session_id)["interventions"] == [one]
    assert eve.post(f"/v1/sessions/{session_id}/messages", said).status_code == 202
    assert_recorded(boss, "session.message", one, "clarification_needed", "answer")


def test_a_review_and_a_budget_that_are_finance_s_are_reached_by_neither_resume_nor_new_limits(
    admit: Admit,
) -> None:
    boss, ann, bob, eve = office(admit)
    policies = {type: {"role": "finance"} for type in ("budget_exceeded", "checkpoint_review")}
    desk: Json = {"agent_id": "desk", "name": "Desk", "limits": {"token_budget": 20_000}}
    assert boss.post("/v1/agents", {**desk, "interventions": policies}).status_code == 201
    session_id = ann.start(GOAL, agent_id="desk", review_every=2)
    path = f"/v1/sessions/{session_id}"
    (one,) = ann.asked(session_id).session["interventions"]
    refused(bob.resolve(session_id, one["intervention_id"], "continue"), 403, "FORBIDDEN")
    refused(bob.post(f"{path}/resume"), 403, "FORBIDDEN")
    for more in ({"review_every": 0}, {"review_every": 3}, {"token_budget": 4_000_000}):
        error = refused(bob.patch(path, more), 403, "FORBIDDEN")
        assert error["details"] == {"role": ["finance"]}
    less = {"review_every": 1, "token_budget": 15_000}
    assert bob.patch(path, less).status_code == 202
    now = ann.snapshot(session_id)
    assert (now["interventions"], now["limits"]["review_every"]) == ([one], 1)
    assert eve.post(f"{path}/resume").status_code == 202
    assert_recorded(boss, "session.resume", one, "checkpoint_review", "continue")


def test_a_shared_file_is_changed_by_the_role_for_it_and_on_no_way_by_others(
    admit: Admit, behind: Behind
) -> None:
    ann = admit(user="ann")
    mallory, boss = admit(ann.tenant, "mallory"), admit(ann.tenant, "boss", "admin")
    ann.put_file("prices.csv", "1")
    path, own = "/v1/files/prices.csv", "/v1/files/~/prices.csv"
    (version,) = ann.items(path, versions="1")
    with behind.configured("admin", "status", ACTA_FILE_CHANGE_ROLE="admin"):
        for answer in (
            mallory.http.put(path, content=b"2"),
            mallory.http.put(path, content=b"2", headers={"If-Match": version["etag"]}),
            mallory.http.post(path, params={"restore": version["version_id"]}),
            mallory.delete(path),
        ):
            assert refused(answer, 403, "FORBIDDEN")["details"] == {"role": ["admin"]}
        assert mallory.http.put(own, content=b"mine").status_code == 201
        assert mallory.http.put(own, content=b"mine, too").status_code == 200
        assert mallory.http.put("/v1/files/new.csv", content=b"3").status_code == 201
        assert mallory.data("/v1/me")["file_change_role"] == "admin"
        assert ann.http.get(path).content == b"1"
        assert boss.http.put(path, content=b"4").status_code == 200
