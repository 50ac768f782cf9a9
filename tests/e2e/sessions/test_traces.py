"""Traces of a deployment: an endpoint gets a session's whole tree, each span once, however often it had to be asked."""

from collections import Counter
from collections.abc import Iterator

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.doubles.otlp import OtlpEndpoint, attributes, is_tree
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import PATIENCE_SECONDS
from tests.e2e.support.traced import deletes_a_file, expected, exporting


@pytest.fixture(scope="module")
def endpoint() -> Iterator[OtlpEndpoint]:
    with OtlpEndpoint() as served:
        yield served


@pytest.fixture(scope="module", autouse=True)
def exported(behind: Behind, endpoint: OtlpEndpoint) -> Iterator[None]:
    with exporting(behind, endpoint.url):
        yield


@pytest.fixture(autouse=True)
def receiving(endpoint: OtlpEndpoint) -> Iterator[None]:
    yield
    endpoint.taken.status = 200


def tree(endpoint: OtlpEndpoint, session_id: str, spans: int) -> dict[bytes, Span]:
    """As soon as there are so many of the session, or as they are when patience ends."""
    endpoint.taken.wait_for(lambda: len(endpoint.taken.once(session_id)) >= spans, PATIENCE_SECONDS)
    return endpoint.taken.once(session_id)


def test_the_tree_of_a_session_arrives_whole(endpoint: OtlpEndpoint, admit: Admit) -> None:
    ann = admit()
    session_id = deletes_a_file(ann)
    session = ann.snapshot(session_id)
    names = expected(ann, session_id)
    found = tree(endpoint, session_id, names.total())
    assert Counter(span.name for span in found.values()) == names
    assert is_tree(found)
    assert len({span.trace_id for span in found.values()}) == 1
    chats = [attributes(span.attributes) for span in found.values() if span.name.startswith("chat")]
    assert (
        sum(int(str(each["gen_ai.usage.output_tokens"])) for each in chats)
        == session["usage"]["output_tokens"]
    )
    assert "old.txt" not in str(found), "no word of the conversation"


@pytest.mark.thorough
def test_an_endpoint_that_was_away_gets_all_of_it_when_it_is_back(
    endpoint: OtlpEndpoint, admit: Admit
) -> None:
    ann = admit()
    endpoint.taken.status = 503
    asked = endpoint.taken.asked
    session_id = ann.start("Write a short note about rain")
    ann.finished(session_id)
    assert endpoint.taken.wait_for(lambda: endpoint.taken.asked > asked, PATIENCE_SECONDS), "it was tried"
    assert endpoint.taken.once(session_id) == {}
    endpoint.taken.status = 200
    names = expected(ann, session_id)
    found = tree(endpoint, session_id, names.total())
    assert Counter(span.name for span in found.values()) == names
    assert is_tree(found)
