"""An endpoint of OTLP/HTTP on the loopback address, which reads what it gets as OpenTelemetry's own messages."""

import threading
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple, Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

PATH = "/v1/traces"


class Received(NamedTuple):
    """One request. `resource`: what its spans are of."""

    headers: Mapping[str, str]
    resource: Mapping[str, object]
    spans: Sequence[Span]


class Answered(NamedTuple):
    status: int
    body: bytes


class Spans:
    """What was taken. `status`: what is answered; spans are kept where that is 200. `rejects`: spans of each request
    that a partial success says were not taken.
    """

    def __init__(self) -> None:
        self.status = 200
        self.rejects = 0
        self.asked = 0
        self.received: list[Received] = []
        self.changed = threading.Condition()

    def take(self, path: str, headers: Mapping[str, str], body: bytes) -> Answered:
        """`headers`: by lower-case name."""
        status = self.status if path == PATH else 404
        if headers.get("content-type") != "application/x-protobuf":
            status = 415
        with self.changed:
            self.asked += 1
            if status == 200:
                for each in ExportTraceServiceRequest.FromString(body).resource_spans:
                    spans = [span for scope in each.scope_spans for span in scope.spans]
                    self.received.append(Received(headers, attributes(each.resource.attributes), spans))
            self.changed.notify_all()
        answer = ExportTraceServiceResponse()
        if self.rejects:
            answer.partial_success.rejected_spans = self.rejects
        return Answered(status, answer.SerializeToString() if status == 200 else b"")

    @property
    def spans(self) -> list[Span]:
        """All that were taken, repeats too."""
        return [span for each in list(self.received) for span in each.spans]

    def once(self, session_id: str) -> dict[bytes, Span]:
        """By id, those of the session. Spans with the same id have to be the same."""
        found: dict[bytes, Span] = {}
        for span in self.spans:
            if attributes(span.attributes)["gen_ai.conversation.id"] == session_id:
                assert found.setdefault(span.span_id, span) == span, f"two spans have one id: {span.name}"
        return found

    def wait_for(self, is_there: Callable[[], bool], seconds: float) -> bool:
        with self.changed:
            return self.changed.wait_for(is_there, seconds)


class OtlpEndpoint(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.taken = Spans()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}{PATH}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: OtlpEndpoint

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.server.taken.take(self.path, headers, body)
        self.send_response(answer.status)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, format: str, *args: object) -> None:
        pass


def is_tree(found: Mapping[bytes, Span]) -> bool:
    """One root, and every other span's parent is there."""
    roots = [span for span in found.values() if not span.parent_span_id]
    return len(roots) == 1 and all(
        span.parent_span_id in found for span in found.values() if span is not roots[0]
    )


def attributes(pairs: Sequence[KeyValue]) -> dict[str, object]:
    """As plain values. A name that is there twice is a mistake."""
    values = {
        pair.key: getattr(pair.value, pair.value.WhichOneof("value") or "string_value") for pair in pairs
    }
    assert len(values) == len(pairs)
    return values
