"""A few files to work on, and the demo's goal."""

from tests.e2e.support.person import Person

GOAL = "List all files in my storage, summarize each, and write the summary to summary.md"
FILES = {
    "notes.md": "# Notes\n\nThe kettle is broken. A new one was ordered on Monday.\n",
    "reports/may.txt": "Sales grew by four percent in May. The north did best.\n",
    "träume/été 1.txt": "Über den Wolken. Ein kurzer Text mit Umlauten.\n",
}
DELETION = "Delete the file old.txt"
OLD = "old.txt"


def give_files(person: Person) -> None:
    for path, text in FILES.items():
        person.put_file(path, text)
