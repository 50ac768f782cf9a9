"""Sends spans to an endpoint of OTLP/HTTP, in protobuf: what every such endpoint takes.

Requests carry the operator's key, or for X-Ray AWS's signature.

Source: OpenTelemetry, "OTLP Specification 1.10", "OTLP/HTTP": which answers are tried again, partial success.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1 import trace_pb2

from acta.engine.aws.secrets import secret_text
from acta.engine.egress.address import AddressGuard, AddressRefused, Target
from acta.engine.settings import Settings
from acta.engine.traces.spans import Span, SpansNotDelivered, Value

CONTENT_TYPE = "application/x-protobuf"
SECONDS = 10.0
"""For one request and its answer."""
MAX_SPANS = 1_000
MAX_BYTES = 2_000_000
MAX_GAP = timedelta(hours=23)
"""Of one request: X-Ray takes 10,000 spans, 5 MB, and 24 hours between the spans of a request."""
REFUSALS = frozenset((400, 413, 415, 422))
"""Answers that mean that these spans will never be accepted. The specification says so of every status that is not
named there; but once a wrong key or address is corrected, the waiting spans are taken.
"""
KINDS = {"internal": trace_pb2.Span.SPAN_KIND_INTERNAL, "client": trace_pb2.Span.SPAN_KIND_CLIENT}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Headers = Callable[[Target, bytes], Mapping[str, str]]
"""What a request carries besides its type: a key, or its signature."""


class OtlpReceiver:
    """A SpanReceiver. `headers`: is called for each request, so that a new key is used at once. `environment`: the
    deployment's name.
    """

    def __init__(self, url: str, guard: AddressGuard, headers: Headers, environment: str) -> None:
        self._url = url
        self._guard = guard
        self._headers = headers
        self._environment = environment

    def send(self, spans: Sequence[Span]) -> int:
        made: list[trace_pb2.Span] = []
        for span in sorted(spans, key=lambda each: each.start):
            with suppress(ValueError):  # a number that OTLP has no room for: this span alone is refused
                made.append(_encoded(span))
        refused = sum(self._post(number, body) for number, body in self._requests(made))
        return len(spans) - len(made) + refused

    def _requests(self, spans: Sequence[trace_pb2.Span]) -> Iterator[tuple[int, bytes]]:
        """Splits the spans into requests by time, because of `MAX_GAP`: how many each has, and its body."""
        batch: list[trace_pb2.Span] = []
        for span in spans:
            if batch and (len(batch) == MAX_SPANS or _start(span) - _start(batch[0]) > MAX_GAP):
                yield from self._within_bytes(batch)
                batch = []
            batch.append(span)
        if batch:
            yield from self._within_bytes(batch)

    def _within_bytes(self, batch: Sequence[trace_pb2.Span]) -> Iterator[tuple[int, bytes]]:
        body = _body(batch, self._environment)
        if len(body) <= MAX_BYTES or len(batch) == 1:
            yield len(batch), body
            return
        middle = len(batch) // 2
        yield from self._within_bytes(batch[:middle])
        yield from self._within_bytes(batch[middle:])

    def _post(self, number: int, body: bytes) -> int:
        """How many were refused. Neither the URL nor a header is in an error."""
        try:
            target = self._guard.resolve(self._url)
        except (AddressRefused, OSError) as away:
            raise SpansNotDelivered(f"no address: {type(away).__name__}") from None
        headers = {"Content-Type": CONTENT_TYPE, "User-Agent": "acta", **self._headers(target, body)}
        from acta.engine.egress.exchange import AnswerTooLarge, NoAnswer, NotSent, exchange

        try:
            answer = exchange(target, "POST", headers, body, SECONDS)
            status, refused = answer.status, rejected(answer.body)
        except NotSent:
            raise SpansNotDelivered("no answer: NotSent") from None
        except (NoAnswer, AnswerTooLarge) as broken:
            if broken.status is None:
                raise SpansNotDelivered(f"no answer: {type(broken).__name__}") from None
            status, refused = broken.status, 0  # sent again, spans that were taken would be there twice
        if 200 <= status < 300:
            return min(number, refused)
        if status in REFUSALS:
            return number
        raise SpansNotDelivered(f"answered with status {status}")


def rejected(answer: bytes) -> int:
    """What a partial success says. An answer of another form says nothing: some endpoints answer with a word."""
    try:
        told = ExportTraceServiceResponse.FromString(answer)
    except DecodeError:
        return 0
    return max(0, int(told.partial_success.rejected_spans))


def _start(span: trace_pb2.Span) -> timedelta:
    return timedelta(microseconds=span.start_time_unix_nano // 1_000)


def _body(spans: Sequence[trace_pb2.Span], environment: str) -> bytes:
    """The same spans always give the same bytes."""
    resource = Resource(
        attributes=_attributes({"service.name": "acta", "deployment.environment.name": environment})
    )
    scope = trace_pb2.ScopeSpans(scope=InstrumentationScope(name="acta"), spans=spans)
    request = ExportTraceServiceRequest(
        resource_spans=[trace_pb2.ResourceSpans(resource=resource, scope_spans=[scope])]
    )
    return bytes(request.SerializeToString(deterministic=True))


def _encoded(span: Span) -> trace_pb2.Span:
    status = (
        trace_pb2.Status(code=trace_pb2.Status.STATUS_CODE_ERROR, message=_text(span.error))
        if span.error
        else None
    )
    return trace_pb2.Span(
        trace_id=span.trace_id,
        span_id=span.span_id,
        parent_span_id=span.parent_id,
        name=_text(span.name),
        kind=KINDS[span.kind],
        start_time_unix_nano=_nanoseconds(span.start),
        end_time_unix_nano=_nanoseconds(span.end),
        attributes=_attributes(span.attributes),
        links=[trace_pb2.Span.Link(trace_id=one.trace_id, span_id=one.span_id) for one in span.links],
        status=status,
    )


def _nanoseconds(at: datetime) -> int:
    return (at - EPOCH) // timedelta(microseconds=1) * 1_000


def _attributes(attributes: Mapping[str, Value]) -> list[KeyValue]:
    return [KeyValue(key=key, value=_value(value)) for key, value in attributes.items()]


def _value(value: Value) -> AnyValue:
    match value:
        case bool():
            return AnyValue(bool_value=value)
        case int():
            return AnyValue(int_value=value)
        case float():
            return AnyValue(double_value=value)
        case str():
            return AnyValue(string_value=_text(value))


def _text(value: str) -> str:
    """Protobuf takes no half of a surrogate pair."""
    return value.encode("utf-8", "replace").decode()


LOCAL_HEADERS = "ACTA_TRACES_HEADERS"
"""The headers themselves, for a local stack, which has no secret of its own."""


REGION = "AWS_REGION"
"""Lambda's own variable."""


def addressed(settings: Settings) -> Settings:
    """The settings with the endpoint's URL, for X-Ray that of the function's region. Source: CloudWatch user guide,
    "OTLP Endpoints".
    """
    if not settings.traces_xray:
        return settings
    region = os.environ[REGION]
    suffix = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return settings.but(traces_url=f"https://xray.{region}.{suffix}/v1/traces")


def headers_of(settings: Settings) -> Headers:
    if settings.traces_xray:
        return Signature(os.environ[REGION])
    return lambda target, body: _of_secret(settings)


class Signature:
    """Signs requests with the function's role, as AWS Signature Version 4 for the service `xray`. `credentials`: as
    botocore has them; None: the process's own.
    """

    def __init__(self, region: str, credentials: Any = None) -> None:
        self._region = region
        self._credentials = credentials

    def __call__(self, target: Target, body: bytes) -> Mapping[str, str]:
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.session import get_session

        if self._credentials is None:
            self._credentials = get_session().get_credentials()
        url = f"{target.scheme}://{target.host}{target.path}"
        request = AWSRequest("POST", url, data=body, headers={"Content-Type": CONTENT_TYPE})
        SigV4Auth(self._credentials.get_frozen_credentials(), "xray", self._region).add_auth(request)
        return {name: value for name, value in request.headers.items() if name != "Content-Type"}


def _of_secret(settings: Settings) -> Mapping[str, str]:
    """A JSON object: name of a header -> its value. Raises SpansNotDelivered where it is none, and what the secret's
    reader raises.
    """
    name = settings.traces_secret_name
    text = secret_text(name) if name else os.environ.get(LOCAL_HEADERS, "")
    if not text and not name:
        return {}
    try:
        headers = json.loads(text)
    except ValueError:
        headers = None
    if not isinstance(headers, dict) or not all(isinstance(value, str) for value in headers.values()):
        raise SpansNotDelivered("the secret is not a JSON object of headers")
    return headers
