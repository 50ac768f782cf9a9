"""A tenant's admin and who starts a session name webhooks of their own, within the operator's list and nowhere else."""

import base64
from collections.abc import Iterator

import pytest

from acta.local_aws.testing import eventually
from tests.doubles.http_sink import Heard, Reply, Sink
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.notified import stream_is_read, verifies
from tests.e2e.support.person import Person, refused
from tests.e2e.support.samples import DELETION, OLD

SECRET = "whsec_" + base64.b64encode(b"a key of a tenant, thirty-two by").decode()
NEWER = "whsec_" + base64.b64encode(b"another key of the same tenant..").decode()
PATH = "/v1/notifications"
INSIDE = (
    "http://169.254.169.254/latest/meta-data",
    "https://169.254.169.254/",
    "http://localhost:1/",
    "http://[::1]:1/",
)


@pytest.fixture(scope="module")
def sink() -> Iterator[Sink]:
    with Sink() as made:
        yield made


@pytest.fixture(scope="module", autouse=True)
def listening(behind: Behind, sink: Sink) -> Iterator[None]:
    with behind.configured("notify", "start", "admin", ACTA_NOTIFY_ALLOW=sink.at), stream_is_read(behind):
        yield


@pytest.fixture
def boss(admit: Admit) -> Person:
    """An admin of a tenant that is this test's alone."""
    return admit(role="admin", user="boss")


def name_webhook(boss: Person, url: str | None, secret: str = SECRET) -> None:
    answer = boss.http.put(PATH, json={"url": url, "secret": secret})
    assert answer.status_code in (200, 201), answer.text
    assert secret not in answer.text


def told(sink: Sink, session_id: str, path: str, count: int = 1) -> list[Heard]:
    """What came about the session, once there is so much of it."""

    def found() -> list[Heard]:
        of = [heard for heard in sink.heard if heard.path == path]
        return [heard for heard in of if heard.body["session_id"] == session_id]

    return eventually(lambda: there if len(there := found()) >= count else None)


def begin(boss: Person, **body: str) -> str:
    boss.put_file(OLD, "text")
    answer = boss.post("/v1/sessions", {"content": DELETION, **body})
    assert answer.status_code == 202, answer.text
    session_id: str = answer.json()["data"]["session_id"]
    return session_id


def test_tenant_and_session_are_told_of_the_question_and_the_end_signed_with_the_tenant_s_secret(
    boss: Person, behind: Behind, sink: Sink
) -> None:
    name_webhook(boss, sink.url("/tenant"))
    session_id = begin(boss, notify_url=sink.url("/mine?token=hidden"))
    (asked,) = boss.asked(session_id).session["interventions"]
    for path in ("/tenant", "/mine?token=hidden"):
        (opened,) = told(sink, session_id, path)
        assert (opened.body["event"], opened.body["role"]) == ("intervention.opened", None)
        followed = boss.get(opened.body["links"]["api"].removeprefix(str(boss.http.base_url).rstrip("/")))
        assert followed.json()["data"]["intervention_id"] == asked["intervention_id"]
    assert boss.resolve(session_id, asked["intervention_id"], "approve").status_code == 200
    seen = boss.finished(session_id)
    for path in ("/tenant", "/mine?token=hidden"):
        heard = told(sink, session_id, path, count=2)
        assert [each.body["event"] for each in heard] == ["intervention.opened", "session.ended"]
        assert heard[1].body["state"] == seen.session["state"] == "completed"
        assert all(verifies(each, SECRET) for each in heard)
    assert "hidden" not in str(seen.session)
    lines = [line for line in behind.log_lines() if "acta-" in line]
    assert not any(word in line for line in lines for word in (SECRET, "hidden", sink.at))


@pytest.mark.thorough
def test_a_new_secret_signs_what_comes_after_a_worker_has_forgotten_the_old_one(
    boss: Person, behind: Behind, sink: Sink
) -> None:
    name_webhook(boss, None)
    name_webhook(boss, sink.url("/rotated"), NEWER)
    (opened,) = told(sink, begin(boss), "/rotated")
    assert verifies(opened, NEWER)
    assert not verifies(opened, SECRET)


def test_another_tenant_is_told_nothing_and_a_private_end_goes_to_its_own_webhook_alone(
    boss: Person, admit: Admit, sink: Sink
) -> None:
    other = admit(role="admin", user="boss")
    name_webhook(other, sink.url("/other"))
    name_webhook(boss, sink.url("/boss"))
    session_id = begin(boss, visibility="private", notify_url=sink.url("/private"))
    (asked,) = boss.asked(session_id).session["interventions"]
    assert boss.resolve(session_id, asked["intervention_id"], "reject").status_code == 200
    boss.finished(session_id)
    told(sink, session_id, "/private", count=2)
    shared = begin(boss)
    told(sink, shared, "/boss")  # the stream keeps the order of one tenant's changes
    assert {heard.path for heard in sink.heard if heard.body["session_id"] == session_id} == {"/private"}
    assert not any(heard.path == "/other" for heard in sink.heard)


@pytest.mark.parametrize("url", [*INSIDE, "https://elsewhere.example/x", "ftp://hooks.example.com"])
def test_what_is_not_on_the_operator_s_list_is_refused_at_both_doors(
    boss: Person, sink: Sink, url: str
) -> None:
    refused(boss.http.put(PATH, json={"url": url, "secret": SECRET}), 400, "VALIDATION_ERROR")
    assert boss.get(PATH).status_code == 404, "nothing is stored"
    name_webhook(boss, None)
    refused(boss.post("/v1/sessions", {"content": "Go", "notify_url": url}), 400, "VALIDATION_ERROR")
    assert boss.items("/v1/sessions") == []


def test_members_name_none_for_the_tenant_and_nobody_where_nothing_could_sign(
    admit: Admit, boss: Person, sink: Sink
) -> None:
    member = admit(tenant=boss.tenant, user="mia")
    for answer in (
        member.get(PATH),
        member.http.put(PATH, json={"url": sink.url(), "secret": SECRET}),
        member.delete(PATH),
    ):
        refused(answer, 403, "FORBIDDEN")
    refused(member.post("/v1/sessions", {"content": "Go", "notify_url": sink.url()}), 409, "CONFLICT")


def test_a_redirect_leads_nowhere(boss: Person, sink: Sink) -> None:
    sink.replies["/moved"] = Reply(307, headers={"Location": sink.url("/inside")})
    name_webhook(boss, sink.url("/moved"))
    told(sink, begin(boss), "/moved", count=2)  # it comes again: a redirect is not taken for an answer
    assert not any(heard.path == "/inside" for heard in sink.heard)


def test_a_host_that_the_operator_has_taken_off_the_list_is_not_dialled_any_more(
    boss: Person, behind: Behind, sink: Sink
) -> None:
    name_webhook(boss, sink.url("/former"))
    with behind.configured("notify", ACTA_NOTIFY_ALLOW="127.0.0.1:9"):
        session_id = begin(boss)
        boss.asked(session_id)
        eventually(lambda: any(_is_refusal_of(line, session_id) for line in behind.log_lines()))
    assert not any(heard.path == "/former" for heard in sink.heard)


@pytest.mark.thorough
def test_deleted_settings_end_what_was_told(boss: Person, behind: Behind, sink: Sink) -> None:
    name_webhook(boss, sink.url("/deleted"))
    session_id = begin(boss)
    told(sink, session_id, "/deleted")
    assert boss.delete(PATH).status_code == 204
    assert boss.post(f"/v1/sessions/{session_id}/cancel").status_code == 202
    watched = sink.url("/after")
    name_webhook(boss, watched, NEWER)
    told(sink, begin(boss), "/after")
    assert len([heard for heard in sink.heard if heard.path == "/deleted"]) == 1


def _is_refusal_of(line: str, session_id: str) -> bool:
    return "notification refused" in line and session_id in line
