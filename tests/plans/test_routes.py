"""`PATCH /v1/sessions/{id}/plan` over HTTP: the version, the body, the answer, and who is recorded
(docs/design/api.md)."""

from typing import Any

import pytest

from acta.engine.audit.record import Audit
from acta.testing.clock import FakeClock
from tests.api.gateway import Answer
from tests.api.session_functions import Person, functions_of
from tests.doubles.audit import MemoryTrail, PlainPseudonyms
from tests.in_process.house import TENANT, USER, House
from tests.in_process.scripted import ScriptedModel, call, plans, says

SKIP = {"operations": [{"op": "skip", "step_number": 2, "reason": "Not needed."}]}


def paused() -> tuple[House, str]:
    model = ScriptedModel([plans("read", "write"), says("", call("list_files"))])
    house = House(model)
    session = house.start("Go").session_id
    model.meanwhile = lambda: len(model.requests) == 2 and house.pause(session)
    house.run()
    return house, session


def patch(house: House, session: str, body: Any = SKIP, *, user: str = USER, **headers: str) -> Answer:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    path = f"/v1/sessions/{session}/plan"
    return Person(house, user).ask("PATCH", path, json_body=body, headers=sent)


def test_what_was_read_is_edited_and_the_answer_is_the_next_version() -> None:
    house, session = paused()
    read = Person(house).get(f"/v1/sessions/{session}/plan")
    assert read.headers["ETag"] == '"1"'
    edited = patch(house, session, if_match=read.headers["ETag"])
    assert (edited.status, edited.headers["ETag"]) == (200, '"2"')
    assert (edited.data["version"], edited.data["steps"][1]["status"]) == (2, "skipped")
    assert Person(house).get(f"/v1/sessions/{session}/plan").data["plan"] == edited.data


def test_without_the_version_nothing_is_edited() -> None:
    house, session = paused()
    refused = patch(house, session)
    assert (refused.status, refused.error["code"]) == (428, "PRECONDITION_REQUIRED")
    assert Person(house).get(f"/v1/sessions/{session}/plan").headers["ETag"] == '"1"'


@pytest.mark.parametrize(
    ("tag", "status"), [('"2"', 412), ('"0"', 412), ('W/"1x"', 412), ("1", 400), ("", 400)]
)
def test_another_version_is_not_edited(tag: str, status: int) -> None:
    house, session = paused()
    assert patch(house, session, if_match=tag).status == status
    assert Person(house).get(f"/v1/sessions/{session}/plan").headers["ETag"] == '"1"'


def test_any_version_may_be_meant() -> None:
    house, session = paused()
    assert patch(house, session, if_match="*").status == 200


def test_a_request_that_is_sent_again_under_its_key_is_answered_as_before() -> None:
    house, session = paused()
    first = patch(house, session, if_match='"1"', idempotency_key="k")
    again = patch(house, session, if_match='"1"', idempotency_key="k")
    assert (again.status, again.data, again.headers["ETag"]) == (200, first.data, '"2"')
    assert patch(house, session, if_match='"1"').status == 412
    other = patch(
        house, session, {"operations": [{"op": "add", "description": "x"}]}, idempotency_key="k", if_match="*"
    )
    assert other.status == 422


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "operations"),
        ({"operations": []}, "operations"),
        ({"operations": [{"op": "skip", "step_number": 1}] * 21}, "operations"),
        ({"operations": [{"op": "drop", "step_number": 1}]}, "operations.0"),
        ({"operations": [{"op": "skip"}]}, "operations.0.skip.step_number"),
        ({"operations": [{"op": "skip", "step_number": "1"}]}, "operations.0.skip.step_number"),
        ({"operations": [{"op": "skip", "step_number": 1, "why": "x"}]}, "operations.0.skip.why"),
        ({"operations": [{"op": "add"}]}, "operations.0.add.description"),
        ({"operations": [{"op": "add", "description": " "}]}, "operations.0.add.description"),
        ({"operations": [{"op": "add", "description": "a\0b"}]}, "operations.0.add.description"),
        (
            {"operations": [{"op": "add", "description": "x", "input": {"a": "\ud800"}}]},
            "operations.0.add.input",
        ),
        (
            {"operations": [{"op": "add", "description": "x", "input": {"a": "b" * 2_001}}]},
            "operations.0.add.input",
        ),
        ({"operations": [{"op": "reorder", "step_numbers": []}]}, "operations.0.reorder.step_numbers"),
        ({**SKIP, "comment": 1}, "comment"),
        ({"operations": [{"op": "skip", "step_number": 9}]}, "operations.0.step_number"),
    ],
)
def test_what_cannot_be_used_is_named(body: dict[str, Any], field: str) -> None:
    house, session = paused()
    refused = patch(house, session, body, if_match='"1"')
    assert (refused.status, list(refused.error["details"])) == (400, [field])


def test_a_step_that_is_skipped_already_and_a_plan_that_is_not_there_are_told_apart() -> None:
    house, session = paused()
    patch(house, session, if_match='"1"')
    assert patch(house, session, if_match='"2"').error["code"] == "CONFLICT"
    other = house.start("Go").session_id
    assert patch(house, other, if_match='"1"').error["code"] == "PLAN_NOT_FOUND"
    assert patch(house, "ses_none", if_match='"1"').error["code"] == "SESSION_NOT_FOUND"


def test_who_edited_is_in_the_events_and_in_the_audit_trail() -> None:
    house, session = paused()
    trail = MemoryTrail()
    audit = Audit(trail, PlainPseudonyms(), FakeClock())
    gateway = functions_of(house, user="mia", audit=audit).intervene
    path = f"/v1/sessions/{session}/plan"
    assert gateway.request("PATCH", path, json_body=SKIP, headers={"if-match": "*"}).status == 200
    (event,) = [
        one
        for one in Person(house).get(f"/v1/sessions/{session}").data["events"]
        if one["type"] == "plan.revised"
    ]
    assert (event["data"]["by"], event["data"]["version"], event["data"]["plan"]["version"]) == ("mia", 2, 2)
    begun, ended = trail.records[TENANT]
    assert (begun.action, begun.outcome, begun.details) == ("plan.edit", "begun", {"session_id": session})
    assert (ended.outcome, ended.details) == ("done", {"session_id": session, "version": "2"})


def test_a_private_session_s_plan_is_its_owner_s() -> None:
    model = ScriptedModel([plans("read", "write"), says("", call("list_files"))])
    house = House(model)
    session = house.start("Go", visibility="private").session_id
    model.meanwhile = lambda: len(model.requests) == 2 and house.pause(session)
    house.run()
    assert patch(house, session, user="mia", if_match="*").error["code"] == "SESSION_NOT_FOUND"
    assert patch(house, session, if_match="*").status == 200
