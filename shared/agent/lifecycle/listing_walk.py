"""Goes through a long listing in many invocations, each of which has little time."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeVar

Entry = TypeVar("Entry")
Listed = TypeVar("Listed", covariant=True)


class Page(Protocol[Listed]):
    @property
    def sessions(self) -> Sequence[Listed]: ...
    @property
    def cursor(self) -> str | None: ...


class Stopped(NamedTuple):
    cursor: str | None
    """Of the page at which to go on; None: of the first."""
    at_end: bool
    """Whether the listing's last page was gone through."""


def walk(
    page_at: Callable[[str | None], Page[Entry]],
    visit: Callable[[Entry], None],
    cursor: str | None,
    time_is_left: Callable[[], bool],
) -> Stopped:
    """Visits the entries from the cursor's page on, for as long as time is left, which is asked before each page and
    each entry: most pages of a filtered listing have no entry. Raises what `page_at` raises, but begins with the first
    page where it takes no such cursor any more (ValueError).
    """
    while time_is_left():
        try:
            page = page_at(cursor)
        except ValueError:
            if cursor is None:
                raise
            cursor = None
            continue
        for entry in page.sessions:
            if not time_is_left():
                return Stopped(cursor, at_end=False)
            visit(entry)
        cursor = page.cursor
        if cursor is None:
            return Stopped(None, at_end=True)
    return Stopped(cursor, at_end=False)
