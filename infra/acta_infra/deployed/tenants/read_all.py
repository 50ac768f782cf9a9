"""Reads all there is of something, one page after another. The next page is asked for when the caller needs it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, TypeVar

from acta_engine.log.store import IndexEntry
from acta_engine.memories.memory import Memory
from acta_engine.people.intervention import Intervention
from acta_engine.store.table_layout import Item
from acta_infra.deployed.account import pages
from acta_infra.deployed.tenants.stores import TenantStores

PAGE = 100
T = TypeVar("T")


def all_sessions(stores: TenantStores, tenant: str) -> Iterator[IndexEntry]:
    def page(cursor: str | None) -> tuple[Iterable[IndexEntry], str | None]:
        found = stores.index.sessions(tenant, states=(), agent_id=None, limit=PAGE, cursor=cursor)
        return found.entries, found.cursor

    return _all(page)


def all_interventions(stores: TenantStores, tenant: str, session_id: str) -> Iterator[Intervention]:
    """Of one session."""

    def page(cursor: str | None) -> tuple[Iterable[Intervention], str | None]:
        found = stores.index.interventions(
            tenant, state=None, limit=PAGE, cursor=cursor, session_id=session_id
        )
        return found.items, found.cursor

    return _all(page)


def all_memories(stores: TenantStores, tenant: str) -> Iterator[Memory]:
    """Of all agents."""

    def page(cursor: str | None) -> tuple[Iterable[Memory], str | None]:
        found = stores.memories.list(tenant, agent_id=None, kind=None, limit=PAGE, cursor=cursor)
        return found.memories, found.cursor

    return _all(page)


def all_objects(stores: TenantStores, bucket: str, prefix: str) -> Iterator[Mapping[str, Any]]:
    """As S3 lists them: `Key`, `Size` and more; of each object its newest version."""
    found = pages(
        stores.objects,
        "list_objects_v2",
        "NextContinuationToken",
        "ContinuationToken",
        Bucket=bucket,
        Prefix=prefix,
    )
    for page in found:
        yield from page.get("Contents", ())


def scan(stores: TenantStores, table: str, **request: Any) -> Iterator[Item]:
    """All items of a table, strongly consistent. `request`: more of a Scan, such as a filter."""
    found = pages(
        stores.table,
        "scan",
        "LastEvaluatedKey",
        "ExclusiveStartKey",
        TableName=table,
        ConsistentRead=True,
        **request,
    )
    for page in found:
        yield from page["Items"]


def in_pages(found: Iterable[T]) -> Iterator[list[T]]:
    """Up to PAGE at once."""
    left = iter(found)
    while page := list(islice(left, PAGE)):
        yield page


def _all(page: Callable[[str | None], tuple[Iterable[T], str | None]]) -> Iterator[T]:
    """`page`: is called with where the page before ended, None at first, and returns what it read and where that ended;
    None: it was the last.
    """
    cursor: str | None = None
    while True:
        found, cursor = page(cursor)
        yield from found
        if cursor is None:
            return
