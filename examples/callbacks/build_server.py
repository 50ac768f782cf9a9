"""A build server that answers at once and calls back when the build has ended. It needs nothing but Python.

A repeated request, which has the same `Idempotency-Key`, begins no second build.
"""

import json
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class BuildServer(ThreadingHTTPServer):
    """`POST /builds` with `{"ref": …}` begins a build, which takes `seconds`. Port 0: a free one."""

    daemon_threads = True

    def __init__(self, port: int = 0, seconds: float = 3) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.seconds = seconds
        self.builds: dict[str, str] = {}

    def begin(self, key: str, ref: str, callback_url: str) -> None:
        if key not in self.builds:
            self.builds[key] = ref
            timer = threading.Timer(self.seconds, self.end, (ref, callback_url))
            timer.daemon = True
            timer.start()

    def end(self, ref: str, callback_url: str) -> None:
        """Says what came of it. A real server tries again until it is answered 200 or 409."""
        said: dict[str, Any] = {"result": {"ref": ref, "state": "green", "tests": 412, "failed": 0}}
        if ref == "broken":
            said = {"error": "The build stopped: 3 of 412 tests failed."}
        request = urllib.request.Request(
            callback_url, json.dumps(said).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30):
            print(f"build server: {ref} has ended, and the result was sent")


class Handler(BaseHTTPRequestHandler):
    server: BuildServer

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.begin(self.headers["Idempotency-Key"], asked["ref"], self.headers["Acta-Callback-Url"])
        print(f"build server: {asked['ref']} has begun, and is answered 202")
        self.send_response(202)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Requests are not logged."""


if __name__ == "__main__":
    with BuildServer(port=8917) as server:
        print("build server: http://127.0.0.1:8917/builds")
        server.serve_forever()
