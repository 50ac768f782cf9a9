"""What a tool of a server has answered, as one text: text as it is, structured content as JSON, of all else what it is
and how large.
"""

import json
from collections.abc import Mapping
from typing import Any

MAX_CONTENTS = 500
NOTHING = "[the tool answered with nothing]"


def text_of(result: Mapping[str, Any]) -> str:
    """`result`: of a `tools/call`."""
    contents = result.get("content")
    listed = contents if isinstance(contents, list) else []
    parts = [_part(one) for one in listed[:MAX_CONTENTS]]
    if len(listed) > MAX_CONTENTS:
        parts.append(f"[{len(listed) - MAX_CONTENTS} further parts were left out]")
    if "structuredContent" in result and not _repeats(result["structuredContent"], listed):
        parts.append(json.dumps(result["structuredContent"], ensure_ascii=False))
    return "\n".join(part for part in parts if part)


def unfit(schema: Mapping[str, Any], result: Mapping[str, Any]) -> bool:
    """Whether structured content is not what the server says of it (`outputSchema`), or is missing. What cannot be
    checked in a limited amount of work is not held against it.
    """
    from shared.adapters.tools.schema.check import errors_of  # few tools have such a schema

    if "structuredContent" not in result:
        return True
    try:
        return bool(errors_of(json.dumps(schema, sort_keys=True), result["structuredContent"]))
    except Exception:  # too much work, or numbers at which the validator itself fails
        return False


def _part(content: Any) -> str:
    match content:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "image" | "audio" as kind, "data": str(data)}:
            return f"[{kind}{_of_type(content)}, about {len(data) * 3 // 4} bytes: it cannot be shown]"
        case {"type": "resource", "resource": {"text": str(text), **resource}}:
            return f"[resource {_short(resource.get('uri'))}]\n{text}"
        case {"type": "resource", "resource": {"blob": str(data), **resource}}:
            size = len(data) * 3 // 4
            uri = _short(resource.get("uri"))
            return f"[resource {uri}{_of_type(resource)}, about {size} bytes: it cannot be shown]"
        case {"type": "resource_link", "uri": str(uri)}:
            return f"[link to the resource {_short(uri)}{_of_type(content)}: it was not opened]"
        case {"type": str(kind)}:
            return f"[content of the kind {_short(kind)}: it cannot be shown]"
        case _:
            return ""


def _of_type(content: Mapping[Any, Any]) -> str:
    kind = content.get("mimeType")
    return f" of type {_short(kind)}" if isinstance(kind, str) else ""


def _short(text: Any) -> str:
    shown = " ".join(str(text).split())
    return shown if len(shown) <= 200 else f"{shown[:199]}…"


def _repeats(structured: Any, contents: list[Any]) -> bool:
    """Whether a text has the structured content already, as the specification asks servers to have it."""
    for one in contents[:MAX_CONTENTS]:
        if isinstance(one, dict) and one.get("type") == "text" and isinstance(one.get("text"), str):
            try:
                if json.loads(one["text"]) == structured:
                    return True
            except (ValueError, RecursionError):
                continue
    return False
