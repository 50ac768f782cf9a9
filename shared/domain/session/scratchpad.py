"""What an agent notes for the rest of its session: `remember` with scope `session`. Part of the head, so bounded."""

from typing import Annotated

from pydantic import Field

from shared.domain.value import Value

MAX_NOTES = 20
MAX_NOTE_CHARS = 500
MAX_CHARS = 4_000
"""Of all notes together."""


class Scratchpad(Value):
    """Oldest note first."""

    notes: Annotated[tuple[str, ...], Field(max_length=MAX_NOTES)] = ()

    def with_note(self, text: str) -> "Scratchpad":
        """The note at the end, cut to its bound; a note that was there already moves there. The oldest make room."""
        note = " ".join(text.split())
        if not note:
            return self
        if len(note) > MAX_NOTE_CHARS:
            note = note[: MAX_NOTE_CHARS - 1] + "…"
        notes = [*(old for old in self.notes if old != note), note][-MAX_NOTES:]
        while sum(map(len, notes)) > MAX_CHARS:
            del notes[0]
        return Scratchpad(notes=tuple(notes))

    @property
    def text(self) -> str:
        """For the end of a request; empty where nothing was noted. A note is one line, so none can pose as more."""
        if not self.notes:
            return ""
        return "\n".join(["Your notes of this session:", *(f"- {note}" for note in self.notes)])
