"""Runs that do not fit into the model's window, on the deployed stack with an official SDK."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from llmock.scenarios import Match, Reply

from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Person
from tests.e2e.support.thinking import calls, end, plan

WINDOW = 10_000
FILES = 12
SUMMARY = "The first files hold nothing but lines."


@pytest.fixture(scope="module", params=["anthropic", "openai"])
def provider(request: pytest.FixtureRequest, behind: Behind, llmock_server: Any) -> Iterator[str]:
    """The step function with a window so small that a few results fill it."""
    name = str(request.param)
    variables = {
        "ACTA_PROVIDER": name,
        "ACTA_MODEL": "a-model-of-the-test",
        "ACTA_CONTEXT_TOKENS": str(WINDOW),
        f"{name.upper()}_API_KEY": "sk-none",
        f"{name.upper()}_BASE_URL": llmock_server.base_url(name),
    }
    with behind.configured("step", **variables):
        yield name


@pytest.fixture
def model(provider: str, llmock: Any) -> Any:
    """Says what a test scripts; what offers no tools asks for a summary."""
    llmock.tool_mode("off").add(Reply(text=SUMMARY, times=None, match=Match(tools=False)))
    return llmock


def test_a_run_larger_than_the_window_is_compacted_and_completes(ann: Person, model: Any) -> None:
    for number in range(FILES):
        ann.put_file(f"f{number}.txt", f"line of file {number}\n" * 200)
    reads = [calls(("read_file", {"path": f"f{number}.txt"})) for number in range(FILES)]
    model.add(plan(), *reads, end("All read."))

    session_id = ann.start("Read every file to its end", token_budget=1_000_000)
    seen = ann.finished(session_id)

    assert (seen.session["state"], seen.session["result"]["answer"]) == ("completed", "All read.")
    compacted = [event["data"] for event in seen.of("context.compacted")]
    assert len(compacted) > 1
    assert all(one["summarised"] and one["tokens_after"] < one["tokens_before"] for one in compacted)
    bodies = [json.dumps(record.body) for record in model.requests]
    assert "Read every file to its end" in bodies[-1]
    assert SUMMARY in bodies[-1]
    assert "line of file 0" not in bodies[-1]
    assert seen.session["usage"]["llm_calls"] == len(bodies)
    messages = ann.items(f"/v1/sessions/{session_id}/messages")
    assert sum("line of file" in message["content"] for message in messages) == FILES


@pytest.mark.thorough
def test_a_result_too_large_to_show_is_read_on_by_its_handle(ann: Person, model: Any) -> None:
    ann.put_file("large.txt", "".join(f"line {number}\n" for number in range(10_000)))
    model.add(plan(), calls(("read_file", {"path": "large.txt"})), end())
    first = ann.finished(ann.start("Read it", token_budget=1_000_000))
    (result,) = (m["content"] for m in _tool_messages(ann, first) if "line 0" in m["content"])
    found = re.search(r"handle ([0-9a-f]{64}) and offset (\d+)", result)
    assert found is not None
    page = ("read_result", {"handle": found[1], "offset": int(found[2])})
    model.add(plan(), calls(page), end())

    session_id = first.session["session_id"]
    ann.post(f"/v1/sessions/{session_id}/messages", {"content": "Read on"})
    again = ann.finished(session_id, first.cursor)

    assert any(m["content"].startswith("--- result: ") for m in _tool_messages(ann, again))


def _tool_messages(person: Person, seen: Any) -> list[dict[str, Any]]:
    messages = person.items(f"/v1/sessions/{seen.session['session_id']}/messages")
    return [message for message in messages if message["role"] == "tool"]
