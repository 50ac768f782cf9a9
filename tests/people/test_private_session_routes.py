"""A private session is there for its owner alone; who decides one of its questions sees that question (ADR 50)."""

from typing import Any

import pytest

from acta.engine.agents.agent import DEFAULT_AGENT, AgentDefinition
from acta.engine.api.operation import Operation
from acta.engine.api.operations import OPERATIONS
from acta.engine.people.intervention import Intervention
from acta.engine.people.policies import InterventionType, Policy
from acta.engine.store.table_layout import listing_key
from tests.api.gateway import Answer
from tests.api.session_functions import Person
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, Turn, call, plans, says
from tests.people.policies import ENDS, WAYS, files, house_with
from tests.stores import in_memory

OF_SESSIONS = tuple(route for route in OPERATIONS if "{session_id}" in route.path)
BODIES: dict[str, Any] = {
    "messages": {"content": "Hello"},
    "resolve": {"option": "approve"},
    "rating": {"rating": "up"},
    "plan": {"operations": [{"op": "add", "description": "more"}]},
}
SECRET = "the-salary-list"
ASKS = says(f"I delete {SECRET}.", call("delete_file", path="a.txt"))


def private(
    *turns: Turn,
    user: str = "ann",
    policies: dict[InterventionType, Any] | None = None,
    role: str | None = None,
    **fields: Any,
) -> tuple[House, str]:
    """Ann's private session, which has run until it rests. `role`: the operator's, for deletions."""
    settings = {"tool_approvers": {TENANT: {"delete_file": role}}} if role else {}
    house = house_with(*turns, policies=policies, settings=settings)
    session = Person(house, user).start(content=SECRET, visibility="private", **fields).data["session_id"]
    house.run()
    return house, session


def asking(role: str | None = "approver") -> tuple[House, str, Intervention]:
    """It waits for somebody with the role, or for its owner."""
    house, session = private(plans("delete"), ASKS, *ENDS, role=role)
    (one,) = house.head(session).interventions
    return house, session, one


def path_of(route: Operation, session: str, intervention: str) -> str:
    return route.path.replace("{session_id}", session).replace("{intervention_id}", intervention)


def ask(person: Person, route: Operation, session: str, intervention: str) -> Answer:
    last = route.path.rpartition("/")[2]
    sent: dict[str, Any] = {"json_body": BODIES.get(last, {})} if route.method in ("POST", "PATCH") else {}
    if route.needs:
        sent["headers"] = {"If-Match": "*"}
    return person.ask(route.method, path_of(route, session, intervention), **sent)


@pytest.mark.parametrize("route", OF_SESSIONS, ids=str)
def test_whoever_may_not_see_it_is_answered_as_about_a_session_that_is_not_there(route: Operation) -> None:
    house, session, one = asking()
    before = house.head(session)
    mia = Person(house, "mia", "finance")
    hidden = ask(mia, route, session, one.intervention_id)
    unknown = ask(mia, route, "ses_none", "int_none")
    assert hidden.status == unknown.status == 404
    assert hidden.body == unknown.body
    assert hidden.headers == unknown.headers
    assert house.head(session) == before


@pytest.mark.parametrize("route", OF_SESSIONS, ids=str)
def test_whoever_asks_for_it_stands_in_the_log_and_is_counted(
    route: Operation, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    house, session, one = asking()
    for asked, counted in ((session, 1), ("ses_none", 0)):
        caplog.clear()
        capsys.readouterr()
        ask(Person(house, "mia"), route, asked, one.intervention_id)
        lines = [vars(line) for line in caplog.records if line.getMessage() == "refused"]
        assert [(line["code"], line["session_id"]) for line in lines] == [
            ("SESSION_NOT_FOUND", session)
        ] * counted
        assert capsys.readouterr().out.count('"SessionsHidden":[1.0]') == counted


@pytest.mark.parametrize("route", OF_SESSIONS, ids=str)
def test_an_admin_does_not_read_it_and_may_cancel_and_delete_it(route: Operation) -> None:
    house, session, one = asking()
    boss = Person(house, "boss", "admin")
    answer = ask(boss, route, session, one.intervention_id)
    if route.private == "admin":
        assert answer.status in (202, 204)
    else:
        assert answer.body == ask(boss, route, "ses_none", "int_none").body
        assert answer.status == 404
    assert SECRET.encode() not in answer.body


def test_an_admin_s_cancel_says_what_became_of_it_and_no_more_sent_again_or_not() -> None:
    house, session, _ = asking()
    boss = Person(house, "boss", "admin")
    path = f"/v1/sessions/{session}/cancel"
    answers = [boss.ask("POST", path, json_body={}, headers={"idempotency-key": "k"}) for _ in range(2)]
    for answer in answers:
        assert answer.data == {"session_id": session, "state": "cancelled", "in_flight": []}
    assert Person(house, "ann").get(f"/v1/sessions/{session}").data["session"]["state"] == "cancelled"


def test_a_stranger_s_delete_erases_nothing() -> None:
    house, session, _ = asking()
    assert Person(house, "mia").ask("DELETE", f"/v1/sessions/{session}").status == 404
    assert Person(house, "ann").get(f"/v1/sessions/{session}/messages").status == 200
    assert in_memory.commits(house.table)


def test_a_damaged_one_is_still_its_owner_s_to_erase() -> None:
    house, session, _ = asking()
    *_, newest = in_memory.commits_of(house.table, TENANT, session)
    in_memory.put(house.table, newest, z={"B": b"damaged"})
    path = f"/v1/sessions/{session}"
    assert Person(house, "mia").ask("DELETE", path).error["code"] == "SESSION_NOT_FOUND"
    assert in_memory.commits(house.table)
    assert not house.index.erasures(before=None, limit=1, cursor=None).sessions
    assert Person(house, "ann").ask("DELETE", path).status == 204
    assert not in_memory.commits(house.table)


@pytest.mark.parametrize("what", ["listed", "not listed"])
def test_one_of_which_no_commit_can_be_read_is_whose_its_listing_says_or_for_admins(what: str) -> None:
    house, session, _ = asking()
    path = f"/v1/sessions/{session}"
    for commit in in_memory.commits_of(house.table, TENANT, session):
        in_memory.put(house.table, commit, z={"B": b"damaged"})
    if what == "not listed":
        house.table.delete_item(TableName=in_memory.TABLE, Key=listing_key(TENANT, session))
    assert Person(house, "mia").ask("DELETE", path).error["code"] == "SESSION_NOT_FOUND"
    assert in_memory.commits(house.table)
    assert not house.index.erasures(before=None, limit=1, cursor=None).sessions
    may = Person(house, "ann") if what == "listed" else Person(house, "boss", "admin")
    assert may.ask("DELETE", path).status == 204
    assert not in_memory.commits(house.table)


@pytest.mark.parametrize("route", OF_SESSIONS, ids=str)
def test_its_owner_uses_every_route_as_of_any_session(route: Operation) -> None:
    house, session, one = asking(role=None)
    answer = ask(Person(house, "ann"), route, session, one.intervention_id)
    if "{text_id}" in route.path:  # it has no long text: `test_whole_texts.py` has one
        assert answer.error["code"] == "NOT_FOUND"
        return
    conflicts = {"resume": 409, "rating": 409}  # it waits, is not paused, and has answered nothing
    last = route.path.rpartition("/")[2]
    assert answer.status == conflicts.get(last, answer.status)
    assert answer.status < 400 or last in conflicts, answer.body


def test_listings_show_one_s_own_private_sessions_and_the_tenant_s() -> None:
    house, session, _ = asking()
    shown = Person(house, "lee").start(content=None).data["session_id"]
    mia = Person(house, "mia")

    def ids(person: Person, **query: str) -> list[str]:
        page = person.get("/v1/sessions", **query).data
        return [one["session_id"] for one in page["items"]]

    assert ids(Person(house, "ann")) == [shown, session]
    assert ids(mia) == ids(Person(house, "boss", "admin")) == [shown]
    assert ids(mia, state="waiting_for_user") == []
    assert mia.get("/v1/sessions", limit="1").data["next_cursor"] is None
    assert mia.get("/v1/interventions").data["items"] == []
    assert [one["session_id"] for one in Person(house, "ann").get("/v1/interventions").data["items"]] == [
        session
    ]


def test_who_decides_by_a_role_sees_that_question_whole_and_nothing_else_of_the_session() -> None:
    house, session, one = asking()
    app = Person(house, "app", "approver")
    path = f"/v1/sessions/{session}/interventions"
    listed = app.get("/v1/interventions", state="pending").data["items"]
    assert listed == app.get(path).data["items"] == [app.get(f"{path}/{one.intervention_id}").data]
    assert listed[0]["context"]["agent_said"] == f"I delete {SECRET}."
    whole = app.get(f"{path}/{one.intervention_id}/input").data
    assert whole == {
        "name": "delete_file",
        "input": {"path": "a.txt"},
        "input_text": '{"path":"a.txt"}',
        "input_hash": listed[0]["tool_call"]["input_hash"],
    }
    for route in OF_SESSIONS:
        if route.private != "decider":
            assert ask(app, route, session, one.intervention_id).status == 404, route
    assert app.get("/v1/sessions").data["items"] == []


def test_a_decision_by_role_counts_and_is_the_last_that_its_maker_sees_of_it() -> None:
    house, session, one = asking()
    app = Person(house, "app", "approver")
    path = f"/v1/sessions/{session}/interventions"
    body = {"option": "approve", "comment": "Fine"}
    answers = [
        app.ask(
            "POST", f"{path}/{one.intervention_id}/resolve", json_body=body, headers={"idempotency-key": "k"}
        )
        for _ in range(2)
    ]
    assert [answer.status for answer in answers] == [200, 200]
    assert answers[0].data == answers[1].data
    assert answers[0].data["resolved_by"] == "app"
    house.run()
    assert files(house) == ["b.txt"]
    assert app.get(f"{path}/{one.intervention_id}").data == answers[0].data
    assert app.get(path).status == 404
    assert app.get("/v1/interventions").data["items"] == []
    other = Person(house, "eve", "approver")
    assert other.get(f"{path}/{one.intervention_id}").error["code"] == "SESSION_NOT_FOUND"
    assert other.resolve(session, one.intervention_id, "reject").status == 404


def test_of_several_questions_only_one_s_own_are_seen_and_decided() -> None:
    house, session = private(plans("delete"), ASKS, *ENDS, role="approver")
    app, ann = Person(house, "app", "approver"), Person(house, "ann")
    assert ann.ask("POST", f"/v1/sessions/{session}/pause", json_body={}).status == 202
    paused = next(one for one in house.head(session).interventions if one.type == "checkpoint_review")
    path = f"/v1/sessions/{session}/interventions"
    assert [one["type"] for one in app.get(path).data["items"]] == ["approval_required"]
    assert len(ann.get(path).data["items"]) == 2
    for answer in (
        app.get(f"{path}/{paused.intervention_id}"),
        app.get(f"{path}/{paused.intervention_id}/input"),
        app.resolve(session, paused.intervention_id, "continue"),
    ):
        assert (answer.status, answer.error["code"]) == (404, "INTERVENTION_NOT_FOUND")
        assert answer.body == app.get(f"{path}/int_none").body
    assert paused in house.head(session).interventions


def test_the_answer_to_its_start_says_which_role_sees_questions_about_which_tools() -> None:
    roles = {"delete_file": "records", "create_file": "records", "recall": "memory"}
    house = house_with(settings={"tool_approvers": {TENANT: roles}}, tools=("create_file", "delete_file"))
    ann = Person(house, "ann")
    started, again = (
        ann.ask("POST", "/v1/sessions", json_body={"visibility": "private"}, headers={"idempotency-key": "k"})
        for _ in range(2)
    )
    seen_by = [{"role": "records", "tools": ["create_file", "delete_file"]}]
    assert started.data["questions_seen_by"] == again.data["questions_seen_by"] == seen_by
    assert "questions_seen_by" not in ann.start(content=None).data
    assert Person(house_with(), "ann").start(visibility="private").data["questions_seen_by"] == []


def test_the_answer_to_its_start_also_names_the_tools_of_agents_that_its_agent_may_call() -> None:
    roles = {"delete_file": "records", "ask_clerk": "desk"}
    house = house_with(settings={"tool_approvers": {TENANT: roles}}, tools=("delete_file",))
    made = {"name": "A", "version": 1, "tools": ["read_file"]}
    for agent_id, entries in (("clerk", ["default"]), ("boss", ["clerk"])):
        agents = [{"agent": each, "as": f"ask_{each}"} for each in entries]
        agent = AgentDefinition.model_validate({"agent_id": agent_id, "agents": agents, **made})
        house.definitions.create_agent(TENANT, agent)
    started = Person(house, "ann").start(visibility="private", agent_id="boss")
    assert started.data["questions_seen_by"] == [
        {"role": "desk", "tools": ["ask_clerk"]},
        {"role": "records", "tools": ["delete_file"]},
    ]


GIVEN: dict[InterventionType, tuple[str, dict[str, Any]]] = {
    "approval_required": ("approve", {}),
    "clarification_needed": ("answer", {"text": "That one"}),
    "error_recovery": ("retry", {}),
    "checkpoint_review": ("continue", {}),
    "budget_exceeded": ("raise", {"token_budget": 90_000}),
}


@pytest.mark.parametrize("written", ["before it is asked", "after it was asked"])
@pytest.mark.parametrize("type", WAYS)
def test_whatever_an_admin_writes_into_the_agent_a_question_is_its_owner_s_to_see_and_decide(
    type: InterventionType, written: str
) -> None:
    turns, limits = WAYS[type]
    policies: dict[InterventionType, Any] = {each: Policy(role="admin") for each in WAYS}
    at_first = policies if written == "before it is asked" else {}
    house, session = private(*turns, policies=at_first, **limits)
    agent = house.definitions.snapshot(TENANT).agent(DEFAULT_AGENT)
    assert agent is not None
    after = agent.model_copy(update={"version": 2, "interventions": policies})
    house.definitions.replace_agent(TENANT, agent, after)
    (one,) = house.head(session).interventions
    assert (one.type, one.role) == (type, None)

    boss, path = Person(house, "boss", "admin"), f"/v1/sessions/{session}/interventions"
    option, given = GIVEN[type]
    assert boss.get("/v1/interventions").data["items"] == []
    for answer in (
        boss.get(path),
        boss.get(f"{path}/{one.intervention_id}"),
        boss.resolve(session, one.intervention_id, option, **given),
    ):
        assert answer.status == 404
        assert SECRET.encode() not in answer.body
    assert Person(house, "ann").resolve(session, one.intervention_id, option, **given).status == 200


@pytest.mark.parametrize("body", [{"token_budget": 90_000}, {"review_every": 0}], ids=str)
def test_its_owner_raises_its_budget_and_ends_its_reviews_whatever_role_the_agent_names(
    body: dict[str, Any],
) -> None:
    """As they would decide the questions about them."""
    policies: dict[InterventionType, Any] = {each: Policy(role="finance") for each in WAYS}
    house, session = private(plans("look"), *ENDS, policies=policies, token_budget=80_000, review_every=2)
    assert Person(house, "ann").ask("PATCH", f"/v1/sessions/{session}", json_body=body).status == 202
    hers = Person(house, "ann").start(token_budget=80_000, review_every=2).data["session_id"]
    refused = Person(house, "ann").ask("PATCH", f"/v1/sessions/{hers}", json_body=body)
    assert (refused.status, refused.error["details"]) == (403, {"role": ["finance"]})


def test_a_question_without_a_role_is_its_owner_s_alone() -> None:
    house, session, one = asking(role=None)
    for person in (Person(house, "mia"), Person(house, "boss", "admin")):
        assert person.resolve(session, one.intervention_id, "approve").status == 404
    assert Person(house, "ann").resolve(session, one.intervention_id, "approve").status == 200


def test_an_owner_who_may_not_approve_what_they_asked_for_is_told_that_nobody_else_sees_it() -> None:
    house, session = private(
        plans("delete"), ASKS, *ENDS, policies={"approval_required": {"approver_must_differ": True}}
    )
    (one,) = house.head(session).interventions
    refused = Person(house, "ann").resolve(session, one.intervention_id, "approve")
    assert (refused.status, refused.error["code"]) == (403, "APPROVER_MUST_DIFFER")
    assert "Nobody else sees it" in refused.error["message"]
    assert Person(house, "ann").resolve(session, one.intervention_id, "reject").status == 200


def test_a_request_of_its_owner_s_that_somebody_else_repeats_tells_nothing() -> None:
    house = house_with(plans("look"), *ENDS)
    body = {"content": SECRET, "visibility": "private"}
    headers = {"idempotency-key": "k"}
    ann, mia = Person(house, "ann"), Person(house, "mia")
    session = ann.ask("POST", "/v1/sessions", json_body=body, headers=headers).data["session_id"]
    assert ann.ask("POST", "/v1/sessions", json_body=body, headers=headers).data["session_id"] == session
    hers = mia.ask("POST", "/v1/sessions", json_body=body, headers=headers)
    assert (hers.status, hers.data["created_by"]) == (202, "mia")
    assert hers.data["session_id"] != session


def test_a_session_says_whose_it_is_and_who_sees_it() -> None:
    house = house_with()
    ann = Person(house, "ann")
    for said, shown in (("private", "private"), ("tenant", "tenant"), (None, "tenant")):
        view = ann.start(content=None, visibility=said).data
        assert (view["created_by"], view["visibility"]) == ("ann", shown)
    refused = ann.start(content=None, visibility="public")
    assert (refused.status, list(refused.error["details"])) == (400, ["visibility"])


def test_the_environment_says_who_sees_a_session_whose_start_does_not() -> None:
    house = House(ScriptedModel(()), default_visibility="private")
    ann = Person(house, "ann")
    assert ann.start(content=None).data["visibility"] == "private"
    assert ann.start(content=None, visibility="tenant").data["visibility"] == "tenant"
