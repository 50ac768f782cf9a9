"""The scenarios that the `offline` provider, which is no LLM, can work by itself on the deployed loop."""

from tests.e2e.support.person import Person
from tests.e2e.support.stage import asked_for, statuses

FOLDERS = {"reports/may.txt": "May", "reports/june.txt": "June", "notes/a.md": "a", "top.txt": "top"}
MANY = 30


def test_a_simple_listing(ann: Person) -> None:
    for path, text in FOLDERS.items():
        ann.put_file(path, text)
    seen = ann.finished(ann.start("List my files"))
    assert seen.session["result"]["goal_met"] is True
    assert all(path in seen.session["result"]["answer"] for path in FOLDERS)


def test_a_count_per_folder_in_several_steps(ann: Person) -> None:
    for path, text in FOLDERS.items():
        ann.put_file(path, text)
    seen = ann.finished(ann.start("Count the files in each folder and write the counts to counts.md"))
    assert statuses(seen) == ["completed"] * len(seen.session["plan"]["steps"])
    assert len(statuses(seen)) >= 3
    counts = ann.file("counts.md")
    assert "reports: 2 files" in counts
    assert "notes: 1 file" in counts


def test_what_is_unclear_is_asked_answered_and_done(ann: Person) -> None:
    session_id = ann.asked(ann.start("Do something")).session["session_id"]
    goal = "Create the file made.txt with the text one line"
    assert ann.post(f"/v1/sessions/{session_id}/messages", {"content": goal}).status_code == 202
    seen = ann.finished(session_id)
    assert asked_for(seen) == ["clarification_needed"]
    assert seen.session["result"]["goal_met"] is True
    assert ann.file("made.txt") == "one line"


def test_a_large_task_ends_at_five_turns_with_what_it_has(ann: Person) -> None:
    for number in range(MANY):
        ann.put_file(f"part-{number:02}.txt", f"This is part {number}. It says little.\n")
    goal = "Summarize every file and write the summary to summary.md"
    seen = ann.finished(ann.start(goal, max_steps=5))
    assert (seen.session["state"], seen.session["run"]["iteration"]) == ("completed", 5)
    assert (seen.session["result"]["goal_met"], seen.session["result"]["reason"]) == (False, "max_steps")
    assert seen.session["result"]["answer"]
    assert statuses(seen)[0] == "completed"
    assert "pending" in statuses(seen)
    assert seen.of("tool.finished")


def test_what_cannot_be_done_is_said_and_is_no_goal_met(ann: Person) -> None:
    seen = ann.finished(ann.start("Book me a flight to Rome"))
    assert seen.session["result"]["goal_met"] is False
    assert statuses(seen) == ["failed"]
    assert "no language model" in seen.session["result"]["answer"]
