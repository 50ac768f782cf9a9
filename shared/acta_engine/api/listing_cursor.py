"""Parameters of listings: how many entries a page has, and where it begins. A store makes the cursors of its own and
checks them; callers cannot read them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from pydantic import AwareDatetime, BeforeValidator, Field

from acta_engine.errors import CursorInvalid

MAX_PAGE = 100
"""The most entries of a page: the bound of a route's `limit`. Its default stands in the route."""
MAX_LONG_PAGE = 200
"""The same for short entries: messages, events, steps, memories, usage."""
MAX_FILES = 1_000
"""The same for files, because S3 lists as many at once."""
ListingCursor = Annotated[str | None, Field(max_length=2_048)]


@contextmanager
def listing_cursor() -> Iterator[None]:
    """Around a call of a store: its ValueError for a cursor that it did not make becomes CursorInvalid."""
    try:
        yield
    except ValueError:
        raise CursorInvalid from None


def _as_written(text: object) -> object:
    """pydantic would also take a number, as seconds since 1970, which the document does not mention."""
    if isinstance(text, str) and not (text[:4].isdigit() and text[4:5] == "-"):
        raise ValueError("This is not an instant, such as 2026-01-31T09:30:00Z")
    return text


Instant = Annotated[AwareDatetime, BeforeValidator(_as_written)]
