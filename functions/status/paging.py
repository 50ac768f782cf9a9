"""Pages of listings and histories: bounded in rows and bytes, with a cursor behind the last row told (design §3)."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

from shared.agent.queries.history import HistoryCursor, Row
from shared.agent.queries.poll import Snapshot
from shared.api.response.envelope import to_json

PAGE_BYTES = 900_000
"""Of JSON; with everything around it an answer stays under 1 MB, far from what Lambda and gateway pass on."""
EVENT_BYTES = 600_000
"""Of a page of events, which comes with the snapshot."""

Item = TypeVar("Item")
Json = dict[str, Any]


class Page(NamedTuple):
    """`next_cursor` None: there is no more."""

    items: list[Json]
    next_cursor: str | None

    @property
    def view(self) -> Json:
        return {"items": self.items, "next_cursor": self.next_cursor}


def page(rows: Iterable[Row[Item]], view: Callable[[Item], Json], limit: int) -> Page:
    """As many rows as both bounds let through, one at least."""
    items: list[Json] = []
    size, behind = 0, HistoryCursor()
    for row in rows:
        if row.item is None:
            return Page(items, str(row.behind))
        if len(items) == limit:
            return Page(items, str(behind))
        item = fitting(view(row.item))
        size += json_bytes(item)
        if items and size > PAGE_BYTES:
            return Page(items, str(behind))
        items.append(item)
        behind = row.behind
    return Page(items, None)


def listed(
    rows: Iterable[Item], view: Callable[[Item], Json], behind: Callable[[Item], str], following: str | None
) -> Page:
    """A page that its store ended at a number of rows, `following` its cursor: ended earlier, `behind` the last row
    told, where it is too large.
    """
    items: list[Json] = []
    size, last = 0, None
    for row in rows:
        item = fitting(view(row))
        size += json_bytes(item)
        if last is not None and size > PAGE_BYTES:
            return Page(items, behind(last))
        items.append(item)
        last = row
    return Page(items, following)


def bounded(seen: Snapshot) -> Snapshot:
    """With as many events as an answer may hold, one at least; its cursor is behind the last of them."""
    size = 0
    for place, one in enumerate(seen.events):
        size += json_bytes(one.event.data)
        if place and size > EVENT_BYTES:
            kept = seen.events[:place]
            return seen._replace(events=kept, cursor=kept[-1].cursor, has_more=True)
    return seen


def fitting(item: Json) -> Json:
    """The item, or, where it alone is more than a page, with its long texts cut and `truncated`."""
    most = PAGE_BYTES // 2
    shown = item
    while json_bytes(shown) > PAGE_BYTES:
        shown = {**_cut(item, most), "truncated": True}
        most //= 2
    return shown


def json_bytes(value: Any) -> int:
    return len(to_json(value).encode())


def _cut(value: Any, most: int) -> Any:
    match value:
        case str():
            return value[:most]
        case dict():
            some = list(value.items())[: max(1, most)]
            return {_cut(key, most): _cut(each, most) for key, each in some}
        case list() | tuple():
            return [_cut(each, most) for each in value[: max(1, most)]]
        case _:
            return value
