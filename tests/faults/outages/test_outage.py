"""An outage can only be believed where it meets its own service, its own sessions, and what a bill shows wrong."""

import json

import pytest

from tests.faults.calls import AWS, LAMBDA, MODEL, Answer, Call, Request, Subject, subject_of
from tests.faults.outages.bill import Bill
from tests.faults.outages.chosen import is_named
from tests.faults.outages.outage import Gate, Outage, OutageCase, Surroundings
from tests.faults.outages.rotated_key import RotatedKey
from tests.faults.outages.run import cases
from tests.faults.person import Json
from tests.faults.processes import Worker
from tests.faults.provider import priced

DONE = Answer(200, {}, b"{}")
STEP = Worker(7, "step")
TAG = "flt-0123456789ab"
SESSION = {
    "usage": {"input_tokens": 1010, "output_tokens": 121, "total_tokens": 1131},
    "budget": {"token_budget": 5000, "tokens_left": 3869, "vanished_tokens": 0},
}
STEPS: list[Json] = [{"input_tokens": 500, "output_tokens": 60, "estimated_tokens": 0},
         {"input_tokens": 510, "output_tokens": 61, "estimated_tokens": 0}]  # fmt: skip


def asked(service: str) -> Request:
    headers = {
        "dynamodb": "DynamoDB_20120810.DeleteItem",
        "states": "AWSStepFunctions.StartExecution",
        "secrets": "secretsmanager.GetSecretValue",
    }
    if service == "sts":
        return Request(AWS, "POST", "/", {}, f"Action=AssumeRole&RoleSessionName=t-{TAG}".encode(), STEP)
    body = json.dumps({"Key": {"sk": {"S": "P"}}, "at": TAG}).encode()
    return Request(AWS, "POST", "/", {"x-amz-target": headers[service]}, body, STEP)


def invocation(op: str) -> Request:
    body = {"function": "step", "event": {"op": op, "at": {"tenant": TAG, "generation": 1, "turn": 3}}}
    return Request(LAMBDA, "POST", "/", {}, json.dumps(body).encode(), None)


def answer(outage: Outage, request: Request, done: list[Request]) -> Answer | None:
    def carry_out(request: Request) -> Answer:
        done.append(request)
        return DONE

    return Surroundings(outage, ())(request, subject_of(request), None, carry_out)


def test_an_outage_meets_its_service_while_it_lasts_and_nothing_else() -> None:
    outage, done = Outage(OutageCase("dynamodb", "denied")), list[Request]()
    assert answer(outage, asked("dynamodb"), done) is DONE
    outage.begin()
    refused = answer(outage, asked("dynamodb"), done)
    assert refused is not None
    assert b"AccessDenied" in refused.body
    assert answer(outage, asked("states"), done) is DONE
    outage.end()
    assert answer(outage, asked("dynamodb"), done) is DONE
    assert (len(done), outage.refused) == (3, 1)


def test_while_secrets_are_away_the_model_refuses_every_key_and_then_takes_the_one_that_was_stored() -> None:
    outage, done, stored = Outage(OutageCase("secrets", "failing")), list[Request](), list[str]()
    key = RotatedKey(stored.append)
    kept, body = key.text, json.dumps({"messages": [{"role": "user", "content": TAG}]}).encode()

    def asks_the_model(key: str) -> Answer:
        request = Request(MODEL, "POST", "/v1/messages", {"authorization": f"Bearer {key}"}, body, STEP)
        answered = answer(outage, request, done)
        assert answered is not None
        return answered

    assert asks_the_model(kept) is DONE
    outage.begin()
    assert (asks_the_model(kept).status, outage.refused) == (401, 0)
    away = answer(outage, asked("secrets"), done)
    assert away is not None
    assert (away.status, outage.refused) == (500, 1)
    key.rotate(outage.take_keys_from)
    outage.end()
    assert asks_the_model(kept).status == 401
    assert asks_the_model(stored[-1]) is DONE
    assert (len(done), outage.unheard[TAG]) == (2, 0)


def test_a_tenants_keys_last_for_one_invocation_so_that_an_outage_of_sts_is_met() -> None:
    until = b"<Expiration>2099-01-01T00:00:00Z</Expiration>"
    outage = Outage(OutageCase("sts", "denied"))
    given = Surroundings(outage, ())(
        asked("sts"), subject_of(asked("sts")), None, lambda _: Answer(200, {}, until)
    )
    assert given is not None
    assert given.body != until
    outage.begin()
    refused = answer(outage, asked("sts"), [])
    assert refused is not None
    assert b"AccessDenied" in refused.body


def test_an_invocation_is_refused_by_the_engines_name_for_it() -> None:
    outage = Outage(OutageCase("lambda", "throttled"))
    outage.begin()
    refused = answer(outage, invocation("think"), [])
    assert refused is not None
    assert json.loads(refused.body)["error"] == "Lambda.TooManyRequestsException"


@pytest.mark.parametrize("op", ["handle_error", "lost_tool"])
def test_a_step_or_a_call_that_used_up_its_retries_is_counted_whatever_is_away(op: str) -> None:
    outage = Outage(OutageCase("model", "failing"))
    outage.begin()
    answer(outage, invocation(op), [])
    assert outage.gave_up == {TAG}


def test_a_request_to_the_model_that_gets_no_answer_is_counted_as_unheard() -> None:
    outage = Outage(OutageCase("model", "unreachable"))
    outage.begin()
    body = json.dumps({"messages": [{"role": "user", "content": TAG}]}).encode()
    assert answer(outage, Request(MODEL, "POST", "/v1/messages", {}, body, STEP), []) is None
    assert outage.unheard[TAG] == 1


def test_a_gate_holds_the_call_of_its_name_alone() -> None:
    gate = Gate("step model:Messages reply 2")
    gate.opened.set()
    gate.pass_by(Call("step", Subject("model:Messages", "reply"), 1))
    assert not gate.was_reached.is_set()
    gate.pass_by(Call("step", Subject("model:Messages", "reply"), 2))
    assert gate.was_reached.is_set()


def test_a_request_to_the_model_that_was_held_for_long_is_not_answered_and_sells_nothing() -> None:
    """Whether its caller would still hear the answer is chance."""
    outage, done, clock = Outage(OutageCase("s3", "failing")), list[Request](), iter([0.0, 3.0, 10.0, 11.0])
    held = Surroundings(outage, (), now=lambda: next(clock))
    body = json.dumps({"messages": [{"role": "user", "content": TAG}]}).encode()
    request = Request(MODEL, "POST", "/v1/messages", {}, body, STEP)

    def sell(request: Request) -> Answer:
        done.append(request)
        return DONE

    assert held(request, subject_of(request), None, sell) is None
    assert (done, outage.unheard[TAG]) == ([], 1)
    assert held(request, subject_of(request), None, sell) is DONE
    assert (len(done), outage.unheard[TAG]) == (1, 1)


def test_an_invocation_that_is_tried_again_keeps_its_name() -> None:
    assert subject_of(invocation("think")) == subject_of(invocation("think"))
    assert subject_of(invocation("think")) != subject_of(invocation("plan"))


@pytest.mark.parametrize(
    ("places", "unheard", "wrong"),
    [([0, 1], 0, 0), ([0, 1, 1], 0, 1), ([0], 0, 1)],
    ids=["as sold", "not charged", "charged for nothing"],
)
def test_a_bill_is_held_against_what_was_sold(places: list[int], unheard: int, wrong: int) -> None:
    bill = Bill(tuple(priced(place) for place in places), unheard)
    assert len(bill.differences(SESSION, STEPS)) == wrong
    assert bill.bought_twice == max(0, len(places) - 2)


def test_an_estimate_needs_a_request_that_got_no_answer() -> None:
    session = SESSION | {"budget": {"token_budget": 5000, "tokens_left": 3169, "vanished_tokens": 700}}
    steps: list[Json] = [
        *STEPS,
        {"input_tokens": 0, "output_tokens": 0, "estimated_tokens": 700, "error": "X"},
    ]
    sold = (priced(0), priced(1))
    assert Bill(sold, 1).differences(session, steps) == []
    assert Bill(sold, 0).differences(session, steps) == [
        "1 estimates, 0 taken back, for 0 unheard requests: X"
    ]


def test_an_estimate_that_an_answer_took_back_is_none() -> None:
    """A cancel charges a call that is under way; its answer comes after that."""
    steps: list[Json] = [
        {"input_tokens": 0, "output_tokens": 0, "estimated_tokens": 700, "error": "X"},
        STEPS[0] | {"estimated_tokens": -700},
        STEPS[1],
    ]
    sold = (priced(0), priced(1))
    assert Bill(sold, 0).differences(SESSION, steps) == []


def test_outages_are_named_by_service_and_kind_and_all_without_a_name() -> None:
    def named(*parts: str) -> list[str]:
        return [case.name for case in cases() if is_named(case, parts)]

    assert named("outage:lambda:denied", "outage:states:slow") == ["states slow", "lambda denied"]
    assert [name for name in named("outage:s3") if not name.startswith("s3 ")] == []
    assert len(named()) == len(named("outage")) == 34
