"""How a long operation tells what it is doing; the command line draws it, tests ignore it."""

from typing import Protocol


class Progress(Protocol):
    def begin(self, phase: str) -> None: ...

    def note(self, phase: str, text: str) -> None:
        """A short word on how far the phase is, replacing the last one."""

    def end(self, phase: str, text: str = "") -> None: ...


class Silent:
    """Tells nobody."""

    def begin(self, phase: str) -> None:
        pass

    def note(self, phase: str, text: str) -> None:
        pass

    def end(self, phase: str, text: str = "") -> None:
        pass
