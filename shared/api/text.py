"""Which text a request may carry, and the words for what it may not."""

from math import isfinite
from typing import Annotated, Any

from pydantic import AfterValidator

from shared.domain.errors import ValidationFailed
from shared.domain.visible import is_blank
from shared.domain.wording import too_long


def _readable(text: str) -> str:
    if "\0" in text:
        raise ValueError("The text has a NUL character.")
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        raise ValueError("The text has half of a surrogate pair, which is not valid Unicode.")
    return text


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("The text is blank.")
    if is_blank(text):
        raise ValueError("The text has no visible character.")
    return text


def _usable_throughout(value: dict[str, Any]) -> dict[str, Any]:
    """JSON can name numbers that are infinite here (1e999); stored they would come back as null."""
    waiting: list[Any] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting += [*item.keys(), *item.values()]
        elif isinstance(item, list):
            waiting += item
        elif isinstance(item, str):
            _readable(item)
        elif isinstance(item, float) and not isfinite(item):
            raise ValueError("A number is too large.")
    return value


# markers for `Annotated`, behind the bounds, so that those are told in characters
READABLE = AfterValidator(_readable)
NOT_BLANK = AfterValidator(_not_blank)
JsonObject = Annotated[dict[str, Any], AfterValidator(_usable_throughout)]


def refuse_default(_: object) -> None:
    """Of a tool's definition: a default there could approve the tool's calls."""
    raise ValueError(
        "A tool has no default of its own: no default approves a call, and one that nobody decides on is rejected. "
        "How long people have, and who they are, is in an agent's interventions."
    )


def refuse_longer(field: str, text: str | None, limit: int) -> None:
    """The configured limit, in characters; the models have the fixed one."""
    if text is not None and len(text) > limit:
        raise ValidationFailed(f"{field} is too long.", {field: [too_long(text, limit)]})
