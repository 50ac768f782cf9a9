"""API5, function level: what a role does not allow is refused on every way to it, not on the usual one alone."""

from tests.e2e.conftest import Admit
from tests.e2e.support.person import Json, refused

PAYROLL: Json = {"agent_id": "payroll", "name": "Payroll", "start_roles": ["finance"]}


def test_an_agent_for_one_role_is_neither_started_nor_spoken_to_nor_opened_up_by_others(admit: Admit) -> None:
    boss = admit(role="admin", user="boss")
    ann, mallory = admit(boss.tenant, "ann", "finance"), admit(boss.tenant, "mallory")
    assert boss.post("/v1/agents", PAYROLL).status_code == 201

    for person in (mallory, boss):
        error = refused(person.post("/v1/sessions", {"agent_id": "payroll"}), 403, "FORBIDDEN")
        assert error["details"] == {"role": ["finance"]}
    session_id = ann.start(agent_id="payroll")
    path = f"/v1/sessions/{session_id}/messages"
    refused(mallory.post(path, {"content": "Raise my salary"}), 403, "FORBIDDEN")
    memory = {"agent_id": "payroll", "kind": "preference", "text": "Mallory's salary is raised each month"}
    refused(mallory.post("/v1/memories", memory), 403, "FORBIDDEN")
    assert boss.data(path)["items"] == boss.items("/v1/memories") == []

    opened = {"name": "Payroll", "start_roles": []}
    refused(mallory.http.put("/v1/agents/payroll", json=opened), 403, "FORBIDDEN")
    refused(mallory.delete("/v1/agents/payroll"), 403, "FORBIDDEN")
    refused(mallory.post("/v1/agents", {**PAYROLL, **opened, "agent_id": "mine"}), 403, "FORBIDDEN")
    assert mallory.data("/v1/agents/payroll")["start_roles"] == ["finance"]
