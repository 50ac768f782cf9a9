"""Interventions that wait for a person, as the API shows them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.acta.fake_deployment import SESSION_ID

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def waits(name: str = "int_1", **fields: Any) -> dict[str, Any]:
    return {
        "intervention_id": name,
        "session_id": SESSION_ID,
        "agent_name": "Desk",
        "chain": [],
        "type": "approval_required",
        "context": {},
        "tool_call": {"name": "delete_file", "input": {"path": "old.txt"}},
        "options": ["approve", "reject", "modify"],
        "default_action": "reject",
        "created_at": (NOW - timedelta(minutes=12)).isoformat(),
        "timeout_at": (NOW + timedelta(minutes=18)).isoformat(),
        **fields,
    }
