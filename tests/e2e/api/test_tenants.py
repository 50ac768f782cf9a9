"""Another tenant's things do not exist, whatever is sent along."""

import httpx
import pytest

from tests.conftest import Deployed
from tests.e2e.conftest import Admit
from tests.e2e.support.document import checked
from tests.e2e.support.person import Person, Seen, refused
from tests.e2e.support.samples import DELETION, OLD


@pytest.fixture
def hers(ann: Person) -> Seen:
    """Ann's session, which waits for her approval."""
    ann.put_file(OLD, "hers")
    return ann.asked(ann.start(DELETION))


@pytest.fixture
def stranger(admit: Admit) -> Person:
    return admit(user="ann")


def test_a_stranger_gets_404_on_every_route_of_a_session(ann: Person, stranger: Person, hers: Seen) -> None:
    session_id = hers.session["session_id"]
    asked = hers.session["interventions"][0]["intervention_id"]
    session = f"/v1/sessions/{session_id}"
    reads = ["", "/events", "/messages", "/plan", "/steps", "/trace", "/interventions"]
    for path in reads:
        refused(stranger.get(session + path), 404, "SESSION_NOT_FOUND")
    for path in (asked, f"{asked}/input"):
        refused(stranger.get(f"{session}/interventions/{path}"), 404, "SESSION_NOT_FOUND")
    refused(stranger.post(f"{session}/messages", {"content": "hello"}), 404, "SESSION_NOT_FOUND")
    for verb in ("pause", "resume", "cancel"):
        refused(stranger.post(f"{session}/{verb}"), 404, "SESSION_NOT_FOUND")
    refused(stranger.resolve(session_id, asked, "approve"), 404, "SESSION_NOT_FOUND")
    refused(stranger.delete(session), 404, "SESSION_NOT_FOUND")
    after = ann.data(session, after=hers.cursor)
    assert after["events"] == []
    assert after["session"]["interventions"] == hers.session["interventions"]


def test_a_stranger_s_intervention_is_not_found_in_a_session_of_one_s_own(
    ann: Person, stranger: Person, hers: Seen
) -> None:
    asked = hers.session["interventions"][0]["intervention_id"]
    stranger.put_file(OLD, "mine")
    own = stranger.asked(stranger.start(DELETION))
    own_id = own.session["session_id"]
    refused(stranger.get(f"/v1/sessions/{own_id}/interventions/{asked}"), 404, "INTERVENTION_NOT_FOUND")
    refused(stranger.resolve(own_id, asked, "approve"), 404, "INTERVENTION_NOT_FOUND")
    assert ann.file(OLD) == "hers"
    assert stranger.file(OLD) == "mine"


def test_a_stranger_s_listings_show_nothing_of_it(stranger: Person, hers: Seen) -> None:
    assert stranger.items("/v1/sessions") == []
    assert stranger.items("/v1/interventions") == []
    assert stranger.files() == set()


def test_a_stranger_reads_overwrites_and_deletes_only_files_of_her_own(
    ann: Person, stranger: Person, hers: Seen
) -> None:
    refused(stranger.get(f"/v1/files/{OLD}"), 404, "NOT_FOUND")
    refused(stranger.delete(f"/v1/files/{OLD}"), 404, "NOT_FOUND")
    stranger.put_file(OLD, "mine")
    assert (ann.file(OLD), stranger.file(OLD)) == ("hers", "mine")


def test_an_agent_sees_its_own_tenant_s_files_only(stranger: Person, hers: Seen) -> None:
    seen = stranger.finished(stranger.start("List my files"))
    assert OLD not in str(seen.session["result"]) + str(seen.events)


@pytest.mark.parametrize("field", ["tenant", "tenant_id", "created_by", "user", "session_id", "state"])
def test_a_tenant_or_owner_in_a_body_is_an_unknown_field(ann: Person, stranger: Person, field: str) -> None:
    error = refused(
        stranger.post("/v1/sessions", {"content": "hi", field: ann.tenant}), 400, "VALIDATION_ERROR"
    )
    assert field in error["details"]
    assert stranger.items("/v1/sessions") == []


def test_a_tenant_in_headers_or_cookies_has_no_effect_and_one_in_the_query_is_refused(
    ann: Person, stranger: Person, hers: Seen
) -> None:
    names = ("X-Tenant", "X-Tenant-Id", "Tenant", "X-Forwarded-User", "X-Amzn-Oidc-Data", "Cookie")
    forged = {name: f"tenant={ann.tenant}" if name == "Cookie" else ann.tenant for name in names}
    assert stranger.get("/v1/sessions", forged).json()["data"]["items"] == []
    path = f"/v1/sessions/{hers.session['session_id']}"
    refused(stranger.get(path, forged), 404, "SESSION_NOT_FOUND")
    for asked in ("/v1/sessions", path):
        error = refused(
            stranger.get(asked, forged, tenant=ann.tenant, tenant_id=ann.tenant), 400, "VALIDATION_ERROR"
        )
        assert set(error["details"]) == {"tenant", "tenant_id"}


def test_two_authorizations_in_one_request_open_nothing(
    deployed: Deployed, ann: Person, stranger: Person
) -> None:
    """Whichever the gateway reads, only a signed token counts, and never two of them."""
    ann.put_file("secret.txt", "hers")
    both = [("Authorization", f"Bearer {stranger.token}"), ("Authorization", f"Bearer {ann.token}")]
    answer = checked(httpx.get(f"{deployed.url}/v1/files", headers=both, trust_env=False))
    assert answer.status_code in (200, 401)
    if answer.status_code == 200:
        assert answer.json()["data"]["items"] == []


def test_a_listing_s_cursor_is_worth_nothing_to_another_tenant(ann: Person, stranger: Person) -> None:
    ids = [ann.start() for _ in range(3)]
    cursor = ann.data("/v1/sessions", limit=1)["next_cursor"]
    answer = stranger.get("/v1/sessions", limit=1, cursor=cursor)
    refused(answer, 400, "VALIDATION_ERROR")
    assert not any(session_id in answer.text for session_id in ids)


@pytest.mark.parametrize(
    ("tenant", "like_it"),
    [("a", "a.b"), ("a:b", "a"), ("Acme", "acme"), ("a@b", "a@b.example"), ("x" * 128, "x" * 127)],
)
def test_tenants_whose_names_begin_alike_are_kept_apart(admit: Admit, tenant: str, like_it: str) -> None:
    hers, other = admit(tenant), admit(like_it)
    hers.put_file("one.txt", "hers")
    session_id = hers.start()
    assert other.files() == set()
    assert other.items("/v1/sessions") == []
    refused(other.get(f"/v1/sessions/{session_id}"), 404, "SESSION_NOT_FOUND")
    assert hers.snapshot(session_id)["state"] == "idle"
    assert hers.delete(f"/v1/sessions/{session_id}").status_code == 204
    assert hers.delete("/v1/files/one.txt").status_code == 204
