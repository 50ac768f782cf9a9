"""Checks of the texts in a request: they can be stored, and a text that people read is not blank."""

from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, Field

from acta.engine.untrusted.visible import is_blank, texts_in


def readable(text: str) -> str:
    if "\0" in text:
        raise ValueError("The text has a NUL character.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("The text has half of a surrogate pair, which is not valid Unicode.") from None
    return text


def not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("The text is blank.")
    if is_blank(text):
        raise ValueError("The text has no visible character.")
    return text


def usable_throughout(value: dict[str, Any]) -> dict[str, Any]:
    """Checks that every text in the value can be stored. Numbers were checked when they were read (`read_exactly`)."""
    for text in texts_in(value):
        readable(text)
    return value


# Markers for `Annotated`. They come after the bounds, so that a bound is reported first.
READABLE = AfterValidator(readable)
NOT_BLANK = AfterValidator(not_blank)
JsonObject = Annotated[dict[str, Any], AfterValidator(usable_throughout)]
Name = Annotated[str, Field(min_length=1, max_length=64), READABLE]


class InRequests(NamedTuple):
    """Marks a field of a stored document: a request that brings it is checked by this type. What is stored is not
    checked again when it is read.
    """

    type: Any


class BoundedBy(NamedTuple):
    """Marks a text that the deployment bounds below the maximum of its type. `setting`: the most characters."""

    setting: str
