"""MCP servers: few, read whole, under the tenant's revision."""

import pytest

from acta.engine.agents.store import DefinitionChanged, DefinitionExists
from acta.engine.errors import PoisonedSession
from acta.engine.tools.mcp.server import ClientCredentials, ConfirmedTool, McpServer, McpServerAuth
from acta.engine.tools.registry import TenantRegistry
from tests.stores.backends import Stores
from tests.tools.test_store import make_tool

pytestmark = pytest.mark.contract


def make_server(stores: Stores, name: str = "desk") -> McpServer:
    now = stores.clock.now()
    tool = ConfirmedTool(
        tool="search.all",
        description="Finds. Grüße 🪶",
        input_schema={"type": "object", "properties": {"q": {"type": "string"}}},
        pin="a" * 64,
        confirmed_read=True,
        high_stakes=False,
        confirmed_at=now,
        confirmed_by="ann",
    )
    return McpServer(
        name=name,
        url="https://mcp.example/",
        auth=McpServerAuth(
            client_credentials=ClientCredentials(
                client_id="acta", secret="key", token_url="https://login.example/token"
            )
        ),
        tools=(tool,),
        quotation_key="mcp_1",
        version=1,
        created_at=now,
        updated_at=now,
    )


def test_a_server_is_read_as_it_was_written_by_its_tenant_alone(stores: Stores, tenant: str) -> None:
    desk, shop = make_server(stores), make_server(stores, "shop").model_copy(update={"auth": None})
    for server in (shop, desk):
        stores.servers.create(tenant, server)
    assert stores.servers.all(tenant) == (desk, shop)
    assert stores.servers.get(tenant, "desk") == desk
    assert stores.servers.get(f"{tenant}x", "desk") is None
    assert stores.servers.all(f"{tenant}x") == ()
    assert stores.tools.all(tenant) == ()


def test_a_server_is_written_and_deleted_as_it_was_read_or_not_at_all(stores: Stores, tenant: str) -> None:
    first = make_server(stores)
    stores.servers.create(tenant, first)
    with pytest.raises(DefinitionExists):
        stores.servers.create(tenant, first)
    second = first.model_copy(update={"version": 2, "timeout_seconds": 90})
    stores.servers.replace(tenant, first, second)
    with pytest.raises(DefinitionChanged):
        stores.servers.replace(tenant, first, second)
    with pytest.raises(DefinitionChanged):
        stores.servers.delete(tenant, first)
    stores.servers.delete(tenant, second)
    assert stores.servers.get(tenant, "desk") is None


def test_a_change_is_in_the_next_snapshot_of_another_worker(stores: Stores, tenant: str) -> None:
    assert stores.other_definitions.snapshot(tenant).mcp_servers() == ()
    server = make_server(stores)
    stores.servers.create(tenant, server)
    assert stores.other_definitions.snapshot(tenant).mcp_servers() == (server,)
    stores.servers.delete(tenant, server)
    assert stores.other_definitions.snapshot(tenant).mcp_servers() == ()


def test_a_server_s_tools_are_in_the_registry_behind_those_of_the_tenant_s_own(
    stores: Stores, tenant: str
) -> None:
    stores.servers.create(tenant, make_server(stores))
    registry = TenantRegistry(stores.definitions.snapshot, environment=lambda _: {})
    (name,) = (name for name in registry.specs(tenant, "default") if name.startswith("desk__"))
    tool = registry.specs(tenant, "default")[name]
    assert (tool.kind, tool.effect, tool.written) == ("mcp", "read", make_server(stores).written)
    stores.tools.create(tenant, make_tool(stores, name))
    assert registry.specs(tenant, "default")[name].kind == "http"


def test_a_server_that_cannot_be_read_hides_no_other(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep: object = 1
    for _ in range(220):
        deep = [deep]
    desk, shop = make_server(stores), make_server(stores, "shop")
    tool = desk.tools[0].model_copy(update={"input_schema": {"type": "object", "default": deep}})
    stores.servers.create(tenant, shop)
    with pytest.raises(PoisonedSession):
        stores.servers.create(tenant, desk.model_copy(update={"tools": (tool,)}))
    monkeypatch.setattr("acta.engine.store.schema.READ_LEVELS", 10**9)
    stores.servers.create(tenant, desk.model_copy(update={"tools": (tool,)}))
    assert stores.servers.all(tenant) == (shop,)
    left_out: list[str] = []
    assert stores.servers.all(tenant, lambda name, _: left_out.append(name)) == (shop,)
    assert left_out == ["desk"]
    assert stores.other_definitions.snapshot(tenant).mcp_servers() == (shop,)
