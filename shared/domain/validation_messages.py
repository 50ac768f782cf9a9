"""Sentences that say what is wrong with a value, for the person or the model that sent it."""

from collections.abc import Iterable, Mapping
from typing import Any

from shared.domain.untrusted.similar_names import similar

_WORDS: Mapping[str, str] = {
    "extra_forbidden": "There is no such field.",
    "missing": "This field is required.",
    "string_unicode": "The text has half of a surrogate pair, which is not valid Unicode.",
}


def too_long(text: str, limit: int) -> str:
    """A sentence about a text that is too long. `limit`: in characters."""
    return f"The text has {len(text):,} characters; at most {limit:,} are allowed."


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A sentence about a name that does not exist: the similar names in `known`, else all of them."""
    names = list(known)
    near = similar(name, names, most=3, at_least=0.35)
    return f"Did you mean {', '.join(near)}?" if near else f"There are: {', '.join(names)}."


def error_sentence(error: Mapping[str, Any]) -> str:
    """An item of pydantic's `ValidationError.errors()` as a sentence. The sentence never quotes the value."""
    text = _WORDS.get(error["type"]) or str(error["msg"]).removeprefix("Value error, ")
    return text if text.endswith(".") else f"{text}."
