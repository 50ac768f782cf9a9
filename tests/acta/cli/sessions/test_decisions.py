"""How a decision is listed at the end of `acta trace`."""

import pytest

from acta.cli.sessions.listings import decision_line


@pytest.mark.parametrize(
    ("via", "said"),
    [
        ("api", "approve by ann"),
        ("mcp", "approve by ann over MCP"),
        ("mcp_form", "by ann in a form over MCP"),
    ],
)
def test_the_line_of_a_decision_says_which_way_it_came(via: str, said: str) -> None:
    decided = {"type": "approval_required", "resolution": "approve", "resolved_by": "ann", "via": via}
    assert decision_line({**decided, "resolved_at": "2026-11-22T09:00:00Z"}).endswith(said)
