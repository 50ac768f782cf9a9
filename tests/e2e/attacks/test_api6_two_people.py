"""API6, sensitive business flows: an environment that wants two people for high stakes, and one person alone."""

from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import refused
from tests.e2e.support.samples import DELETION, OLD


def test_two_people_want_a_deletion_where_the_environment_says_so_whatever_an_admin_writes(
    behind: Behind, admit: Admit
) -> None:
    """Mallory takes an agent of the admin's that lets them approve alone, and tries each way."""
    boss = admit(role="admin", user="boss")
    mallory, ann = (admit(boss.tenant, user) for user in ("mallory", "ann"))
    alone = {"approval_required": {"role": "member", "approver_must_differ": False}}
    agent = {"agent_id": "alone", "name": "Alone", "interventions": alone}
    assert boss.post("/v1/agents", agent).status_code == 201
    mallory.put_file(OLD, "theirs")
    with behind.configured("step", "tool", "intervene", "start", ACTA_HIGH_STAKES_APPROVER="another"):
        session_id = mallory.start(DELETION, agent_id="alone")
        (one,) = mallory.asked(session_id).session["interventions"]
        assert (one["approver_must_differ"], one["options"]) == (True, ["approve", "reject"])
        asked = one["intervention_id"]
        refused(mallory.resolve(session_id, asked, "approve"), 403, "APPROVER_MUST_DIFFER")
        changed = mallory.resolve(session_id, asked, "modify", input={"input": {"path": OLD}})
        assert changed.status_code in (400, 403)
        refused(mallory.post(f"/v1/sessions/{session_id}/resume"), 409, "CONFLICT")
        assert mallory.files() == {OLD}
        assert ann.resolve(session_id, asked, "approve").status_code == 200
        assert mallory.finished(session_id).session["state"] == "completed"
    assert mallory.files() == set()
