"""What the person of the sweep sees of a session: all of it, however many pages it has."""

import json

from tests.faults.calls import SINK, Answer, Request
from tests.faults.person import Insistent
from tests.faults.point import FaultPoint
from tests.faults.server import FaultyServer

EVENTS = {
    "0": {"session": {"state": "planning"}, "events": [1, 2], "cursor": "1.2", "has_more": True},
    "1.2": {"session": {"state": "completed"}, "events": [3], "cursor": "2.3", "has_more": False},
}
ROWS = {
    "0": {"items": [{"n": 1}], "next_cursor": "7"},
    "7": {"items": [{"n": 2}, {"n": 3}], "next_cursor": None},
}


def answered(request: Request) -> Answer:
    path, _, query = request.path.partition("?")
    cursor = query.partition("=")[2] or "0"
    pages: dict[str, dict[str, object]] = {"/session": EVENTS, "/session/steps": ROWS}[path]  # type: ignore[assignment]
    return Answer(200, {}, json.dumps({"data": pages[cursor]}).encode())


def test_the_events_and_rows_of_all_pages_are_seen_and_the_session_as_it_is_last() -> None:
    server = FaultyServer(SINK, FaultPoint(), answered)
    person = Insistent(server.url, "token")
    try:
        seen, rows = person.snapshot("/session"), person.rows("/session/steps")
    finally:
        person.http.close()
        server.stop()
    assert (seen["events"], seen["session"]) == ([1, 2, 3], {"state": "completed"})
    assert [row["n"] for row in rows] == [1, 2, 3]
