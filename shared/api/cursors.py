"""The polling cursor: a commit's number and an event in it, `12.34`; `0` is the start (design §3)."""

import re
from typing import NamedTuple

from shared.domain.errors import ValidationFailed

_PATTERN = re.compile(r"(0)|([1-9][0-9]{0,11})\.([1-9][0-9]{0,11}|0)")


class Cursor(NamedTuple):
    """Events up to `seq` have been seen; `commit` is the one that holds it, where reading goes on."""

    commit: int
    seq: int

    def __str__(self) -> str:
        return f"{self.commit}.{self.seq}" if self.commit else "0"


START = Cursor(0, 0)


def parse(text: str, field: str = "after") -> Cursor:
    """Raises ValidationFailed naming the field."""
    found = _PATTERN.fullmatch(text)
    if found is None:
        message = "This is not a cursor of an earlier answer; use 0 to read from the start."
        raise ValidationFailed("The cursor is not valid.", {field: [message]})
    return START if found[1] else Cursor(int(found[2]), int(found[3]))
