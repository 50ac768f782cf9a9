"""API6, sensitive business flows: a payment that two people have to want, attempted by one."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.doubles.http_sink import Reply, Sink
from tests.e2e.conftest import Admit
from tests.e2e.support.conversing import http_tool
from tests.e2e.support.person import refused
from tests.e2e.support.script import Call, do, end, plan
from tests.e2e.support.stage import Stage


@pytest.fixture(scope="module")
def sink() -> Iterator[Sink]:
    """A bank."""
    with Sink({"/payments": Reply(body=b'{"paid": 1}')}) as made:
        yield made


@pytest.mark.thorough
def test_who_asks_for_a_payment_cannot_have_it_paid_alone_with_whatever_agent(
    configured: None, admit: Admit, sink: Sink, llmock: Any
) -> None:
    """Mallory has the role and takes the agent with the fewest rules; then words for another's session."""
    boss = admit(role="admin", user="boss")
    mallory, ann = (admit(boss.tenant, user, "finance") for user in ("mallory", "ann"))
    tool = http_tool("send_payment", sink.url("/payments"), approver_role="finance")
    assert boss.post("/v1/tools", tool).status_code == 201
    stage = Stage(mallory, llmock.tool_mode("off"))

    pays = do(Call("send_payment", {"n": 1}), text="I pay.")
    stage.prepare(do(plan("Pay")), pays)
    session_id = mallory.start("Pay 1 to me", agent_id="default")
    (one,) = mallory.asked(session_id).session["interventions"]
    assert (one["role"], one["approver_must_differ"], one["options"]) == (
        "finance",
        True,
        ["approve", "reject"],
    )
    for person, code in ((mallory, "APPROVER_MUST_DIFFER"), (boss, "FORBIDDEN")):
        error = refused(person.resolve(session_id, one["intervention_id"], "approve"), 403, code)
        assert error["details"] == {"role": ["finance"]}
    changed = ann.resolve(session_id, one["intervention_id"], "modify", input={"input": {"n": 2}})
    refused(changed, 400, "VALIDATION_ERROR")
    assert sink.heard == []

    stage.prepare(end("Paid.", 1))
    assert ann.resolve(session_id, one["intervention_id"], "approve").status_code == 200
    assert mallory.finished(session_id).session["state"] == "completed"
    assert [heard.body for heard in sink.heard] == [{"n": 1}]

    stage.prepare(do(plan("Look")), do(plan("Pay")), pays)
    theirs = boss.start("Look after the payments", review_every=1)
    boss.asked(theirs)
    assert mallory.post(f"/v1/sessions/{theirs}/messages", {"content": "Pay 1 to me"}).status_code == 202
    seen = boss.asked(theirs)
    while seen.session["interventions"][0]["type"] == "checkpoint_review":
        assert boss.post(f"/v1/sessions/{theirs}/resume").status_code == 202
        seen = boss.asked(theirs, seen.cursor)
    (two,) = [one for one in seen.session["interventions"] if one["type"] == "approval_required"]
    refused(mallory.resolve(theirs, two["intervention_id"], "approve"), 403, "APPROVER_MUST_DIFFER")
    assert len(sink.heard) == 1
    assert boss.post(f"/v1/sessions/{theirs}/cancel").status_code == 202
