"""`POST /v1/tools/{name}/call`: what `tool` is asked for, and how its answer is told."""

from collections.abc import Mapping
from typing import Any

import pytest

from acta.engine.errors import AnswerLost, FunctionUnavailable
from acta.engine.tools.lambda_function import RefusedThere
from tests.api.deployment import AdminApi

PATH = "/v1/tools/pay/call"
BODY = {"input": {"order": "7"}}
TRIAL = {
    "outcome": "succeeded",
    "duration_ms": 12,
    "result": "Paid.",
    "bytes": 5,
    "status": 200,
    "message": "",
    "remedy": "",
}


@pytest.fixture
def api() -> AdminApi:
    made = AdminApi()
    made.tool_function.answers["try_tool"] = lambda given: TRIAL
    return made


def raising(error: Exception) -> Any:
    def answer(given: Mapping[str, Any]) -> Mapping[str, Any]:
        raise error

    return answer


def call(api: AdminApi, body: Any = BODY, key: str | None = None) -> Any:
    headers = {"Idempotency-Key": key} if key else {}
    return api.admin.request("POST", PATH, json_body=body, headers=headers)


def test_tool_is_asked_for_the_tenant_of_the_token_and_its_answer_is_told(api: AdminApi) -> None:
    answer = call(api)
    assert answer.status == 200
    effect_id = answer.data["effect_id"]
    assert answer.data == {
        "effect_id": effect_id,
        "name": "pay",
        "outcome": "succeeded",
        "result": "Paid.",
        "bytes": 5,
        "truncated": False,
        "status": 200,
        "error": None,
        "duration_ms": 12,
    }
    given = {
        "name": "pay",
        "input": {"order": "7"},
        "confirm": False,
        "effect_id": effect_id,
        "roles": ["admin"],
    }
    assert api.tool_function.asked == [("try_tool", "acme", "ann", given)]


def test_a_failure_is_an_answer_that_says_what_helps(api: AdminApi) -> None:
    failed = {
        **TRIAL,
        "outcome": "not_run",
        "result": None,
        "message": "It may not go there.",
        "remedy": "Allow it.",
    }
    api.tool_function.answers["try_tool"] = lambda given: failed
    answer = call(api)
    assert (answer.status, answer.data["outcome"], answer.data["truncated"]) == (200, "not_run", False)
    assert answer.data["error"] == {"message": "It may not go there.", "remedy": "Allow it."}


def test_what_tool_refuses_is_refused_under_its_code(api: AdminApi) -> None:
    refusal = RefusedThere("CONFLICT", "A person approves it.", {"confirm": ["…"]})
    api.tool_function.answers["try_tool"] = raising(refusal)
    answer = call(api)
    assert (answer.status, answer.error["details"]) == (409, {"confirm": ["…"]})


def test_a_member_tries_nothing(api: AdminApi) -> None:
    assert api.member.request("POST", PATH, json_body=BODY).status == 403
    assert api.tool_function.asked == []


@pytest.mark.parametrize("body", [{"input": []}, {"input": {}, "confirm": "yes"}, {"inputs": {}}, []])
def test_a_body_of_another_shape_is_refused(api: AdminApi, body: Any) -> None:
    assert call(api, body).status == 400
    assert api.tool_function.asked == []


def test_the_trail_has_who_tried_which_tool_under_which_effect_id_and_no_input(api: AdminApi) -> None:
    effect_id = call(api).data["effect_id"]
    (record,) = api.admin.request("GET", "/v1/audit").data["items"]
    assert (record["action"], record["outcome"]) == ("tool.call", "done")
    assert record["details"] == {"name": "pay", "effect_id": effect_id, "outcome": "succeeded"}


def test_a_lost_answer_is_an_outcome_because_nobody_knows_what_was_done(api: AdminApi) -> None:
    api.tool_function.answers["try_tool"] = raising(AnswerLost())
    answer = call(api, key="k")
    assert (answer.status, answer.data["outcome"]) == (200, "unknown")
    assert "nobody knows" in answer.data["error"]["message"]
    assert call(api, key="k").status == 409
    assert len(api.tool_function.asked) == 1


def test_a_repeat_under_its_key_makes_no_second_call_and_another_body_is_refused(api: AdminApi) -> None:
    effect_id = call(api, key="k").data["effect_id"]
    again = call(api, key="k")
    assert (again.status, again.error["code"]) == (409, "CONFLICT")
    assert effect_id in again.error["message"]
    assert call(api, {"input": {}}, key="k").status == 422
    assert len(api.tool_function.asked) == 1


def test_what_was_not_done_may_be_sent_again_under_its_key(api: AdminApi) -> None:
    for error, status in ((FunctionUnavailable("x"), 503), (RefusedThere("CONFLICT", "x", None), 409)):
        api.tool_function.answers["try_tool"] = raising(error)
        assert call(api, key="k").status == status
    api.tool_function.answers["try_tool"] = lambda given: TRIAL
    assert call(api, key="k").status == 200
