"""The admin function over SQLite in memory."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from acta.embedded.objects import SqliteObjects
from acta.embedded.table import SqliteTable
from acta.engine.agents.store import ToolSecretValues
from acta.engine.api.idempotency import IdempotencyGuard
from acta.engine.app import App
from acta.engine.clock import Clock
from acta.engine.files.store import FileStore
from acta.engine.log.dynamodb_index import DynamoIndex
from acta.engine.log.store import SessionIndex
from acta.engine.memories.dynamodb import DynamoMemories
from acta.engine.settings import Settings
from acta.engine.tools.port import ToolFunction
from acta.engine.tools.tool import ToolSpec
from acta.testing.clock import FakeClock
from tests.api.gateway import Gateway, api_of, claims
from tests.doubles.audit import memory_audit
from tests.doubles.secret_values import MemoryToolSecretValues
from tests.doubles.tool_function import FakeToolFunction

SETTINGS = Settings(env="test", table="table", bucket="bucket")
MOST_MEMORIES = 3
NO_TOOLS: Mapping[str, ToolSpec] = MappingProxyType({})


def admin_root(
    settings: Settings = SETTINGS,
    files: FileStore | None = None,
    index: Callable[[str, Clock, SqliteTable], SessionIndex] = DynamoIndex,
    table: SqliteTable | None = None,
    secret_values: ToolSecretValues | None = None,
    receiver_secrets: ToolSecretValues | None = None,
    tool_function: ToolFunction | None = None,
    own_tools: Mapping[str, ToolSpec] = NO_TOOLS,
) -> App:
    clock = FakeClock()
    table = table or SqliteTable(None, clock=clock)
    return App(
        settings,
        dynamodb=table,
        s3=SqliteObjects(table),
        **({} if files is None else {"files": files}),
        secret_values=secret_values or MemoryToolSecretValues(),
        receiver_secrets=receiver_secrets or MemoryToolSecretValues(),
        memories=DynamoMemories(settings.table, clock, table, MOST_MEMORIES),
        idempotency=IdempotencyGuard(index(settings.table, clock, table)),
        clock=clock,
        audit=memory_audit(clock),
        tool_function=tool_function or FakeToolFunction(),
        limiter=None,
        own_tools=lambda tenant: own_tools if tenant == "acme" else {},
    )


class AdminApi:
    """The admin API of one deployment over stores in memory, and those who call it."""

    def __init__(
        self,
        settings: Settings = SETTINGS,
        index: Callable[[str, Clock, SqliteTable], SessionIndex] = DynamoIndex,
        own_tools: Mapping[str, ToolSpec] = NO_TOOLS,
    ) -> None:
        """`own_tools`: the environment's, of the tenant `acme`."""
        self.table = SqliteTable(None, clock=FakeClock())
        self.secret_values = MemoryToolSecretValues()
        self.receiver_secrets = MemoryToolSecretValues()
        self.tool_function = FakeToolFunction()
        self.root = admin_root(
            settings,
            index=index,
            table=self.table,
            secret_values=self.secret_values,
            receiver_secrets=self.receiver_secrets,
            tool_function=self.tool_function,
            own_tools=own_tools,
        )
        self._handler = api_of("admin", self.root).handler
        self.admin = self.as_caller()
        self.member = self.as_caller(roles="[member]")
        self.stranger = self.as_caller(tenant="other")

    def as_caller(self, tenant: str = "acme", user: str = "ann", roles: object = "[admin]") -> Gateway:
        return Gateway(self._handler, token=claims(tenant=tenant, user=user, roles=roles))
