"""Traces exist where an environment wants them, with no right beyond reading commits and the endpoint's key."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from acta.infra.environments import LOCAL, PROD, LocalOtlp, Otlp, UnusableValue, XRay
from tests.infra.conftest import Synthesised, synthesised
from tests.infra.test_grants import PSEUDONYMS, READ_KEY, TABLE, common
from tests.infra.test_notifications import mapping

pytestmark = pytest.mark.thorough

MAPPING = "AWS::Lambda::EventSourceMapping"
URL = "https://otlp.example.com/v1/traces"
SECRET = "arn:aws:secretsmanager:region:account:secret:observability/otlp-??????"
TAKE = {f"sqs:{name}" for name in ("DeleteMessage", "GetQueueAttributes", "ReceiveMessage")}


@pytest.fixture(scope="module")
def otlp(tmp_path_factory: pytest.TempPathFactory) -> Synthesised:
    traced = replace(PROD, traces=Otlp(URL, headers_secret="observability/otlp"))
    return synthesised(traced, tmp_path_factory.mktemp("otlp"))


def variables(made: Synthesised, function: str) -> dict[str, Any]:
    found: dict[str, Any] = made.stateless.function(function)["Environment"]["Variables"]
    return found


@pytest.mark.parametrize("environment", ["dev", "staging", "prod"])
def test_nothing_is_deployed_where_nothing_is_exported(environment: str, synthesise: object) -> None:
    made: Synthesised = synthesise(environment)  # type: ignore[operator]
    names = [*made.stateless.body["Resources"]]
    assert [name for name in names if name.startswith("Trace")] == []
    assert "ACTA_TRACES" not in json.dumps(made.stateless.body["Resources"])
    assert made.stateless.resources("AWS::SQS::Queue") == {}


def test_usage_puts_commits_on_the_queue_and_traces_takes_them(otlp: Synthesised) -> None:
    ((name, queue),) = otlp.stateless.resources("AWS::SQS::Queue").items()
    for function in ("usage", "traces"):
        assert variables(otlp, function)["ACTA_TRACES_QUEUE_URL"] == {"Ref": name}
    assert variables(otlp, "traces")["ACTA_TRACES_URL"] == URL
    assert variables(otlp, "traces")["ACTA_TRACES_SECRET_NAME"] == "observability/otlp"
    fed = mapping(otlp, "TracesMapping")
    assert fed["EventSourceArn"] == {"Fn::GetAtt": [name, "Arn"]}
    assert fed["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert fed["ScalingConfig"] == {"MaximumConcurrency": 2}, "one that hangs uses up little"
    traces = otlp.stateless.function("traces")
    assert queue["Properties"]["VisibilityTimeout"] >= 6 * traces["Timeout"]
    assert queue["Properties"]["MessageRetentionPeriod"] > 86_400, (
        "what is given up is given up by the function"
    )
    assert queue["Properties"]["SqsManagedSseEnabled"] is True


def test_each_role_has_what_it_needs_and_no_more(otlp: Synthesised) -> None:
    assert otlp.stateless.granted("TracesRole") == {
        **common("traces"),
        TABLE: {"dynamodb:BatchGetItem"},
        "TraceQueue.Arn": TAKE,
        SECRET: READ_KEY,
    }
    usage = otlp.stateless.granted("UsageRole")
    assert usage["TraceQueue.Arn"] == {"sqs:SendMessage"}
    assert PSEUDONYMS.items() <= usage.items()
    assert otlp.findings == ()


def test_no_other_function_knows_of_traces(otlp: Synthesised) -> None:
    for name in otlp.environment.functions:
        if name not in ("usage", "traces"):
            assert "TRACES" not in json.dumps(variables(otlp, name))


def test_the_stream_has_two_readers_still(otlp: Synthesised) -> None:
    streams = [one for one in otlp.stateless.properties(MAPPING) if "FilterCriteria" in one]
    assert len(streams) == 1


def test_an_endpoint_without_a_key_needs_no_secret(tmp_path: Path) -> None:
    made = synthesised(replace(PROD, traces=Otlp(URL)), tmp_path)
    assert "ACTA_TRACES_SECRET_NAME" not in variables(made, "traces")
    assert made.stateless.granted("TracesRole").keys() == {*common("traces"), TABLE, "TraceQueue.Arn"}


def test_for_x_ray_nothing_is_granted_that_every_function_has_not(tmp_path: Path) -> None:
    made = synthesised(replace(PROD, traces=XRay(content=True)), tmp_path)
    told = variables(made, "traces")
    assert (told["ACTA_TRACES_XRAY"], told["ACTA_TRACES_CONTENT"]) == ("true", "true")
    assert "ACTA_TRACES_URL" not in told, "it is that of the region it runs in"
    granted = made.stateless.granted("TracesRole")
    assert granted.keys() == {*common("traces"), TABLE, "TraceQueue.Arn"}
    assert "xray:PutTraceSegments" in granted["*"]


def test_content_is_sent_only_where_it_is_asked_for(otlp: Synthesised) -> None:
    assert variables(otlp, "traces")["ACTA_TRACES_CONTENT"] == "false"


def test_spans_that_are_lost_or_late_raise_an_alarm(otlp: Synthesised, prod: Synthesised) -> None:
    def alarms(made: Synthesised) -> dict[str, Any]:
        found = made.stateless.properties("AWS::CloudWatch::Alarm")
        return {one["MetricName"]: one for one in found if str(one.get("MetricName")).startswith("Spans")}

    assert alarms(prod) == {}
    assert alarms(otlp).keys() == {"SpansLost", "SpansNotDelivered"}
    assert alarms(otlp)["SpansLost"]["Threshold"] == 1
    found = otlp.stateless.properties("AWS::CloudWatch::Alarm")
    lost = [one["Dimensions"][0]["Value"] for one in found if one.get("MetricName") == "SpansLost"]
    assert sorted(lost) == ["acta-traces", "acta-usage"], "what was not sent, and what was not handed over"
    late = alarms(otlp)["SpansNotDelivered"]
    assert (late["Threshold"], late["Period"]) == (5, 3_600)


def test_an_endpoint_that_cannot_be_used_stops_the_synthesis(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="only an environment of the local kind may use http"):
        synthesised(replace(PROD, traces=Otlp("http://otlp.example.com/v1/traces")), tmp_path)


def test_a_local_stack_exports_nothing_unless_it_is_told_to(synthesise: object) -> None:
    made: Synthesised = synthesise("local")  # type: ignore[operator]
    assert mapping(made, "TracesMapping")["Enabled"] is False
    assert "ACTA_TRACES_QUEUE_URL" not in variables(made, "usage"), "nothing fills the queue"
    assert LOCAL.with_context("traces", "on").traces == LocalOtlp(is_listening=True)
    with pytest.raises(UnusableValue):
        PROD.with_context("traces", "on")
