"""Where effects arrive: an HTTP server that writes down when, and under which key."""

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self


class Effect(NamedTuple):
    """`at`: seconds of `time.perf_counter`; `key`: the call's effect id."""

    at: float
    key: str


class Effects(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self._arrived: list[Effect] = []
        self._more = threading.Condition()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def at(self) -> str:
        return f"127.0.0.1:{self.server_port}"

    def add(self, key: str) -> None:
        with self._more:
            self._arrived.append(Effect(time.perf_counter(), key))
            self._more.notify_all()

    def wait_for(self, count: int, seconds: float) -> bool:
        """Until so many have arrived since the last `take`."""
        with self._more:
            return self._more.wait_for(lambda: len(self._arrived) >= count, seconds)

    def take(self) -> list[Effect]:
        with self._more:
            taken, self._arrived = self._arrived, []
            return taken

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: Effects

    def do_POST(self) -> None:
        self.server.add(self.headers.get("Idempotency-Key", ""))
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"Done.")

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""
