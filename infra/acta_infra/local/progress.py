"""How a long operation reports what it does. The command line draws it, tests ignore it."""

from typing import Protocol


class Progress(Protocol):
    def begin(self, phase: str) -> None: ...

    def note(self, phase: str, text: str) -> None:
        """How far the phase is, in a few words that replace the last ones."""

    def end(self, phase: str, text: str = "") -> None: ...


class Silent:
    """Reports nothing."""

    def begin(self, phase: str) -> None:
        pass

    def note(self, phase: str, text: str) -> None:
        pass

    def end(self, phase: str, text: str = "") -> None:
        pass
