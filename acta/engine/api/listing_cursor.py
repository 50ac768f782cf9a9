"""Parameters of listings: how many entries a page has, and where it begins. A store makes the cursors of its own and
checks them; callers cannot read them.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from typing import Annotated, Any

from pydantic import AwareDatetime, BeforeValidator, Field

from acta.engine.api.envelope import Response, json_bytes, page
from acta.engine.errors import CursorInvalid

MAX_PAGE = 100
"""The most entries of a page: the bound of a route's `limit`. Its default stands in the route."""
MAX_LONG_PAGE = 200
"""The same for short entries: messages, events, steps, memories, usage."""
MAX_FILES = 1_000
"""The same for files, because S3 lists as many at once."""
PAGE_BYTES = 900_000
"""The most bytes of JSON in a page. The whole answer stays under 1 MB, far from what Lambda and gateway pass on."""
ListingCursor = Annotated[str | None, Field(max_length=2_048)]


@contextmanager
def listing_cursor() -> Iterator[None]:
    """Around a call of a store: its ValueError for a cursor that it did not make becomes CursorInvalid."""
    try:
        yield
    except ValueError:
        raise CursorInvalid from None


def bounded_page(read: Callable[[int], tuple[Sequence[Any], str | None]], limit: int) -> Response:
    """A page of at most `limit` entries with large texts: as many as `PAGE_BYTES` allow, one at least. `read`: returns
    at most the given number of entries, and the cursor after them.
    """
    entries, cursor = read(limit)
    sizes = accumulate(map(json_bytes, entries))
    fit = max(1, sum(size <= PAGE_BYTES for size in sizes))
    return page(entries, cursor) if fit >= len(entries) else page(*read(fit))


def _as_written(text: object) -> object:
    """pydantic would also take a number, as seconds since 1970, which the document does not mention."""
    if isinstance(text, str) and not (text[:4].isdigit() and text[4:5] == "-"):
        raise ValueError("This is not an instant, such as 2026-01-31T09:30:00Z")
    return text


Instant = Annotated[AwareDatetime, BeforeValidator(_as_written)]
