"""The `cursor` parameter of a listing. Its store makes the cursors and checks them; callers cannot read them.

A page's size is each route's `limit`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from pydantic import Field

from shared.domain.errors import CursorInvalid

ListingCursor = Annotated[str | None, Field(max_length=2_048)]


@contextmanager
def listing_cursor() -> Iterator[None]:
    """Around a call of a store: its ValueError for a cursor that it did not make becomes CursorInvalid."""
    try:
        yield
    except ValueError:
        raise CursorInvalid from None
