from datetime import UTC, datetime

import pytest

from acta import Call


@pytest.fixture
def example_call() -> Call:
    return Call(
        tenant="acme",
        session_id="s-1",
        user="u-1",
        effect_id="e-1",
        deadline=datetime(2026, 1, 1, tzinfo=UTC),
    )
