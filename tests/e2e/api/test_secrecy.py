"""What people write and keep is in no log line: only ids, counts, states and durations are."""

import json

from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Person

MARKERS = {
    "message": "marker-in-the-message",
    "file": "marker-in-the-file",
    "name": "marker-in-the-name",
    "comment": "marker-in-the-comment",
    "metadata": "marker-in-the-metadata",
    "query": "marker-in-the-query",
    "wrong": "marker-in-a-wrong-body",
}


def test_no_log_line_of_any_function_has_content_of_a_session_in_it(ann: Person, behind: Behind) -> None:
    path = f"{MARKERS['name']}.txt"
    ann.put_file(path, f"{MARKERS['file']}. And some more text.")
    ann.put_file(f"{MARKERS['message']}.txt", "to be replaced, which a person approves")
    goal = f'use read_file with {{"path": "{path}"}} and write the result to {MARKERS["message"]}.txt'
    seen = ann.asked(ann.start(goal, metadata={"a": MARKERS["metadata"]}))
    session_id, (asked,) = seen.session["session_id"], seen.session["interventions"]
    ann.resolve(session_id, asked["intervention_id"], "approve", comment=MARKERS["comment"])
    seen = ann.finished(session_id)
    assert seen.session["state"] == "completed"
    for rest in ("messages", "plan", "steps", "trace", "events", "interventions"):
        ann.get(f"/v1/sessions/{session_id}/{rest}")
    ann.get("/v1/files", prefix=MARKERS["query"])
    ann.get(f"/v1/sessions/{MARKERS['query']}")
    ann.get("/v1/sessions", state=MARKERS["query"])
    for body in ('{"content": "' + MARKERS["wrong"], json.dumps({MARKERS["wrong"]: MARKERS["wrong"]})):
        ann.http.post("/v1/sessions", content=body, headers={"Content-Type": "application/json"})
    ann.resolve(session_id, "int_x", MARKERS["wrong"], comment=MARKERS["wrong"])

    lines = behind.log_lines()

    assert any(session_id in line for line in lines), "the session's own lines are there"
    assert [line for line in lines if "marker-in" in line] == []
    assert [line for line in lines if ann.token in line or ann.token.split(".")[1] in line] == []


def test_every_line_about_a_session_is_json_and_of_one_that_went_well_none_is_an_error(
    ann: Person, behind: Behind
) -> None:
    session_id = ann.finished(ann.start("List my files")).session["session_id"]
    lines = [line for line in behind.log_lines() if session_id in line]
    assert {json.loads(line)["level"] for line in lines} == {"INFO"}


def test_no_answer_names_what_is_behind_the_api(ann: Person, behind: Behind) -> None:
    ann.put_file("a.txt", "text")
    session_id = ann.finished(ann.start("List my files")).session["session_id"]
    answers = [
        ann.get(f"/v1/sessions/{session_id}{rest}").text
        for rest in ("", "/events", "/messages", "/plan", "/steps", "/trace", "/interventions")
    ]
    answers += [
        ann.get("/v1/sessions/x").text,
        ann.post("/v1/sessions", {"x": 1}).text,
        ann.get("/nothing").text,
    ]
    hidden = (
        "arn:aws",
        "task_token",
        "ACTA_",
        "Traceback",
        ".py",
        behind.settings["ACTA_TABLE"],
        "acta-local",
    )
    for text in answers:
        assert [word for word in hidden if word in text] == []
