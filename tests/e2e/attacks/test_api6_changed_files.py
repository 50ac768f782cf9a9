"""API6, sensitive business flows: a file is exchanged between the question about it and the call."""

import pytest

from tests.e2e.conftest import Admit
from tests.e2e.support.samples import DELETION, OLD

REPLACEMENT = f'Use create_file {{"path": "{OLD}", "content": "of the agent", "replace": true}}'


@pytest.mark.parametrize("goal", [DELETION, REPLACEMENT])
def test_what_mallory_puts_in_place_of_the_file_that_was_shown_is_neither_deleted_nor_replaced(
    admit: Admit, goal: str
) -> None:
    ann = admit()
    mallory = admit(ann.tenant, "mallory")
    ann.put_file(OLD, "as it was shown")
    session_id = ann.start(goal)
    seen = ann.asked(session_id)
    (one,) = seen.session["interventions"]
    (shown,) = ann.items(f"/v1/files/{OLD}", versions="1")
    assert one["tool_call"]["file_etag"] == shown["etag"]
    mallory.put_file(OLD, "a year of accounts")
    assert ann.resolve(session_id, one["intervention_id"], "approve").status_code == 200
    ann.watch(session_id, lambda session: session["state"] != "waiting_for_user", seen.cursor)
    after = ann.watch(
        session_id, lambda session: bool(session["interventions"]) or session["result"] is not None
    )
    assert ann.file(OLD) == "a year of accounts"
    told = [
        each["content"] for each in ann.items(f"/v1/sessions/{session_id}/messages") if each["role"] == "tool"
    ]
    assert any("was changed after a person was asked" in each for each in told)
    assert after.session["session_id"] == session_id
