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
        self._left: set[socket.socket] = set()
        """Connections to the server that another one has replaced."""
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
                threading.Thread(target=self._pass, args=(client,), daemon=True).start()

    def _pass(self, client: socket.socket) -> None:
        """Each request gets a connection of its own when it may pass: the server would close one that stands idle."""
        server: socket.socket | None = None
        with suppress(OSError):
            while data := client.recv(CHUNK):
                if data.startswith(b"POST "):  # the rest of a request goes with its beginning
                    if server is not None:
                        self._left.add(server)
                        _end(server)
                    self._hold()
                    server = socket.create_connection(("127.0.0.1", self._port))
                    threading.Thread(target=self._answer, args=(server, client), daemon=True).start()
                assert server is not None
                server.sendall(data)
        if server is not None:
            _end(server)

    def _answer(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(CHUNK):
                client.sendall(data)
        if server not in self._left:
            _end(client)

    def _hold(self) -> None:
        if self._is_open:
            return
        self._held.release()
        with self._changed:
            self._changed.wait_for(lambda: self._is_open or self._may_pass > 0)
            self._may_pass -= 0 if self._is_open else 1


def _end(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
