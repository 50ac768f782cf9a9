"""`/v1/triggers`: what admins write, and what is refused."""

from typing import Any

import pytest

from acta.engine.triggers.trigger import MAX_TRIGGERS
from tests.api.gateway import Gateway, api_of, claims
from tests.in_process.house import TENANT
from tests.triggers.outside import ADMIN, GITHUB, Outside


@pytest.fixture
def acta() -> Outside:
    return Outside(event_sources={"orders": {"kind": "queue", "queue": "orders"}})


def test_a_trigger_is_read_as_it_was_written_and_its_url_stays(acta: Outside) -> None:
    made = acta.put(pattern={"action": ["opened"]}, limits={"max_steps": 5}, metadata={"team": "ops"})
    assert (made["created_by"], made["roles"], made["version"]) == (ADMIN, ["admin", "finance"], 1)
    assert made["url"].startswith("https://acta.test/v1/hooks/")
    assert acta.read() == {**made, "events": dict.fromkeys(acta.read()["events"], 0)}
    (listed,) = acta.admin.request("GET", "/v1/triggers").data["items"]
    assert listed == made
    changed = acta.put(goal="Another.")
    assert (changed["url"], changed["version"], changed["pattern"]) == (made["url"], 2, None)
    assert acta.put("other")["url"] != made["url"]


def test_a_trigger_of_a_source_has_no_url(acta: Outside) -> None:
    assert acta.put(webhook=None, source="orders")["url"] is None


def test_a_write_names_what_it_replaces(acta: Outside) -> None:
    acta.put()
    put = acta.admin.request
    assert put("PUT", "/v1/triggers/issues", json_body={**GITHUB, "version": 2}).status == 409
    assert put("PUT", "/v1/triggers/new", json_body={**GITHUB, "version": 1}).status == 409
    assert put("PUT", "/v1/triggers/issues", json_body=GITHUB, headers={"If-Match": '"9-9"'}).status == 412
    tag = acta.admin.request("GET", "/v1/triggers/issues").headers["ETag"]
    assert put("PUT", "/v1/triggers/issues", json_body=GITHUB, headers={"If-Match": tag}).status == 200
    assert put("DELETE", "/v1/triggers/issues", query="version=1").status == 409
    assert put("DELETE", "/v1/triggers/issues", query="version=2").status == 204
    assert put("DELETE", "/v1/triggers/issues").status == 404


@pytest.mark.parametrize(
    ("path", "fields", "field"),
    [
        ("Issues", {}, "trigger_id"),
        ("issues", {"trigger_id": "other"}, "trigger_id"),
        ("issues", {"agent_id": "gone"}, "agent_id"),
        ("issues", {"webhook": {"scheme": "github", "secret": "hok"}}, "webhook.secret"),
        ("issues", {"webhook": {"scheme": "rsa", "secret": "hook"}}, "webhook.scheme"),
        ("issues", {"webhook": None}, "body"),
        ("issues", {"goal": "{{date}}"}, "goal"),
        ("issues", {"key": "{{event}}"}, "key"),
        ("issues", {"pattern": {"action": "opened"}}, "pattern"),
        ("issues", {"limits": {"max_steps": 0}}, "limits.max_steps"),
        ("issues", {"unknown": 1}, "unknown"),
    ],
)
def test_what_could_start_nothing_is_refused_with_the_field(
    acta: Outside, path: str, fields: dict[str, Any], field: str
) -> None:
    answer = acta.admin.request("PUT", f"/v1/triggers/{path}", json_body={**GITHUB, **fields})
    assert (answer.status, list(answer.error["details"])) == (400, [field])
    if field == "webhook.secret":
        assert "Did you mean hook?" in answer.error["details"][field][0]


def test_members_neither_see_nor_write_triggers(acta: Outside) -> None:
    acta.put()
    for method, path in (
        ("GET", "/v1/triggers"), ("GET", "/v1/triggers/issues"), ("PUT", "/v1/triggers/issues"),
        ("DELETE", "/v1/triggers/issues"), ("POST", "/v1/triggers/issues/pause"),
        ("GET", "/v1/triggers/issues/events"), ("POST", "/v1/triggers/issues/events/evt_1/replay"),
    ):  # fmt: skip
        assert acta.member.request(method, path, json_body=GITHUB if method == "PUT" else None).status == 403


def test_a_tenant_has_a_bounded_number_of_triggers(acta: Outside) -> None:
    for number in range(MAX_TRIGGERS):
        acta.put(f"t-{number}", webhook=None, source="orders")
    answer = acta.admin.request("PUT", "/v1/triggers/more", json_body=GITHUB)
    assert answer.status == 409
    acta.put("t-1")


def test_the_secret_of_a_trigger_is_not_deleted_under_it(acta: Outside) -> None:
    acta.put()
    answer = acta.admin.request("DELETE", "/v1/tool-secrets/hook")
    assert (answer.status, answer.error["details"]) == (409, {"triggers": ["issues"]})
    acta.put(webhook=None, source="orders")
    assert acta.admin.request("DELETE", "/v1/tool-secrets/hook").status == 204


def test_a_pause_leaves_whose_the_sessions_are(acta: Outside) -> None:
    acta.put()
    paused = acta.admin.request("POST", "/v1/triggers/issues/pause").data
    assert (paused["version"], paused["created_by"]) == (2, ADMIN)
    assert acta.admin.request("POST", "/v1/triggers/issues/pause").data["version"] == 2


def test_events_come_in_pages_newest_first_and_by_outcome(acta: Outside) -> None:
    acta.put()
    for number in range(5):
        acta.house.clock.advance(1)
        acta.deliver({"issue": {"title": "x"}}, f"d-{number}")
    acta.admin.request("POST", "/v1/triggers/issues/pause")
    acta.deliver({"issue": {"title": "x"}}, "d-9")
    whole = [one["event_id"] for one in acta.events()]
    assert whole == sorted(whole, reverse=True)
    assert len(whole) == 6
    path, found, cursor = "/v1/triggers/issues/events", list[str](), ""
    while True:
        page = acta.admin.request("GET", path, query={"limit": "2", **({"cursor": cursor} if cursor else {})})
        found += [one["event_id"] for one in page.data["items"]]
        cursor = page.data["next_cursor"] or ""
        if not cursor:
            break
    assert found == whole
    assert [one["outcome"] for one in acta.events(outcome="refused")] == ["refused"]
    assert acta.admin.request("GET", path, query={"cursor": "abc"}).status == 400
    other = acta.admin.request("GET", path, query={"limit": "2"}).data["next_cursor"]
    assert acta.admin.request("GET", path, query={"cursor": other, "outcome": "failed"}).status == 400


def send(acta: Outside, event: dict[str, Any], **more: Any) -> Any:
    starts = Gateway(
        api_of("start", acta.app).handler,
        claims(tenant=TENANT, user=more.pop("user", ADMIN), roles=["admin"]),
    )
    return starts.request("POST", "/v1/triggers/issues/events", json_body={"event": event, **more})


def test_an_event_that_is_sent_by_hand_starts_a_session_once_for_its_id(acta: Outside) -> None:
    acta.put(pattern={"action": ["opened"]})
    event = {"action": "opened", "issue": {"title": "It is broken"}}
    first = send(acta, event, event_id="e-1")
    assert (first.status, first.data["outcome"]) == (202, "started")
    assert send(acta, event, event_id="e-1").data == first.data
    assert send(acta, {"action": "closed"}).data == {"outcome": "ignored"}
    assert len(acta.sessions()) == 1
    for _ in range(2):
        assert send(acta, event).data["outcome"] == "started"
    assert len(acta.sessions()) == 3


def test_only_whoever_wrote_a_trigger_sends_it_events(acta: Outside) -> None:
    acta.put()
    refused = send(acta, {"action": "opened"}, user="bob")
    assert (refused.status, acta.sessions()) == (403, [])


@pytest.mark.parametrize("event", [{}, {"text": "x" * 8_192}])
def test_an_event_by_hand_is_neither_empty_nor_large(acta: Outside, event: dict[str, Any]) -> None:
    acta.put()
    assert list(send(acta, event).error["details"]) == ["event"]


def test_nothing_is_sent_to_a_trigger_that_is_not_there(acta: Outside) -> None:
    assert send(acta, {"action": "opened"}).status == 404
