"""What is read of an event of the operator's sources: whose it is, its id, and what triggers see of it."""

from typing import Any

import pytest

from acta.engine.store.keys import tenant_prefix
from acta.engine.triggers.pattern import matches, value_at
from acta.engine.triggers.sources import (
    EventSource,
    EventUnreadable,
    pattern_for,
    read_event,
    read_message,
    read_sources,
)
from acta.engine.untrusted.path import private_folder

PAID = {
    "version": "0",
    "id": "17793124",
    "source": "shop",
    "detail-type": "order.paid",
    "time": "2026-11-27T08:00:00Z",
    "detail": {"order": {"number": 4711}, "tenant": "acme"},
}


def created(key: str, **more: Any) -> dict[str, Any]:
    """An event of S3, as EventBridge has it."""
    made = {"key": key, "size": 5, "etag": "b1946ac9", "version-id": "v1", "sequencer": "617f08"}
    return {
        "id": "1",
        "source": "aws.s3",
        "detail-type": "Object Created",
        "time": "2026-11-27T08:00:00Z",
        "detail": {"bucket": {"name": "scans"}, "object": {**made, **more}},
    }


def test_an_event_of_a_bus_is_for_the_tenant_that_it_names_under_the_id_that_it_has() -> None:
    source = EventSource("bus", tenant="detail.tenant", id="detail.order.number")
    assert read_event(source, PAID)[:3] == (("acme",), "4711", PAID)
    assert read_event(EventSource("bus", ("acme", "umbra"), id="id"), PAID)[:2] == (
        ("acme", "umbra"),
        "17793124",
    )


@pytest.mark.parametrize("path", ["detail.customer", "detail.order", "detail.order.number", "detail.order.0"])
def test_an_event_that_names_no_tenant_cannot_be_used(path: str) -> None:
    with pytest.raises(EventUnreadable, match=f"^{path} leads to no name of a tenant$"):
        read_event(EventSource("bus", tenant=path, id="id"), PAID)


@pytest.mark.parametrize("path", ["detail.customer", "detail.order", "detail"])
def test_an_event_without_its_id_cannot_be_used(path: str) -> None:
    with pytest.raises(EventUnreadable, match=f"^{path} leads to no id of the event$"):
        read_event(EventSource("bus", ("acme",), id=path), PAID)


def test_an_event_of_a_tenant_that_may_not_use_the_source_is_nobody_s() -> None:
    source = EventSource("bus", ("umbra",), tenant="detail.tenant", id="id")
    assert read_event(source, PAID).tenants == ()


def test_a_message_of_a_queue_is_the_event() -> None:
    source = EventSource("queue", tenant="for", queue="jobs")
    assert read_message(source, '{"for": "acme", "job": 7}', "m-1")[:3] == (
        ("acme",),
        "m-1",
        {"for": "acme", "job": 7},
    )
    named = EventSource("queue", ("acme",), id="job", queue="jobs")
    assert read_message(named, '{"for": "acme", "job": 7}', "m-1")[:2] == (("acme",), "7")


@pytest.mark.parametrize("body", ["hello", "[1]", '"text"', "", "[" * 100_000])
def test_a_message_that_is_no_json_object_cannot_be_used(body: str) -> None:
    with pytest.raises(EventUnreadable, match="JSON"):
        read_message(EventSource("queue", ("acme",), queue="jobs"), body, "m-1")


def test_an_object_is_known_by_its_key_and_version() -> None:
    source = EventSource("bucket", ("acme",), prefix="in/")
    found = read_event(source, created("in/a b.pdf"))
    assert found.event == {
        "bucket": "scans",
        "key": "in/a b.pdf",
        "bytes": 5,
        "etag": "b1946ac9",
        "version": "v1",
        "at": "2026-11-27T08:00:00Z",
    }
    assert (found.tenants, found.event_id) == (("acme",), "in/a b.pdf#v1")
    unversioned = created("in/a b.pdf")
    del unversioned["detail"]["object"]["version-id"]
    assert read_event(source, unversioned).event_id == "in/a b.pdf#617f08"


def test_a_folder_of_a_bucket_may_be_named_after_the_tenant() -> None:
    source = EventSource("bucket", prefix="in/{tenant}/new/")
    assert read_event(source, created("in/acme/new/a.pdf")).tenants == ("acme",)
    for key in ("in/acme/a.pdf", "in/acme/old/new/a.pdf", "in/acme", "out/acme/new/a.pdf"):
        assert read_event(source, created(key)).tenants == ()
    with pytest.raises(EventUnreadable, match="the key leads to no name of a tenant"):
        read_event(source, created("in//new/a.pdf"))


def test_a_file_of_acta_is_for_the_tenant_whose_it_is() -> None:
    source = EventSource("files", prefix="invoices/")
    found = read_event(source, created(f"{tenant_prefix('files', 'acme')}invoices/may.pdf"))
    assert (found.tenants, found.event_id) == (("acme",), "invoices/may.pdf")
    assert found.event == {
        "path": "invoices/may.pdf",
        "bytes": 5,
        "etag": "b1946ac9",
        "at": "2026-11-27T08:00:00Z",
    }
    assert read_event(source, created(f"{tenant_prefix('files', 'a@b.c')}invoices/x")).tenants == ("a@b.c",)


@pytest.mark.parametrize(
    "key",
    [
        "files/acme/other/may.pdf",
        "files/acme/old/invoices/may.pdf",
        f"files/acme/{private_folder('ann')}/invoices/may.pdf",
        "files/acme/invoices/",
        "sessions/acme/invoices/may.pdf",
    ],
)
def test_files_elsewhere_and_private_ones_are_no_events(key: str) -> None:
    assert read_event(EventSource("files", prefix="invoices/"), created(key)).tenants == ()


def test_no_private_file_is_an_event_of_a_source_for_all_files() -> None:
    assert read_event(EventSource("files"), created(f"files/acme/{private_folder('ann')}/a.md")).tenants == ()


def test_a_tenant_whose_long_name_is_hashed_in_keys_is_found_where_the_source_names_it() -> None:
    name = "a" * 100
    key = f"{tenant_prefix('files', name)}a.md"
    assert name not in key
    assert read_event(EventSource("files", ("acme", name)), created(key)).tenants == (name,)
    assert read_event(EventSource("files"), created(key)).tenants == ()


@pytest.mark.parametrize("event", [{}, {"detail": 1}, {"detail": {"object": {"key": 7}}}])
def test_what_is_no_event_of_s3_cannot_be_used(event: dict[str, Any]) -> None:
    with pytest.raises(EventUnreadable, match=r"detail\.object\.key is missing"):
        read_event(EventSource("files"), event)


def wants(pattern: dict[str, Any], event: dict[str, Any]) -> bool:
    return matches(pattern_for(EventSource("files"), pattern) or {}, event)


@pytest.mark.parametrize(
    ("pattern", "by_agents"),
    [
        ({}, False),
        ({"path": [{"suffix": ".pdf"}]}, False),
        ({"written_by": ["agent"]}, True),
        ({"written_by": ["api"]}, False),
        ({"$or": [{"written_by": ["agent"]}, {"path": [{"prefix": "invoices/"}]}]}, True),
    ],
)
def test_a_trigger_is_for_files_that_agents_write_only_where_its_pattern_says_so(
    pattern: dict[str, Any], by_agents: bool
) -> None:
    event = {"path": "invoices/may.pdf", "written_by": "agent"}
    assert wants(pattern, event) is by_agents


def test_files_that_people_and_others_write_are_for_every_trigger_whose_pattern_they_fit() -> None:
    for by in ("api", "other"):
        assert wants({"path": [{"prefix": "invoices/"}]}, {"path": "invoices/may.pdf", "written_by": by})
        assert not wants({"path": [{"prefix": "letters/"}]}, {"path": "invoices/may.pdf", "written_by": by})
    assert wants({"written_by": ["other"]}, {"written_by": "other"})
    assert not wants({"written_by": ["other"]}, {"written_by": "api"})


def test_a_source_is_the_same_after_its_way_through_a_setting() -> None:
    sources = {
        "orders": EventSource("bus", ("acme", "umbra"), id="detail.id"),
        "jobs": EventSource("queue", tenant="for", queue="jobs"),
        "files": EventSource("files"),
    }
    assert read_sources({name: each.as_setting for name, each in sources.items()}) == sources
    assert sources["files"].as_setting == {"kind": "files"}


@pytest.mark.parametrize(
    "wrong", [{"files": {"kind": "files", "colour": 1}}, {"files": {}}, {"files": "files"}]
)
def test_a_setting_that_no_environment_makes_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="an object by name"):
        read_sources(wrong)


def test_a_path_leads_through_keys_and_lists() -> None:
    event = {"lines": [{"sku": "A-1"}, {"sku": "B-2"}]}
    assert value_at(event, "lines.1.sku") == "B-2"
    for path in ("lines.2.sku", "lines.-1.sku", "lines.sku", "none", "lines.0.sku.x"):
        assert value_at(event, path) is None


def test_events_of_other_sources_may_have_any_field() -> None:
    for source in (EventSource("bus"), EventSource("queue"), EventSource("bucket")):
        assert pattern_for(source, {"type": ["a"]}) == {"type": ["a"]}
        assert pattern_for(source, None) is None
