"""A door between a function and the model's server: shut, it holds every request until it is opened.

So that a test can act while the model thinks, for as long as it needs, and nothing has to be timed.
"""

import socket
import threading
from contextlib import suppress
from typing import Self

PATIENCE_SECONDS = 60.0
CHUNK = 65_536


class Gate:
    """Passes bytes on to `port` of this machine. `url` is where to send them."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._changed = threading.Condition()
        self._is_open, self._may_pass = True, 0
        self._held = threading.Semaphore(0)
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def shut(self) -> None:
        self._is_open, self._may_pass = False, 0

    def open(self) -> None:
        with self._changed:
            self._is_open = True
            self._changed.notify_all()

    def let_one_pass(self) -> None:
        """Of those that stand at the shut gate, or the next one that comes."""
        with self._changed:
            self._may_pass += 1
            self._changed.notify_all()

    def wait_for_a_request(self) -> None:
        """Returns when a request stands at the shut gate."""
        assert self._held.acquire(timeout=PATIENCE_SECONDS), "nobody asked the model"

    def close(self) -> None:
        self.open()
        self._listener.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._port))
                for source, target, held in ((client, server, True), (server, client, False)):
                    threading.Thread(target=self._pass, args=(source, target, held), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, held: bool) -> None:
        with suppress(OSError):
            while data := source.recv(CHUNK):
                if held and data.startswith(b"POST "):  # the rest of a request goes with its beginning
                    self._hold()
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _hold(self) -> None:
        if self._is_open:
            return
        self._held.release()
        with self._changed:
            self._changed.wait_for(lambda: self._is_open or self._may_pass > 0)
            self._may_pass -= 0 if self._is_open else 1
