"""Events come from queues in batches: each goes to the tenants that it is for, and one that fails holds up no other."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from acta.engine.bound_tenant import bound
from acta.engine.errors import StoreThrottled
from acta.engine.store.keys import tenant_prefix
from acta.engine.telemetry import Telemetry
from acta.engine.triggers.delivery import EventDelivery
from acta.engine.triggers.sources import EventSource, Received
from tests.stores import in_memory

SENT = datetime(2026, 11, 27, 8, tzinfo=UTC)
SOURCES = {
    "orders": EventSource("bus", tenant="detail.tenant", id="detail.id"),
    "news": EventSource("bus", ("acme", "umbra"), id="id"),
    "invoices": EventSource("files", prefix="invoices/"),
    "jobs": EventSource("queue", ("acme",), queue="jobs"),
    "steps": EventSource("queue", ("acme",), queue="steps.fifo"),
}
OWN = "arn:aws:sqs:eu-west-1:000000000000:acta-test-events"


def record(body: object, message_id: str = "m", queue: str = OWN) -> dict[str, Any]:
    return {
        "messageId": message_id,
        "eventSource": "aws:sqs",
        "eventSourceARN": queue,
        "body": body if isinstance(body, str) else json.dumps(body),
        "attributes": {"SentTimestamp": str(int(SENT.timestamp() * 1_000))},
    }


def from_bus(source: str, **event: Any) -> dict[str, Any]:
    return record({"source": source, "event": event})


class Delivered:
    def __init__(self, refuse: Callable[[str], Exception | None] = lambda event_id: None) -> None:
        self.files = in_memory.files()
        self.fired: list[tuple[str, str, str, Mapping[str, Any], datetime]] = []
        self._refuse = refuse
        self._delivery = EventDelivery(SOURCES, self._fire, self.files, Telemetry("wake"))

    def _fire(self, tenant: str, source: str, received: Received, at: datetime) -> None:
        binding = bound()
        assert binding is not None
        assert binding.tenant == tenant
        refused = self._refuse(received.event_id)
        if refused is not None:
            raise refused
        self.fired.append((tenant, source, received.event_id, received.event, at))

    def take(self, *records: dict[str, Any], left_ms: int = 20_000) -> list[str]:
        class Context:
            def get_remaining_time_in_millis(self) -> int:
                return left_ms

        answer = self._delivery.handle({"Records": list(records)}, Context())
        return [each["itemIdentifier"] for each in answer["batchItemFailures"]]

    @property
    def whose(self) -> list[tuple[str, str, str]]:
        return [each[:3] for each in self.fired]


def test_an_event_is_given_to_each_tenant_that_it_is_for() -> None:
    made = Delivered()
    assert made.take(from_bus("orders", detail={"tenant": "acme", "id": 7}), from_bus("news", id="n-1")) == []
    assert made.whose == [("acme", "orders", "7"), ("acme", "news", "n-1"), ("umbra", "news", "n-1")]
    assert made.fired[0][3:] == ({"detail": {"tenant": "acme", "id": 7}}, SENT)


def test_a_message_of_the_operator_s_queue_is_of_the_source_that_reads_it() -> None:
    made = Delivered()
    assert made.take(record({"job": 1}, "m-7", "arn:aws:sqs:eu-west-1:000000000000:jobs")) == []
    assert made.fired == [("acme", "jobs", "m-7", {"job": 1}, SENT)]


def test_events_that_fail_stay_in_the_queue_and_the_others_are_done() -> None:
    made = Delivered(lambda event_id: StoreThrottled("busy") if event_id == "2" else None)
    jobs = "arn:aws:sqs:eu-west-1:000000000000:jobs"
    staying = made.take(
        record({}, "1", jobs),
        record("no JSON", "bad", jobs),
        record({}, "2", jobs),
        record({"source": "gone", "event": {}}, "gone"),
        record({"source": "orders", "event": {}}, "nobody"),
        record({}, "3", jobs),
    )
    assert staying == ["bad", "2", "gone", "nobody"]
    assert [each[2] for each in made.fired] == ["1", "3"]


def test_nothing_of_an_event_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    made = Delivered(lambda event_id: ValueError("secret-4711"))
    jobs = "arn:aws:sqs:eu-west-1:000000000000:jobs"
    assert made.take(record({"word": "secret-4711"}, "1", jobs), record("secret-4711", "2", jobs)) == [
        "1",
        "2",
    ]
    said = json.dumps([vars(each) for each in caplog.records], default=str)
    assert "the message is not JSON" in said
    assert "ValueError" in said
    assert "secret-4711" not in said


def test_in_a_queue_that_keeps_an_order_nothing_overtakes_a_message_that_failed() -> None:
    steps = "arn:aws:sqs:eu-west-1:000000000000:steps.fifo"
    made = Delivered(lambda event_id: StoreThrottled("busy") if event_id == "2" else None)
    assert made.take(*(record({}, str(number), steps) for number in range(1, 5))) == ["2", "3", "4"]
    assert [each[2] for each in made.fired] == ["1"]


def test_an_invocation_that_is_nearly_over_begins_nothing_more() -> None:
    made = Delivered()
    assert made.take(from_bus("news", id="n-1"), left_ms=4_999) == ["m"]
    assert made.fired == []


def written(made: Delivered, path: str, data: bytes, write_id: str | None = None) -> dict[str, Any]:
    """What S3 tells of a write."""
    made.files.write("acme", path, data, write_id)
    etag = made.files.etag("acme", path).strip('"')
    made_of = {"key": f"{tenant_prefix('files', 'acme')}{path}", "size": len(data), "etag": etag}
    return from_bus("invoices", time="2026-11-27T08:00:00Z", detail={"object": made_of})


def test_the_event_of_a_file_says_who_wrote_it_under_the_id_of_the_write() -> None:
    made = Delivered()
    by_api = written(made, "invoices/a.pdf", b"1")
    by_agent = written(made, "invoices/b.pdf", b"2", "eff_1/abc")
    assert made.take(by_api, by_agent) == []
    first, second = made.fired
    assert (first[3]["path"], first[3]["written_by"]) == ("invoices/a.pdf", "api")
    assert first[2].startswith("invoices/a.pdf#")
    assert (second[2], second[3]["written_by"]) == ("invoices/b.pdf#eff_1/abc", "agent")


def test_a_file_that_is_gone_or_another_one_by_now_is_no_event() -> None:
    made = Delivered()
    replaced, gone = written(made, "invoices/a.pdf", b"1"), written(made, "invoices/b.pdf", b"2")
    newest = written(made, "invoices/a.pdf", b"3")
    made.files.delete("acme", "invoices/b.pdf")
    assert made.take(replaced, gone) == []
    assert made.fired == []
    assert made.take(newest) == []
    assert len(made.fired) == 1


def test_an_object_whose_key_is_no_path_of_a_file_is_no_event() -> None:
    made = Delivered()
    for key in ("files/acme/invoices/../a", "files/acme/invoices//a", "files/acme/invoices/%41"):
        told = {"time": "2026-11-27T08:00:00Z", "detail": {"object": {"key": key, "size": 1, "etag": "x"}}}
        assert made.take(from_bus("invoices", **told)) == []
    assert made.fired == []
