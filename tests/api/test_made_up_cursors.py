"""A cursor that somebody made up, longer than any key: 400 that says what to do."""

import pytest

from acta.engine.store.keys import to_cursor
from tests.api.deployment import AdminApi

LISTINGS = {
    "/v1/files": "F#acme/",
    "/v1/agents": "A#acme",
    "/v1/memories": "M#acme#",
    "/v1/audit": "U#acme",
    "/v1/admin/prompts/agent_planning_system/versions": "P#agent_planning_system#acme",
}


@pytest.mark.parametrize("path", LISTINGS)
@pytest.mark.parametrize("position", ["x" * 1_100, "\ud800"])
def test_it_is_refused_with_what_to_do(path: str, position: str) -> None:
    cursor = to_cursor(LISTINGS[path], position)
    answer = AdminApi().admin.request("GET", path, query={"cursor": cursor})
    assert (answer.status, answer.error["code"]) == (400, "VALIDATION_ERROR")
    assert "without one, reading begins at the start" in answer.error["details"]["cursor"][0]
