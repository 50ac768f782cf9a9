"""An instant in a query."""

from typing import Annotated

from pydantic import AwareDatetime, BeforeValidator


def _as_written(text: object) -> object:
    """pydantic takes a number for seconds since 1970, too, which the document does not say."""
    if isinstance(text, str) and not (text[:4].isdigit() and text[4:5] == "-"):
        raise ValueError("This is not an instant, such as 2026-01-31T09:30:00Z")
    return text


Instant = Annotated[AwareDatetime, BeforeValidator(_as_written)]
