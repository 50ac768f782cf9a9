"""What processes of Acta's functions keep of a tenant serves no other tenant: in each cache of the table in
`docs/design/tenancy.md` one tenant leaves a mark, and another looks for it. `tests/structure/test_caches.py` sees to it
that the table is complete.
"""

from collections.abc import Callable
from itertools import product
from types import SimpleNamespace
from typing import Any, cast

import pytest

from acta.engine.aws.clients import Service
from acta.engine.aws.secrets import CachedSecrets
from acta.engine.bound_tenant import bound_to
from acta.engine.egress.address import AddressGuard
from acta.engine.log.commit import Position
from acta.engine.log.head import Head
from acta.engine.log.s3 import S3Blobs
from acta.engine.memories.memory import RelevantMemories
from acta.engine.settings import Settings
from acta.engine.store.keys import notification_secrets_prefix
from acta.engine.tools.mcp.server import McpConnection
from acta.engine.tools.mcp.servers import LeftOut, Listing, McpServers, _Used
from acta.engine.tools.secret_reader import ToolSecretReader
from acta.engine.turn.engine import position
from tests.agents.test_store import make_agent
from tests.aws.test_tenant_credentials import function_in
from tests.memories.test_store import make_memory
from tests.stores.backends import Aws, aws_stores
from tests.structure.test_caches import ROOT, on_the_page
from tests.tenants.stored_house import StoredHouse

See = Callable[[str, str], object]
"""From a tenant and its mark to what the tenant gets there, under names that every tenant has. The first time the mark
is left, later it is looked for."""


def secrets_by_name(mark_of: Callable[[str], str]) -> Any:
    """A client of Secrets Manager in which each secret has its own name as value."""
    return SimpleNamespace(get_secret_value=lambda SecretId: {"SecretString": mark_of(SecretId)})  # noqa: N803


def definitions(aws: Aws) -> See:
    stores = aws_stores(aws)

    def see(tenant: str, mark: str) -> object:
        if stores.definitions.agent(tenant, "desk") is None:
            stores.definitions.create_agent(tenant, make_agent(stores, "desk", mark))
        return stores.definitions.snapshot(tenant).agent("desk")

    return see


def conversations(aws: Aws) -> See:
    """Two tenants whose sessions have the same ids, as after a restore under another name."""
    heads: dict[str, Head] = {}
    repository = StoredHouse(aws, []).fresh_repository()

    def see(tenant: str, mark: str) -> object:
        if tenant not in heads:
            house = StoredHouse(aws, [])
            house.tenant = tenant
            heads[tenant] = house.start(mark)
        assert len({head.session_id for head in heads.values()}) == 1
        at: Position = position(heads[tenant])
        return repository.conversation(at).waiting

    return see


def credentials(aws: Aws) -> See:
    function = function_in(aws)

    def see(tenant: str, mark: str) -> object:
        with bound_to(tenant):
            function.files.write(tenant, "a.md", mark.encode())
            return function.files.read(tenant, "a.md")

    return see


def tool_secrets(aws: Aws) -> See:
    reader = ToolSecretReader("test", secrets_by_name(lambda name: f"of {name}-mark"))

    def see(tenant: str, mark: str) -> object:
        with bound_to(tenant):
            return reader(tenant, "key")

    return see


def signing_secrets(aws: Aws) -> See:
    secrets = CachedSecrets(Service("secretsmanager", secrets_by_name(lambda name: f"of {name}-mark")))
    return lambda tenant, mark: secrets(notification_secrets_prefix("test", tenant))


def lists_of_servers(aws: Aws) -> See:
    guard = AddressGuard(Settings(env="test", table="t", bucket="b"))
    servers = McpServers(guard, cast(Any, None), cast(Any, None))
    connection = McpConnection(server="books", url="https://books.example/mcp", auth=None)

    def see(tenant: str, mark: str) -> object:
        key = _Used(servers, tenant, connection).key
        if servers._listings.get(key) is None:
            servers._listings.keep(key, Listing({mark: LeftOut(mark, "")}, 600, None))
        return servers._listings.get(key)

    return see


def memories(aws: Aws) -> See:
    stores = aws_stores(aws)

    def see(tenant: str, mark: str) -> object:
        found = stores.memories.relevant(tenant, "a", "ann", "printer", 5, 900, private=False)
        if not found:
            assert stores.memories.add(tenant, make_memory(stores, f"The printer of {mark}"))
        return found or see(tenant, mark)

    return see


def memories_of_runs(aws: Aws) -> See:
    read, left = memories(aws), set()
    stores = aws_stores(aws)
    notes = RelevantMemories(stores.memories)

    def see(tenant: str, mark: str) -> object:
        if tenant not in left:
            read(tenant, mark)
            left.add(tenant)
        run = SimpleNamespace(run_id="run_1")
        told = {"tenant": tenant, "session_id": "ses_1", "agent_id": "a", "created_by": "ann", "run": run}
        head = SimpleNamespace(**told, goal="printer", private_to=None, quotation_key="k")
        return notes.notes(cast(Head, head))

    return see


def texts(aws: Aws) -> See:
    """What is known to be stored is not stored again: for another tenant it has to be."""
    blobs = S3Blobs(aws.bucket, aws.s3)

    def see(tenant: str, mark: str) -> object:
        name = blobs.put(tenant, "ses_1", "the same text")
        return mark, S3Blobs(aws.bucket, aws.s3).get(tenant, "ses_1", [name])

    return see


PLAYED = {
    "DynamoDefinitions._known": definitions,
    "SessionRepository._warm": conversations,
    "TenantCredentials._kept": credentials,
    "ToolSecretReader._kept": tool_secrets,
    "CachedSecrets._cache": signing_secrets,
    "McpServers._listings": lists_of_servers,
    "DynamoMemories._known": memories,
    "RelevantMemories._kept": memories_of_runs,
    "S3Blobs._put": texts,
}
ELSEWHERE = {
    "TokenCache._kept": "tests/e2e/attacks/test_ag7_credentials.py",
    "Limiter._tenants": "tests/limits/test_limiter.py",
    "DynamoCounts._minutes": "tests/limits/test_tenant_counts_store.py",
    "Recorder._reads": "tests/audit",
    "OwnWebhooks._resting": "tests/notifications",
    "Unreadable._failures": "tests/recovery",
}
"""Numbers, ids and times by tenant. A wrong key there would refuse or repeat something and show nothing."""


@pytest.mark.parametrize("cache", PLAYED)
def test_what_one_tenant_left_there_is_not_found_by_another(
    moto_account: Aws, tenant: str, cache: str
) -> None:
    see = PLAYED[cache](moto_account)
    tenants = (f"{tenant}-zebra", f"{tenant}-okapi")
    for _, whose in product(range(2), tenants):  # the second time everything that is kept is there
        found = str(see(whose, f"{whose}-mark"))
        (other,) = set(tenants) - {whose}
        assert (f"{whose}" in found, other in found) == (True, False)


def test_each_cache_of_the_page_is_played_here_or_there() -> None:
    assert sorted(on_the_page()) == sorted([*PLAYED, *ELSEWHERE])
    assert [each for each in ELSEWHERE.values() if not (ROOT / each).exists()] == []
