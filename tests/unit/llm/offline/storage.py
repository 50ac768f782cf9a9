"""What the agent finds in its storage."""

from tests.unit.llm.offline.agent import Agent

DEMO = "List all files in my storage, summarize each, and write the summary to summary.md"

STORAGE = {
    "notes.md": "# Project Acta\n\nActa runs agents on AWS. The launch is planned for March 2027 in 3 regions.\n\n"
    "## Risks\n\n- The budget may not suffice for all regions.\n- The team needs two more engineers.\n",
    "sales.csv": "month,revenue,region\nJan,1200,EU\nFeb,1500,EU\nMar,900,US\n",
    "config.json": '{"name": "acta", "retries": 3, "tags": ["a", "b"]}',
    "todo.txt": "Buy milk for the office\nCall the electrician about the kitchen lights\n",
    "empty.txt": "",
}


def agent(**files: str) -> Agent:
    return Agent(dict(STORAGE) | files)
