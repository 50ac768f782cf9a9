"""What attacks have in common: a model that says what a test scripts, one server for tools, and an admin."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.doubles.http_sink import Sink
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.conversing import anthropic_at
from tests.e2e.support.person import Person


@pytest.fixture(scope="module")
def sink() -> Iterator[Sink]:
    """The server that tools may reach."""
    with Sink() as made:
        yield made


@pytest.fixture(scope="module")
def reachable(sink: Sink) -> str:
    """All hosts that tools may reach."""
    return sink.at


@pytest.fixture(scope="module")
def provider(behind: Behind, llmock_server: Any) -> Iterator[None]:
    """Agents' model is the one that a test scripts."""
    with behind.configured("step", **anthropic_at(llmock_server.base_url("anthropic"))):
        yield


@pytest.fixture(scope="module")
def configured(provider: None, behind: Behind, reachable: str) -> Iterator[None]:
    with behind.configured("tool", "admin", ACTA_HTTP_TOOL_ALLOW=reachable):
        yield


@pytest.fixture
def boss(configured: None, admit: Admit) -> Person:
    """An admin of a tenant that is this test's alone."""
    return admit(role="admin", user="boss")
