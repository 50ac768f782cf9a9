"""Several executions at one session, as an operator's mistake would start them: the log of one, each effect once."""

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.bench.stand.script import Call, Reply
from tests.doubles.http_sink import Sink
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.conversing import ConversingProvider, anthropic_at, http_tool, planned
from tests.e2e.support.gate import Gate
from tests.e2e.support.person import Person, Seen

REPLIES = planned(
    Reply("Both.", (Call("book", {"n": 1}), Call("book", {"n": 2}))),
    Reply("One more.", (Call("book", {"n": 3}),)),
)
EVENTS = {
    "run.started": 1, "message.user": 1, "plan.created": 1, "thought": 3, "tool.requested": 3, "tool.started": 3,
    "tool.finished": 3, "plan.step": 1, "plan.closed": 1, "run.finished": 1,
    "state.changed": 7,
}  # fmt: skip
"""Of the one log there is, however many write it."""


@pytest.fixture(scope="module")
def sink() -> Iterator[Sink]:
    with Sink() as made:
        yield made


@pytest.fixture(scope="module")
def gate(behind: Behind, sink: Sink) -> Iterator[Gate]:
    """Before a model that answers whoever asks; tools may go to the sink."""
    model = ConversingProvider()
    model.play(REPLIES)
    with (
        Gate(model.port) as gate,
        behind.configured("step", **anthropic_at(gate.url)),
        behind.configured("tool", "admin", ACTA_HTTP_TOOL_ALLOW=sink.at),
    ):
        yield gate
    model.stop()


@pytest.fixture
def boss(admit: Admit, sink: Sink) -> Person:
    boss = admit(role="admin")
    tool = http_tool("book", sink.url("/book"), effect="idempotent", risk="write", high_stakes=False)
    assert boss.post("/v1/tools", tool).status_code == 201
    return boss


def run(boss: Person, behind: Behind, gate: Gate, others: int) -> Seen:
    """A session at which `others` more executions work from its first turn on."""
    gate.shut()
    session_id = boss.start("Book three")
    gate.wait_for_a_request()
    (own,) = behind.executions(session_id)
    states = behind.client("stepfunctions")
    known = states.describe_execution(executionArn=own["executionArn"])
    for number in range(others):
        name = f"{session_id}-another-{number}"
        states.start_execution(stateMachineArn=known["stateMachineArn"], name=name, input=known["input"])
    for _ in range(others):
        gate.wait_for_a_request()
    gate.open()
    return boss.finished(session_id)


@pytest.mark.thorough
@pytest.mark.parametrize("others", [1, 9])
def test_many_executions_of_a_running_session_leave_the_log_and_the_effects_of_one(
    boss: Person, behind: Behind, gate: Gate, sink: Sink, others: int
) -> None:
    before = len(sink.heard)
    seen = run(boss, behind, gate, others)
    session_id = seen.session["session_id"]
    assert (seen.session["state"], seen.session["result"]["goal_met"]) == ("completed", True)
    heard = sink.heard[before:]
    keys = {one.headers["idempotency-key"]: one.body for one in heard}
    assert sorted(body["n"] for body in keys.values()) == [1, 2, 3]
    assert [event["seq"] for event in seen.events] == list(range(1, seen.session["last_seq"] + 1))
    assert Counter(event["type"] for event in seen.events) == EVENTS
    results = [one for one in boss.items(f"/v1/sessions/{session_id}/messages") if one["role"] == "tool"]
    assert len(results) == len({one["call_id"] for one in results}) == 6
    steps = boss.items(f"/v1/sessions/{session_id}/steps")
    assert [step["kind"] for step in steps if step["error"] is None] == [
        "plan",
        "llm",
        "tool",
        "tool",
        "llm",
        "tool",
        "llm",
    ]
    ended = behind.ended(session_id)
    assert {each["status"] for each in ended} == {"SUCCEEDED"}
    assert len(ended) == others + 1
    assert boss.snapshot(session_id)["last_seq"] == seen.session["last_seq"]
