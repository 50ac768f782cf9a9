"""What the listings of `admin` share: the cursor, and what is said of a wrong one."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Query

from shared.domain.errors import CursorInvalid

Cursor = Annotated[str | None, Query(max_length=2_048)]


@contextmanager
def bad_cursor() -> Iterator[None]:
    """Tells the store's ValueError to the caller, by the field's name."""
    try:
        yield
    except ValueError:
        raise CursorInvalid from None
