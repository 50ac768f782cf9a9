"""Where an environment records reads, the trail says who looked at what is somebody else's, once an hour (ADR 142)."""

from typing import Any

import pytest

from acta.engine import errors
from acta.engine.api.operations import OPERATIONS
from acta.engine.audit.record import Audit, AuditRecord
from tests.api.deployment import SETTINGS, AdminApi
from tests.api.gateway import Gateway
from tests.api.session_functions import functions_of
from tests.doubles.audit import MemoryTrail, PlainPseudonyms
from tests.in_process.house import TENANT
from tests.in_process.scripted import plans
from tests.people.test_private_session_routes import asking
from tests.usage.test_routes import END, STEPS, Office

LISTED, LISTED_OF_SESSION = "/v1/interventions", "/v1/sessions/{}/interventions"
READ, INPUT = "/v1/sessions/{}/interventions/{}", "/v1/sessions/{}/interventions/{}/input"
OF_QUESTIONS = (LISTED, LISTED_OF_SESSION, READ, INPUT)


class CountedTrail(MemoryTrail):
    """`puts`: how often a record was put, the same one again included."""

    puts = 0

    def put(self, tenant: str | None, record: AuditRecord) -> None:
        self.puts += 1
        super().put(tenant, record)


class Desk:
    """Ann's private session, whose question an approver decides, and the trail of its tenant."""

    def __init__(self, record_reads: bool = True) -> None:
        self.house, self.session, self.question = asking()
        self.house.settings = self.house.settings.but(record_reads=record_reads)
        self.trail = CountedTrail()

    @property
    def records(self) -> list[AuditRecord]:
        return self.trail.records.get(TENANT, [])

    def get(self, path: str, user: str, *roles: str, **query: str) -> Any:
        """By a worker of its own."""
        audit = Audit(self.trail, PlainPseudonyms(), self.house.clock)
        functions = functions_of(self.house, user=user, roles=[*roles, "member"], audit=audit)
        where = path.format(self.session, self.question.intervention_id)
        return functions.status.request("GET", where, query=query)


@pytest.mark.parametrize("path", OF_QUESTIONS)
def test_a_private_question_is_recorded_with_who_else_saw_it(path: str) -> None:
    desk = Desk()
    assert desk.get(path, "bob", "approver").status == 200
    (found,) = desk.records
    assert (found.who, found.action, found.outcome) == (f"p_{TENANT}_bob", "intervention.read", "done")
    assert found.details["session_id"] == desk.session
    assert ("intervention_id" in found.details) == ("{}/interventions/{}" in path)


@pytest.mark.parametrize("path", OF_QUESTIONS)
def test_its_owner_and_who_does_not_see_it_leave_no_record(path: str) -> None:
    desk = Desk()
    assert desk.get(path, "ann").status == 200
    desk.get(path, "mia", "finance")
    assert desk.records == []


def test_nothing_that_all_of_the_tenant_may_see_is_recorded() -> None:
    desk = Desk()
    head = desk.house.head(desk.session)
    shared = desk.house.start("Go", visibility="tenant").session_id
    for path in (f"/v1/sessions/{shared}", f"/v1/sessions/{shared}/messages", "/v1/sessions"):
        assert desk.get(path, "bob", "approver").status == 200
    assert head.visibility == "private"
    assert desk.records == []


def test_polls_of_one_thing_are_one_record_an_hour_by_whichever_worker() -> None:
    desk = Desk()
    audit = Audit(desk.trail, PlainPseudonyms(), desk.house.clock)
    worker = functions_of(desk.house, user="bob", roles=["approver", "member"], audit=audit).status
    for _ in range(3):
        assert worker.request("GET", LISTED).status == 200
    assert desk.trail.puts == 1, "a worker remembers what it has recorded"
    desk.house.clock.advance(60)
    assert desk.get(LISTED, "bob", "approver").status == 200
    assert (desk.trail.puts, len(desk.records)) == (2, 1)
    assert desk.get(LISTED, "eve", "approver").status == 200
    desk.house.clock.advance(3_600)
    assert worker.request("GET", LISTED).status == 200
    assert [each.who for each in desk.records] == [f"p_{TENANT}_{name}" for name in ("bob", "eve", "bob")]


def test_a_read_says_its_hour_and_when_it_was_the_first() -> None:
    desk = Desk()
    desk.house.clock.advance(754)
    desk.get(READ, "bob", "approver")
    (found,) = desk.records
    assert (found.at.minute, found.at.second) == (0, 0)
    assert found.ended_at == desk.house.clock.now()


def test_what_cannot_be_recorded_is_not_shown() -> None:
    desk = Desk()
    desk.trail.away = [errors.StoreUnavailable("x")]
    answer = desk.get(READ, "bob", "approver")
    assert (answer.status, answer.error["code"], desk.records) == (503, "UNAVAILABLE", [])


def test_without_the_setting_no_read_is_recorded() -> None:
    desk = Desk(record_reads=False)
    for path in OF_QUESTIONS:
        assert desk.get(path, "bob", "approver").status == 200
    assert desk.records == []


def recorded(api: AdminApi, gateway: Gateway, path: str, **query: str) -> list[tuple[str, dict[str, str]]]:
    assert gateway.request("GET", path, query=query).status == 200
    trail: Any = api.root.audit.trail
    return [
        (each.action, dict(each.details)) for each in trail.records.get("acme", []) if each.outcome == "done"
    ]


def test_a_shared_file_that_is_read_is_recorded_and_a_private_one_is_not() -> None:
    api = AdminApi(SETTINGS.but(record_reads=True))
    for path in ("a.txt", "~/mine.txt"):
        api.root.files.seen_by("ann").write("acme", path, b"x")
    assert recorded(api, api.member, "/v1/files/~/mine.txt") == []
    assert recorded(api, api.member, "/v1/files/a.txt", versions="1") == []
    assert recorded(api, api.member, "/v1/files/a.txt") == [("file.read", {"path": "a.txt"})]


def test_reads_of_the_trail_are_recorded_with_what_was_looked_for() -> None:
    api = AdminApi(SETTINGS.but(record_reads=True))
    assert recorded(api, api.admin, "/v1/audit") == [("audit.read", {"records": "all"})]
    looked_for = {"user": "bob", "session_id": "ses_1"}
    assert recorded(api, api.admin, "/v1/audit", **looked_for)[1:] == [
        ("audit.read", {"who": "p_acme_bob", "session_id": "ses_1"})
    ]


def test_who_takes_out_all_prompts_is_recorded() -> None:
    api = AdminApi(SETTINGS.but(record_reads=True))
    assert recorded(api, api.admin, "/v1/admin/prompts") == [("prompt.list", {"prompts": "all"})]


def test_an_admin_who_reads_the_usage_of_each_person_is_recorded() -> None:
    office = Office(plans("one"), STEPS, END)
    office.house.settings = office.house.settings.but(record_reads=True)
    office.run()
    office.count()
    for by, roles in (("day", "[admin]"), ("user", "[member]"), ("user", "[admin]")):
        assert office.ask(roles=roles, by=by).status == 200
    trail: Any = office.audit.trail
    assert [each.details for each in trail.records[TENANT]] == [{"by": "user"}]


def test_every_read_that_may_be_recorded_is_by_somebody_with_a_token() -> None:
    reads = [route for route in OPERATIONS if route.action is not None and route.method == "GET"]
    assert all(route.role is not None for route in reads)
    deciders = [route for route in OPERATIONS if route.method == "GET" and route.private == "decider"]
    assert {route.action for route in deciders} == {"intervention.read"}
