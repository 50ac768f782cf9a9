"""Envelope and headers, whatever the status."""

from collections.abc import Callable

import pytest

from acta import __version__
from acta.engine import errors
from acta.engine.api.envelope import CACHE, HEADERS, Response, to_json
from tests.api.gateway import Answer, Gateway, claims
from tests.api.samples import intervene_api, start_api, status_api

MESSAGES = "/v1/sessions/ses_01/messages"


def start(**request: object) -> Answer:
    return Gateway(start_api().handler).request("POST", "/v1/sessions", **request)  # type: ignore[arg-type]


def raising(error: BaseException) -> Answer:
    return Gateway(start_api(error).handler).request("POST", MESSAGES, json_body={"content": "hello"})


ANSWERS: dict[int, Callable[[], Answer]] = {
    202: lambda: start(json_body={"content": "hello"}),
    204: lambda: Gateway(intervene_api().handler).request("DELETE", "/v1/sessions/ses_01"),
    400: lambda: start(body="{"),
    401: lambda: Gateway(start_api().handler, token=None).request("POST", "/v1/sessions"),
    403: lambda: Gateway(start_api().handler, token=claims(roles="[]")).request("POST", "/v1/sessions"),
    404: lambda: Gateway(start_api().handler).request("GET", "/v1/nothing"),
    405: lambda: Gateway(start_api().handler).request("PATCH", "/v1/sessions"),
    409: lambda: raising(errors.Conflict("The session is over.")),
    413: lambda: raising(errors.PayloadTooLarge("Too much.")),
    415: lambda: start(body="a=1", headers={"Content-Type": "application/x-www-form-urlencoded"}),
    422: lambda: raising(errors.IdempotencyMismatch("Another body.")),
    500: lambda: raising(KeyError("x")),
    503: lambda: raising(errors.StoreUnavailable("table acta-prod did not answer")),
}


@pytest.mark.parametrize("status", ANSWERS)
def test_every_status_carries_the_security_headers_and_the_content_type_of_its_body(status: int) -> None:
    answer = ANSWERS[status]()
    assert answer.status == status
    assert answer.headers.get("Content-Type") == (None if status == 204 else "application/json")
    assert {name: answer.headers[name] for name in (*HEADERS, CACHE)} == {
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Acta-Version": __version__,
        "Cache-Control": "no-store",
    }


@pytest.mark.parametrize("status", [status for status in ANSWERS if status >= 400])
def test_every_failure_has_the_error_envelope_and_nothing_else(status: int) -> None:
    body = ANSWERS[status]().json
    assert set(body) == {"success", "error"}
    assert body["success"] is False
    assert {"code", "message"} <= set(body["error"]) <= {"code", "message", "details"}


def test_a_success_has_the_data_envelope() -> None:
    answer = ANSWERS[202]()
    assert set(answer.json) == {"success", "data"}
    assert answer.json["success"] is True


def test_an_empty_answer_has_no_body() -> None:
    assert ANSWERS[204]().body == b""


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (errors.SessionNotFound("x"), 404, "SESSION_NOT_FOUND"),
        (errors.PlanNotFound("x"), 404, "PLAN_NOT_FOUND"),
        (errors.InterventionNotFound("x"), 404, "INTERVENTION_NOT_FOUND"),
        (errors.Unavailable("x"), 503, "UNAVAILABLE"),
        (errors.StoreThrottled("x"), 503, "UNAVAILABLE"),
        (errors.CommitContention("x"), 503, "UNAVAILABLE"),
        (errors.SchemaUnknown("x"), 503, "UNAVAILABLE"),
        (errors.PoisonedSession("x"), 500, "INTERNAL_ERROR"),
        (ZeroDivisionError("x"), 500, "INTERNAL_ERROR"),
    ],
)
def test_an_error_has_its_status_and_code(error: Exception, status: int, code: str) -> None:
    answer = raising(error)
    assert (answer.status, answer.error["code"]) == (status, code)


def test_details_of_a_caller_error_stand_by_field() -> None:
    answer = raising(errors.ValidationFailed("No.", {"input": ["token_budget must grow"]}))
    assert answer.error["details"] == {"input": ["token_budget must grow"]}


def test_an_internal_error_shows_nothing_of_the_inside() -> None:
    for error in (errors.StoreUnavailable("table acta-prod"), RuntimeError("arn:aws:dynamodb:acta-prod")):
        assert b"acta-prod" not in raising(error).body


@pytest.mark.parametrize("error", [errors.StoreThrottled("x"), errors.Unavailable("x")])
def test_what_may_pass_names_a_time_to_come_again(error: Exception) -> None:
    assert int(raising(error).headers["Retry-After"]) >= 1


def test_a_crash_is_not_turned_into_an_answer() -> None:
    class Crash(BaseException):
        pass

    with pytest.raises(Crash):
        raising(Crash())


def test_an_unknown_path_is_not_found_without_a_token() -> None:
    answer = Gateway(start_api().handler, token=None).request("GET", "/v2/sessions")
    assert (answer.status, answer.error["code"]) == (404, "NOT_FOUND")


def test_a_wrong_method_names_the_right_ones_of_all_functions() -> None:
    answer = Gateway(status_api().handler).request("PUT", "/v1/sessions/ses_01")
    assert (answer.status, answer.error["code"]) == (405, "METHOD_NOT_ALLOWED")
    assert answer.headers["Allow"] == "DELETE, GET, PATCH"


@pytest.mark.parametrize("session_id", ["ses ü", "ses%2F01", ".", "'", "a+b&c=d~e(f)!*:@,;$[]{}|^<>"])
def test_an_odd_id_in_a_path_reaches_the_handler_as_it_is(session_id: str) -> None:
    answer = Gateway(status_api().handler).request("GET", f"/v1/sessions/{session_id}")
    assert (answer.status, answer.data["session_id"]) == (200, session_id)


@pytest.mark.parametrize("session_id", ["ses\n01", "ses_\0", "T#a", 'a"b', "a\\b", "a?b", "`"])
def test_an_id_with_a_character_that_no_id_has_names_nothing(session_id: str) -> None:
    answer = Gateway(status_api().handler).request("GET", f"/v1/sessions/{session_id}")
    assert (answer.status, answer.error["code"]) == (404, "NOT_FOUND")


def test_text_that_is_no_unicode_is_escaped_and_other_text_is_not() -> None:
    assert to_json({"a": "ü"}) == '{"a":"ü"}'
    assert to_json({"a": "\ud800"}) == '{"a":"\\ud800"}'


def test_an_answers_own_headers_stay_and_the_security_headers_win() -> None:
    own = {"ETag": '"1"', "Cache-Control": "public"}
    sealed = Response(200, "text/plain", "", own).to_gateway()["headers"]
    assert (sealed["ETag"], sealed["Content-Type"], sealed["Cache-Control"]) == (
        '"1"',
        "text/plain",
        "no-store",
    )
