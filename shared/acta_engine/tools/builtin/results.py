"""The tool `read_result`, which reads on in a large result (docs/design/tools.md 19)."""

from acta_engine.errors import ToolFailed
from acta_engine.log.beside import BlobMissing
from acta_engine.tools.port import BuiltinCall
from acta_engine.tools.result_text import boundary, cut, more
from acta_engine.tools.tool import BuiltinTool, fields, text
from acta_engine.untrusted.quoting import OutsideText

PAGE_BYTES = 8_192
MAX_PAGE_BYTES = 16_384
"""The most that one call returns."""


def read_result(call: BuiltinCall) -> OutsideText:
    # To JSON Schema `5.0` is an integer, too.
    handle, offset = call.arguments["handle"], int(call.arguments.get("offset", 0))
    if call.context.text_of is None:
        raise ToolFailed("there is no session whose results could be read here.")
    try:
        data = call.context.text_of(handle).encode()
    except BlobMissing:
        raise ToolFailed(
            "this session has no result with that handle. Use a handle exactly as it was given, or call the tool again."
        ) from None
    if offset >= len(data):
        raise ToolFailed(f"the result has {len(data)} bytes. Use an offset below that.")
    page = cut(data, offset, min(int(call.arguments.get("limit", PAGE_BYTES)), MAX_PAGE_BYTES))
    begin = boundary(data, offset)
    end = begin + len(page.encode())
    note = more(end, len(data), handle) if end < len(data) else "[this is the end of the result]"
    return OutsideText("result", f"{handle[:8]}, from byte {begin} of {len(data)}", page, note=note)


TOOLS = (
    BuiltinTool(
        name="read_result",
        description=(
            "Read more of a large tool result that was shown in part or elided: its handle stands where it was. "
            "Offset and limit count bytes; the answer says how to go on."
        ),
        input_schema=fields(
            ("handle",),
            handle=text("The handle, exactly as it was given", pattern="^[0-9a-f]{64}$"),
            offset={"type": "integer", "minimum": 0, "description": "Where to begin; default 0"},
            limit={
                "type": "integer",
                "minimum": 256,
                "maximum": MAX_PAGE_BYTES,
                "description": "Default 8192",
            },
        ),
        bounded=True,
        always=True,
        run=read_result,
    ),
)
