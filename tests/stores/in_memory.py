"""Stores on SQLite in memory, and what tests look at or change there without the stores."""

from typing import Any, TypeVar

from acta.embedded.objects import SqliteObjects
from acta.embedded.table import SqliteTable
from acta.engine.files.s3 import S3FileStore
from acta.engine.log.s3 import S3Blobs
from acta.engine.log.store import IndexEntry
from acta.engine.memories.dynamodb import DynamoMemories
from acta.engine.memories.memory import MAX_PER_AGENT
from acta.engine.store.keys import SESSIONS, key_part, tenant_prefix
from acta.engine.store.table_layout import COMMIT, Item, is_tombstone, item_name, listing_item, session_pk
from acta.testing.clock import FakeClock

TABLE, BUCKET = "t", "s"
"""Of a house: the table, and the bucket of sessions' texts."""
Files = TypeVar("Files", bound=S3FileStore)


def files() -> S3FileStore:
    return files_of(S3FileStore)


def files_of(kind: type[Files]) -> Files:
    return kind("files", SqliteObjects(SqliteTable(None, clock=FakeClock())))


def blobs() -> S3Blobs:
    return S3Blobs(BUCKET, SqliteObjects(SqliteTable(None, clock=FakeClock())))


def memories(most: int = MAX_PER_AGENT) -> DynamoMemories:
    return DynamoMemories(TABLE, FakeClock(), SqliteTable(None, clock=FakeClock()), most)


def items(table: SqliteTable, kind: str) -> list[Item]:
    """Those whose sort keys begin with `kind`."""
    return [each for each in table.scan(TableName=TABLE)["Items"] if each["sk"]["S"].startswith(kind)]


def commits(table: SqliteTable) -> dict[str, list[Item]]:
    """By partition, the commits of sessions that are not deleted, oldest first."""
    found: dict[str, list[Item]] = {}
    for each in items(table, COMMIT):
        if not is_tombstone(each):
            found.setdefault(item_name(each)[0], []).append(each)
    return found


def commits_of(table: SqliteTable, tenant: str, session_id: str) -> list[Item]:
    return commits(table)[session_pk(tenant, session_id)]


def put(table: SqliteTable, item: Item, **changed: Any) -> None:
    table.put_item(TableName=TABLE, Item={**item, **changed})


def list_session(table: SqliteTable, entry: IndexEntry) -> None:
    put(table, listing_item(entry))


def texts(objects: SqliteObjects, tenant: str, session_id: str) -> list[str]:
    """The names of a session's texts."""
    prefix = f"{tenant_prefix(SESSIONS, tenant)}{key_part(session_id)}/"
    found = objects.list_objects_v2(Bucket=BUCKET, Prefix=prefix)["Contents"]
    return [each["Key"].removeprefix(prefix) for each in found]
