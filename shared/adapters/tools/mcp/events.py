"""Reads an event stream (WHATWG HTML, Server-sent events) as it comes. How long it may be is the exchange's to say."""

from typing import NamedTuple


class Event(NamedTuple):
    """`data`: its lines, joined. `id` is empty where it has none."""

    data: str
    id: str


class EventReader:
    """`last_id` and `retry_ms`: what the stream has said of how to come back to it."""

    def __init__(self) -> None:
        self.last_id = ""
        self.retry_ms: int | None = None
        self._rest: list[bytes] = []
        self._data: list[str] = []
        self._ended_with_return = False

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that these bytes complete. Lines end with LF, CR or both. All work is linear in the stream."""
        if self._ended_with_return and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        self._ended_with_return = chunk.endswith(b"\r")
        first, *others = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest.append(first)
        if not others:
            return []
        lines = [b"".join(self._rest), *others[:-1]]
        self._rest = [others[-1]]
        found = [self._line(line.decode("utf-8", "replace")) for line in lines]
        return [event for event in found if event is not None]

    def _line(self, line: str) -> Event | None:
        if not line:
            data, self._data = self._data, []
            return Event("\n".join(data), self.last_id) if data else None
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "id" and "\0" not in value:
            self.last_id = value
        elif field == "retry" and value.isascii() and value.isdigit():
            self.retry_ms = int(value[:9])
        return None
