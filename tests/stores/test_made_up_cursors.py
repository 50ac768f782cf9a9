"""Cursors that nobody was given: their checksum is right, and no store could go on from there."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from acta.engine.audit.record import AuditFilter
from acta.engine.log.store import LogPage
from acta.engine.prompts.prompt import AGENT_PLANNING_SYSTEM, Prompt
from acta.engine.store.keys import to_cursor
from tests.stores.backends import Aws, Stores, aws_stores

pytestmark = pytest.mark.contract

ALL = AuditFilter(None, None, None, None, None)
LIST: dict[str, tuple[str, Callable[[Stores, str, str], object]]] = {
    "sessions": (
        "S#{t}",
        lambda stores, t, cursor: stores.index.sessions(t, states=(), agent_id=None, limit=5, cursor=cursor),
    ),
    "interventions": (
        "I#{t}",
        lambda stores, t, cursor: stores.index.interventions(t, state=None, limit=5, cursor=cursor),
    ),
    "agents": ("A#{t}", lambda stores, t, cursor: stores.definitions.agents(t, limit=5, cursor=cursor)),
    "prompts": (
        f"P#{AGENT_PLANNING_SYSTEM}#{{t}}",
        lambda stores, t, cursor: stores.definitions.prompt_versions(
            t, AGENT_PLANNING_SYSTEM, limit=5, cursor=cursor
        ),
    ),
    "memories": (
        "M#{t}#",
        lambda stores, t, cursor: stores.memories.list(t, agent_id=None, kind=None, limit=5, cursor=cursor),
    ),
    "audit": ("U#{t}", lambda stores, t, cursor: stores.trail.find(t, ALL, limit=5, cursor=cursor)),
    "files": ("F#{t}/", lambda stores, t, cursor: stores.files.list(t, "", 5, cursor)),
}
"""Of each listing the scope of its cursors, and how it is asked for."""


@pytest.fixture
def aws_store(aws: Aws) -> Stores:
    return aws_stores(aws)


@pytest.mark.parametrize("listing", LIST)
@pytest.mark.parametrize("position", ["x" * 1_100, "9" * 1_100, "\xe9" * 600, "\ud800"])
def test_a_position_that_is_no_key_is_no_cursor(
    aws_store: Stores, tenant: str, listing: str, position: str
) -> None:
    scope, ask = LIST[listing]
    with pytest.raises(ValueError, match="cursor"):
        ask(aws_store, tenant, to_cursor(scope.format(t=tenant), position))


@pytest.mark.parametrize("position", ["zz~", "~", "~~"])
def test_no_agent_comes_after_the_last_one_that_there_can_be(
    aws_store: Stores, tenant: str, position: str
) -> None:
    with pytest.raises(ValueError, match="cursor"):
        LIST["agents"][1](aws_store, tenant, to_cursor(f"A#{tenant}", "~" + position))


@pytest.mark.parametrize("position", ["-7", "0", "1"])
def test_no_version_of_a_prompt_comes_before_the_first(aws_store: Stores, tenant: str, position: str) -> None:
    definitions = aws_store.definitions
    seed = definitions.prompt(tenant, AGENT_PLANNING_SYSTEM)
    at = datetime(2026, 11, 22, tzinfo=UTC)
    definitions.write_prompt(tenant, seed, Prompt(name=seed.name, version=2, content="Plan.", created_at=at))
    scope, ask = LIST["prompts"]
    with pytest.raises(ValueError, match="cursor"):
        ask(aws_store, tenant, to_cursor(scope.format(t=tenant), position))
    later = definitions.prompt_versions(
        tenant, seed.name, limit=5, cursor=to_cursor(scope.format(t=tenant), "9" * 400)
    )
    assert [one.version for one in later.versions] == [2, 1]


def test_a_file_s_place_may_be_as_long_as_its_key(aws_store: Stores, tenant: str) -> None:
    room = 1_024 - len(f"files/{tenant}/")
    for letter in "ab":
        aws_store.files.write(tenant, letter * room, b"x")
    cursor = aws_store.files.list(tenant, "", 1).cursor
    assert [one.path[0] for one in aws_store.files.list(tenant, "", 1, cursor).files] == ["b"]
    with pytest.raises(ValueError, match="cursor"):
        aws_store.files.list(tenant, "", 1, to_cursor(f"F#{tenant}/", "a" * (room + 1)))


def test_no_commit_comes_after_the_last_number(stores: Stores, tenant: str) -> None:
    assert stores.log.read(tenant, "ses_1", 10_000_000_000, 5) == LogPage((), complete=True)
