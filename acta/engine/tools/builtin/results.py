"""The tool `read_result`, which reads on in a large result (docs/design/tools.md 19)."""

from acta.engine.errors import ToolFailed
from acta.engine.log.beside import BlobMissing
from acta.engine.tools.port import BuiltinCall
from acta.engine.tools.result_text import boundary, cut, more
from acta.engine.tools.tool import BuiltinTool, fields
from acta.engine.untrusted.quoting import OutsideText

PAGE_BYTES = 16_384
"""What one call returns."""
HANDLE_CHARS = 64
_HEX = frozenset("0123456789abcdef")


def read_result(call: BuiltinCall) -> OutsideText:
    # To JSON Schema `5.0` is an integer, too.
    handle, offset = call.arguments["handle"], max(0, int(call.arguments.get("offset", 0)))
    if call.context.text_of is None:
        raise ToolFailed("there is no session whose results could be read here.")
    try:
        if len(handle) != HANDLE_CHARS or not _HEX.issuperset(
            handle
        ):  # the session stores texts of other names
            raise BlobMissing
        data = call.context.text_of(handle).encode()
    except BlobMissing:
        raise ToolFailed(
            "this session has no result with that handle. Use a handle exactly as it was given, or call the tool again."
        ) from None
    if offset >= len(data):
        raise ToolFailed(f"the result has {len(data)} bytes. Use an offset below that.")
    page = cut(data, offset, PAGE_BYTES)
    begin = boundary(data, offset)
    end = begin + len(page.encode())
    note = more(end, len(data), handle) if end < len(data) else "[this is the end of the result]"
    return OutsideText("result", f"{handle[:8]}, from byte {begin} of {len(data)}", page, note=note)


TOOLS = (
    BuiltinTool(
        name="read_result",
        description="Reads on in a cut result.",
        input_schema=fields(("handle",), handle={"type": "string"}, offset={"type": "integer"}),
        bounded=True,
        always=True,
        run=read_result,
    ),
)
