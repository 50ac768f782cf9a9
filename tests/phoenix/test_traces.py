"""A receiver that nobody here wrote takes the spans of the deployed stack: it shows one whole tree, each span once."""

import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from acta.engine.store.keys import key_part, tenant_part
from acta.engine.traces.queue import TraceQueue
from acta.engine.traces.spans import CommitName
from acta.engine.usage.store import UsagePartition
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import PATIENCE_SECONDS, Person
from tests.e2e.support.traced import deletes_a_file, expected, exporting, queue_url
from tests.phoenix.server import LOOK_SECONDS, Phoenix


@pytest.fixture(scope="module", autouse=True)
def exported(behind: Behind, phoenix: Phoenix) -> Iterator[None]:
    with exporting(behind, phoenix.traces_url):
        yield


def arrived(phoenix: Phoenix, session_id: str, count: int) -> list[dict[str, Any]]:
    """As soon as there are so many, or as they are when patience ends."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        found = phoenix.spans(session_id)
        if len(found) >= count or time.monotonic() > deadline:
            return found
        time.sleep(LOOK_SECONDS)


def is_tree(found: list[dict[str, Any]]) -> bool:
    ids = {span["context"]["span_id"] for span in found}
    roots = [span for span in found if span["parent_id"] is None]
    return (
        len(ids) == len(found)
        and len(roots) == 1
        and all(span["parent_id"] in ids for span in found if span is not roots[0])
    )


def replay(behind: Behind, person: Person, session_id: str, commits: int) -> None:
    """As a stream that brings everything again. Returns when the queue is empty."""
    url, sqs = queue_url(behind), behind.client("sqs")
    partition = UsagePartition(tenant_part(person.tenant), key_part(session_id))
    TraceQueue(url, sqs).put(CommitName(partition, number) for number in range(1, commits + 1))
    counts = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    deadline = time.monotonic() + PATIENCE_SECONDS
    while any(
        int(count)
        for count in sqs.get_queue_attributes(QueueUrl=url, AttributeNames=counts)["Attributes"].values()
    ):
        assert time.monotonic() < deadline, "the queue does not become empty"
        time.sleep(LOOK_SECONDS)


def test_a_session_is_one_whole_tree_and_a_replay_adds_nothing(
    behind: Behind, phoenix: Phoenix, admit: Admit
) -> None:
    ann = admit()
    session_id = deletes_a_file(ann)
    names = expected(ann, session_id)
    found = arrived(phoenix, session_id, names.total())
    assert Counter(span["name"] for span in found) == names
    assert is_tree(found)
    kinds = {span["name"].split(" ")[0]: span["span_kind"] for span in found}
    assert (kinds["chat"], kinds["execute_tool"], kinds["invoke_agent"]) == ("LLM", "TOOL", "AGENT")
    assert {span["attributes"]["session.id"] for span in found} == {session_id}, "it knows the conversation"

    last = max(span["attributes"]["acta.commit"] for span in found)
    replay(behind, ann, session_id, last)
    assert phoenix.spans(session_id) == found
