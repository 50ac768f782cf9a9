"""A session whose stored document is damaged: answered without a word of it, and nobody else notices
(docs/design/recovery.md 13)."""

from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Person, refused
from tests.e2e.support.samples import DELETION, OLD

SPOILED = b"damaged, with a secret in it"


def spoil(behind: Behind, session_id: str) -> None:
    """Its newest commit."""
    commits = [item for item in behind.items_of(session_id) if item["sk"]["S"].startswith("C#")]
    newest = max(commits, key=lambda item: str(item["sk"]["S"]))
    behind.client("dynamodb").put_item(
        TableName=behind.settings["ACTA_TABLE"], Item={**newest, "z": {"B": SPOILED}}
    )


def test_a_damaged_session_is_an_error_of_ours_hides_no_other_and_can_be_deleted(
    ann: Person, behind: Behind
) -> None:
    ann.put_file(OLD, "old")
    damaged, whole = (ann.asked(ann.start(DELETION)).session for _ in range(2))
    path = f"/v1/sessions/{damaged['session_id']}"
    spoil(behind, damaged["session_id"])

    decision = f"{path}/interventions/{damaged['interventions'][0]['intervention_id']}/resolve"
    answers = [ann.get(path), ann.get(f"{path}/messages"), ann.post(decision, {"option": "approve"})]
    for answer in answers:
        error = refused(answer, 500, "INTERNAL_ERROR")
        assert error == {"code": "INTERNAL_ERROR", "message": "Something went wrong on our side."}

    assert [one["session_id"] for one in ann.items("/v1/sessions")] == [whole["session_id"]]
    assert len(ann.items("/v1/interventions", state="pending")) == 2
    ann.resolve(whole["session_id"], whole["interventions"][0]["intervention_id"], "approve")
    assert ann.finished(whole["session_id"]).session["state"] == "completed"

    assert ann.delete(path).status_code == 204
    refused(ann.get(path), 404, "SESSION_NOT_FOUND")
    assert not [line for line in behind.log_lines() if "with a secret" in line]
