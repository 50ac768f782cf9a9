"""`offline` doing real work: one task after the other."""

import pytest

from tests.unit.llm.offline.agent import Agent
from tests.unit.llm.offline.storage import STORAGE, agent


def test_deleting_asks_by_calling_and_a_yes_deletes() -> None:
    run = agent(**{"a.tmp": "1", "b.tmp": "2"}).run("list my files, then delete a.tmp and b.tmp")

    assert run.state == "completed"
    assert set(run.files) == set(STORAGE)
    assert "Deleted a.tmp. Deleted b.tmp." in run.answer
    steps = run.calls("update_plan")[0]["steps"]
    assert [step["requires_permission"] for step in steps] == [False, True]


def test_a_rejected_deletion_fails_its_step_is_reported_and_is_not_tried_again() -> None:
    run = agent(**{"a.tmp": "1", "b.tmp": "2"})
    run.approve = lambda path: path == "a.tmp"
    run.run("Delete a.tmp, then delete b.tmp, then list the files")

    assert run.state == "completed"
    assert "b.tmp" in run.files
    assert [step.status for step in run.plan or []] == ["completed", "failed", "completed"]
    assert "b.tmp was not deleted: rejected by a person: keep it." in run.answer
    assert len(run.calls("delete_file")) == 2


def test_a_failing_tool_fails_its_step_and_the_answer_says_why() -> None:
    run = agent().run("Read missing.md and list the files")

    assert run.state == "completed"
    assert [step.status for step in run.plan or []] == ["failed", "completed"]
    assert "missing.md could not be read: there is no file missing.md." in run.answer
    assert "notes.md" in run.answer


@pytest.mark.parametrize(
    ("goal", "path", "text"),
    [
        ("Create hello.txt with the text Hello, world", "hello.txt", "Hello, world"),
        ("Copy notes.md to copy/notes.md", "copy/notes.md", STORAGE["notes.md"].rstrip("\n")),
    ],
)
def test_writing_goals_leave_the_file_they_ask_for(goal: str, path: str, text: str) -> None:
    run = agent().run(goal)

    assert run.state == "completed"
    assert run.files[path].rstrip("\n") == text.rstrip("\n")


@pytest.mark.parametrize(("approved", "text"), [(True, "Hello"), (False, "Mine")])
def test_a_file_that_is_there_is_replaced_only_where_a_person_approves_it(approved: bool, text: str) -> None:
    run = Agent({"hello.txt": "Mine"}, approve=lambda path: approved).run(
        "Create hello.txt with the text Hello"
    )

    asks = [call.get("replace", False) for call in run.calls("create_file")]
    assert (run.state, asks) == ("completed", [False, True])
    assert run.files["hello.txt"].rstrip("\n") == text
    assert ("not written" in run.answer) == (not approved)


@pytest.mark.parametrize(
    ("goal", "answer"),
    [
        ("How many files are there?", "5 files in the storage"),
        ("Show me notes.md", "    # Project Acta"),
        ("list my files", "- sales.csv (56 bytes)"),
    ],
)
def test_a_question_about_the_storage_is_answered_from_it(goal: str, answer: str) -> None:
    run = agent().run(goal)

    assert run.state == "completed"
    assert answer in run.answer


def test_counts_by_folder_add_up() -> None:
    run = Agent({"a.md": "x", "docs/b.md": "x", "docs/c.md": "x"}).run("count files per folder")

    assert "- (top): 1 file\n- docs: 2 files" in run.answer


def test_a_goal_beyond_rules_is_declined_honestly() -> None:
    run = agent().run("Translate notes.md into German")

    assert run.state == "completed"
    assert [step.status for step in run.plan or []] == ["failed"]
    assert "takes a language model" in (run.plan or [])[0].result
    assert "no language model" in run.answer
    assert "ANTHROPIC_API_KEY" in run.answer
    assert run.calls("read_file") == []
