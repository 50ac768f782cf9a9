"""What the model gets of a tool's result (design §7): text from outside is quoted as data, and of a large result it
gets the beginning and a handle.

This is the one place where a result becomes text for a model, so no tool has to think of either.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from acta_engine.errors import ModelFeedback, ToolFailed
from acta_engine.log.blobs import BlobMissing
from acta_engine.log.conversation import Content
from acta_engine.log.head import Head
from acta_engine.log.repository import SessionRepository
from acta_engine.tools.builtin.specs import MAX_PAGE_BYTES
from acta_engine.untrusted.quoting import OutsideText, quoted

PAGE_BYTES = 8_192


class ResultText(NamedTuple):
    """`whole`: where all of the result is stored, if `text` has only its beginning."""

    text: str
    whole: Content | None = None


def result_text(
    said: str | OutsideText, limit: int, keep: Callable[[Content], Content], key: str
) -> ResultText:
    """`limit`: bytes of the result that the model gets (`ToolSpec.result_limit_bytes`); `keep`: stores a text and
    returns its pointer; `key`: an id that the text's author does not know.
    """
    outside = said if isinstance(said, OutsideText) else None
    text = outside.cleaned if outside is not None else str(said)
    content, whole, notes = Content.of(text), None, []
    if content.bytes > limit:
        whole = keep(content)
        text = _cut(text.encode(), 0, limit)
        notes = [_more(len(text.encode()), content.bytes, whole.blob)]
    if outside is not None:
        text = quoted(outside.kind, outside.name, text, size=content.bytes, key=key)
        notes += [outside.note] if outside.note else []
    return ResultText("\n".join([text, *notes]), whole)


def failure_text(failure: ModelFeedback, key: str) -> str:
    """What the model gets of a call that failed. What the failure repeats from outside is quoted as data."""
    outside = failure.outside if isinstance(failure, ToolFailed) else None
    if outside is None:
        return f"Error: {failure}"
    quotation = quoted(outside.kind, outside.name, outside.cleaned, size=outside.size, key=key)
    return f"Error: {failure}\n{quotation}"


def read_result(repository: SessionRepository, head: Head, arguments: Mapping[str, Any]) -> OutsideText:
    """A page of a stored result of this session. Raises ToolFailed."""
    handle, offset = arguments["handle"], arguments.get("offset", 0)
    try:
        data = repository.text(head, handle).encode()
    except BlobMissing:
        raise ToolFailed(
            "this session has no result with that handle. Use a handle exactly as it was given, or call the tool again."
        ) from None
    if offset >= len(data):
        raise ToolFailed(f"the result has {len(data)} bytes. Use an offset below that.")
    text = _cut(data, offset, min(arguments.get("limit", PAGE_BYTES), MAX_PAGE_BYTES))
    begin = _boundary(data, offset)
    end = begin + len(text.encode())
    note = _more(end, len(data), handle) if end < len(data) else "[this is the end of the result]"
    return OutsideText(
        "result", f"{handle[:8]}, from byte {begin} of {len(data)}", text, exact=True, note=note
    )


def _cut(data: bytes, offset: int, limit: int) -> str:
    """At most `limit` bytes from `offset` on, in whole characters. At least one character, so that paging moves on."""
    begin = _boundary(data, offset)
    end = min(begin + limit, len(data))
    while end > begin and end < len(data) and _is_inside(data[end]):
        end -= 1
    if end == begin:
        end = _boundary(data, begin + 1)
    return data[begin:end].decode()


def _boundary(data: bytes, offset: int) -> int:
    while offset < len(data) and _is_inside(data[offset]):
        offset += 1
    return offset


def _is_inside(byte: int) -> bool:
    """Whether the byte continues a UTF-8 character."""
    return byte & 0xC0 == 0x80


def _more(shown: int, of: int, handle: str | None) -> str:
    return (
        f"[{shown} of {of} bytes so far; for more call read_result with handle {handle} and offset {shown}]"
    )
