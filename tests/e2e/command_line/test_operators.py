"""What operators do to a deployment with their own credentials, from a command line."""

import json
from pathlib import Path

from tests.conftest import Deployed
from tests.e2e.conftest import Admit
from tests.e2e.support.command import acta
from tests.e2e.support.person import Person
from tests.e2e.support.samples import GOAL, give_files


def test_a_tenant_is_backed_up_and_restored_into_another(
    deployed: Deployed, admit: Admit, ann: Person, tmp_path: Path
) -> None:
    give_files(ann)
    session = ann.finished(ann.start(GOAL)).session["session_id"]
    state, place = ("--state", str(deployed.state)), str(tmp_path / "backup")
    other = admit(tenant=f"{ann.tenant}-again")

    taken = acta("backup", *state, "--tenant", ann.tenant, "--to", place)
    assert taken.code == 0, taken.err
    again = acta("backup", *state, "--tenant", ann.tenant, "--to", place)
    assert (again.code, len(again.err.splitlines())) == (2, 1)
    restored = acta("restore", *state, "--tenant", other.tenant, "--from", place, "--json")
    assert restored.code == 0, restored.err

    told = json.loads(restored.out)
    assert told["sessions"] == {"restored": 1}
    assert other.snapshot(session)["state"] == "completed"
    assert other.items(f"/v1/sessions/{session}/messages") == ann.items(f"/v1/sessions/{session}/messages")
    assert other.files() == ann.files()
    assert [one["session_id"] for one in other.items("/v1/sessions")] == [session]
    repeated = acta("restore", *state, "--tenant", other.tenant, "--from", place)
    assert "1 there already" in repeated.out

    unsaid = acta("erase", *state, "--tenant", other.tenant)
    assert (unsaid.code, len(unsaid.err.splitlines())) == (2, 1)
    erased = acta("erase", *state, "--tenant", other.tenant, "--confirm", other.tenant, "--json")
    assert erased.code == 5, erased.err
    assert json.loads(erased.out)["removed"]["sessions"] == 1
    assert (other.items("/v1/sessions"), other.files()) == ([], set())
    assert ann.files(), "another tenant has lost its files"
