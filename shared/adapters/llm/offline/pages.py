"""A file larger than one result, put together from its pages.

Pages are asked for by offset, many at once; each overlaps the one before by a character, because a page holds whole
characters only and tells where it really begins.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from shared.adapters.llm.offline.results import FileText

PAGE_BYTES = 16_384
"""Of one `read_result` at most."""
MOST_BYTES = 2_097_152
"""Of one file; beyond that the answer says how much was read."""
_LONGEST_CHAR = 4
_OPENING = re.compile(
    r"-{3,}\s*result:\s*\w+, from byte (?P<begin>\d+) of \d+ \((?P<size>\d+) bytes?\)(?:\s*#\w+)?\s*-{3,}"
)


class _Page(NamedTuple):
    begin: int
    data: bytes


def page_inputs(head: FileText) -> list[dict[str, Any]]:
    """The inputs of the `read_result` calls that bring the rest of `head`."""
    if not head.handle:
        return []
    first = len(head.text.encode())
    offsets = range(first, min(head.size, MOST_BYTES), PAGE_BYTES - _LONGEST_CHAR)
    return [{"handle": head.handle, "offset": offset, "limit": PAGE_BYTES} for offset in offsets]


def put_together(head: FileText, result_of: Callable[[dict[str, Any]], str | None]) -> FileText:
    """As much as is there without a gap. `result_of`: the text of a page's call, None if there is none."""
    data = bytearray(head.text.encode())
    for given in page_inputs(head):
        result = result_of(given)
        page = _page(result) if result is not None else None
        if page is None or page.begin > len(data):
            break
        data += page.data[len(data) - page.begin :]
    return head._replace(text=data.decode("utf-8", "replace"), whole=len(data) >= head.size)


def _page(result: str) -> _Page | None:
    line, _, rest = result.partition("\n")
    opened = _OPENING.fullmatch(line.strip())
    return _Page(int(opened["begin"]), rest.encode()[: int(opened["size"])]) if opened is not None else None
