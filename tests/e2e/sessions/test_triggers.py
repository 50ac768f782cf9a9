"""Signed webhooks start sessions on the deployed stack (docs/design/triggers.md)."""

import hmac
import json
from hashlib import sha256
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import Admit
from tests.e2e.support.document import checked
from tests.e2e.support.person import Person

SECRET = "the-secret-of-this-webhook"
ISSUE = {"action": "opened", "issue": {"number": 7, "title": "It is broken"}}
ASKS = {"agent_id": "careful", "goal": "Create the file note.txt with the text {{event.issue.title}}"}
"""A trigger whose sessions wait for a person, so they are open."""


@pytest.fixture
def admin(admit: Admit) -> Person:
    return with_secret(admit(role="admin"))


def with_secret(admin: Person) -> Person:
    careful = {"agent_id": "careful", "name": "Careful", "high_stakes": ["create_file"]}
    assert admin.post("/v1/agents", careful).status_code == 201
    assert admin.http.put("/v1/tool-secrets/hook", json={"value": SECRET, "hosts": []}).status_code == 201
    return admin


def trigger(admin: Person, name: str = "issues", **fields: Any) -> str:
    """Writes a trigger and returns its URL."""
    body = {
        "webhook": {"scheme": "github", "secret": "hook"},
        "goal": "Look at {{event.issue.title}}.",
        **fields,
    }
    answer = admin.http.put(f"/v1/triggers/{name}", json=body)
    assert answer.status_code in (200, 201), answer.json()["error"]["code"]
    url: str = answer.json()["data"]["url"]
    return url


def deliver(url: str, event: Any, delivery: str = "d-1", secret: str = SECRET) -> httpx.Response:
    """As GitHub does."""
    body = json.dumps(event).encode()
    headers = {
        "X-Hub-Signature-256": f"sha256={hmac.new(secret.encode(), body, sha256).hexdigest()}",
        "X-GitHub-Delivery": delivery,
        "X-GitHub-Event": "issues",
        "Content-Type": "application/json",
    }
    return checked(httpx.post(url, content=body, headers=headers, timeout=60, trust_env=False))


def outcome(answer: httpx.Response) -> str:
    assert answer.status_code == 202
    found: str = answer.json()["data"]["outcome"]
    return found


def events_of(admin: Person, name: str = "issues", **query: Any) -> list[Any]:
    return list(admin.items(f"/v1/triggers/{name}/events", **query))


def test_a_signed_webhook_that_is_delivered_twice_starts_one_session(admin: Person) -> None:
    url = trigger(admin, metadata={"team": "ops"})
    assert outcome(deliver(url, ISSUE)) == "started"
    assert outcome(deliver(url, ISSUE)) == "started"
    (event,) = events_of(admin)
    seen = admin.finished(event["session_id"])
    assert seen.session["origin"]["kind"] == "trigger"
    assert seen.session["origin"]["event"] == event["event_id"]
    assert seen.session["metadata"] == {"team": "ops"}
    (session,) = admin.items("/v1/sessions")
    assert session["session_id"] == event["session_id"]
    assert session["goal"].startswith('Look at "It is broken".')
    assert admin.get("/v1/triggers/issues").json()["data"]["events"]["started"] == 1


def test_a_wrong_signature_or_url_changes_nothing(admin: Person, admit: Admit) -> None:
    url = trigger(admin)
    other = trigger(with_secret(admit(role="admin")), "others")
    assert deliver(url, ISSUE, secret="another-secret-of-these").status_code == 401
    assert deliver(url[:-2], ISSUE).status_code == 404
    said, _, mac = other.rpartition("/")[2].partition(".")
    ours = url.rpartition("/")[2].partition(".")[0]
    assert deliver(url.replace(url.rpartition("/")[2], f"{ours}.{mac}"), ISSUE).status_code == 404
    assert said != ours
    assert (events_of(admin), admin.items("/v1/sessions")) == ([], [])


def test_a_key_sends_a_message_to_the_session_that_is_open(admin: Person) -> None:
    url = trigger(admin, key="issue-{{event.issue.number}}", **ASKS)
    assert outcome(deliver(url, ISSUE)) == "started"
    (event,) = events_of(admin)
    admin.asked(event["session_id"])
    assert outcome(deliver(url, {**ISSUE, "action": "edited"}, "d-2")) == "told"
    told, started = events_of(admin)
    assert (told["outcome"], told["session_id"]) == ("told", started["session_id"])
    assert len(admin.items("/v1/sessions")) == 1
    said = [
        one for one in admin.items(f"/v1/sessions/{event['session_id']}/messages") if one["role"] == "user"
    ]
    assert '"action":"edited"' in said[-1]["content"]
