"""Amazon's event stream encoding, as `InvokeModelWithResponseStream` answers in it.

total length, headers length, CRC of both; headers; payload; CRC of all before
"""

import base64
import json
import struct
from typing import Any
from zlib import crc32

_STRING = 7


def chunk(data: bytes) -> bytes:
    """One event. `data`: what the Messages API would send in one `data:` line."""
    inner = {"bytes": base64.b64encode(data).decode(), "p": "abcd"}
    return message(
        {":event-type": "chunk", ":content-type": "application/json", ":message-type": "event"}, inner
    )


def exception(name: str, text: str) -> bytes:
    """`name`: in the stream's spelling, for example `throttlingException`."""
    headers = {":exception-type": name, ":content-type": "application/json", ":message-type": "exception"}
    return message(headers, {"message": text})


def message(headers: dict[str, str], payload: Any) -> bytes:
    body = json.dumps(payload).encode()
    head = b"".join(_header(name, value) for name, value in headers.items())
    prelude = struct.pack("!II", 16 + len(head) + len(body), len(head))
    whole = prelude + struct.pack("!I", crc32(prelude)) + head + body
    return whole + struct.pack("!I", crc32(whole))


def _header(name: str, value: str) -> bytes:
    text = value.encode()
    return struct.pack("!B", len(name)) + name.encode() + struct.pack("!BH", _STRING, len(text)) + text
