"""What an endpoint of OTLP/HTTP gets, read with OpenTelemetry's own messages, and what becomes of its answers."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from acta.engine.egress.address import FOR_TRACES, AddressGuard
from acta.engine.settings import Settings, SettingsError
from acta.engine.traces import otlp
from acta.engine.traces.otlp import OtlpReceiver
from acta.engine.traces.spans import Link, RunName, Span, SpansNotDelivered
from tests.doubles.http_sink import Sink
from tests.doubles.otlp import OtlpEndpoint, attributes
from tests.egress.test_exchange import BODIES

AT = datetime(2026, 1, 2, 3, 4, 5, 678_901, tzinfo=UTC)
RUN = RunName("acme", "ses_1", "run_1")


def span(number: int = 1, **different: Any) -> Span:
    made = Span(
        trace_id=RUN.trace_id,
        span_id=RUN.span_id(number, "key", "chat"),
        parent_id=RUN.root_id,
        name="chat gpt-5",
        kind="client",
        start=AT,
        end=AT + timedelta(seconds=2),
        attributes={"gen_ai.conversation.id": "ses_1", "n": 3, "usd": 0.25, "fused": True},
    )
    return made._replace(**different)


def receiver(url: str, **headers: str) -> OtlpReceiver:
    settings = Settings(env="local", is_local=True, table="t", bucket="b", traces_url=url)
    return OtlpReceiver(url, AddressGuard(settings, lists=FOR_TRACES), lambda target, body: headers, "local")


@pytest.fixture
def endpoint() -> Iterator[OtlpEndpoint]:
    with OtlpEndpoint() as served:
        yield served


def test_a_span_arrives_as_it_is(endpoint: OtlpEndpoint) -> None:
    link = Link(b"t" * 16, b"s" * 8)
    assert receiver(endpoint.url, Authorization="Bearer x").send([span(links=(link,))]) == 0
    (received,) = endpoint.taken.received
    assert received.headers["authorization"] == "Bearer x"
    assert received.resource == {"service.name": "acta", "deployment.environment.name": "local"}
    (got,) = received.spans
    assert (got.trace_id, got.span_id, got.parent_span_id) == (
        RUN.trace_id,
        RUN.span_id(1, "key", "chat"),
        RUN.root_id,
    )
    assert (got.name, got.kind) == ("chat gpt-5", got.SPAN_KIND_CLIENT)
    assert got.start_time_unix_nano == int(AT.timestamp()) * 10**9 + 678_901_000
    assert got.end_time_unix_nano - got.start_time_unix_nano == 2 * 10**9
    assert attributes(got.attributes) == {
        "gen_ai.conversation.id": "ses_1",
        "n": 3,
        "usd": 0.25,
        "fused": True,
    }
    assert [(each.trace_id, each.span_id) for each in got.links] == [tuple(link)]
    assert not got.HasField("status"), "a span that went well has no status"


def test_a_failure_is_an_error_with_its_code(endpoint: OtlpEndpoint) -> None:
    receiver(endpoint.url).send([span(error="TOOL_ERROR")])
    (got,) = endpoint.taken.spans
    assert (got.status.code, got.status.message) == (got.status.STATUS_CODE_ERROR, "TOOL_ERROR")


def test_a_name_that_is_no_text_is_sent_all_the_same(endpoint: OtlpEndpoint) -> None:
    receiver(endpoint.url).send([span(name="chat \ud800", attributes={"gen_ai.request.model": "\ud800"})])
    (got,) = endpoint.taken.spans
    assert (got.name, attributes(got.attributes)) == ("chat ?", {"gen_ai.request.model": "?"})


@pytest.mark.parametrize(
    "bad", [{"attributes": {"n": 2**63}}, {"start": datetime(1969, 1, 1, tzinfo=UTC)}], ids=["number", "time"]
)
def test_a_span_that_otlp_has_no_room_for_is_lost_alone(endpoint: OtlpEndpoint, bad: dict[str, Any]) -> None:
    assert receiver(endpoint.url).send([span(1), span(2, **bad), span(3)]) == 1
    assert [each.span_id for each in endpoint.taken.spans] == [span(1).span_id, span(3).span_id]


def test_many_spans_are_several_requests_and_each_is_sent_once(endpoint: OtlpEndpoint) -> None:
    made = [span(number) for number in range(2_500)]
    receiver(endpoint.url).send(made)
    assert [len(each.spans) for each in endpoint.taken.received] == [1_000, 1_000, 500]
    assert {each.span_id for each in endpoint.taken.spans} == {each.span_id for each in made}


def test_large_spans_are_spread_over_requests(endpoint: OtlpEndpoint) -> None:
    long = {"acta.text": "x" * (otlp.MAX_BYTES // 3)}
    receiver(endpoint.url).send([span(number, attributes=long) for number in range(5)])
    assert len(endpoint.taken.spans) == 5
    assert all(len(each.spans) <= 2 for each in endpoint.taken.received)


def test_a_request_spans_less_than_a_day(endpoint: OtlpEndpoint) -> None:
    hours = [timedelta(hours=hour) for hour in (30, 0, 1, 31)]
    receiver(endpoint.url).send([span(n, start=AT + hour, end=AT + hour) for n, hour in enumerate(hours)])
    assert [len(each.spans) for each in endpoint.taken.received] == [2, 2]


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500, 502, 503, 504, 302])
def test_spans_that_were_not_taken_are_to_be_sent_again(endpoint: OtlpEndpoint, status: int) -> None:
    endpoint.taken.status = status
    with pytest.raises(SpansNotDelivered, match=str(status)):
        receiver(endpoint.url).send([span()])


@pytest.mark.parametrize("status", [400, 413, 422])
def test_spans_that_will_never_be_taken_are_told_to_be_lost(endpoint: OtlpEndpoint, status: int) -> None:
    endpoint.taken.status = status
    assert receiver(endpoint.url).send([span(1), span(2)]) == 2


def test_a_partial_success_says_how_many_are_lost(endpoint: OtlpEndpoint) -> None:
    endpoint.taken.rejects = 1
    assert receiver(endpoint.url).send([span(1), span(2)]) == 1


def test_an_answer_in_another_form_is_a_success() -> None:
    for body in (b"", b"OK", b"<html>fine</html>"):
        assert otlp.rejected(body) == 0


@pytest.mark.parametrize("name", [name for name, reply in BODIES.items() if reply.then != "held"])
def test_spans_that_were_taken_are_not_sent_again_because_of_the_rest_of_the_answer(name: str) -> None:
    class Endpoint(Sink):
        def parse(self, data: bytes) -> bytes:
            return data

    with Endpoint({"/v1/traces": BODIES[name]}) as sink:
        assert receiver(sink.url("/v1/traces")).send([span()]) == 0
        assert len(sink.heard) == 1


def test_silence_is_no_delivery_and_no_error_names_the_endpoint() -> None:
    with OtlpEndpoint() as gone:
        url = gone.url
    with pytest.raises(SpansNotDelivered) as failed:
        receiver(url).send([span()])
    assert "127.0.0.1" not in str(failed.value)


def test_in_aws_an_endpoint_at_a_private_address_or_without_tls_gets_nothing() -> None:
    for url in ("https://10.0.0.1/v1/traces", "https://127.0.0.1/v1/traces"):
        settings = Settings(env="prod", table="t", bucket="b", traces_url=url)
        guarded = OtlpReceiver(url, AddressGuard(settings, lists=FOR_TRACES), lambda target, body: {}, "prod")
        with pytest.raises(SpansNotDelivered, match="AddressRefused"):
            guarded.send([span()])
    with pytest.raises(SettingsError, match="only an environment of the local kind may use http"):
        Settings(env="prod", table="t", bucket="b", traces_url="http://otlp.example.com/v1/traces")
