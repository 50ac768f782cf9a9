"""Usage on a deployment: the stream brings the commits, and the sums are those of the sessions' receipts."""

import time
from typing import Any

from tests.e2e.conftest import Admit
from tests.e2e.support.person import PATIENCE_SECONDS, Person, refused

LOOK_SECONDS = 0.2


def usage_of(person: Person, tokens: int, **query: Any) -> Any:
    """As soon as it has so many tokens, or as it is when patience ends."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        told = person.data("/v1/usage", **query)
        if told["total"]["tokens"]["total"] == tokens or time.monotonic() > deadline:
            return told
        time.sleep(LOOK_SECONDS)


def test_usage_is_the_sum_of_the_sessions_also_after_one_is_deleted(admit: Admit) -> None:
    ann = admit()
    root = admit(tenant=ann.tenant, user="root", role="admin")
    sessions = [ann.start("Write a short note about the sea"), ann.start("Write a short note about rain")]
    for session_id in sessions:
        ann.finished(session_id)
    snapshots = [ann.data(f"/v1/sessions/{session_id}")["session"] for session_id in sessions]
    tokens = sum(each["usage"]["total_tokens"] for each in snapshots)

    told = usage_of(root, tokens, by="agent")
    assert told["total"]["tokens"]["total"] == tokens
    assert told["total"]["tokens"]["model_calls"] == sum(each["usage"]["llm_calls"] for each in snapshots)
    (agent,) = told["items"]
    assert agent["key"] == "default"
    assert agent["tokens"] == told["total"]["tokens"]
    assert agent["work"]["sessions"]["started"] == 2
    assert agent["work"]["sessions"]["now"]["completed"] == 2
    assert sum(told["total"]["runs_ended"].values()) == 2
    assert told["complete_until"] is not None

    own = usage_of(ann, tokens, by="user")
    assert own["total"]["tokens"]["total"] == tokens
    refused(ann.get("/v1/usage", by="agent"), 403, "FORBIDDEN")
    other = admit(role="admin")
    assert other.data("/v1/usage")["items"] == []

    assert ann.delete(f"/v1/sessions/{sessions[0]}").status_code == 204
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        after = root.data("/v1/usage")["total"]
        if after["work"]["sessions"]["now"]["deleted"] == 1 or time.monotonic() > deadline:
            break
        time.sleep(LOOK_SECONDS)
    assert after["work"]["sessions"]["now"] == {
        **told["total"]["work"]["sessions"]["now"],
        "completed": 1,
        "deleted": 1,
    }
    assert after["tokens"]["total"] == tokens
