"""Traces on the deployed stack: commits are handed over, and an endpoint gets their spans."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Person
from tests.e2e.support.samples import DELETION, OLD

TRACES = "acta-local-traces"


@contextmanager
def exporting(behind: Behind, url: str) -> Iterator[None]:
    """The deployed mapping is off, as in every local stack that names no endpoint; meanwhile it is on."""
    queue = queue_url(behind)
    with (
        behind.configured("traces", ACTA_TRACES_URL=url),
        behind.configured("usage", ACTA_TRACES_QUEUE_URL=queue),
    ):
        mapping = mapping_of(behind)
        switch(behind, mapping, on=True)
        try:
            yield
        finally:
            switch(behind, mapping, on=False)
            behind.client("sqs").purge_queue(QueueUrl=queue)


def queue_url(behind: Behind) -> str:
    return str(behind.client("sqs").get_queue_url(QueueName=TRACES)["QueueUrl"])


def mapping_of(behind: Behind) -> str:
    found = behind.client("lambda").list_event_source_mappings(FunctionName=TRACES)["EventSourceMappings"]
    (only,) = found
    return str(only["UUID"])


def switch(behind: Behind, mapping: str, *, on: bool) -> None:
    changed: Any = behind.client("lambda").update_event_source_mapping(UUID=mapping, Enabled=on)
    assert changed["State"] in ({"Enabled", "Enabling"} if on else {"Disabled", "Disabling"})


def deletes_a_file(person: Person) -> str:
    """A session that is over: it has planned, asked a person, and run tools. Its id."""
    person.put_file(OLD, "text")
    session_id = person.start(DELETION)
    (asked,) = person.asked(session_id).session["interventions"]
    assert person.resolve(session_id, asked["intervention_id"], "approve").status_code == 200
    person.finished(session_id)
    return session_id


def expected(person: Person, session_id: str) -> Counter[str]:
    """The names of the spans that the step log calls for."""
    names = Counter({"invoke_agent default": 1})
    for row in person.items(f"/v1/sessions/{session_id}/steps"):
        if row["kind"] == "tool":
            names[f"execute_tool {row['name']}"] += 1
        elif row["kind"] in ("plan", "llm"):
            names[f"chat {row['name']}"] += 1
            names["plan default"] += row["kind"] == "plan"
        else:
            names[f"intervention {row['name']}"] += 1
    return names
