"""The model behind a gate, of tests whose `gated` says what else is configured beside it."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.support.gate import Gate


@pytest.fixture
def gate(gated: Gate) -> Iterator[Gate]:
    yield gated
    gated.open()


@pytest.fixture
def model(gate: Gate, llmock: Any) -> Any:
    return llmock.tool_mode("off")
