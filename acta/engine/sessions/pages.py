"""Pages of listings and histories: bounded in rows and in bytes, with a cursor after the last row
(docs/design/api.md 8)."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from acta.engine.api.answers import instant_or_none
from acta.engine.api.envelope import Response, json_bytes, success
from acta.engine.api.listing_cursor import PAGE_BYTES
from acta.engine.log.store import SessionIndex
from acta.engine.sessions.history import HistoryCursor, Row
from acta.engine.sessions.poll import SessionSnapshot

EVENT_BYTES = 600_000
"""The most bytes in a page of events, which comes with the snapshot."""

Item = TypeVar("Item")
Json = Mapping[str, Any]


class Page(NamedTuple):
    """`next_cursor` None: there is no more."""

    items: list[Json]
    next_cursor: str | None


def page_of_rows(rows: Iterable[Row[Item]], view: Callable[[Item], Json], limit: int) -> Page:
    """As many rows as both bounds allow, one at least. `limit`: the request's
    (`acta/engine/sessions/routes.py`)."""
    items: list[Json] = []
    size, following = 0, HistoryCursor()
    for row in rows:
        if row.item is None:
            return Page(items, str(row.cursor_after))
        if len(items) == limit:
            return Page(items, str(following))
        item = fitting(view(row.item))
        size += json_bytes(item)
        if items and size > PAGE_BYTES:
            return Page(items, str(following))
        items.append(item)
        following = row.cursor_after
    return Page(items, None)


def page_of_items(
    found: Iterable[Item],
    view: Callable[[Item], Json],
    cursor_after: Callable[[Item], str],
    next_cursor: str | None,
) -> Page:
    """A page of what a store found; `next_cursor` is the store's. A page that would be too large ends earlier, with the
    cursor after its own last item.
    """
    items: list[Json] = []
    size, last = 0, None
    for one in found:
        item = fitting(view(one))
        size += json_bytes(item)
        if last is not None and size > PAGE_BYTES:
            return Page(items, cursor_after(last))
        items.append(item)
        last = one
    return Page(items, next_cursor)


def searched_page(found: Page, index: SessionIndex) -> Response:
    """A page with `searched_to`: how far back it has looked, where there is more to look at."""
    at = None if found.next_cursor is None else index.searched_to(found.next_cursor)
    return success(
        {"items": found.items, "next_cursor": found.next_cursor, "searched_to": instant_or_none(at)}
    )


def bounded(seen: SessionSnapshot) -> SessionSnapshot:
    """The snapshot with as many events as an answer may have, one at least, and the cursor after the last of them."""
    size = 0
    for place, one in enumerate(seen.events):
        size += json_bytes(one.event.data)
        if place and size > EVENT_BYTES:
            kept = seen.events[:place]
            return seen._replace(events=kept, cursor=kept[-1].cursor, has_more=True)
    return seen


def fitting(item: Json) -> Json:
    """The item. Where it alone is larger than a page, its long texts are cut, and it has `truncated`."""
    most = PAGE_BYTES // 2
    shown = item
    while json_bytes(shown) > PAGE_BYTES:
        shown = {**_cut(item, most), "truncated": True}
        most //= 2
    return shown


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
