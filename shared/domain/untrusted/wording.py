"""What is wrong with a value, in words for the person who sent it."""

from collections.abc import Iterable, Mapping
from typing import Any

_WORDS: Mapping[str, str] = {
    "extra_forbidden": "There is no such field.",
    "missing": "This field is required.",
    "string_unicode": "The text has half of a surrogate pair, which is not valid Unicode.",
}


def too_long(text: str, limit: int) -> str:
    """`limit`: in characters."""
    return f"The text has {len(text):,} characters; at most {limit:,} are allowed."


def near_names(name: str, known: Iterable[str]) -> str:
    """A sentence for somebody who named what does not exist: the names that are near it, else all that there are."""
    import difflib  # only a mistake pays for it

    names = list(known)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    return f"Did you mean {', '.join(near)}?" if near else f"There are: {', '.join(names)}."


def wording(error: Mapping[str, Any]) -> str:
    """One of pydantic's errors as a sentence. The value is never quoted."""
    text = _WORDS.get(error["type"]) or str(error["msg"]).removeprefix("Value error, ")
    return text if text.endswith(".") else f"{text}."
