"""`offline` in the real runtime: none of its plan updates is refused, and people are asked where they must be."""

import pytest

from shared.adapters.llm.offline.model import OfflineModel
from tests.in_process.house import TENANT, House
from tests.unit.llm.offline.storage import DEMO, STORAGE


def house(**more: bytes) -> House:
    made = House(OfflineModel())
    for path, text in STORAGE.items():
        made.files.write(TENANT, path, text.encode())
    for path, data in more.items():
        made.files.write(TENANT, path, data)
    return made


def finished(made: House, session_id: str, *, goal_met: bool = True) -> str:
    """The answer; nothing the model did was refused, and it needed no hint."""
    head = made.head(session_id)
    assert head.state == "completed"
    assert head.result is not None
    assert head.result.goal_met is goal_met
    kinds = [seen.event.type for seen in made.poll(session_id).events]
    assert "plan.rejected" not in kinds
    assert "hint.injected" not in kinds
    return head.result.answer or ""


def test_the_demo_goal_runs_through() -> None:
    made = house(**{"pic.png": b"\x89PNG\xff\x00", "docs/a b.md": "Kurz, aber mit Umläuten: äöü.".encode()})
    session = made.start(DEMO).session_id
    made.run()

    answer = finished(made, session)
    page = made.files.read(TENANT, "summary.md").decode()
    assert answer.startswith("Created summary.md")
    assert all(f"## {path}" in page for path in [*STORAGE, "pic.png", "docs/a b.md"])
    assert "pic.png is a PNG image" in page


@pytest.mark.parametrize(("option", "left"), [("approve", False), ("reject", True)])
def test_deleting_waits_for_a_person_and_takes_either_word(option: str, left: bool) -> None:
    made = house(**{"old.tmp": b"x"})
    session = made.start("Delete old.tmp").session_id
    made.run()
    asked = made.head(session).interventions
    assert [one.type for one in asked] == ["approval_required"]

    made.resolve(session, asked[0], option)
    made.run()

    assert "old.tmp" in finished(made, session, goal_met=option == "approve")
    assert ("old.tmp" in [file.path for file in made.files.list(TENANT, "", 100).files]) is left


def test_a_vague_goal_waits_for_an_answer_and_works_it() -> None:
    made = house()
    session = made.start("clean up").session_id
    made.run()
    assert made.head(session).interventions[0].type == "clarification_needed"

    made.say(session, "How many files are there?")
    made.run()

    assert finished(made, session).startswith("5 files")


def test_a_text_longer_than_a_plan_holds_is_written_whole() -> None:
    text = "lorem ipsum " * 500
    made = house()
    session = made.start(f"Create long.txt with the text {text}").session_id
    made.run()

    finished(made, session)
    assert made.files.read(TENANT, "long.txt").decode() == text.strip()


@pytest.mark.parametrize(
    "text", ["no newline", "one newline\n", "two\n\n", "", "--- end of file: a.md ---\nmore"]
)
def test_a_copy_is_exact(text: str) -> None:
    made = house(**{"a.md": text.encode()})
    session = made.start("copy a.md to b.md").session_id
    made.run()

    finished(made, session)
    assert made.files.read(TENANT, "b.md") == text.encode()


def test_one_session_takes_goal_after_goal() -> None:
    made = house()
    session = made.start("Create a.txt with the text one").session_id
    made.run()
    for goal, answer in [
        ("copy a.txt to b.txt", "Copied"),
        ("Show b.txt", "    one"),
        ("count my files", "7 files"),
    ]:
        made.say(session, goal)
        made.run()
        assert answer in finished(made, session)


def test_a_summary_of_a_large_file_says_how_much_of_it_was_read() -> None:
    made = house(**{"big.txt": b"A sentence about many whales. " * 100_000})
    session = made.start("Summarize big.txt").session_id
    made.run()

    assert "the first 65,536 of 3,000,000 bytes" in finished(made, session)


@pytest.mark.parametrize(
    "goal",
    [
        "Book me a flight to Rome",
        "Write me a poem",
        "Translate notes.md into German",
        "Read missing.md",
        "Summarize missing.md",
        "Read ../secret.txt",
        'Write "x" to ../secret.txt',
        "Delete the largest file",
        "Copy missing.md to there.md",
        "Read notes.md and missing.md",
    ],
)
def test_what_could_not_be_read_leaves_the_goal_unmet_and_its_step_says_why(goal: str) -> None:
    made = house()
    session = made.start(goal).session_id
    made.run()

    finished(made, session, goal_met=False)
    plan = made.head(session).plan
    assert plan is not None
    assert any(step.status == "failed" and step.result for step in plan.steps)


def test_a_deletion_that_nobody_approved_in_time_leaves_the_goal_unmet() -> None:
    made = house()
    session = made.start("Delete todo.txt").session_id
    made.run()
    made.clock.advance(made.settings.approval_timeout_seconds + 1)
    made.time_out(session)
    made.run()

    assert "todo.txt was not deleted" in finished(made, session, goal_met=False)
    assert made.files.read(TENANT, "todo.txt")


def test_one_unreadable_file_of_many_leaves_the_goal_met() -> None:
    made = house(**{"pic.png": b"\x89PNG\xff\x00"})
    session = made.start("List all files and write a summary to summary.md").session_id
    made.run()

    finished(made, session)
    page = made.files.read(TENANT, "summary.md").decode()
    assert "Headings: Project Acta; Risks." in page
    assert "Could not be read" in page


def test_files_that_cannot_be_read_give_no_summary() -> None:
    made = House(OfflineModel())
    made.files.write(TENANT, "pic.png", b"\x89PNG\xff\x00")
    session = made.start(DEMO).session_id
    made.run()

    finished(made, session, goal_met=False)


def test_the_demo_goal_over_a_large_file_stays_within_the_usual_budget() -> None:
    made = House(OfflineModel())
    made.files.write(TENANT, "big.txt", b"A sentence about many whales. " * 100_000)
    session = made.start(DEMO, token_budget=50_000).session_id
    made.run()

    assert "summary.md" in finished(made, session)
    assert "first 65,536 of 3,000,000 bytes" in made.files.read(TENANT, "summary.md").decode()
