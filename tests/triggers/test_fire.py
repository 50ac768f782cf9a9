"""Webhooks that start sessions: once each, within the tenant's limits, and lost by no crash."""

import json
from typing import Any

import pytest

from acta.engine.errors import StoreUnavailable
from acta.engine.triggers.fire import fire
from acta.engine.triggers.sources import Received
from tests.api.gateway import Gateway, claims
from tests.in_process.house import TENANT
from tests.in_process.scripted import plans
from tests.people.policies import ASKS_WITH_A_PLAN, ENDS
from tests.triggers.outside import ADMIN, GITHUB, Outside

ISSUE = {"action": "opened", "issue": {"title": "It is broken", "number": 7}}
ONE_AT_ONCE = {"tenant_limits": {"*": {"open_sessions": 1}}}


def test_a_signed_event_starts_a_session_of_whoever_wrote_the_trigger() -> None:
    acta = Outside()
    acta.put(metadata={"team": "ops"}, limits={"max_steps": 9})
    answer = acta.deliver(ISSUE)
    assert (answer.status, answer.data["outcome"]) == (202, "started")
    (head,) = acta.sessions()
    assert (head.created_by, head.roles, head.max_steps) == (ADMIN, ("admin", "finance"), 9)
    assert (head.metadata, head.read_outside) == ({"team": "ops"}, True)
    assert head.origin is not None
    assert (head.origin.kind, head.origin.id, head.origin.event) == (
        "trigger",
        "issues",
        answer.data["event_id"],
    )
    assert head.goal.startswith('Look at "It is broken".\n\nThe event, which is data from outside')
    assert '{"action":"opened","issue":{"title":"It is broken","number":7},"type":"issues"}' in head.goal
    acta.house.run()
    assert acta.sessions()[0].state == "completed"
    (event,) = acta.events()
    assert (event["outcome"], event["session_id"], event["code"]) == ("started", head.session_id, None)
    assert acta.stored(event["event_id"]).event is None
    assert acta.read()["events"] == {
        "started": 1,
        "told": 0,
        "refused": 0,
        "failed": 0,
        "ignored": 0,
        "own_files": 0,
    }


def test_the_same_event_starts_one_session_however_often_it_is_delivered() -> None:
    acta = Outside()
    acta.put()
    first = acta.deliver(ISSUE).data
    acta.house.run()
    acta.house.clock.advance(3_600)
    assert acta.deliver(ISSUE).data == first
    assert acta.deliver({"action": "opened", "issue": {"title": "Other"}}).data == first
    assert len(acta.sessions()) == 1
    assert acta.deliver(ISSUE, "d-2").data["event_id"] != first["event_id"]
    assert len(acta.sessions()) == 2


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"path": "/v1/hooks/abc.def"}, 404),
        ({"secret": "another-secret-of-them"}, 401),
        ({"body": b'{"action":"opened"}'}, 401),
    ],
)
def test_what_cannot_be_verified_changes_nothing(changed: dict[str, Any], status: int) -> None:
    acta = Outside()
    acta.put()
    assert acta.deliver(ISSUE, **changed).status == status
    assert (acta.sessions(), acta.events()) == ([], [])


def test_a_made_up_url_causes_no_read() -> None:
    acta = Outside()
    acta.put()
    path = acta.path()
    table, acta.app.triggers.__dict__["_dynamodb"] = acta.house.table, None  # any read would fail
    assert table is not None
    assert acta.deliver(ISSUE, path=path[:-3]).status == 404
    assert acta.deliver(ISSUE, path=path).status == 500


def test_a_url_of_a_trigger_that_is_gone_or_has_no_webhook_any_more_is_not_found() -> None:
    acta = Outside()
    acta.put()
    path = acta.path()
    acta.put(webhook=None, source="orders")
    assert acta.deliver(ISSUE, path=path).status == 404
    assert acta.admin.request("DELETE", "/v1/triggers/issues").status == 204
    assert acta.deliver(ISSUE, path=path).status == 404


def test_an_event_that_does_not_fit_the_pattern_is_counted_alone() -> None:
    acta = Outside()
    acta.put(pattern={"type": ["issues"], "action": ["opened"]})
    assert acta.deliver({"zen": "Hi"}, kind="ping").data == {"outcome": "ignored"}
    assert acta.deliver({**ISSUE, "action": "closed"}, "d-2").data == {"outcome": "ignored"}
    assert acta.deliver(ISSUE, "d-3").data["outcome"] == "started"
    assert (acta.read()["events"]["ignored"], len(acta.events())) == (2, 1)


def test_a_key_sends_a_message_to_the_session_that_it_started_while_that_is_open() -> None:
    acta = Outside()
    acta.put(key="issue-{{event.issue.number}}")
    assert acta.deliver(ISSUE).data["outcome"] == "started"
    again = acta.deliver({**ISSUE, "action": "edited"}, "d-2")
    assert again.data["outcome"] == "told"
    assert acta.deliver({"issue": {"number": 8, "title": "Other"}}, "d-3").data["outcome"] == "started"
    first = next(head for head in acta.sessions() if len(head.undelivered) == 2)
    assert acta.events(outcome="told")[0]["session_id"] == first.session_id
    acta.house.run()
    assert [head.state for head in acta.sessions()] == ["completed", "completed"]
    assert acta.deliver(ISSUE, "d-4").data["outcome"] == "started"
    assert len(acta.sessions()) == 3
    assert acta.deliver({"issue": {"title": "No number"}}, "d-5").data["outcome"] == "started"


def test_an_event_answers_no_question_of_the_agents() -> None:
    acta = Outside(*ASKS_WITH_A_PLAN)
    acta.put(key="one")
    acta.deliver(ISSUE)
    acta.house.run()
    assert acta.deliver(ISSUE, "d-2").data["outcome"] == "told"
    (head,) = acta.sessions()
    assert [one.type for one in head.interventions] == ["clarification_needed"]
    assert len(head.undelivered) == 1


def test_a_message_is_said_once_if_the_worker_dies_after_its_commit() -> None:
    acta = Outside()
    acta.put(key="one")
    acta.deliver(ISSUE)
    vars(acta.app.trigger_events)["settle"] = _dies
    assert acta.deliver(ISSUE, "d-2").status == 500
    del vars(acta.app.trigger_events)["settle"]
    (event,) = acta.events(outcome="waiting")
    acta.house.run()
    assert acta.minute() == 1
    assert acta.stored(event["event_id"]).outcome == "told"
    assert len(acta.sessions()) == 1


def _dies(*given: object) -> bool:
    raise RuntimeError("the worker dies here")


def test_an_event_that_was_taken_is_not_lost_with_its_worker() -> None:
    acta = Outside()
    acta.put()
    acta.house.workflow.start = _away  # type: ignore[method-assign]
    assert acta.deliver(ISSUE).status == 503
    acta.house.workflow.start = type(acta.house.workflow)().start  # type: ignore[method-assign]
    assert acta.deliver(ISSUE).data["outcome"] == "waiting"
    assert acta.minute(30) == 0  # whoever took it may still be at work
    assert acta.minute(31) == 1
    assert (len(acta.sessions()), acta.events()[0]["outcome"]) == (1, "started")
    assert acta.minute() == 0


def _away(decision: object) -> bool:
    raise StoreUnavailable("away")


def test_a_flood_waits_for_the_tenants_limits_and_goes_on_in_its_order() -> None:
    acta = Outside(**ONE_AT_ONCE)
    acta.put()
    outcomes = [acta.deliver(ISSUE, f"d-{number}").data["outcome"] for number in range(4)]
    assert outcomes == ["started", "waiting", "waiting", "waiting"]
    assert {one["code"] for one in acta.events(outcome="waiting")} == {"TOO_MANY_OPEN_SESSIONS"}
    for left in (2, 1, 0):
        acta.house.run()
        assert acta.minute() == 1
        assert len(acta.events(outcome="waiting")) == left
    assert acta.read()["events"]["started"] == 4


def test_an_event_waits_a_day_at_most_and_is_then_kept_for_a_replay() -> None:
    acta = Outside(*ASKS_WITH_A_PLAN, plans("look"), *ENDS, **ONE_AT_ONCE)
    acta.put()
    acta.deliver(ISSUE)
    acta.house.run()  # it waits for a person
    acta.deliver(ISSUE, "d-2")
    acta.minute(86_000)
    assert acta.events()[0]["outcome"] == "waiting"
    acta.minute(401)
    assert acta.events()[0]["outcome"] == "refused"


def test_what_was_refused_is_counted_kept_and_replayed() -> None:
    acta = Outside(**ONE_AT_ONCE)
    acta.put(on_limit="refuse")
    acta.deliver(ISSUE)
    refused = acta.deliver(ISSUE, "d-2").data
    assert refused["outcome"] == "refused"
    assert acta.deliver(ISSUE, "d-2").data == refused
    assert acta.stored(refused["event_id"]).event is not None
    assert acta.read()["events"]["refused"] == 1
    acta.house.run()
    path = f"/v1/triggers/issues/events/{refused['event_id']}/replay"
    assert acta.admin.request("POST", path).data["outcome"] == "waiting"
    assert acta.admin.request("POST", path).status == 409
    assert acta.minute(0) == 1
    assert acta.read()["events"]["started"] == 2
    assert acta.admin.request("POST", path).status == 409


def test_a_paused_trigger_refuses_what_comes_until_it_is_resumed() -> None:
    acta = Outside()
    acta.put()
    assert acta.admin.request("POST", "/v1/triggers/issues/pause").data["paused"] is True
    refused = acta.deliver(ISSUE).data
    assert (refused["outcome"], acta.events()[0]["code"], acta.sessions()) == ("refused", "PAUSED", [])
    path = f"/v1/triggers/issues/events/{refused['event_id']}/replay"
    assert acta.admin.request("POST", path).status == 409
    assert acta.admin.request("POST", "/v1/triggers/issues/resume").data["paused"] is False
    assert acta.admin.request("POST", path).status == 202
    assert acta.minute(0) == 1


def test_an_event_fails_where_its_session_may_not_start_and_is_replayed_once_it_may() -> None:
    acta = Outside(agent={"start_roles": ("legal",)})
    acta.put()
    failed = acta.deliver(ISSUE).data
    assert (failed["outcome"], acta.events()[0]["code"]) == ("failed", "FORBIDDEN")
    assert acta.read()["events"]["failed"] == 1
    agent = {"name": "A", "start_roles": ["finance"]}
    assert acta.admin.request("PUT", "/v1/agents/default", json_body=agent).status == 200
    path = f"/v1/triggers/issues/events/{failed['event_id']}/replay"
    assert acta.admin.request("POST", path).status == 202
    assert acta.minute(0) == 1
    assert len(acta.sessions()) == 1


def test_the_operator_is_told_of_events_that_fail_or_are_refused_unless_the_trigger_is_paused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "told-of-events")  # a logger keeps its first stdout
    acta = Outside(**ONE_AT_ONCE)
    acta.put(on_limit="refuse")
    acta.deliver(ISSUE)
    acta.deliver(ISSUE, "d-2")
    acta.admin.request("POST", "/v1/triggers/issues/pause")
    acta.deliver(ISSUE, "d-3")

    told = [json.loads(line) for line in capsys.readouterr().out.splitlines() if "a trigger fails" in line]
    assert [(line["trigger_id"], line["outcome"], line["code"]) for line in told] == [
        ("issues", "refused", "TOO_MANY_OPEN_SESSIONS")
    ]
    assert [line["TriggersFailing"] for line in told] == [1]


def test_a_waiting_event_of_a_trigger_that_was_deleted_fails() -> None:
    acta = Outside(**ONE_AT_ONCE)
    acta.put()
    acta.deliver(ISSUE)
    waits = acta.deliver(ISSUE, "d-2").data
    assert acta.admin.request("DELETE", "/v1/triggers/issues").status == 204
    assert acta.minute() == 1
    assert acta.stored(waits["event_id"]).code == "NOT_FOUND"


def test_a_large_event_is_given_as_a_file() -> None:
    acta = Outside()
    acta.put()
    event = acta.deliver({**ISSUE, "body": "x" * 9_000}).data["event_id"]
    (head,) = acta.sessions()
    assert f"The event is in the file events/issues/{event}.json" in head.goal
    assert b'"body": "xxx' in acta.house.files.read(TENANT, f"events/issues/{event}.json")


def test_the_file_of_a_private_session_is_private() -> None:
    acta = Outside()
    acta.put(visibility="private")
    event = acta.deliver({**ISSUE, "body": "x" * 9_000}).data["event_id"]
    path = f"~/events/issues/{event}.json"
    assert acta.house.files.seen_by(ADMIN).read(TENANT, path).startswith(b"{")
    (head,) = acta.sessions()
    assert (path in head.goal, head.private_to) == (True, ADMIN)


def test_a_huge_event_fails_and_is_in_the_history() -> None:
    acta = Outside()
    acta.put()
    assert acta.deliver({**ISSUE, "body": "x" * 270_000}).data["outcome"] == "failed"
    assert acta.events()[0]["code"] == "PAYLOAD_TOO_LARGE"


def test_a_trigger_that_somebody_else_writes_leaves_the_private_session_of_the_first_writer_alone() -> None:
    acta = Outside()
    acta.put(key="one", visibility="private")
    acta.deliver(ISSUE)
    bob = Gateway(acta.admin.handler, claims(tenant=TENANT, user="bob", roles=["admin"]))
    body = {**GITHUB, "key": "one", "visibility": "private"}
    assert bob.request("PUT", "/v1/triggers/issues", json_body=body).data["created_by"] == "bob"
    assert acta.deliver(ISSUE, "d-2").data["outcome"] == "started"
    assert sorted(str(head.private_to) for head in acta.sessions()) == [ADMIN, "bob"]
    assert all(len(head.undelivered) == 1 for head in acta.sessions())


def test_a_message_needs_the_start_role_as_it_is_now() -> None:
    acta = Outside()
    acta.put(key="one")
    acta.deliver(ISSUE)
    agent = {"name": "A", "start_roles": ["legal"]}
    assert acta.admin.request("PUT", "/v1/agents/default", json_body=agent).status == 200
    assert acta.deliver(ISSUE, "d-2").data["outcome"] == "failed"
    assert len(acta.sessions()[0].undelivered) == 1


def test_an_event_of_a_source_goes_to_each_of_the_tenants_triggers_of_it_once() -> None:
    queues = {name: {"kind": "queue", "queue": name} for name in ("shop", "bucket")}
    acta = Outside(event_sources=queues)
    acta.put("all", webhook=None, source="shop")
    acta.put("paid", webhook=None, source="shop", pattern={"state": ["paid"]})
    acta.put("other", webhook=None, source="bucket")

    def given(tenant: str, event: dict[str, Any]) -> list[str]:
        now = acta.house.clock.now()
        return [one.outcome for one in fire(acta.app, tenant, "shop", Received((), "e-1", event), now)]

    assert given(TENANT, {"state": "open"}) == ["started"]
    assert given(TENANT, {"state": "open"}) == ["started"]
    assert given("another", {"state": "open"}) == []
    assert [len(acta.events(name)) for name in ("all", "paid", "other")] == [1, 0, 0]
    assert len(acta.sessions()) == 1
