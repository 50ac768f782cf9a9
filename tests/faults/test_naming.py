"""The sweep can only be believed where it finds the same calls again and notices what it did not do."""

import json
from typing import Any

import pytest

from tests.faults.__main__ import main
from tests.faults.calls import AWS, MODEL, Answer, Listing, Request, Subject, subject_of
from tests.faults.naming import unknown
from tests.faults.point import Fault, Track
from tests.faults.processes import Worker
from tests.faults.refusals import refusal
from tests.faults.sweep import Case, Verdict, deaths

TOOL = Worker(7, "tool")
OTHER = Worker(8, "tool")
RUN, CALL = "run_01J00000000000000000000000", "call_01J00000000000000000000000"
LOST = Answer(400, {}, b'{"__type": "ConditionalCheckFailedException"}')
DONE = Answer(200, {}, b"{}")
READ = Subject("dynamodb:Query", "log from C#")


def dynamodb(operation: str, body: dict[str, Any]) -> Request:
    headers = {"x-amz-target": f"DynamoDB_20120810.{operation}"}
    return Request(AWS, "POST", "/", headers, json.dumps(body).encode(), TOOL)


def put(key: str) -> Subject:
    return subject_of(dynamodb("PutItem", {"Item": {"k": {"S": key}, "sk": {"S": "C#0000000001"}}}))


def test_a_commit_is_named_after_its_step_without_ids() -> None:
    assert put(f"{RUN}/1/3/think").what == "think"
    assert put(f"{RUN}/{CALL}/start/try_01J00000000000000000000000").what == "start"
    assert put(f"{RUN}/{CALL}/again/try_01J00000000000000000000000").what == "again"
    assert put(f"{RUN}/1/3/ask-0123456789abcdef").what == "ask"


def test_the_marker_of_a_model_call_is_named_so() -> None:
    item = {"k": {"S": "att_01J00000000000000000000000"}, "sk": {"S": "A"}}
    assert subject_of(dynamodb("PutItem", {"Item": item})).what == "marker"


def test_what_is_asked_about_an_answer_in_the_background_is_named() -> None:
    def asked(method: str, path: str, body: bytes = b"") -> str:
        subject = subject_of(Request(MODEL, method, path, {}, body, TOOL))
        return f"{subject.operation} {subject.what}"

    assert asked("POST", "/responses", b'{"input": []}') == "model:Responses create"
    assert asked("GET", "/responses/resp_1") == "model:Responses look"
    assert asked("POST", "/responses/resp_1/cancel") == "model:Responses cancel"
    assert asked("DELETE", "/responses/resp_1") == "model:Responses forget"


def test_a_call_of_a_python_tool_is_named_after_it_known_again_and_turned_away_as_lambda_does() -> None:
    path = "/2015-03-31/functions/acta-local-tool-rooms/invocations"
    body = json.dumps({"tool": "book", "effect_id": "eff_1"}).encode()
    request = Request(AWS, "POST", path, {}, body, TOOL)
    assert subject_of(request) == Subject("lambda:Invoke", "book", "eff_1")
    told = refusal(request, "throttled")
    assert (told.status, told.headers["X-Amzn-ErrorType"]) == (429, "TooManyRequestsException")


def test_a_read_of_the_log_is_distinguished_from_one_of_the_tenant() -> None:
    def read(pk: str, sk: str) -> str:
        values = {":pk": {"S": pk}, ":since": {"S": sk}}
        return subject_of(dynamodb("Query", {"ExpressionAttributeValues": values})).what

    assert read("T#t#S#ses_01J00000000000000000000000", "C#0000000004") == "log from C#"
    assert read("T#t", "F#") == "tenant from F#"


def test_keys_for_a_tenant_have_one_name_however_many_processes_ask_for_them() -> None:
    def asked_by(worker: Worker) -> Request:
        body = b"Action=AssumeRole&Version=2011-06-15&RoleSessionName=t-flt-0123456789ab"
        return Request(AWS, "POST", "/", {"content-type": "application/x-www-form-urlencoded"}, body, worker)

    listing = Listing()
    calls = [listing.name(worker, subject_of(asked_by(worker))) for worker in (TOOL, OTHER)]
    assert [call.name for call in calls if call is not None] == ["tool sts:AssumeRole tenant 1"] * 2
    assert asked_by(TOOL).tag == "flt-0123456789ab"
    refused = refusal(asked_by(TOOL), "denied")
    assert (refused.status, b"<Code>AccessDenied</Code>" in refused.body) == (403, True)


def test_a_write_that_is_tried_again_keeps_its_name_and_another_one_gets_the_next() -> None:
    listing = Listing()
    names = [listing.name(TOOL, put(key)) for key in ("r/a/finish", "r/b/finish", "r/a/finish")]
    assert [call.nth for call in names if call is not None] == [1, 2, 1]
    assert len(listing.calls) == 2


def test_what_follows_a_lost_race_is_not_listed_until_its_process_has_written() -> None:
    listing = Listing()
    listing.answered(TOOL, put("r/a/finish"), LOST)
    assert listing.name(TOOL, READ) is None
    assert listing.name(OTHER, READ) is not None, "the winner goes on as it would have"
    listing.answered(TOOL, put("r/a/finish"), DONE)
    assert listing.name(TOOL, READ) is not None


def test_every_call_gets_two_deaths_and_a_write_a_lost_answer_as_well() -> None:
    listing = Listing()
    listing.name(TOOL, READ)
    listing.name(TOOL, put("r/a/finish"))
    kinds = [case.faults[0].kind for case in deaths(listing.calls.values())]
    assert kinds == ["before", "after", "before", "after", "lose"]


def test_a_fault_that_did_not_fire_is_no_good_run_even_if_nothing_differs() -> None:
    case = Case(("tool", "dynamodb:Query"), (Fault("tool dynamodb:Query log from C# 9", "before"),))
    assert not Verdict(case, fired=False, asked=(), problems=(), seconds=1.0).is_good
    assert Verdict(case, fired=True, asked=(), problems=(), seconds=1.0).is_good


def test_a_fault_of_several_calls_goes_on_with_the_next_of_its_kind_and_then_ends() -> None:
    fault = Fault("tool dynamodb:Query", "throttle", times=2, prefix=True)
    track = Track([fault])
    met = []
    for _ in range(3):
        due = track.due(track.listing.name(TOOL, READ))
        met.append(due is fault)
        if due is not None:
            track.fired[due] += 1
    assert met == [True, True, False]
    assert track.all_fired


def test_a_fault_that_begins_in_fused_turns_goes_on_where_the_call_is_repeated() -> None:
    fault = Fault("step dynamodb:Query", "throttle", times=2, prefix=True)
    track = Track([fault])
    met = []
    for worker in (TOOL, Worker(9, "step"), TOOL, TOOL):
        due = track.due(track.listing.name(worker, READ))
        met.append(due is fault)
        if due is not None:
            track.fired[due] += 1
    assert met == [False, True, True, False]


@pytest.mark.parametrize(
    "part",
    ["step", "step:PutItem", ":PutItem", "::lose", "step:PutItem:lose", "start:PutItem:left",
     "recover:Query:left", "tool:POST:cut", "outage", "python", "python:tool-rooms:POST:after", "python::Invoke",
     "outage:s3", "outage:s3:slow"],
)  # fmt: skip
def test_a_part_of_the_sweep_may_be_named_by_any_of_its_three_words(part: str) -> None:
    assert unknown([part]) == []


@pytest.mark.parametrize(
    "part",
    ["stp", "step:Putitem", "PutItem", "step:PutItem:never", "step:Query:lose", "step:PutItem:left",
     "tool:POST:throttle", "recover:Query:throttle", "cap9", "outage:s4", "outage:lambda:slow", "python:step",
     "python:tool-rooms:POST:lose"],
)  # fmt: skip
def test_a_part_that_names_nothing_is_refused_at_once_with_what_could_be_named(
    part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert unknown(["step", part]) == [part]
    assert main([part]) == 2
    told = capsys.readouterr().err
    assert f"no fault and no outage is named {part}." in told
    assert "  step: AssumeRole, GetItem, " in told
    assert "Outages of: " in told


def test_a_fault_that_did_not_fire_says_what_came_up_instead() -> None:
    fault = Fault("tool dynamodb:Query log from C# 3", "before")
    track = Track([fault])
    track.listing.name(TOOL, READ)
    track.listing.answered(TOOL, put(f"{RUN}/{CALL}/finish"), LOST)
    track.listing.name(TOOL, READ)
    assert track.why_unfired(fault) == (
        "before tool dynamodb:Query log from C# 3: 1 calls of its kind came up, the last of them "
        "tool dynamodb:Query log from C# 1; 1 more followed a lost race and have no name"
    )
