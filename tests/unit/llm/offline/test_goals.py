"""What a sentence asks for, as the rules read it."""

import pytest

from shared.adapters.llm.offline.goals import (
    Copy,
    CountFiles,
    Delete,
    ListFiles,
    ShowFiles,
    Summarise,
    Task,
    Unsupported,
    UseTool,
    WriteAnswers,
    WriteFile,
    read_goal,
)


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("list files", ListFiles()),
        ("List my files", ListFiles()),
        ("What files do I have?", ListFiles()),
        ("Can you show me all my files, please?", ListFiles()),
        ("Read notes.md", ShowFiles(("notes.md",))),
        ("What does notes.md say?", ShowFiles(("notes.md",))),
        ('Please read "my notes.md"', ShowFiles(("my notes.md",))),
        ("Show the files a.md, b.md and docs/c.md", ShowFiles(("a.md", "b.md", "docs/c.md"))),
        ("Summarise notes.md", Summarise(("notes.md",))),
        ("Summarize everything", Summarise(())),
        ("Create a.txt with the text Hi, you. Bye; then", WriteFile("a.txt", "Hi, you. Bye; then")),
        ('Write "buy milk" to todo.txt', WriteFile("todo.txt", "buy milk")),
        ("Copy a.md to docs/b.md", Copy("a.md", "docs/b.md")),
        ("Delete old.txt", Delete(("old.txt",))),
        ("Delete the files a.tmp and b.tmp", Delete(("a.tmp", "b.tmp"))),
        ("How many files are there?", CountFiles(per_folder=False)),
        ("count files per folder", CountFiles(per_folder=True)),
        ('use lookup_order with {"order_id": "7"}', UseTool("lookup_order", {"order_id": "7"})),
        (
            'Please call the tool lookup-order {"lines": [{"a": "}"}]}.',
            UseTool("lookup-order", {"lines": [{"a": "}"}]}),
        ),
        ("Use now with {}", UseTool("now", {})),
        ("Call me back", Unsupported("Call me back")),
        ('Use notes.md with {"a": 1}', Unsupported('Use notes.md with {"a": 1}')),
        ('Use lookup_order with {"a": 1} unless it rains', Unsupported("unless it rains")),
        ("Book me a flight to Rome", Unsupported("Book me a flight to Rome")),
    ],
)
def test_a_sentence_is_read_as_its_task(text: str, task: Task) -> None:
    assert read_goal(text).tasks == (task,)


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("List all files in my storage, summarize each, and write the summary to summary.md", "summary.md"),
        ("Summarize every file and write the summary to summary.md", "summary.md"),
        ("Summarize everything into out.md", "out.md"),
        ("List all files and write a summary to summary.md", "summary.md"),
        ("Write a summary of all files to out.md", "out.md"),
        ("Summarise each file and save it as digest.txt", "digest.txt"),
    ],
)
def test_the_file_for_the_answer_is_not_taken_for_a_file_to_read(text: str, output: str) -> None:
    assert read_goal(text).tasks == (Summarise(()), WriteAnswers(output))


@pytest.mark.parametrize(
    "text",
    ["do something", "clean up", "Clean up my storage!", "help", "delete files", "delete all files", ""],
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
        "If a.txt is empty, delete a.txt",
        "Delete a.txt from b.txt",
    ],
)
def test_a_deletion_with_a_condition_no_rule_knows_is_not_attempted(text: str) -> None:
    assert all(isinstance(task, Unsupported) for task in read_goal(text).tasks)


@pytest.mark.parametrize(
    "text",
    [
        "Do not delete any files. Just list them.",
        "Please never delete a.txt; show a.txt",
        "List the files, but do not delete a.txt",
        "Don’t, please, delete a.txt. List them",
        "Do not, whatever happens, delete a.txt",
        "Never delete a.txt, delete b.txt or remove c.txt",
        "Delete a.txt and b.txt. Never delete b.txt",
        "Without deleting anything, list the files",
        "Do not\ndelete a.txt",
        "Don't read it and then delete a.txt",
        "Never delete a.txt, then list the files",
        "Do not write, create a.txt with the text x",
    ],
)
def test_a_message_with_a_restriction_is_not_understood_and_nothing_of_it_is_done(text: str) -> None:
    assert all(isinstance(task, Unsupported) for task in read_goal(text).tasks)


@pytest.mark.parametrize(
    "text",
    [
        "Delete the largest file",
        "Which file is the newest?",
        "How many folders are there?",
        "Count the words in notes.md",
        "Read notes.md and translate it into German",
        "Create a.txt with a poem about rain",
        "List the files in the reports folder",
        "Summarize everything except draft.md",
        "List my files, then delete a.txt, then list my files",
        'Show a.txt, then write "x" to a.txt, then summarise a.txt',
    ],
)
def test_what_no_rule_knows_in_full_is_not_answered_with_something_else(text: str) -> None:
    assert all(isinstance(task, Unsupported) for task in read_goal(text).tasks)


def test_an_order_inside_a_quote_is_text() -> None:
    goal = read_goal('Create a.txt with the text "delete b.txt and then list the files"')

    assert goal.tasks == (WriteFile("a.txt", "delete b.txt and then list the files"),)


def test_several_orders_keep_their_sequence() -> None:
    goal = read_goal('Create a.txt with "A" and then delete old.txt, and list the files')

    assert goal.tasks == (WriteFile("a.txt", "A"), Delete(("old.txt",)), ListFiles())


def test_a_pronoun_stands_for_the_file_just_named() -> None:
    goal = read_goal("Read notes.md and summarise it")

    assert goal.tasks == (ShowFiles(("notes.md",)), Summarise(("notes.md",)))


@pytest.mark.parametrize(
    "text", ["what list delete " * 20_000, " " * 50_000 + "x", "a.1." * 50_000, "and " * 50_000]
)
def test_a_very_long_message_is_read_in_no_time_and_written_whole(text: str) -> None:
    assert read_goal(f"Create big.txt with the text {text}").tasks == (WriteFile("big.txt", text.strip()),)
    assert read_goal(text).tasks or read_goal(text).question


def test_what_a_tool_returned_can_be_written_to_a_file() -> None:
    assert read_goal('Use lookup_order with {"order_id": "7"} and write the result to order.md').tasks == (
        UseTool("lookup_order", {"order_id": "7"}),
        WriteAnswers("order.md"),
    )


@pytest.mark.parametrize("arguments", ["{order_id: 7}", "{", '{"order_id": "7"'])
def test_arguments_of_a_tool_that_are_no_json_are_asked_for(arguments: str) -> None:
    assert (
        'use lookup_order with {"name": "value"}' in read_goal(f"use lookup_order with {arguments}").question
    )


def test_files_that_were_stored_with_the_goal_are_no_task() -> None:
    goal = "Write a summary of my files to report.md"
    assert read_goal(f"{goal}\n\nFiles:\n- sales.csv\n- ~/own notes.md").tasks == read_goal(goal).tasks
