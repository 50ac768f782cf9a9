"""Looking at a session: cursors, entity tags, when to come again, and the event stream."""

import json

import pytest

from tests.e2e.support.person import Json, Person, Seen, carries_the_headers, refused
from tests.e2e.support.samples import DELETION, OLD


@pytest.fixture
def waiting(ann: Person) -> Seen:
    """A session that waits for an approval, so that nothing moves."""
    ann.put_file(OLD, "old")
    return ann.asked(ann.start(DELETION))


def path_of(seen: Seen, *rest: str) -> str:
    return "/".join(["/v1/sessions", seen.session["session_id"], *rest])


def sse(text: str) -> list[Json]:
    """`{"id", "event", "data"}` of each event; the stream's own fields are left out."""
    blocks = [
        dict(line.split(": ", 1) for line in block.splitlines()) for block in text.split("\n\n") if block
    ]
    return [{**block, "data": json.loads(block["data"])} for block in blocks if "data" in block]


def test_a_poll_from_the_cursor_of_the_last_answer_brings_nothing_twice(ann: Person, waiting: Seen) -> None:
    cursor = waiting.cursor
    for _ in range(3):
        page = ann.data(path_of(waiting), after=cursor)
        assert page["events"] == []
        assert page["has_more"] is False
        assert page["session"]["last_seq"] == len(waiting.events)
        cursor = page["cursor"]


def test_what_has_not_changed_is_answered_304_and_what_has_is_not(ann: Person) -> None:
    path = f"/v1/sessions/{ann.start()}"
    cursor = ann.data(path)["cursor"]
    tag = ann.get(path, after=cursor).headers["etag"]

    same = ann.get(path, {"If-None-Match": tag}, after=cursor)

    assert (same.status_code, same.content) == (304, b"")
    assert same.headers["etag"] == tag
    carries_the_headers(same)
    assert ann.get(path, {"If-None-Match": '"other"'}, after=cursor).status_code == 200
    assert ann.post(f"{path}/cancel").status_code == 202
    changed = ann.get(path, {"If-None-Match": tag}, after=cursor)
    assert changed.status_code == 200
    assert changed.headers["etag"] != tag
    assert changed.json()["data"]["events"]


def test_the_answer_says_when_to_come_again_as_long_as_something_may_happen(
    ann: Person, waiting: Seen
) -> None:
    answer = ann.get(path_of(waiting))
    pause = answer.json()["data"]["poll_after_ms"]
    assert pause > 0
    assert int(answer.headers["retry-after"]) * 1000 >= pause
    ann.post(path_of(waiting, "cancel"))
    assert "retry-after" not in ann.get(path_of(waiting)).headers


def test_a_long_poll_brings_what_happens_while_it_waits(ann: Person, waiting: Seen) -> None:
    """Woken by the decision: the answer has its event, with nothing said in between."""
    (asked,) = waiting.session["interventions"]
    assert ann.resolve(waiting.session["session_id"], asked["intervention_id"], "approve").status_code == 200

    page = ann.data(path_of(waiting), after=waiting.cursor, wait=20)

    assert page["events"][0]["seq"] == len(waiting.events) + 1
    assert "intervention.resolved" in {event["type"] for event in page["events"]}


def test_the_event_stream_has_the_same_events_and_resumes_after_the_last_event_id(
    ann: Person, waiting: Seen
) -> None:
    stream = ann.get(path_of(waiting, "events"))
    assert stream.headers["content-type"].startswith("text/event-stream")
    carries_the_headers(stream)
    assert stream.text.startswith("retry: ")
    told = sse(stream.text)
    assert [event["data"] for event in told] == waiting.events
    assert [event["event"] for event in told] == [event["type"] for event in waiting.events]
    for position in (0, len(told) // 2, len(told) - 2):
        rest = sse(ann.get(path_of(waiting, "events"), {"Last-Event-ID": told[position]["id"]}).text)
        assert [event["data"] for event in rest] == waiting.events[position + 1 :]
        after = sse(ann.get(path_of(waiting, "events"), after=told[position]["id"]).text)
        assert after == rest


def test_the_stream_of_a_session_that_has_ended_ends_at_once_and_is_empty_behind_its_last_event(
    ann: Person, waiting: Seen
) -> None:
    ann.post(path_of(waiting, "cancel"))
    last = sse(ann.get(path_of(waiting, "events")).text)[-1]
    assert last["event"] == "run.finished"
    again = ann.get(path_of(waiting, "events"), {"Last-Event-ID": last["id"]})
    assert again.status_code == 200
    assert sse(again.text) == []


@pytest.mark.parametrize(
    "cursor", ["x", "-1", "1", "1.2.3", "1.x", "01.2", "1.2 ", "9" * 40, "0.5", "\u0661.1"]
)
def test_a_cursor_that_no_answer_gave_is_refused(ann: Person, waiting: Seen, cursor: str) -> None:
    error = refused(ann.get(path_of(waiting), after=cursor), 400, "VALIDATION_ERROR")
    assert "after" in error["details"]


@pytest.mark.parametrize("wait", ["-1", "21", "x", "nan", "inf"])
def test_a_wait_outside_its_bounds_is_refused(ann: Person, waiting: Seen, wait: str) -> None:
    error = refused(ann.get(path_of(waiting), wait=wait), 400, "VALIDATION_ERROR")
    assert "wait" in error["details"]


@pytest.mark.parametrize("rest", ["messages", "steps", "trace"])
def test_a_page_cursor_that_no_answer_gave_is_refused(ann: Person, waiting: Seen, rest: str) -> None:
    for cursor in ("x", "-1", "1.5", "9" * 30, "100000", "900.900.0.0"):
        refused(ann.get(path_of(waiting, rest), cursor=cursor), 400, "VALIDATION_ERROR")
    for limit in ("0", "-1", "x", "100000"):
        refused(ann.get(path_of(waiting, rest), limit=limit), 400, "VALIDATION_ERROR")
