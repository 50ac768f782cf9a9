"""API1, object level: mallory and an admin of the same tenant know the id of ann's private session."""

from collections.abc import Iterator
from typing import Any

import pytest

from acta.engine.api.operation import Operation
from acta.engine.api.operations import OPERATIONS
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import OVER, Json, Person, Seen, refused
from tests.e2e.support.samples import DELETION, GOAL, OLD

OF_SESSIONS = tuple(route for route in OPERATIONS if "{session_id}" in route.path)
BODIES: dict[str, Json] = {
    "messages": {"content": "hello"},
    "rating": {"rating": "up"},
    "resolve": {"option": "approve"},
    "plan": {"operations": [{"op": "add", "description": "more"}]},
}
APPROVERS = '{"*": {"delete_file": "approver"}}'
ASKS = "Create the file diagnosis-of-ann.txt"
"""The agent asks which text it should hold, and names the file."""


@pytest.fixture
def boss(ann: Person, admit: Admit) -> Person:
    return admit(ann.tenant, "boss", "admin")


@pytest.fixture(scope="module")
def deletions_are_approvers(behind: Behind) -> Iterator[None]:
    with behind.configured("step", "tool", "intervene", "start", "mcp", ACTA_TOOL_APPROVERS=APPROVERS):
        yield


@pytest.fixture
def hers(deletions_are_approvers: None, ann: Person, boss: Person) -> Seen:
    """Ann's private session, which waits for an approver."""
    ann.put_file(OLD, "hers")
    begun = ann.post("/v1/sessions", {"content": DELETION, "visibility": "private"}).json()["data"]
    assert begun["questions_seen_by"] == [{"role": "approver", "tools": ["delete_file"]}]
    return ann.asked(begun["session_id"])


def ask(person: Person, route: Operation, session_id: str, asked: str) -> Any:
    path = route.path.replace("{session_id}", session_id).replace("{intervention_id}", asked)
    body = BODIES.get(route.path.rpartition("/")[2], {}) if route.method in ("POST", "PATCH") else None
    headers = {"If-Match": "*"} if route.needs else {}
    return person.http.request(route.method, path, json=body, headers=headers)


def test_no_route_of_a_private_session_tells_it_from_one_that_is_not_there(
    ann: Person, boss: Person, admit: Admit, hers: Seen
) -> None:
    session_id = hers.session["session_id"]
    asked = hers.session["interventions"][0]["intervention_id"]
    mallory = admit(ann.tenant, "mallory", "finance")
    for person in (mallory, boss):
        for route in OF_SESSIONS:
            if person is boss and route.private == "admin":
                continue
            answer, unknown = ask(person, route, session_id, asked), ask(person, route, "ses_none", asked)
            refused(answer, 404, "SESSION_NOT_FOUND")
            assert answer.content == unknown.content, route
        assert person.items("/v1/sessions") == person.items("/v1/interventions") == []
    after = ann.data(f"/v1/sessions/{session_id}", after=hers.cursor)
    assert after["events"] == []
    assert (after["session"]["visibility"], after["session"]["created_by"]) == ("private", "ann")
    assert [one["session_id"] for one in ann.items("/v1/sessions")] == [session_id]


def test_who_decides_sees_the_question_alone_and_the_owner_s_session_goes_on(
    ann: Person, admit: Admit, hers: Seen
) -> None:
    session_id, (asked,) = hers.session["session_id"], hers.session["interventions"]
    app = admit(ann.tenant, "app", "approver")
    path = f"/v1/sessions/{session_id}/interventions"
    one = f"{path}/{asked['intervention_id']}"
    assert app.items("/v1/interventions") == app.items(path) == [app.data(one)] == [asked]
    assert app.data(f"{one}/input")["input"] == {"path": OLD}
    for other in ("", "/messages", "/trace", "/events"):
        refused(app.get(f"/v1/sessions/{session_id}{other}"), 404, "SESSION_NOT_FOUND")
    assert app.resolve(session_id, asked["intervention_id"], "approve").status_code == 200
    assert ann.finished(session_id).session["state"] == "completed"
    assert app.items("/v1/interventions") == []
    refused(app.get(path), 404, "SESSION_NOT_FOUND")


@pytest.mark.parametrize(
    ("goal", "limits", "type", "option", "given"),
    [
        (ASKS, {}, "clarification_needed", "answer", {"text": "Hers"}),
        (GOAL, {"review_every": 1}, "checkpoint_review", "continue", {}),
        (GOAL, {"token_budget": 10}, "budget_exceeded", "raise", {"token_budget": 90_000}),
    ],
)
def test_an_admin_who_names_a_role_of_theirs_in_the_agent_is_asked_nothing_of_it(
    ann: Person, boss: Person, goal: str, limits: Json, type: str, option: str, given: Json
) -> None:
    """Before the question is asked, and again while it waits."""
    theirs: Json = {"name": "Desk", "interventions": {type: {"role": "admin"}}}
    assert boss.post("/v1/agents", {"agent_id": "desk", **theirs}).status_code == 201
    session_id = ann.start(goal, agent_id="desk", visibility="private", **limits)
    (asked,) = ann.asked(session_id).session["interventions"]
    assert (asked["type"], asked["role"]) == (type, None)
    assert boss.http.put("/v1/agents/desk", json={**theirs, "goal": "More"}).status_code == 200
    one = f"/v1/sessions/{session_id}/interventions/{asked['intervention_id']}"
    for answer in (boss.get(one), boss.post(f"{one}/resolve", {"option": option, "input": given})):
        refused(answer, 404, "SESSION_NOT_FOUND")
    assert boss.items("/v1/interventions") == []
    answer = ann.resolve(session_id, asked["intervention_id"], option, input=given)
    assert (answer.status_code, answer.json()["data"]["resolved_by"]) == (200, "ann")


def test_an_admin_cancels_and_deletes_it_unread_and_the_trail_says_so(
    ann: Person, boss: Person, hers: Seen
) -> None:
    session_id = hers.session["session_id"]
    path = f"/v1/sessions/{session_id}"
    cancelled = boss.post(f"{path}/cancel")
    assert cancelled.json()["data"] == {"session_id": session_id, "state": "cancelled", "in_flight": []}
    refused(boss.get(path), 404, "SESSION_NOT_FOUND")
    assert ann.snapshot(session_id)["state"] == "cancelled"
    assert boss.delete(path).status_code == 204
    refused(ann.get(path), 404, "SESSION_NOT_FOUND")
    deleted, stopped, started = boss.items("/v1/audit", session_id=session_id)
    assert [one["action"] for one in (deleted, stopped, started)] == [
        "session.delete",
        "session.cancel",
        "session.start",
    ]
    assert deleted["who"] == stopped["who"] != started["who"]
    assert started["details"]["visibility"] == "private"


def test_what_a_private_session_wrote_to_its_owner_s_files_reaches_nobody_else(
    ann: Person, admit: Admit
) -> None:
    """Mallory knows the path, and tries the API, a session that everybody sees and a private one."""
    made = "Create the file ~/made.txt with the text secret-of-ann"
    ann.finished(ann.start(made, visibility="private"))
    assert ann.file("~/made.txt") == "secret-of-ann"
    assert ann.files() == set()
    mallory = admit(ann.tenant, "mallory")
    refused(mallory.get("/v1/files/~/made.txt"), 404, "NOT_FOUND")
    for visibility in ("tenant", "private"):
        session_id = mallory.start("Show ~/made.txt", visibility=visibility)
        mallory.watch(session_id, lambda one: one["state"] in OVER or bool(one["interventions"]))
        messages = mallory.items(f"/v1/sessions/{session_id}/messages")
        assert any(one["role"] == "tool" for one in messages)
        assert "secret-of-ann" not in str(messages)


def test_where_reads_are_recorded_nobody_else_looks_at_it_unseen(
    ann: Person, boss: Person, admit: Admit, hers: Seen, behind: Behind
) -> None:
    session_id = hers.session["session_id"]
    app = admit(ann.tenant, "app", "approver")
    with behind.configured("status", "admin", ACTA_RECORD_READS="true"):
        for person in (ann, app, app):
            assert [one["session_id"] for one in person.items("/v1/interventions")] == [session_id]
        assert app.get(f"/v1/files/{OLD}").status_code == 200
        seen = boss.items("/v1/audit", user="app")
        again = boss.items("/v1/audit", action="audit.read")
    assert {one["action"]: one["details"] for one in seen} == {
        "intervention.read": {"session_id": session_id},
        "file.read": {"path": OLD},
    }
    assert len(seen) == 2, "one for each thing and hour"
    assert [one["details"]["who"] for one in again] == [seen[0]["who"]]
    assert boss.items("/v1/audit", user="ann", action="intervention.read") == []
