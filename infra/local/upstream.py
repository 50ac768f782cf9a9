"""Requests to the deployed HTTP API inside the emulator, over kept-alive connections."""

import select
from collections.abc import Sequence
from dataclasses import dataclass
from http.client import HTTPConnection
from queue import Empty, LifoQueue

ANSWER_SECONDS = 35.0
"""API Gateway ends an integration at 30 s; the emulator gets the time to say so itself."""
POOL_SIZE = 64

Headers = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Headers
    body: bytes

    @property
    def content_length(self) -> str | None:
        """As announced; differs from the body's length only in the answer to HEAD."""
        return next((value for name, value in self.headers if name.lower() == "content-length"), None)


class Upstream:
    """The `$default` stage of one API at `host:port`."""

    def __init__(self, host: str, port: int, api_id: str) -> None:
        self.host = host
        self.port = port
        self.prefix = f"/_aws/execute-api/{api_id}/$default"
        self.idle: LifoQueue[HTTPConnection] = LifoQueue(POOL_SIZE)

    def request(self, method: str, raw_path: str, headers: Headers, body: bytes) -> Answer:
        """Raises OSError or HTTPException when no answer comes, ValueError for what HTTP cannot carry."""
        connection = self.take()
        try:
            connection.putrequest(method, self.prefix + raw_path, skip_host=True, skip_accept_encoding=True)
            for name, value in headers:
                if name.lower() != "content-length":
                    connection.putheader(name, value)
            if body or method in ("POST", "PUT", "PATCH"):
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body or None)
            response = connection.getresponse()
            answer = Answer(response.status, response.getheaders(), response.read())
        except BaseException:
            connection.close()
            raise
        self.give_back(connection)
        return answer

    def take(self) -> HTTPConnection:
        """An idle connection the other side has not closed, or a new one."""
        while True:
            try:
                connection = self.idle.get_nowait()
            except Empty:
                return HTTPConnection(self.host, self.port, timeout=ANSWER_SECONDS)
            if connection.sock is not None and not select.select([connection.sock], [], [], 0)[0]:
                return connection
            connection.close()

    def give_back(self, connection: HTTPConnection) -> None:
        if connection.sock is None or self.idle.full():
            connection.close()
        else:
            self.idle.put_nowait(connection)

    def close(self) -> None:
        while not self.idle.empty():
            self.idle.get_nowait().close()
