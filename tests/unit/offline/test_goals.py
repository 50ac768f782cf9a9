"""What a sentence asks for, as the rules read it."""

import pytest

from shared.adapters.llm.offline.goals import (
    AppendTo,
    Copy,
    Count,
    Delete,
    Files,
    ListFiles,
    Search,
    ShowFiles,
    Summarise,
    Task,
    Unsupported,
    Weather,
    WriteFile,
)
from shared.adapters.llm.offline.reading_goals import read_goal


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("list files", ListFiles(Files())),
        ("What files do I have?", ListFiles(Files())),
        ("Show me the files in the reports folder", ListFiles(Files(folder="reports"))),
        ("Read notes.md", ShowFiles(Files(("notes.md",)))),
        ("What does notes.md say?", ShowFiles(Files(("notes.md",)))),
        ('Please read "my notes.md"', ShowFiles(Files(("my notes.md",)))),
        ("Summarise notes.md", Summarise(Files(("notes.md",)))),
        ("What are my notes about?", Summarise(Files())),
        ("Summarize all files except draft.md", Summarise(Files(excluded=("draft.md",)))),
        ("Create a.txt with the text Hi, you. Bye; then", WriteFile("a.txt", "Hi, you. Bye; then")),
        ('Write "buy milk" to todo.txt', WriteFile("todo.txt", "buy milk")),
        ('Append "one more" to notes.md', AppendTo("notes.md", "one more")),
        ("Add the line call Bob to todo.txt", AppendTo("todo.txt", "call Bob")),
        ("Copy a.md to docs/b.md", Copy("a.md", "docs/b.md")),
        ("Rename a.md to b.md", Copy("a.md", "b.md", move=True)),
        ("Delete old.txt", Delete(Files(("old.txt",)))),
        ("Delete all .tmp files", Delete(Files(suffixes=(".tmp",)))),
        ("delete all empty files", Delete(Files(only_empty=True))),
        ("delete everything in the archive folder", Delete(Files(folder="archive"))),
        ("Delete all files but do not delete a.md", Delete(Files(excluded=("a.md",)))),
        ("How many files are there?", Count("files", Files())),
        ("Count the words in notes.md", Count("words", Files(("notes.md",)))),
        ("count files per folder", Count("files", Files(), per_folder=True)),
        ("Find the word budget across all files", Search("budget", Files())),
        ("Which files mention Acta?", Search("Acta", Files())),
        ("find files named report", Search("report", Files(), in_names=True)),
        ("What's the weather in New York?", Weather(("New York",))),
        ("Book me a flight to Rome", Unsupported("Book me a flight to Rome")),
    ],
)
def test_a_sentence_is_read_as_its_task(text: str, task: Task) -> None:
    assert read_goal(text).tasks == (task,)


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("List all files in my storage, summarize each, and write the summary to summary.md", "summary.md"),
        ("Summarize everything into out.md", "out.md"),
        ("List all files and write a summary to summary.md", "summary.md"),
        ("Read all files and write an overview to out.md", "out.md"),
        ("Write a summary of all files to out.md", "out.md"),
        ("Summarise each file and save it as digest.txt", "digest.txt"),
    ],
)
def test_where_the_answer_goes_is_told_apart_from_what_is_read(text: str, output: str) -> None:
    goal = read_goal(text)

    assert goal.tasks == (Summarise(Files()),)
    assert goal.output == output


@pytest.mark.parametrize(
    "text", ["do something", "clean up", "Clean up my storage!", "help", "delete files", ""]
)
def test_a_vague_wish_becomes_a_question(text: str) -> None:
    goal = read_goal(text)

    assert goal.tasks == ()
    assert goal.question


@pytest.mark.parametrize(
    "text",
    [
        "delete all files older than 30 days",
        "delete a.txt if it is empty",
        "delete every file that mentions foo",
        "delete all files except the important ones",
        "Remove the file data/old report.csv",
    ],
)
def test_a_deletion_with_a_condition_no_rule_knows_is_not_attempted(text: str) -> None:
    assert all(isinstance(task, Unsupported) for task in read_goal(text).tasks)


@pytest.mark.parametrize(
    ("text", "tasks"),
    [
        ("Do not delete any files. Just list them.", (ListFiles(Files()),)),
        ("Please never delete a.txt; count the lines of it", (Count("lines", Files(("a.txt",))),)),
        ("List the files, but do not delete a.txt", (ListFiles(Files()),)),
        ("Don’t, please, delete all files. List them", (ListFiles(Files()),)),
        ("Do not, whatever happens, delete all files", ()),
        ("Never delete a.txt, delete b.txt or remove c.txt", ()),
        (
            "Delete all .txt files; do not delete b.txt",
            (Delete(Files(suffixes=(".txt",), excluded=("b.txt",))),),
        ),
        ("Delete a.txt and b.txt. Never delete b.txt", (Delete(Files(("a.txt",))),)),
        ("Without deleting anything, list the files", (ListFiles(Files()),)),
        ("Under no circumstances delete a.txt", ()),
        ("Do not also delete a.txt", ()),
        ("Do not\ndelete a.txt", ()),
        ("Don't read it and then delete a.txt", ()),
        ("Never delete a.txt, then list the files", (ListFiles(Files()),)),
    ],
)
def test_what_is_not_to_be_deleted_is_not(text: str, tasks: tuple[Task, ...]) -> None:
    assert read_goal(text).tasks == tasks


@pytest.mark.parametrize("text", ["Delete the largest file", "Which file is the newest?"])
def test_a_question_no_rule_can_answer_is_not_answered_with_another(text: str) -> None:
    assert all(isinstance(task, Unsupported) for task in read_goal(text).tasks)


def test_an_order_inside_a_quote_is_text() -> None:
    goal = read_goal('Create a.txt with the text "delete all files and then list them"')

    assert goal.tasks == (WriteFile("a.txt", "delete all files and then list them"),)


def test_several_orders_keep_their_sequence() -> None:
    goal = read_goal('Create a.txt with "A" and then delete old.txt, and list the files; do not delete b.txt')

    assert goal.tasks == (WriteFile("a.txt", "A"), Delete(Files(("old.txt",))), ListFiles(Files()))


def test_a_pronoun_stands_for_the_file_just_named() -> None:
    goal = read_goal("Read notes.md and tell me how many words it has")

    assert goal.tasks == (ShowFiles(Files(("notes.md",))), Count("words", Files(("notes.md",))))


def test_a_very_long_message_is_read_in_no_time_and_written_whole() -> None:
    text = "what list delete " * 20_000

    assert read_goal(f"Create big.txt with the text {text}").tasks == (WriteFile("big.txt", text.strip()),)
    assert read_goal(text).tasks or read_goal(text).question
