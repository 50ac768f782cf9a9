"""The examples in Python of docs/api.md run as they stand, against the real API."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acta.real_api import FOR_ADMINS, RealApi

PAGE = Path(__file__).parents[3] / "docs" / "api.md"
EXAMPLES = re.findall(
    r"(?<=^```python\n).+?(?=^```$)", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)
SAYS = (
    "notes.md",
    "run.finished",
    "completed",
    "completed",
    "assistant",
    "True completed",
    "read_file",
    "run.finished",
    "max_steps",
)
"""What each prints, among other things."""


def test_each_example_is_looked_at() -> None:
    assert len(EXAMPLES) == len(SAYS)


@pytest.mark.parametrize(("example", "says"), list(zip(EXAMPLES, SAYS, strict=False)), ids=range(len(SAYS)))
def test_an_example_runs_as_it_stands(real_api: RealApi, example: str, says: str) -> None:
    environ = {**os.environ, "ACTA_API_URL": real_api.url, "ACTA_TOKEN": FOR_ADMINS}
    done = subprocess.run([sys.executable, "-c", example], env=environ, capture_output=True, text=True)
    assert done.stderr == ""
    assert says in done.stdout
    assert len([line for line in example.splitlines() if line.strip()]) <= 13
