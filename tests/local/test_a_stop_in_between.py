"""Sessions outlive the stack: an approval that was awaited when it stopped can be given after the next start."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.support.deployments import neutral_environ, prepare
from tests.local.served import Served

pytestmark = [pytest.mark.e2e, pytest.mark.thorough]


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Served]:
    prepare(tmp_path / "state", neutral_environ())
    served = Served(tmp_path / "state")
    served.start()
    assert "cdk deploy" not in served.progress
    yield served
    if served.process is not None:
        served.stop()


def test_a_session_that_waits_for_an_approval_when_the_stack_stops_is_approved_after_the_next_start(
    stack: Served,
) -> None:
    sample = stack.state.with_name("old.txt")
    sample.write_text("old")
    assert stack.acta("files", "put", str(sample)).returncode == 0
    asked = stack.acta("run", "--no-wait", "Delete the file old.txt")
    assert asked.returncode == 5, asked.stderr
    session_id = asked.stdout.split()[1]

    stack.stop()
    stack.start()

    assert stack.acta("approve", session_id).returncode == 0
    done = stack.acta("watch", session_id)
    assert done.returncode == 0, done.stdout + done.stderr
    session = stack.get(f"/v1/sessions/{session_id}").json()["data"]["session"]
    assert (session["state"], session["result"]["goal_met"]) == ("completed", True)
    assert session["run"]["generation"] > 1
    assert stack.acta("files", "get", "old.txt").returncode != 0
