"""Each example runs by one command, with a script in the place of a model."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "ACTA_PROVIDER")
SHOWN = {
    "research-team": ["waiting_for_agents", "--- reports/containers.md", "180,000 by rail"],
    "nightly-report": ["--- reports/20", "Three orders"],
    "invoices": ["waiting_for_agents", "approved by somebody of finance", "1240.00 EUR"],
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", SHOWN)
def test_an_example_runs_by_one_command(name: str) -> None:
    environment = {key: value for key, value in os.environ.items() if key not in KEYS}
    command = [sys.executable, str(EXAMPLES / "run.py"), name]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0
    assert [words for words in SHOWN[name] if words not in done.stdout] == []


def test_an_unknown_example_is_told_with_those_that_there_are() -> None:
    command = [sys.executable, str(EXAMPLES / "run.py"), "nothing"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "research-team" in done.stdout
