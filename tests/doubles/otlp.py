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


class OtlpEndpoint(ThreadingHTTPServer):
    """`status`: what it answers; spans are kept where that is 200. `rejects`: spans of each request that a partial
    success says were not taken.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status = 200
        self.rejects = 0
        self.asked = 0
        self.received: list[Received] = []
        self.changed = threading.Condition()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}{PATH}"

    @property
    def spans(self) -> list[Span]:
        """All that were taken, repeats too."""
        return [span for each in self.received for span in each.spans]

    def once(self, session_id: str = "") -> dict[bytes, Span]:
        """By id, those of the session or all. Spans with the same id have to be the same bytes."""
        found: dict[bytes, Span] = {}
        for span in self.spans:
            if session_id and attributes(span.attributes)["gen_ai.conversation.id"] != session_id:
                continue
            assert found.setdefault(span.span_id, span) == span, f"two spans have one id: {span.name}"
        return found

    def wait_for(self, is_there: Callable[[], bool], seconds: float) -> bool:
        with self.changed:
            return self.changed.wait_for(is_there, seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: OtlpEndpoint

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = self.server.status if self.path == PATH else 404
        if self.headers["Content-Type"] != "application/x-protobuf":
            status = 415
        with self.server.changed:
            self.server.asked += 1
            if status == 200:
                for each in ExportTraceServiceRequest.FromString(body).resource_spans:
                    spans = [span for scope in each.scope_spans for span in scope.spans]
                    headers = {name.lower(): value for name, value in self.headers.items()}
                    self.server.received.append(
                        Received(headers, attributes(each.resource.attributes), spans)
                    )
            self.server.changed.notify_all()
        answer = ExportTraceServiceResponse()
        if self.server.rejects:
            answer.partial_success.rejected_spans = self.server.rejects
        data = answer.SerializeToString() if status == 200 else b""
        self.send_response(status)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass


def attributes(pairs: Sequence[KeyValue]) -> dict[str, object]:
    """As plain values. A name that is there twice is a mistake."""
    values = {
        pair.key: getattr(pair.value, pair.value.WhichOneof("value") or "string_value") for pair in pairs
    }
    assert len(values) == len(pairs)
    return values
