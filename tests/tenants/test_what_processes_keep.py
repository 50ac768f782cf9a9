"""What processes of Acta's functions keep from one invocation to the next, and that none of it serves another tenant.

`docs/design/tenancy.md` has a table of the caches with something of a tenant in them, and their keys. Everything else
in the sources that looks like a cache is named here with the reason why nobody finds anything of another tenant's in
it. A new cache has to be added to one of the two.
"""

import ast
import re
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from acta_engine.aws.clients import Service
from acta_engine.aws.secrets import CachedSecrets
from acta_engine.bound_tenant import bound_to
from acta_engine.egress.address import AddressGuard
from acta_engine.log.commit import Position
from acta_engine.log.head import Head
from acta_engine.log.s3 import S3Blobs
from acta_engine.memories.memory import RelevantMemories
from acta_engine.settings import Settings
from acta_engine.store.keys import notification_secrets_prefix
from acta_engine.tools.mcp.server import McpConnection
from acta_engine.tools.mcp.servers import Listing, McpServers, _Used
from acta_engine.tools.secret_reader import ToolSecretReader
from acta_engine.turn.engine import position
from tests.agents.test_store import make_agent
from tests.aws.test_tenant_credentials import function_in
from tests.memories.test_store import make_memory
from tests.stores.backends import Aws, aws_stores
from tests.tenants.stored_house import StoredHouse

ROOT = Path(__file__).parents[2]
PLACES = ("shared/acta_engine", "functions", "acta/tools")
EMPTY = {"OrderedDict", "defaultdict", "dict", "set", "list", "deque", "ContextVar", "CachedSecrets"}
"""What is called to make something that is empty at first and is filled later."""

OF_THE_RELEASE = """
built_in as_typed_dict fields_of Api.handlers Api._arguments fields catalogue builtins settings context_window speed_of
_versioned_fields left_out _options _counting _page ConsolePage._headers _react _offline _native NO_POLICIES _NOTHING
_asked_for _descriptions_of_aws _tools _is_shared _loop _http
ATTRIBUTES LimitsByTenant._limits
"""
"""Computed from code, catalogue and settings, which are the same for every tenant."""
OF_A_VALUE = "key_part validator_of"
"""From a text to what was made of it: who finds something there has brought all of it along."""
CLIENTS = """
aws_client credentials_for_data credentials_for_secrets function_client _client client_that_repeats_nothing _open_meteo
_secrets
"""
"""Clients with the keys of the deployment. Those of DynamoDB, S3 and Secrets Manager sign each request for the tenant
that is bound."""
OF_THE_DEPLOYMENT = """
secret_text OpenAIModel._refused Eras._known Secrets._kept Admission._held Admission._buckets Admission._named
Admission._is_idle DynamoAdmission._seen
"""
"""Secrets of the deployment and of folders of tools, what a model refuses, what a server speaks, the rate of a
provider's key: by model, URL, provider or name of the deployment's own."""
OF_ONE_PIECE_OF_WORK = """
_bound _left Api._event Change._events Change._entries Change._failed_attempts Change._interventions EndedTurns._kept
Session._segment_ends Session.entries Session.waiting Session.results Session._keys MessagesReplyBuilder._finished
MessagesReplyBuilder._blocks MessagesReplyBuilder._usage ChatReplyBuilder._text ChatReplyBuilder._thinking
ChatReplyBuilder._refusal ChatReplyBuilder._calls ChatReplyBuilder._position_of ResponsesReplyBuilder._items
EventReader._rest EventReader._data _Used._values _Batch._additions _Batch._folds _Batch._rows S3Files._clients
SharedPlaces._places SharedPlaces._furthest Admitter._passed_over
"""
"""Parts of one session, request, reply or invocation, and gone with it."""


def is_empty(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Dict):
        return not value.keys
    if isinstance(value, ast.List):
        return not value.elts
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in EMPTY


def is_cached(function: ast.FunctionDef) -> bool:
    used = [each.func if isinstance(each, ast.Call) else each for each in function.decorator_list]
    return any(isinstance(each, ast.Name) and each.id in ("cache", "lru_cache") for each in used)


def assigned(node: ast.AST) -> Iterator[ast.expr]:
    """What is given something empty, in a class's `__init__` or in a module."""
    if isinstance(node, ast.AnnAssign) and is_empty(node.value):
        yield node.target
    if isinstance(node, ast.Assign) and is_empty(node.value):
        yield node.targets[0]


def caches() -> Iterator[str]:
    """The names of everything that might keep something: `Class._attribute`, `function`, `CONSTANT`."""
    for path in (path for place in PLACES for path in sorted((ROOT / place).rglob("*.py"))):
        module = ast.parse(path.read_text(encoding="utf-8"))
        for statement in module.body:
            yield from (each.id for each in assigned(statement) if isinstance(each, ast.Name))
        for node in ast.walk(module):
            if isinstance(node, ast.FunctionDef) and is_cached(node):
                yield node.name
            if isinstance(node, ast.ClassDef):
                made = next((each for each in node.body if getattr(each, "name", "") == "__init__"), None)
                for inner in ast.walk(made) if made is not None else ():
                    targets = (each for each in assigned(inner) if isinstance(each, ast.Attribute))
                    yield from (f"{node.name}.{each.attr}" for each in targets)


def on_the_page() -> list[str]:
    text = (ROOT / "docs" / "design" / "tenancy.md").read_text(encoding="utf-8")
    _, _, section = text.partition("## What a process keeps")
    return re.findall(r"^\| [^|]+ \| `(\w+\.\w+)` \|", section, re.MULTILINE)


def test_every_cache_is_on_the_page_or_has_nothing_of_a_tenant() -> None:
    without = f"{OF_THE_RELEASE} {OF_A_VALUE} {CLIENTS} {OF_THE_DEPLOYMENT} {OF_ONE_PIECE_OF_WORK}".split()
    listed = [*on_the_page(), *without]
    assert sorted(listed) == sorted({*caches()})


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
    servers = McpServers(guard, cast(Any, None), cast(Any, None), lambda schema: None)
    connection = McpConnection(server="books", url="https://books.example/mcp", auth=None)

    def see(tenant: str, mark: str) -> object:
        key = _Used(servers, tenant, connection).key
        if servers._listings.fresh(key) is None:
            servers._listings.keep(key, Listing(cast(Any, (mark,)), 600))
        return servers._listings.fresh(key)

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
    "Listings._kept": lists_of_servers,
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
