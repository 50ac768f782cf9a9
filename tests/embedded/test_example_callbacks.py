"""The example of a build that calls back, run as its page says."""

import subprocess
import sys

import pytest

from acta.infra.packaging.bundle import ROOT
from tests.e2e.support.deployments import neutral_environ

RUN = ROOT / "examples" / "callbacks" / "run.py"


@pytest.mark.thorough
@pytest.mark.parametrize(("ref", "told"), [("main", '"state": "green"'), ("broken", "3 of 412 tests failed")])
def test_one_command_runs_a_build_that_calls_back(ref: str, told: str) -> None:
    ran = subprocess.run(
        [sys.executable, str(RUN), ref], capture_output=True, text=True, timeout=300, env=neutral_environ()
    )
    assert ran.returncode == 0, ran.stderr
    said = ran.stdout.splitlines()
    assert f"build server: {ref} has ended, and the result was sent" in said
    assert "acta: state.changed waiting_for_callback" in said
    assert told in next(line for line in said if line.startswith("answer:"))
