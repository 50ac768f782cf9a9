"""A number is the same where the model writes it, where a person sees it, in the hash, and in what the tool gets."""

import hashlib
import json
from typing import Any

import pytest

from tests.api.gateway import Answer
from tests.api.session_functions import Person
from tests.doubles.http_sink import Reply, Sink
from tests.in_process.house import House
from tests.in_process.scripted import call, completes, plans, says, step
from tests.people.policies import house_with
from tests.runs.planner import made
from tests.tools.test_tenant_tools import house_with_refund

ACCOUNT = 9_007_199_254_740_993
"""2**53 + 1, which JavaScript rounds."""


def asked(sink: Sink, order: Any = ACCOUNT) -> tuple[House, str, dict[str, Any]]:
    turns = [plans("pay"), says("", call("refund", order=order)), says("", step(1, "completed", "ok"))]
    house = house_with_refund(sink, script=[*turns, completes("Paid.")], high_stakes=True)
    session = house.start("Pay").session_id
    house.run()
    (one,) = Person(house).get(f"/v1/sessions/{session}/interventions").data["items"]
    return house, session, one


def test_what_is_shown_hashed_approved_and_run_is_one_number() -> None:
    with Sink({"/refunds": Reply(body=b"{}")}) as sink:
        house, session, one = asked(sink)
        shown = one["tool_call"]
        assert shown["input_text"] == '{"order":9007199254740993}'
        assert shown["input_hash"] == hashlib.sha256(shown["input_text"].encode()).hexdigest()[:32]
        path = f"/v1/sessions/{session}/interventions/{one['intervention_id']}/input"
        whole = Person(house).get(path).data
        assert (whole["input_text"], whole["input_hash"]) == (shown["input_text"], shown["input_hash"])
        assert Person(house).resolve(session, one["intervention_id"], "approve").status == 200
        house.run()
        assert [heard.body for heard in sink.heard] == [{"order": ACCOUNT}]


@pytest.mark.parametrize(
    ("order", "got"), [(str(ACCOUNT + 2), ACCOUNT + 2), ("1" + "0" * 30, 10**30), ("-0", 0)]
)
def test_an_input_that_a_person_gives_as_text_keeps_its_numbers(order: str, got: int) -> None:
    with Sink({"/refunds": Reply(body=b"{}")}) as sink:
        house, session, one = asked(sink)
        decided = resolve_with(house, session, one, f'{{"input": {{"order": {order}}}}}')
        assert decided.status == 200
        house.run()
        assert [heard.body for heard in sink.heard] == [{"order": got}]


@pytest.mark.parametrize(
    "order", ["1e400", "NaN", "-Infinity", "9007199254740993.0", "0.1000000000000000010"]
)
def test_a_number_that_cannot_be_kept_is_refused_and_nothing_is_decided(order: str) -> None:
    with Sink({"/refunds": Reply(body=b"{}")}) as sink:
        house, session, one = asked(sink)
        refused = resolve_with(house, session, one, f'{{"input": {{"order": {order}}}}}')
        assert (refused.status, refused.error["code"]) == (400, "VALIDATION_ERROR")
        assert order[:15] in refused.error["message"]
        assert house.head(session).interventions[0].intervention_id == one["intervention_id"]
        assert sink.heard == []


def resolve_with(house: House, session: str, one: dict[str, Any], given: str) -> Answer:
    """Sends the input as the text that it is, as a client does that keeps literals."""
    path = f"/v1/sessions/{session}/interventions/{one['intervention_id']}/resolve"
    body = f'{{"option": "modify", "input": {given}}}'
    return Person(house).ask("POST", path, body=body, headers={"content-type": "application/json"})


def test_a_shortened_input_has_its_text_at_its_own_address() -> None:
    large = {"path": "big.txt", "content": "x" * 5_000}
    planned = made(steps=[{"description": "Write", "requires_permission": True}])
    house = house_with(planned, says("", call("create_file", **large)))
    session = house.start("Go").session_id
    house.run()
    (one,) = Person(house).get(f"/v1/sessions/{session}/interventions").data["items"]
    shown = one["tool_call"]
    assert (shown["shortened"], shown["input_text"]) == (True, None)
    whole = Person(house).get(shown["input_url"]).data
    assert json.loads(whole["input_text"]) == large
    assert whole["input_hash"] == hashlib.sha256(whole["input_text"].encode()).hexdigest()[:32]
