"""Calls of tools that take minutes: the connection is silent meanwhile, and must be neither forgotten nor dead."""

from typing import Any

from acta.engine.aws.clients import keeping_alive, make_client
from acta.engine.egress.address import AddressGuard
from acta.engine.egress.exchange import exchange
from acta.engine.egress.keepalive import IDLE_SECONDS
from acta.engine.settings import Settings
from tests.doubles.http_sink import Reply
from tests.doubles.keep_alive_probe import ProbedSink

WHERE: dict[str, Any] = {
    "region_name": "us-east-1",
    "aws_access_key_id": "test",
    "aws_secret_access_key": "test",
}


def test_the_connection_of_an_http_tool_is_probed_within_a_minute_of_silence() -> None:
    with ProbedSink(Reply()) as sink:
        settings = Settings(env="local", is_local=True, table="t", bucket="b", http_tool_allow=sink.at)
        exchange(AddressGuard(settings).resolve(sink.url()), "GET", {}, None, 20)
        ((seconds,),) = sink.probes
        assert 0 < seconds <= IDLE_SECONDS


def test_the_connection_of_a_lambda_tool_is_probed_within_a_minute_of_silence() -> None:
    with ProbedSink(Reply(body=b'"Done."')) as sink:
        client = keeping_alive(make_client("lambda", attempts=1, endpoint_url=sink.url(), **WHERE))
        client.invoke(FunctionName="acta-prod-tool-pay", Payload=b"{}")
        ((seconds,),) = sink.probes
        assert 0 < seconds <= IDLE_SECONDS


def test_a_client_of_another_release_of_the_sdk_is_left_as_it_is() -> None:
    client = object()
    assert keeping_alive(client) is client
