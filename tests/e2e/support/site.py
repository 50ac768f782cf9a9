"""The web server of who made a page, and of whoever answers pages of every origin."""

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self

PATIENCE_SECONDS = 90.0


class Asked(NamedTuple):
    """`as_what`: what the browser says the request is for (`Sec-Fetch-Dest`)."""

    method: str
    path: str
    as_what: str


class Site(ThreadingHTTPServer):
    """Answers everybody, whatever their origin, as the emulator would by itself; `pages` by path. What is sent to
    `/report` as JSON is in `reports`.
    """

    daemon_threads = True

    def __init__(self, pages: Mapping[str, str] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.pages = dict(pages or {})
        self.asked: list[Asked] = []
        self.reports: list[Any] = []
        self._arrived = threading.Condition()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def url(self, host: str = "127.0.0.1", path: str = "") -> str:
        return f"http://{host}:{self.server_port}{path}"

    def report(self, told: Any) -> None:
        with self._arrived:
            self.reports.append(told)
            self._arrived.notify_all()

    def reported(self, number: int) -> list[Any]:
        """The reports, once so many have arrived."""
        with self._arrived:
            arrived = self._arrived.wait_for(lambda: len(self.reports) >= number, PATIENCE_SECONDS)
        assert arrived, f"of {number} reports there came {len(self.reports)}"
        return self.reports

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: Site

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = self.path.partition("?")[0]
        if path == "/report":
            self.server.report(json.loads(body))
        elif path not in self.server.pages:
            self.server.asked.append(Asked(self.command, self.path, self.headers.get("Sec-Fetch-Dest", "")))
        page = self.server.pages.get(path, "{}").encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if path in self.server.pages else "application/json")
        self.send_header("Content-Length", str(len(page)))
        for name in ("Origin", "Methods", "Headers"):
            self.send_header(f"Access-Control-Allow-{name}", "*")
        self.end_headers()
        self.wfile.write(page)

    do_GET = do_POST = do_PUT = do_DELETE = do_OPTIONS = answer  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""
