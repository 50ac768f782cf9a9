"""The API asks the function `tool` by an invocation of Lambda: what goes out, and what comes of each end of it."""

import io
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError

from acta.engine.api.error_answers import answer as http_answer
from acta.engine.bound_tenant import bound
from acta.engine.errors import (
    AnswerLost,
    CallerError,
    Conflict,
    FunctionUnavailable,
    Refused,
    StoreUnavailable,
)
from acta.engine.telemetry import Telemetry
from acta.engine.tools.lambda_function import MAX_ANSWER_BYTES, LambdaToolFunction
from acta.engine.tools.operations import OperationRequest, answer, is_asked

FUNCTION = "acta-prod-tool:live"
EVENT = {"op": "try_tool", "tenant": "acme", "user": "ann", "given": {"name": "pay"}}
TELEMETRY = Telemetry("tool")


class Lambdas:
    """Stands for botocore's client: `said` is a payload, or an error to raise."""

    def __init__(self, said: Any, failed: bool = False) -> None:
        self.said = said
        self.failed = failed
        self.invoked: list[dict[str, Any]] = []

    def invoke(self, **request: Any) -> dict[str, Any]:
        self.invoked.append(request)
        if isinstance(self.said, Exception):
            raise self.said
        body = self.said if isinstance(self.said, bytes) else json.dumps(self.said).encode()
        return {"Payload": io.BytesIO(body), **({"FunctionError": "Unhandled"} if self.failed else {})}


def ask(lambdas: Lambdas, function: str = FUNCTION) -> Mapping[str, Any]:
    return LambdaToolFunction(function, lambda: lambdas).ask("try_tool", "acme", "ann", {"name": "pay"})


def turned_away(code: str, status: int = 400) -> ClientError:
    return ClientError({"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}, "Invoke")


def test_tool_is_invoked_once_by_its_alias_with_the_operation_and_for_whom() -> None:
    lambdas = Lambdas({"answer": {"outcome": "succeeded"}})
    assert ask(lambdas) == {"outcome": "succeeded"}
    (request,) = lambdas.invoked
    assert (request["FunctionName"], request["InvocationType"]) == (FUNCTION, "RequestResponse")
    assert json.loads(request["Payload"]) == EVENT


def test_what_tool_has_to_say_to_the_caller_reaches_them_under_its_code() -> None:
    refusal = {"code": "CONFLICT", "message": "It is built in.", "details": {"name": ["built in"]}}
    with pytest.raises(CallerError, match="It is built in") as refused:
        ask(Lambdas({"refused": refusal}))
    said = http_answer(refused.value)
    assert (said.status, said.code) == (409, "CONFLICT")


@pytest.mark.parametrize(
    "lambdas",
    [
        Lambdas(turned_away("TooManyRequestsException", 429)),
        Lambdas(turned_away("AccessDeniedException", 403)),
        Lambdas(turned_away("ResourceNotFoundException", 404)),
        Lambdas(EndpointConnectionError(endpoint_url="https://lambda")),
        Lambdas({"errorType": "Refused", "errorMessage": "not an event"}, failed=True),
        Lambdas({"errorType": "Runtime.ImportModuleError"}, failed=True),
    ],
    ids=["throttled", "denied", "missing", "unreachable", "the release before", "does not start"],
)
def test_where_lambda_turned_it_away_nothing_was_done_and_the_caller_may_try_again(lambdas: Lambdas) -> None:
    with pytest.raises(FunctionUnavailable) as unavailable:
        ask(lambdas)
    said = http_answer(unavailable.value)
    assert (said.status, said.headers["Retry-After"]) == (503, "1")
    assert "has not done it" in said.to_gateway()["body"]


@pytest.mark.parametrize(
    "lambdas",
    [
        Lambdas(ReadTimeoutError(endpoint_url="https://lambda")),
        Lambdas(turned_away("ServiceException", 500)),
        Lambdas({"errorMessage": "Task timed out"}, failed=True),
        Lambdas({"errorType": "KeyError"}, failed=True),
        Lambdas(b"{"),
        Lambdas({"something": "else"}),
        Lambdas(["answer"]),
    ],
    ids=["late", "5xx", "timed out", "broke", "no json", "no answer", "a list"],
)
def test_where_no_usable_answer_came_nobody_knows_and_the_caller_is_told_so(lambdas: Lambdas) -> None:
    with pytest.raises(AnswerLost) as lost:
        ask(lambdas)
    said = http_answer(lost.value)
    assert said.status == 503
    assert "nobody knows" in said.to_gateway()["body"]


@pytest.mark.parametrize(
    "lambdas",
    [
        Lambdas(b'"' + b"x" * MAX_ANSWER_BYTES + b'"'),
        Lambdas({"errorType": "Function.ResponseSizeTooLarge"}, failed=True),
        Lambdas({"errorType": "Runtime.MarshalError"}, failed=True),
    ],
    ids=["larger than is read", "larger than Lambda passes on", "no json can be made of it"],
)
def test_an_answer_that_is_too_large_each_time_is_told_as_that_and_not_as_an_outage(lambdas: Lambdas) -> None:
    with pytest.raises(CallerError, match="It was done, but the answer is too large") as refused:
        ask(lambdas)
    assert http_answer(refused.value).status == 409


def test_while_a_deployment_has_not_named_the_function_yet_nothing_is_done() -> None:
    lambdas = Lambdas({})
    with pytest.raises(FunctionUnavailable):
        ask(lambdas, function="")
    assert lambdas.invoked == []


def do(
    run: Callable[[OperationRequest], Mapping[str, Any]], event: Mapping[str, Any] = EVENT, ms: int = 600_000
) -> Any:
    return answer(event, ms, TELEMETRY, {"try_tool": run})


def test_an_operation_works_for_the_tenant_of_the_request_and_has_at_most_twenty_seconds() -> None:
    seen: list[Any] = []

    def run(asked: OperationRequest) -> Mapping[str, Any]:
        seen.append((bound(), asked))
        return {"x": 1}

    assert do(run) == {"answer": {"x": 1}}
    ((binding, asked),) = seen
    assert binding.tenant == "acme"
    assert asked == OperationRequest("acme", "ann", {"name": "pay"}, 20)
    assert bound() is None


def test_an_invocation_that_has_less_time_leaves_room_for_the_answer() -> None:
    seconds: list[float] = []
    do(lambda asked: seconds.append(asked.seconds) or {}, ms=7_000)  # type: ignore[func-returns-value]
    assert seconds == [5]


def test_what_the_caller_is_to_be_told_goes_back_and_everything_else_is_the_function_s_failure() -> None:
    def conflict(asked: OperationRequest) -> Mapping[str, Any]:
        raise Conflict("built in", {"name": ["built in"]})

    def away(asked: OperationRequest) -> Mapping[str, Any]:
        raise StoreUnavailable("get_item")

    def broken(asked: OperationRequest) -> Mapping[str, Any]:
        raise KeyError

    details = {"name": ["built in"]}
    assert do(conflict) == {"refused": {"code": "CONFLICT", "message": "built in", "details": details}}
    assert do(away)["refused"]["code"] == "UNAVAILABLE"
    with pytest.raises(KeyError):
        do(broken)


@pytest.mark.parametrize(
    "event",
    [
        {**EVENT, "tenant": ""},
        {**EVENT, "tenant": None},
        {**EVENT, "given": []},
        {"op": "try_tool"},
    ],
)
def test_a_request_without_a_tenant_or_what_it_needs_is_refused(event: Mapping[str, Any]) -> None:
    with pytest.raises(Refused):
        do(lambda asked: {}, event)


def test_the_engine_s_events_are_not_taken_for_the_api_s() -> None:
    assert is_asked(EVENT)
    assert not is_asked({"op": "tool", "at": {}})
    assert not is_asked({"at": {}})
