"""What the operator's sources bring starts sessions by the triggers that are written on them, once for each event."""

import json
from functools import partial
from typing import Any

import pytest

from acta.engine.bound_tenant import bound_to
from acta.engine.store.keys import tenant_prefix
from acta.engine.telemetry import Telemetry
from acta.engine.triggers.delivery import EventDelivery
from acta.engine.triggers.fire import fire
from tests.in_process.house import TENANT
from tests.triggers.outside import Outside

SOURCES = {
    "inbox": {"kind": "files", "prefix": "inbox/"},
    "orders": {"kind": "bus", "tenant": "detail.tenant", "id": "detail.id"},
    "others": {"kind": "bus", "tenants": ["umbra"], "id": "id"},
}
LOOK: dict[str, Any] = {"webhook": None, "goal": "Look at {{event.path}}."}


@pytest.fixture
def acta() -> Outside:
    return Outside(event_sources=SOURCES)


def take(acta: Outside, source: str, **event: Any) -> list[Any]:
    """What stays in the queue of the events."""
    record = {
        "messageId": "m-1",
        "eventSourceARN": "arn:aws:sqs:eu-west-1:000000000000:acta-test-events",
        "body": json.dumps({"source": source, "event": event}),
        "attributes": {"SentTimestamp": "1795804432769"},
    }
    delivery = EventDelivery(
        acta.app.settings.event_sources, partial(fire, acta.app), acta.app.files, Telemetry("wake")
    )
    return list(delivery.handle({"Records": [record]})["batchItemFailures"])


def write(acta: Outside, path: str, write_id: str | None = None) -> list[Any]:
    """A file is written, and S3 tells of it."""
    with bound_to(TENANT):
        acta.app.files.write(TENANT, path, b"x", write_id)
        etag = acta.app.files.etag(TENANT, path).strip('"')
    made = {"key": f"{tenant_prefix('files', TENANT)}{path}", "size": 1, "etag": etag}
    return take(acta, "inbox", time="2026-11-27T08:00:00Z", detail={"object": made})


def test_a_file_starts_one_session_however_often_it_is_told_of(acta: Outside) -> None:
    acta.put(**LOOK, source="inbox")
    for _ in range(3):
        assert write(acta, "inbox/a.pdf", "w-1") == []
    (session,) = acta.sessions()
    assert session.origin is not None
    assert (session.origin.kind, session.origin.id) == ("trigger", "issues")
    assert session.read_outside
    assert write(acta, "inbox/a.pdf", "w-2") == []
    assert len(acta.sessions()) == 2


def test_a_file_of_an_agent_is_for_the_trigger_that_asks_for_it_alone(acta: Outside) -> None:
    acta.put("people", **LOOK, source="inbox")
    acta.put("agents", **LOOK, source="inbox", pattern={"written_by": ["agent"]})
    assert write(acta, "inbox/a.pdf", "eff_1/abc") == []
    assert [len(acta.events(each)) for each in ("people", "agents")] == [0, 1]
    assert acta.read("people")["events"]["ignored"] == 1


def test_a_trigger_is_not_for_the_files_of_sessions_that_it_has_led_to_however_far(acta: Outside) -> None:
    both = {"written_by": ["api", "agent"]}
    acta.put(
        "extract", **LOOK, source="inbox", pattern={**both, "path": [{"suffix": ".pdf"}, {"suffix": ".md"}]}
    )
    acta.put("report", **LOOK, source="inbox", pattern={**both, "path": [{"suffix": ".txt"}]})

    def outcomes() -> list[tuple[int, int]]:
        events = [acta.read(each)["events"] for each in ("extract", "report")]
        return [(each["started"], each["own_files"]) for each in events]

    write(acta, "inbox/a.pdf", "w-1")
    (first,) = acta.sessions()
    write(acta, "inbox/a.md", f"{first.session_id}/eff_1/abc")
    assert outcomes() == [(1, 1), (0, 0)]

    write(acta, "inbox/a.txt", f"{first.session_id}/eff_2/abc")
    assert outcomes() == [(1, 1), (1, 0)]
    second = next(head for head in acta.sessions() if head.origin and head.origin.id == "report")
    assert second.origin is not None
    assert second.origin.above == ("extract",)
    write(acta, "inbox/b.pdf", f"{second.session_id}/eff_3/abc")
    assert outcomes() == [(1, 2), (1, 0)]

    write(acta, "inbox/c.pdf", "ses_of_somebody/eff_4/abc")
    assert outcomes() == [(2, 2), (1, 0)]


def test_an_event_of_a_bus_is_known_by_the_id_that_its_producer_gave_it(acta: Outside) -> None:
    acta.put(webhook=None, source="orders", goal="Check {{event.detail.id}}.")
    for envelope in ("e-1", "e-2"):
        assert take(acta, "orders", id=envelope, detail={"tenant": TENANT, "id": 4711}) == []
    assert len(acta.sessions()) == 1


def test_an_event_for_a_tenant_without_triggers_is_done_with(acta: Outside) -> None:
    assert take(acta, "others", id="e-1") == []
    assert acta.sessions() == []


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("orderz", "There is no event source of that name for you. Did you mean orders?"),
        ("others", "There is no event source of that name for you. Did you mean orders?"),
    ],
)
def test_a_trigger_names_a_source_that_its_tenant_may_use(acta: Outside, source: str, said: str) -> None:
    body = {"source": source, "goal": "Look."}
    answer = acta.admin.request("PUT", "/v1/triggers/t", json_body=body)
    assert (answer.status, answer.error["details"]["source"]) == (400, [said])


def test_where_the_operator_has_set_up_no_source_the_answer_says_so() -> None:
    answer = Outside(event_sources={}).admin.request(
        "PUT", "/v1/triggers/t", json_body={"source": "inbox", "goal": "Look."}
    )
    assert "The operator has set up none (docs/options.md)." in answer.error["details"]["source"][0]
