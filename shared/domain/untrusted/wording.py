"""What is wrong with a value, in words for the person who sent it."""

from collections.abc import Mapping
from typing import Any

_WORDS: Mapping[str, str] = {
    "extra_forbidden": "There is no such field.",
    "missing": "This field is required.",
    "string_unicode": "The text has half of a surrogate pair, which is not valid Unicode.",
}


def too_long(text: str, limit: int) -> str:
    """`limit`: in characters."""
    return f"The text has {len(text):,} characters; at most {limit:,} are allowed."


def wording(error: Mapping[str, Any]) -> str:
    """One of pydantic's errors as a sentence. The value is never quoted."""
    text = _WORDS.get(error["type"]) or str(error["msg"]).removeprefix("Value error, ")
    return text if text.endswith(".") else f"{text}."
