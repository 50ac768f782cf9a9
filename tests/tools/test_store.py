"""Tenants' tools: few, read whole, and every change is seen at the next look."""

from datetime import timedelta
from random import Random

import pytest

from acta.engine.agents.store import DefinitionChanged, DefinitionExists
from acta.engine.log.store import KeyTaken
from acta.engine.tools.builtin import builtins, optional_tools
from acta.engine.tools.registry import TenantRegistry
from acta.engine.tools.tool import (
    MAX_SCHEMA_BYTES,
    MAX_TENANT_TOOLS,
    HttpConfig,
    LambdaConfig,
    ToolDefinition,
)
from tests.stores.backends import Stores
from tests.stores.documents import record_for

pytestmark = pytest.mark.contract


def make_tool(stores: Stores, name: str, description: str = "Weighs. Grüße 🪶") -> ToolDefinition:
    return ToolDefinition(
        name=name,
        description=description,
        input_schema={"type": "object", "properties": {"a": {"type": "number"}}},
        kind="http",
        config=HttpConfig(
            url="https://a.example/",
            method="POST",
            headers={"X-Caller": "k"},
            secret_headers={"X-Key": "key"},
        ),
        effect="once",
        risk="network",
        version=1,
        created_at=stores.clock.now(),
        updated_at=stores.clock.now(),
    )


def test_a_tool_is_read_as_it_was_written_whatever_its_kind(stores: Stores, tenant: str) -> None:
    http = make_tool(stores, "scale")
    function = make_tool(stores, "count").model_copy(
        update={"kind": "lambda", "config": LambdaConfig(function="acta-prod-tool-count")}
    )
    for tool in (http, function):
        stores.tools.create(tenant, tool)
    assert stores.other_tools.get(tenant, "scale") == http
    assert stores.other_tools.all(tenant) == (function, http)
    assert stores.tools.get(tenant, "other") is None
    assert stores.tools.get(f"{tenant}x", "scale") is None
    assert stores.tools.all(f"{tenant}x") == ()


def test_a_name_is_taken_once(stores: Stores, tenant: str) -> None:
    tool = make_tool(stores, "scale")
    stores.tools.create(tenant, tool)
    with pytest.raises(DefinitionExists):
        stores.other_tools.create(tenant, make_tool(stores, "scale", "Another"))
    assert stores.tools.get(tenant, "scale") == tool


def test_the_tool_and_its_idempotency_record_are_written_together_or_not_at_all(
    stores: Stores, tenant: str
) -> None:
    record = record_for(stores.clock, tenant)
    stores.tools.create(tenant, make_tool(stores, "one"), record)
    with pytest.raises(KeyTaken):
        stores.tools.create(tenant, make_tool(stores, "two"), record)
    assert stores.tools.get(tenant, "two") is None
    stores.clock.set(record.expires_at + timedelta(seconds=1))
    stores.tools.create(tenant, make_tool(stores, "two"), record)
    assert stores.tools.get(tenant, "two") is not None


def test_a_replacement_of_what_was_not_read_is_refused(stores: Stores, tenant: str) -> None:
    first = make_tool(stores, "scale")
    stores.tools.create(tenant, first)
    second = first.model_copy(update={"description": "Mine", "version": 2})
    stores.tools.replace(tenant, first, second)
    with pytest.raises(DefinitionChanged):
        stores.other_tools.replace(tenant, first, first.model_copy(update={"version": 2}))
    with pytest.raises(DefinitionChanged):
        stores.other_tools.delete(tenant, first)
    assert stores.tools.get(tenant, "scale") == second
    stores.other_tools.delete(tenant, second)
    with pytest.raises(DefinitionChanged):
        stores.tools.delete(tenant, second)


def test_a_tool_made_again_under_its_name_is_another_one(stores: Stores, tenant: str) -> None:
    first = make_tool(stores, "scale")
    stores.tools.create(tenant, first)
    stores.tools.delete(tenant, first)
    stores.clock.advance(1)
    again = make_tool(stores, "scale")
    stores.tools.create(tenant, again)
    with pytest.raises(DefinitionChanged):
        stores.tools.replace(tenant, first, first.model_copy(update={"version": 2}))
    assert stores.tools.get(tenant, "scale") == again


def test_as_many_and_as_large_as_may_be_are_all_read(stores: Stores, tenant: str) -> None:
    chance = Random(1)
    letters = "".join(chr(chance.randrange(35, 91)) for _ in range(MAX_SCHEMA_BYTES - 100))
    schema = {"type": "object", "title": letters}
    for number in range(MAX_TENANT_TOOLS):
        tool = make_tool(stores, f"t{number:02d}").model_copy(update={"input_schema": schema})
        stores.tools.create(tenant, tool)
    assert [tool.name for tool in stores.tools.all(tenant)] == [f"t{n:02d}" for n in range(MAX_TENANT_TOOLS)]


def test_a_warm_worker_sees_every_change_at_its_next_look(stores: Stores, tenant: str) -> None:
    turns, admin = stores.definitions, stores.other_tools
    registry = TenantRegistry(turns.last_snapshot, optional=optional_tools())
    assert turns.snapshot(tenant).tools() == ()

    first = make_tool(stores, "scale")
    admin.create(tenant, first)
    assert turns.snapshot(tenant).tools() == (first,)
    assert list(registry.specs(tenant, "default")) == [*builtins(), "scale"]

    second = first.model_copy(update={"description": "Weighs twice", "version": 2})
    admin.replace(tenant, first, second)
    assert turns.snapshot(tenant).tools() == (second,)
    assert registry.specs(tenant, "default")["scale"] == second

    admin.delete(tenant, second)
    assert turns.snapshot(tenant).tools() == ()
    assert "scale" not in registry.specs(tenant, "default")


def test_a_tool_that_is_not_offered_is_no_tool_and_its_name_stays_taken(stores: Stores, tenant: str) -> None:
    for name in optional_tools():
        stores.tools.create(tenant, make_tool(stores, name))
    specs = TenantRegistry(stores.definitions.snapshot).specs(tenant, "default")
    assert list(specs) == [name for name in builtins() if name not in optional_tools()]


def test_a_key_is_taken_once_and_may_be_left_again(stores: Stores, tenant: str) -> None:
    record = record_for(stores.clock, tenant)
    stores.tools.take_key(record)
    with pytest.raises(KeyTaken):
        stores.other_tools.take_key(record)
    assert stores.index.idempotency_record(tenant, record.route, record.key) == record
    stores.other_tools.leave_key(record)
    assert stores.index.idempotency_record(tenant, record.route, record.key) is None
    stores.tools.leave_key(record)
    stores.tools.take_key(record)
