"""What cannot be right is refused in the envelope, names the field, and leaves nothing behind."""

import gzip
import json
from typing import Any

import pytest

from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Person, refused


@pytest.fixture
def nothing_left(ann: Person, behind: Behind) -> Any:
    """After the test the tenant has no session, no item and no object."""
    yield
    assert ann.items("/v1/sessions") == []
    assert behind.items_of(ann.tenant) == []
    assert behind.objects_of(ann.tenant) == []


@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("body", ["{", "[" * 5_000, '{"content": "a", "content": "b"}'])
def test_a_body_that_is_not_a_json_object_is_refused(ann: Person, body: str) -> None:
    """Every way to be none: `tests/api/test_bodies.py`."""
    answer = ann.http.post(
        "/v1/sessions", content=body.encode(), headers={"Content-Type": "application/json"}
    )
    refused(answer, 400, "VALIDATION_ERROR")


@pytest.mark.usefixtures("nothing_left")
def test_a_body_whose_bytes_are_no_utf8_is_refused_and_not_repaired(ann: Person) -> None:
    json_type = {"Content-Type": "application/json"}
    for body in (
        '{"content": "Größe"}'.encode("latin-1"),
        b'{"content": "\xf0\x9f\x98"}',
        "{}".encode("utf-16"),
    ):
        refused(ann.http.post("/v1/sessions", content=body, headers=json_type), 400, "VALIDATION_ERROR")
    packed = {**json_type, "Content-Encoding": "gzip"}
    answer = ann.http.post("/v1/sessions", content=gzip.compress(b'{"content": "hi"}'), headers=packed)
    refused(answer, 415, "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize(
    ("field", "value"),
    [("message", "x" * 10_001), ("max_steps", 1_001), ("metadata", {"a": 1}), ("unknown", 1)],
)
def test_a_field_of_a_wrong_type_or_size_is_refused_by_name(ann: Person, field: str, value: object) -> None:
    """Every field and value: `tests/api/test_bodies.py`."""
    error = refused(ann.post("/v1/sessions", {"content": "hi", field: value}), 400, "VALIDATION_ERROR")
    assert any(name == field or name.startswith(f"{field}.") for name in error["details"]), error["details"]
    assert all(isinstance(text, str) for texts in error["details"].values() for text in texts)


@pytest.mark.usefixtures("nothing_left")
def test_an_agent_nobody_defined_is_refused(ann: Person) -> None:
    error = refused(
        ann.post("/v1/sessions", {"content": "hi", "agent_id": "nobody"}), 400, "VALIDATION_ERROR"
    )
    assert "agent_id" in error["details"]


@pytest.mark.usefixtures("nothing_left")
def test_a_body_of_another_media_type_is_refused(ann: Person) -> None:
    for kind in ("text/plain", "application/xml", "application/x-www-form-urlencoded", "multipart/form-data"):
        answer = ann.http.post("/v1/sessions", content=b'{"content": "hi"}', headers={"Content-Type": kind})
        refused(answer, 415, "UNSUPPORTED_MEDIA_TYPE")


def test_the_longest_message_is_taken(ann: Person) -> None:
    session_id = ann.start()
    assert ann.post(f"/v1/sessions/{session_id}/messages", {"content": "x" * 10_001}).status_code == 400
    assert ann.snapshot(session_id)["state"] == "idle"
    assert ann.post(f"/v1/sessions/{session_id}/messages", {"content": "x " * 5_000}).status_code == 202
    ann.post(f"/v1/sessions/{session_id}/cancel")


@pytest.mark.parametrize(
    ("session_id", "code"),
    [
        ("ses_01AAAAAAAAAAAAAAAAAAAAAAAA", "SESSION_NOT_FOUND"),
        ("%20", "SESSION_NOT_FOUND"),
        ("..%2f..", "NOT_FOUND"),
        ("ses_%00", "NOT_FOUND"),
        ("T%23a", "NOT_FOUND"),
        ("é", "SESSION_NOT_FOUND"),
        ("x" * 600, "SESSION_NOT_FOUND"),
    ],
)
def test_a_session_that_does_not_exist_is_not_found_whatever_its_name(
    ann: Person, session_id: str, code: str
) -> None:
    path = f"/v1/sessions/{session_id}"
    for answer in (
        ann.get(path), ann.get(path + "/plan"), ann.get(path + "/events"), ann.get(path + "/interventions"),
        ann.post(path + "/cancel"), ann.post(path + "/messages", {"content": "hi"}), ann.delete(path),
    ):  # fmt: skip
        refused(answer, 404, code)


def test_a_path_nobody_answers_is_not_found_and_a_wrong_method_names_the_right_ones(ann: Person) -> None:
    for path in (
        "/",
        "/v1",
        "/v2/sessions",
        "/v1/session",
        "/v1/sessions/x/y/z",
        "/favicon.ico",
    ):
        refused(ann.get(path), 404, "NOT_FOUND")
    for method, path, allowed in (
        ("PUT", "/v1/sessions", "GET, POST"), ("DELETE", "/v1/sessions", "GET, POST"),
        ("PUT", "/v1/sessions/x", "DELETE, GET, PATCH"), ("GET", "/v1/sessions/x/pause", "POST"),
        ("PATCH", "/v1/files/x", "DELETE, GET, POST, PUT"), ("POST", "/healthz", "GET"),
    ):  # fmt: skip
        answer = ann.http.request(method, path)
        refused(answer, 405, "METHOD_NOT_ALLOWED")
        assert answer.headers["allow"] == allowed


def test_a_list_is_not_given_for_a_state_limit_or_cursor_that_is_none(ann: Person) -> None:
    for query in (
        {"state": "nonsense"},
        {"limit": 0},
        {"limit": 101},
        {"limit": "x"},
        {"cursor": "nonsense"},
    ):
        refused(ann.get("/v1/sessions", **query), 400, "VALIDATION_ERROR")
        if query != {"limit": 101}:
            refused(ann.get("/v1/interventions", **query), 400, "VALIDATION_ERROR")


def test_a_resolution_that_does_not_fit_is_refused_and_decides_nothing(ann: Person) -> None:
    ann.put_file("old.txt", "old")
    seen = ann.asked(ann.start("Delete the file old.txt"))
    session_id, (asked,) = seen.session["session_id"], seen.session["interventions"]
    path = f"/v1/sessions/{session_id}/interventions/{asked['intervention_id']}/resolve"
    for body in (
        {}, {"option": ""}, {"option": "maybe"}, {"option": "answer", "input": {"text": "x"}}, {"option": 1},
        {"option": "approve", "input": {"path": "x"}}, {"option": "modify"}, {"option": "modify", "input": {}},
        {"option": "modify", "input": {"path": 7}}, {"option": "modify", "input": {"path": "a", "more": 1}},
        {"option": "approve", "comment": "x" * 2_001}, {"option": "approve", "comment": "a\0"},
        {"option": "approve", "resolved_by": "ben"}, {"option": "modify", "input": []},
    ):  # fmt: skip
        refused(ann.post(path, body), 400, "VALIDATION_ERROR")
    refused(ann.resolve(session_id, "int_unknown", "approve"), 404, "INTERVENTION_NOT_FOUND")
    assert ann.snapshot(session_id)["interventions"] == [asked]
    assert ann.file("old.txt") == "old"


def test_a_body_above_the_gateway_s_limit_is_refused_and_below_it_by_acta(
    ann: Person, behind: Behind
) -> None:
    large = json.dumps({"content": "x" * 1_000_000}).encode()
    answer = ann.http.post("/v1/sessions", content=large, headers={"Content-Type": "application/json"})
    refused(answer, 400, "VALIDATION_ERROR")
    too_large = ann.http.post("/v1/sessions", content=b"x" * (10 * 1024 * 1024 + 1))
    assert too_large.status_code == 413
    assert behind.items_of(ann.tenant) == []
