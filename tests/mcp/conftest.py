"""The pinned programs, and people of tenants of their own on the deployed stack."""

import pytest

from tests.e2e.conftest import Admit, admit, ann, behind
from tests.mcp.environment import Environment, environment

__all__ = ["Admit", "admit", "ann", "behind"]


@pytest.fixture(scope="session")
def pinned() -> Environment:
    return environment()
