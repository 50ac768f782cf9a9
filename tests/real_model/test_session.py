"""A whole deployed session whose model is a real one that understands nothing: it ends where a session may end.

Protocol, not success: what a model this small says is never what it was asked for, so each turn is a reply that cannot
be read or is cut off. All of that has to come to a defined end, counted. The agent writes its calls as text: where
llama.cpp cannot read a call of its model's it breaks the stream off, and the session would wait for it for a day.
"""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import OVER, Person
from tests.real_model.server import KEY, ModelServer

PATIENCE_SECONDS = 300.0
WAITING = "waiting_for_user"


@pytest.fixture
def configured(behind: Behind, server: ModelServer) -> Iterator[None]:
    variables = {
        "ACTA_PROVIDER": "openai",
        "ACTA_MODEL": "smollm2",
        "ACTA_MAX_OUTPUT_TOKENS": "40",
        "ACTA_CONTEXT_TOKENS": "8192",
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": server.base_url,
    }
    with behind.configured("step", **variables):
        yield


def settled(person: Person, session_id: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The session once it is over or waits for a person, and its events so far."""
    deadline, after, events = time.monotonic() + PATIENCE_SECONDS, "0", []
    while time.monotonic() < deadline:
        page = person.data(f"/v1/sessions/{session_id}", after=after, wait=20)
        events += page["events"]
        after, session = page["cursor"], page["session"]
        if session["state"] in (*OVER, WAITING) and not page["has_more"]:
            return session, events
    raise AssertionError("the session does not come to an end")


def test_a_session_of_a_real_model_comes_to_a_defined_end_with_all_it_used_counted(
    ann: Person, admit: Admit, configured: None
) -> None:
    ann.put_file("notes.md", "Buy milk.")
    agent = {"agent_id": "small", "name": "Small", "protocol": "react"}
    assert admit(tenant=ann.tenant, role="admin").post("/v1/agents", agent).status_code == 201
    session_id = ann.start("Read notes.md and say what to buy.", agent_id="small", max_steps=3)

    session, events = settled(ann, session_id)

    steps, usage = ann.items(f"/v1/sessions/{session_id}/steps"), session["usage"]
    assert usage["llm_calls"] >= 1
    assert usage["input_tokens"] > 1_000
    assert usage["output_tokens"] > 0
    for name in ("input_tokens", "output_tokens", "cached_input_tokens"):
        assert usage[name] == sum(step[name] or 0 for step in steps)
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert usage["llm_calls"] == sum(step["kind"] in ("plan", "llm") for step in steps)
    asks, failure = session["interventions"], session["error"]
    assert bool(asks) == (session["state"] == WAITING)
    assert bool(failure and failure["code"]) == (session["state"] == "failed")

    assert ann.post(f"/v1/sessions/{session_id}/cancel").status_code in (202, 409)
    assert ann.snapshot(session_id)["state"] in OVER
