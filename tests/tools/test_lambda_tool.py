"""Tools of kind `lambda` against a Lambda service that answers as a test says."""

import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    IncompleteReadError,
    ReadTimeoutError,
)

from acta.engine.aws.errors import MISCONFIGURED
from acta.engine.errors import (
    AwsDenied,
    FunctionUnanswered,
    FunctionUnavailable,
    ToolFailed,
    ToolLater,
    ToolNotRun,
    ToolUnanswered,
)
from acta.engine.settings import Settings
from acta.engine.tools.port import Callback, CallContext
from acta.engine.tools.result_text import failure_text
from acta.engine.tools.tenant.functions import MAX_BYTES, NOT_STARTED, FunctionGuard, LambdaTool
from acta.engine.tools.tool import Effect, LambdaConfig, LaterRule, ToolDefinition
from acta.engine.untrusted.quoting import OutsideText
from acta.testing.clock import FakeClock

NOW = datetime(2026, 1, 1, tzinfo=UTC)
FUNCTION = "acta-prod-tool-pay"


class Lambdas:
    """Stands for botocore's client: `answer` is a payload, or an error to raise."""

    def __init__(self, answer: bytes | io.BytesIO | Exception, failed: bool = False) -> None:
        self.answer = answer
        self.failed = failed
        self.invoked: list[dict[str, Any]] = []

    def invoke(self, **request: Any) -> dict[str, Any]:
        self.invoked.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        payload = io.BytesIO(self.answer) if isinstance(self.answer, bytes) else self.answer
        return {"Payload": payload, **({"FunctionError": "Unhandled"} if self.failed else {})}


SETTINGS = Settings(env="prod", table="t", bucket="b", tenant_tools={"acme": (FUNCTION,)})


def run(
    lambdas: Lambdas,
    effect: Effect = "once",
    seconds: float = 58.7,
    *,
    function: str = FUNCTION,
    tenant: str = "acme",
    settings: Settings = SETTINGS,
    callback: Callback | None = None,
) -> tuple[OutsideText, list[int]]:
    tool = ToolDefinition(
        name="pay", description="Pays", input_schema={"type": "object"}, kind="lambda", effect=effect,
        config=LambdaConfig(function=function), version=1, created_at=NOW, updated_at=NOW,
    )  # fmt: skip
    waits: list[int] = []

    def client(most_seconds: int) -> Lambdas:
        waits.append(most_seconds)
        return lambdas

    context = CallContext(tenant, "ses_1", "default", "eff_1", seconds, callback=callback)
    assert isinstance(tool.config, LambdaConfig)
    return LambdaTool(FunctionGuard(settings), client).run(tool, {"order": 7}, context), waits


def test_a_function_gets_the_arguments_the_effect_s_key_and_whose_call_it_is() -> None:
    lambdas = Lambdas(b'"Paid."')
    said, waits = run(lambdas)
    assert said == OutsideText("answer", "pay", "Paid.")
    (request,) = lambdas.invoked
    assert (request["FunctionName"], request["InvocationType"]) == (FUNCTION, "RequestResponse")
    assert json.loads(request["Payload"]) == {
        "arguments": {"order": 7},
        "effect_id": "eff_1",
        "session_id": "ses_1",
        "tenant": "acme",
    }
    assert waits == [58]


@pytest.mark.parametrize(("seconds", "waited"), [(600, 600), (600.0, 600), (4, 4), (3.2, 3), (0.3, 1)])
def test_a_function_gets_the_seconds_that_the_call_has_and_at_least_one(seconds: float, waited: int) -> None:
    assert run(Lambdas(b'"x"'), seconds=seconds)[1] == [waited]


@pytest.mark.parametrize("tenant", ["globex", "*", ""])
def test_a_function_is_never_invoked_for_a_tenant_that_the_operator_has_not_named_it_for(tenant: str) -> None:
    lambdas = Lambdas(b'"Paid."')
    with pytest.raises(ToolFailed, match="has not named the function for this tenant"):
        run(lambdas, tenant=tenant)
    assert lambdas.invoked == []


def test_a_function_that_is_named_for_every_tenant_is_invoked_for_any() -> None:
    shared = SETTINGS.but(tenant_tools={"*": (FUNCTION,)})
    assert run(Lambdas(b'"Paid."'), tenant="globex", settings=shared)[0].text == "Paid."


def test_a_stored_tool_calls_no_function_of_another_environment_whatever_the_list_says() -> None:
    function = "acta-staging-tool-pay"
    listed = SETTINGS.but(tenant_tools={"acme": (function,)})
    lambdas = Lambdas(b'"Paid."')
    with pytest.raises(ToolFailed, match="begins with acta-prod-tool-; rename the function"):
        run(lambdas, function=function, settings=listed)
    assert lambdas.invoked == []


def test_what_is_no_text_is_shown_as_json() -> None:
    assert run(Lambdas(b'{"paid": 7}'))[0].text == '{"paid": 7}'


def test_an_exception_is_a_failure_without_its_stack() -> None:
    raised = {"errorType": "KeyError", "errorMessage": "no order 7", "stackTrace": ["secret place"]}
    with pytest.raises(ToolFailed) as failed:
        run(Lambdas(json.dumps(raised).encode(), failed=True))
    told = failure_text(failed.value, "call_1")
    assert told.startswith("Error: pay failed.\n--- answer (")
    assert "\nKeyError: no order 7\n" in told
    assert "secret place" not in told
    assert "no order" not in str(failed.value)


def test_too_large_an_answer_is_not_taken() -> None:
    with pytest.raises(ToolFailed, match=r"It has run; another call would do it again\.$"):
        run(Lambdas(b"x" * (MAX_BYTES + 1)))
    with pytest.raises(ToolFailed, match=r"It has run; ask it for less\.$"):
        run(Lambdas(b"x" * (MAX_BYTES + 1)), "read")


def refusal(code: str, status: int) -> ClientError:
    return ClientError({"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}, "Invoke")


BROKEN = ConnectionClosedError(endpoint_url="http://lambda")
OVERDUE = ReadTimeoutError(endpoint_url="http://lambda")
EFFECTS: tuple[Effect, ...] = ("read", "idempotent", "once")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (refusal("TooManyRequestsException", 429), FunctionUnavailable),
        (refusal("ENILimitReachedException", 502), FunctionUnavailable),
        (refusal("ResourceNotReadyException", 502), FunctionUnavailable),
        (refusal("SnapStartNotReadyException", 409), FunctionUnavailable),
        (refusal("AccessDeniedException", 403), AwsDenied),
        (EndpointConnectionError(endpoint_url="http://lambda"), FunctionUnavailable),
        (ConnectTimeoutError(endpoint_url="http://lambda"), FunctionUnavailable),
    ],
)
@pytest.mark.parametrize("effect", EFFECTS)
def test_a_function_that_was_not_reached_did_not_run_and_the_engine_makes_the_call_again(
    error: Exception, told: type[Exception], effect: Effect
) -> None:
    with pytest.raises(ToolNotRun) as not_run:
        run(Lambdas(error), effect=effect)
    assert type(not_run.value.reason) is told


@pytest.mark.parametrize("error", [refusal("ServiceException", 500), BROKEN])
def test_where_lambda_fails_the_engine_makes_a_call_again_that_may_run_again(error: Exception) -> None:
    for effect in ("read", "idempotent"):
        with pytest.raises(FunctionUnanswered):
            run(Lambdas(error), effect=effect)
    with pytest.raises(ToolUnanswered):
        run(Lambdas(error), effect="once")


@pytest.mark.parametrize("effect", EFFECTS)
@pytest.mark.parametrize(
    ("code", "status"),
    [*((code, 502) for code in sorted(MISCONFIGURED)), ("InvalidRequestContentException", 400)],
)
def test_what_lambda_refuses_each_time_is_told_at_once_and_nobody_waits_for_aws(
    code: str, status: int, effect: Effect
) -> None:
    with pytest.raises(ToolFailed, match=rf"did not run: Lambda refused the call \({code}\)") as failed:
        run(Lambdas(refusal(code, status)), effect=effect)
    assert not failed.value.ran
    assert code in failed.value.remedy


@pytest.mark.parametrize("code", ["RequestTooLargeException", "413"])
def test_an_input_that_lambda_does_not_pass_on_says_to_send_less(code: str) -> None:
    with pytest.raises(ToolFailed, match="did not run: its input is larger than Lambda passes on; send less"):
        run(Lambdas(refusal(code, 413)))


@pytest.mark.parametrize("code", ["KMSAccessDeniedException", "EC2AccessDeniedException"])
def test_a_permission_that_lambda_itself_lacks_is_waited_for_and_nothing_has_run(code: str) -> None:
    with pytest.raises(ToolNotRun) as not_run:
        run(Lambdas(refusal(code, 502)))
    assert type(not_run.value.reason) is AwsDenied


def test_a_function_that_takes_too_long_leaves_in_doubt_whether_it_happened() -> None:
    for effect in ("once", "idempotent"):
        with pytest.raises(ToolUnanswered):
            run(Lambdas(OVERDUE), effect=effect)
    with pytest.raises(ToolFailed, match="in time"):
        run(Lambdas(OVERDUE), effect="read")


class Breaking(io.BytesIO):
    """An answer that breaks off. `error`: what its reader gets."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def read(self, size: int | None = -1) -> bytes:
        raise self.error


@pytest.mark.parametrize(
    "error", [IncompleteReadError(actual_bytes=1, expected_bytes=2), ConnectionResetError()]
)
def test_an_answer_that_breaks_off_is_none(error: Exception) -> None:
    for effect in ("read", "idempotent"):
        with pytest.raises(FunctionUnanswered):
            run(Lambdas(Breaking(error)), effect=effect)
    with pytest.raises(ToolUnanswered):
        run(Lambdas(Breaking(error)), effect="once")


def test_a_function_that_is_not_there_is_the_model_s_to_hear_of() -> None:
    with pytest.raises(ToolFailed, match="did not run: there is no such function"):
        run(Lambdas(refusal("ResourceNotFoundException", 404)))


TIMED_OUT = {
    "errorType": "Sandbox.Timedout",
    "errorMessage": "RequestId: 1 Error: Task timed out after 3.00 seconds",
}
KILLED = {
    "errorType": "Runtime.ExitError",
    "errorMessage": "RequestId: 1 Error: Runtime exited with error: signal: killed",
}
UNTYPED = {"errorMessage": "2026-01-01T00:00:00.000Z 1 Task timed out after 3.00 seconds"}


@pytest.mark.parametrize("ended", [TIMED_OUT, KILLED, UNTYPED, {"errorType": "Extension.Crash"}, "?"])
def test_a_function_that_was_ended_midway_leaves_in_doubt_whether_it_happened(ended: Any) -> None:
    body = json.dumps(ended).encode()
    for effect in ("once", "idempotent"):
        with pytest.raises(ToolUnanswered):
            run(Lambdas(body, failed=True), effect=effect)
    with pytest.raises(ToolFailed):
        run(Lambdas(body, failed=True), effect="read")


@pytest.mark.parametrize("kind", sorted(NOT_STARTED))
def test_a_function_that_cannot_be_loaded_did_nothing_to_ask_about(kind: str) -> None:
    raised = {"errorType": kind, "errorMessage": "No module named 'app'"}
    with pytest.raises(ToolFailed) as failed:
        run(Lambdas(json.dumps(raised).encode(), failed=True))
    assert "No module named 'app'" in failure_text(failed.value, "call_1")


@pytest.mark.parametrize("kind", ["Runtime.MarshalError", "Function.ResponseSizeTooLarge"])
def test_a_function_whose_answer_cannot_be_passed_on_has_run_and_the_result_says_so(kind: str) -> None:
    raised = {"errorType": kind, "errorMessage": "not that"}
    with pytest.raises(ToolFailed, match="has run"):
        run(Lambdas(json.dumps(raised).encode(), failed=True))


@pytest.mark.parametrize(
    ("answer", "text", "note"),
    [
        ('{"a": "Größe"}'.encode("utf-16"), '{"a": "Größe"}', "byte order mark"),
        ('"Größe"'.encode("cp1252"), "Größe", "[read as windows-1252, which is a guess]"),
        (b"\x89PNG\r\n\x1a\n" + bytes(60), "", "[its answer is a PNG image (68 bytes), which is not shown]"),
    ],
)
def test_an_answer_that_is_not_in_utf_8_is_read_or_says_what_it_is(
    answer: bytes, text: str, note: str
) -> None:
    said, _ = run(Lambdas(answer))
    assert said.text == text
    assert note in said.note


def test_a_function_that_is_not_allowed_names_the_setting_to_admins_and_not_to_a_model() -> None:
    with pytest.raises(ToolFailed) as failed:
        run(Lambdas(b'"Paid."'), tenant="globex")
    assert not failed.value.ran
    assert f"adds {FUNCTION} to the setting tenant_tools" in failed.value.remedy
    assert "tenant_tools" not in str(failed.value)


def test_a_function_that_is_missing_says_what_to_deploy() -> None:
    missing = ClientError({"Error": {"Code": "ResourceNotFoundException"}}, "Invoke")
    with pytest.raises(ToolFailed) as failed:
        run(Lambdas(missing))
    assert not failed.value.ran
    assert FUNCTION in failed.value.remedy


CALLBACK = Callback("https://acta.test/v1/callbacks/t", LaterRule(seconds=60), FakeClock())


def test_a_function_gets_a_callback_url_and_says_that_it_answers_there() -> None:
    lambdas = Lambdas(b'{"acta": "later", "seconds": 30, "default": "none"}')
    with pytest.raises(ToolLater) as waits:
        run(lambdas, callback=CALLBACK)
    assert json.loads(lambdas.invoked[0]["Payload"])["callback_url"] == CALLBACK.url
    later = waits.value.later
    assert ((later.until - later.began).total_seconds(), later.default) == (30, "none")


def test_a_function_without_the_declaration_gets_no_url_and_its_words_are_its_result() -> None:
    lambdas = Lambdas(b'{"acta": "later"}')
    said, _ = run(lambdas)
    assert said.text == '{"acta": "later"}'
    assert "callback_url" not in json.loads(lambdas.invoked[0]["Payload"])


def test_a_function_that_may_answer_later_may_answer_at_once() -> None:
    said, _ = run(Lambdas(b'{"state": "built"}'), callback=CALLBACK)
    assert said.text == '{"state": "built"}'
