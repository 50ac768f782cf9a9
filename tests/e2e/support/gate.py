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
        self._open = threading.Event()
        self._open.set()
        self._held = threading.Semaphore(0)
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def shut(self) -> None:
        self._open.clear()

    def open(self) -> None:
        self._open.set()

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
                if held and not self._open.is_set():
                    self._held.release()
                    self._open.wait()
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
