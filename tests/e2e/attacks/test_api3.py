"""API3, property level: what a person may not set is no field of a request, what they may not see is not told."""

import pytest

from tests.e2e.conftest import Admit
from tests.e2e.support.person import Json, refused

SLIPPED_IN: tuple[Json, ...] = (
    {"created_by": "boss"}, {"tenant": "another"}, {"state": "completed"}, {"caps": {"token_budget": 1}},
    {"roles": ["admin"]}, {"budget": {"token_budget": 1}}, {"writers": []},
)  # fmt: skip


@pytest.mark.parametrize("field", SLIPPED_IN, ids=lambda field: next(iter(field)))
def test_nothing_slips_into_a_session_that_its_start_does_not_have(admit: Admit, field: Json) -> None:
    mallory = admit(user="mallory")
    refused(mallory.post("/v1/sessions", {"content": "Go", **field}), 400, "VALIDATION_ERROR")
    assert mallory.items("/v1/sessions") == []


def test_nothing_slips_into_a_decision_and_no_answer_tells_who_wrote_or_what_the_engine_waits_with(
    admit: Admit,
) -> None:
    boss = admit(role="admin", user="boss")
    mallory = admit(boss.tenant, "mallory")
    mallory.put_file("old.txt", "Old.\n")
    session_id = mallory.start("Delete the file old.txt")
    seen = mallory.asked(session_id)
    (one,) = seen.session["interventions"]
    path = f"/v1/sessions/{session_id}/interventions/{one['intervention_id']}"
    for more in ({"resolved_by": "boss"}, {"roles": ["approver"]}, {"input_hash": "0" * 32}):
        refused(mallory.post(f"{path}/resolve", {"option": "approve", **more}), 400, "VALIDATION_ERROR")
    told = str(seen.session) + str(mallory.data(path))
    assert not any(word in told for word in ("writers", "token':", "lease"))
    assert mallory.post(f"{path}/resolve", {"option": "reject"}).status_code == 200
