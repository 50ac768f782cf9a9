"""`Idempotency-Key`: a request that is sent again does nothing again."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Person, refused
from tests.e2e.support.samples import DELETION, OLD

AT_ONCE = 10


def test_a_start_sent_again_gets_the_same_answer_and_makes_one_session(ann: Person, behind: Behind) -> None:
    body = {"content": "List my files"}
    first = ann.post("/v1/sessions", body, Idempotency_Key="k-1")
    session_id = first.json()["data"]["session_id"]
    ann.finished(session_id)

    again = ann.post("/v1/sessions", body, Idempotency_Key="k-1")

    assert (again.status_code, again.json()) == (202, first.json())
    assert again.headers["location"] == first.headers["location"]
    assert [session["session_id"] for session in ann.items("/v1/sessions")] == [session_id]
    assert len(behind.executions(session_id)) == 1


def test_what_is_sent_again_after_the_session_was_deleted_gets_its_id_alone(ann: Person) -> None:
    body = {"content": "List my files"}
    first = ann.post("/v1/sessions", body, Idempotency_Key="k-1")
    session_id = first.json()["data"]["session_id"]
    ann.finished(session_id)
    path = f"/v1/sessions/{session_id}/messages"
    assert ann.post(path, {"content": "Again"}, Idempotency_Key="k-2").status_code == 202
    assert ann.delete(f"/v1/sessions/{session_id}").status_code == 204

    again = ann.post("/v1/sessions", body, Idempotency_Key="k-1")
    said_again = ann.post(path, {"content": "Again"}, Idempotency_Key="k-2")

    gone = {"success": True, "data": {"session_id": session_id}}
    assert (again.status_code, again.json()) == (202, gone)
    assert (said_again.status_code, said_again.json()) == (202, gone)
    assert ann.items("/v1/sessions") == []


def test_starts_sent_ten_times_at_once_make_one_session_and_one_execution(
    ann: Person, behind: Behind
) -> None:
    def start(_: int) -> str:
        answer = ann.post("/v1/sessions", {"content": "List my files"}, Idempotency_Key="at-once")
        assert answer.status_code == 202, answer.text
        return str(answer.json()["data"]["session_id"])

    with ThreadPoolExecutor(AT_ONCE) as pool:
        (session_id,) = set(pool.map(start, range(AT_ONCE)))

    assert [session["session_id"] for session in ann.items("/v1/sessions")] == [session_id]
    assert ann.finished(session_id).session["state"] == "completed"
    assert len(behind.executions(session_id)) == 1


def test_a_cancel_sent_again_gets_the_same_answer(ann: Person) -> None:
    path = f"/v1/sessions/{ann.start()}/cancel"
    first, again = (ann.post(path, Idempotency_Key="k") for _ in range(2))
    assert first.json()["data"]["in_flight"] == []
    assert (again.status_code, again.json()) == (202, first.json())


def test_a_key_with_another_body_is_refused_and_does_nothing(ann: Person) -> None:
    ann.post("/v1/sessions", {"metadata": {"a": "1"}}, Idempotency_Key="k")
    refused(
        ann.post("/v1/sessions", {"metadata": {"a": "2"}}, Idempotency_Key="k"), 422, "IDEMPOTENCY_MISMATCH"
    )
    assert len(ann.items("/v1/sessions")) == 1


def test_a_key_is_its_tenant_s_and_its_route_s_own(ann: Person, admit: Admit) -> None:
    stranger = admit()
    own = ann.post("/v1/sessions", Idempotency_Key="k").json()["data"]["session_id"]
    assert stranger.post("/v1/sessions", Idempotency_Key="k").json()["data"]["session_id"] != own
    other = ann.start()
    for session_id in (own, other):
        answer = ann.post(
            f"/v1/sessions/{session_id}/messages", {"content": "List my files"}, Idempotency_Key="k"
        )
        assert answer.json()["data"]["session_id"] == session_id
        assert ann.finished(session_id).session["state"] == "completed"


def test_a_refused_request_leaves_its_key_free(ann: Person) -> None:
    refused(ann.post("/v1/sessions", {"max_steps": 0}, Idempotency_Key="k"), 400, "VALIDATION_ERROR")
    assert ann.post("/v1/sessions", {"max_steps": 1}, Idempotency_Key="k").status_code == 202


@pytest.mark.parametrize("key", ["", "x" * 256, "a\tb"])
def test_a_key_that_cannot_be_one_is_refused(ann: Person, key: str) -> None:
    error = refused(ann.post("/v1/sessions", Idempotency_Key=key), 400, "VALIDATION_ERROR")
    assert "Idempotency-Key" in error["details"]
    assert ann.items("/v1/sessions") == []


def test_a_message_sent_again_is_said_once(ann: Person) -> None:
    session_id = ann.start()
    path, body = f"/v1/sessions/{session_id}/messages", {"content": "List my files"}

    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(lambda _: ann.post(path, body, Idempotency_Key="m"), range(AT_ONCE)))

    assert {answer.status_code for answer in answers} == {202}
    seen = ann.finished(session_id)
    assert len(seen.of("message.user")) == len(seen.of("run.started")) == 1
    refused(ann.post(path, {"content": "Other"}, Idempotency_Key="m"), 422, "IDEMPOTENCY_MISMATCH")
    assert ann.post(path, body, Idempotency_Key="m").status_code == 202
    assert ann.snapshot(session_id)["last_seq"] == seen.session["last_seq"]


def test_a_decision_sent_again_is_answered_with_the_one_that_was_made(ann: Person) -> None:
    ann.put_file(OLD, "old")
    seen = ann.asked(ann.start(DELETION))
    session_id, (asked,) = seen.session["session_id"], seen.session["interventions"]
    path = f"/v1/sessions/{session_id}/interventions/{asked['intervention_id']}/resolve"

    def approve(_: int) -> tuple[int, str]:
        answer = ann.post(path, {"option": "approve"}, Idempotency_Key="d")
        return answer.status_code, answer.json()["data"]["resolution"]

    with ThreadPoolExecutor(AT_ONCE) as pool:
        assert set(pool.map(approve, range(AT_ONCE))) == {(200, "approve")}

    seen = ann.finished(session_id)
    assert len(seen.of("intervention.resolved")) == len(seen.of("tool.started")) == 1
    refused(ann.post(path, {"option": "reject"}, Idempotency_Key="d"), 422, "IDEMPOTENCY_MISMATCH")
    refused(ann.post(path, {"option": "approve"}), 409, "CONFLICT")
