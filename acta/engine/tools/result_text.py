"""What the model gets of a tool's result (docs/design/tools.md 19).

Text from outside is quoted as data, and of a large result the model gets the beginning and a handle for `read_result`.
`result_text` is the one place where a result becomes text for a model, so no tool has to think of either.
"""

from collections.abc import Callable
from typing import NamedTuple

from acta.engine.errors import ModelFeedback, ToolFailed
from acta.engine.log.conversation import Content
from acta.engine.untrusted.quoting import OutsideText, quoted
from acta.engine.untrusted.visible import well_formed


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
    text = well_formed(outside.text) if outside is not None else str(said)
    content, whole, notes = Content.of(text), None, []
    if content.bytes > limit:
        whole = keep(content)
        text = cut(text.encode(), 0, limit)
        notes = [more(len(text.encode()), content.bytes, whole.blob)]
    if outside is not None:
        text = _quotation(outside, text, content.bytes, key)
        notes += [outside.note] if outside.note else []
    return ResultText("\n".join([text, *notes]), whole)


def failure_text(failure: ModelFeedback, key: str) -> str:
    """What the model gets of a call that failed. What the failure repeats from outside is quoted as data."""
    outside = failure.outside if isinstance(failure, ToolFailed) else None
    if outside is None:
        return f"Error: {failure}"
    return f"Error: {failure}\n{_quotation(outside, well_formed(outside.text), outside.size, key)}"


def _quotation(outside: OutsideText, text: str, size: int | None, key: str) -> str:
    """An answer has no name in its quotation: the call right before it names the tool."""
    return quoted(outside.kind, "" if outside.kind == "answer" else outside.name, text, size, key=key)


def cut(data: bytes, offset: int, limit: int) -> str:
    """At most `limit` bytes from `offset` on, in whole characters. At least one character, so that paging moves on."""
    begin = boundary(data, offset)
    end = min(begin + limit, len(data))
    while end > begin and end < len(data) and _is_inside(data[end]):
        end -= 1
    if end == begin:
        end = boundary(data, begin + 1)
    return data[begin:end].decode()


def boundary(data: bytes, offset: int) -> int:
    """Where the first character begins that does not begin before `offset`."""
    while offset < len(data) and _is_inside(data[offset]):
        offset += 1
    return offset


def more(shown: int, of: int, handle: str | None) -> str:
    """What a model is told after a part of a text: how it gets the next one."""
    return (
        f"[{shown} of {of} bytes so far; for more call read_result with handle {handle} and offset {shown}]"
    )


def _is_inside(byte: int) -> bool:
    """Whether the byte continues a UTF-8 character."""
    return byte & 0xC0 == 0x80
