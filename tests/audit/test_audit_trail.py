"""Every request that changes something is in the audit trail, before it is acted on and after (ADR 54)."""

import json
from typing import Any

import pytest

from acta.engine import errors
from acta.engine.api.app import Api
from acta.engine.api.envelope import Response, success
from acta.engine.api.operation import Operation
from acta.engine.api.operations import OPERATIONS
from acta.engine.app import App
from acta.engine.audit.record import UNKNOWN, Audit, AuditRecord
from acta.engine.audit.recorder import STOPPING
from acta.engine.bound_tenant import bound
from acta.engine.sessions.bodies import Resolve
from acta.testing.clock import FakeClock
from tests.api.gateway import TENANT, Gateway, claims
from tests.api.samples import SETTINGS, start_api
from tests.doubles.audit import MemoryTrail, PlainPseudonyms

MESSAGES = "/v1/sessions/ses_01/messages"
HELLO = {"content": "hello, marker"}


class Kept:
    """A trail, and what it has of the one tenant."""

    def __init__(self) -> None:
        self.trail = MemoryTrail()
        self.audit = Audit(self.trail, PlainPseudonyms(), FakeClock())

    @property
    def records(self) -> list[AuditRecord]:
        return self.trail.records.get(TENANT, [])

    @property
    def outcomes(self) -> list[str]:
        return [record.outcome for record in self.records]


class NoPseudonyms:
    """`away`: why there are none."""

    def __init__(self, away: Exception) -> None:
        self.away = away

    def of(self, tenant: str, user: str) -> str:
        raise self.away


class OfTheBound(MemoryTrail):
    """`bound`: the tenant that each put was made for, as the store gives rights."""

    def __init__(self) -> None:
        super().__init__()
        self.bound: list[str | None] = []

    def put(self, tenant: str | None, record: AuditRecord) -> None:
        binding = bound()
        self.bound.append(None if binding is None else binding.tenant)
        super().put(tenant, record)


@pytest.fixture
def kept() -> Kept:
    return Kept()


def say(kept: Kept, raising: BaseException | None = None, **of: Any) -> Any:
    gateway = Gateway(start_api(raising, audit=kept.audit).handler, token=claims(**of))
    return gateway.request("POST", MESSAGES, json_body=HELLO)


@pytest.mark.parametrize("raising", [None, errors.NotFound("There is none.")])
def test_both_records_are_put_with_the_rights_of_the_tenant_that_asks(raising: BaseException | None) -> None:
    trail = OfTheBound()
    api = start_api(raising, audit=Audit(trail, PlainPseudonyms(), FakeClock()))
    Gateway(api.handler, token=claims()).request("POST", MESSAGES, json_body=HELLO)
    assert trail.bound == [TENANT, TENANT]
    assert bound() is None


@pytest.mark.parametrize("route", OPERATIONS, ids=str)
def test_every_route_of_a_writing_method_is_recorded_or_says_why_not(route: Operation) -> None:
    """Also one that changes nothing of Acta's: a check of keys and a refresh send credentials out."""
    assert route.method == "GET" or bool(route.action) != bool(route.unrecorded)
    assert route.action is None or route.role is not None, "who does it has to be known"


def test_only_a_route_that_asks_recorded_ones_is_not_recorded_itself() -> None:
    """Nor one whose sender is no person: the trail says what people do (ADR 214)."""
    unrecorded = {str(route): route for route in OPERATIONS if route.unrecorded}
    assert {*unrecorded} == {"POST /mcp", "POST /v1/hooks/{token}", "POST /v1/callbacks/{token}"}
    assert unrecorded.pop("POST /mcp").rated == "within"
    assert {(route.function, route.role) for route in unrecorded.values()} == {("wake", None)}


def test_no_two_changes_have_one_name_in_the_trail() -> None:
    actions = [route.action for route in OPERATIONS if route.action is not None and route.method != "GET"]
    assert len(set(actions)) == len(actions)


def test_a_function_without_a_trail_cannot_answer_a_route_that_changes_something() -> None:
    with pytest.raises(LookupError, match="recorded"):
        Api("start", App(SETTINGS))


def test_a_request_is_recorded_before_and_after_with_who_where_from_and_on_what(kept: Kept) -> None:
    assert say(kept, user="ann", roles=["member", "approver"]).status == 202
    begun, ended = kept.records
    assert begun == AuditRecord(
        audit_id=begun.audit_id,
        at=kept.audit.clock.now(),
        who="p_acme_ann",
        roles=("approver", "member"),
        source="192.0.2.0/24",
        action="session.message",
        details={"session_id": "ses_01"},
    )
    assert ended == begun.model_copy(update={"outcome": "done", "ended_at": kept.audit.clock.now()})


def test_no_word_of_the_request_is_in_the_trail(kept: Kept) -> None:
    say(kept)
    assert "marker" not in str(kept.records)


@pytest.mark.parametrize(
    ("raised", "status", "outcome", "code"),
    [
        (errors.Conflict("It is over."), 409, "refused", "CONFLICT"),
        (errors.RoleMissing("approver", "ses_01", "int_01"), 403, "refused", "FORBIDDEN"),
        (errors.SessionNotFound("There is none."), 404, "refused", "SESSION_NOT_FOUND"),
        (errors.StoreUnavailable("away"), 503, "failed", "UNAVAILABLE"),
        (KeyError("a mistake"), 500, "failed", "INTERNAL_ERROR"),
    ],
)
def test_what_was_refused_or_failed_is_recorded_with_its_code(
    kept: Kept, raised: Exception, status: int, outcome: str, code: str
) -> None:
    assert say(kept, raised).status == status
    assert kept.outcomes == ["begun", outcome]
    assert kept.records[-1].code == code


def test_a_worker_that_dies_leaves_that_it_had_begun(kept: Kept) -> None:
    class Crash(BaseException):
        pass

    with pytest.raises(Crash):
        say(kept, Crash())
    assert kept.outcomes == ["begun"]


@pytest.mark.parametrize("away", [errors.StoreUnavailable("x"), errors.AwsDenied("x")])
def test_what_cannot_be_recorded_is_not_done(
    kept: Kept, away: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    kept.trail.away = [away]
    answer = say(kept, AssertionError("it was done"))
    assert (answer.status, answer.error["code"], kept.records) == (503, "UNAVAILABLE", [])
    assert int(answer.headers["Retry-After"]) >= 1
    assert counted(capsys) == [1]


def test_what_was_done_is_answered_so_where_only_its_end_cannot_be_recorded(
    kept: Kept, capsys: pytest.CaptureFixture[str]
) -> None:
    kept.trail.away = [None, errors.StoreUnavailable("x")]
    assert say(kept).status == 202
    assert kept.outcomes == ["begun"]
    assert counted(capsys) == [1]


@pytest.mark.parametrize("stops", ["pause", "cancel"])
@pytest.mark.parametrize(
    "away", [errors.StoreUnavailable("x"), errors.StoreThrottled("x"), errors.AwsDenied("x")]
)
def test_a_session_is_stopped_while_nobody_can_be_named_and_the_record_says_so(
    kept: Kept, stops: str, away: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    api = Api("intervene", App(SETTINGS), audit=kept.audit._replace(pseudonyms=NoPseudonyms(away)))
    done: list[str] = []

    def stop(api: Api, session_id: str) -> Response:
        done.append(session_id)
        return success({"session_id": session_id}, 202)

    api.handlers[f"{stops}Session"] = stop

    answer = Gateway(api.handler, token=claims(user="ann")).request("POST", f"/v1/sessions/ses_01/{stops}")
    assert (answer.status, done, kept.outcomes) == (202, ["ses_01"], ["begun", "done"])
    for record in kept.records:
        assert (record.who, record.roles, record.action) == (UNKNOWN, ("member",), f"session.{stops}")
        assert record.details == {"session_id": "ses_01"}
    assert counted(capsys) == [1]


def test_nothing_else_is_done_while_nobody_can_be_named(
    kept: Kept, capsys: pytest.CaptureFixture[str]
) -> None:
    away = kept.audit._replace(pseudonyms=NoPseudonyms(errors.AwsDenied("x")))
    gateway = Gateway(start_api(AssertionError("it was done"), audit=away).handler)
    answer = gateway.request("POST", MESSAGES, json_body=HELLO)
    assert (answer.status, answer.error["code"], kept.records) == (503, "UNAVAILABLE", [])
    assert int(answer.headers["Retry-After"]) >= 1
    assert counted(capsys) == [1]
    stopping = {route.action for route in OPERATIONS if route.path.endswith(("/pause", "/cancel"))}
    assert stopping == STOPPING


def test_what_is_refused_before_anything_could_be_done_costs_no_record(kept: Kept) -> None:
    gateway = Gateway(start_api(audit=kept.audit).handler)
    assert gateway.request("POST", MESSAGES, json_body={"unknown": 1}).status == 400
    assert gateway.request("POST", MESSAGES, body="{").status == 400
    assert say(kept, roles="[]").status == 403
    assert kept.records == []


def test_a_decision_is_recorded_with_what_was_approved_even_if_it_was_too_late(kept: Kept) -> None:
    api = Api("intervene", App(SETTINGS), audit=kept.audit)
    call = {"name": "delete_file", "input": {"path": "marker"}, "input_hash": "abc"}

    def resolve(api: Api, session_id: str, intervention_id: str, body: Resolve) -> Response:
        if session_id == "ses_late":
            raise errors.Conflict("It is decided.")
        return success({"type": "approval_required", "tool_call": call})

    api.handlers["resolveIntervention"] = resolve

    for session_id in ("ses_01", "ses_late"):
        path = f"/v1/sessions/{session_id}/interventions/int_01/resolve"
        body = {"option": "approve", "comment": "marker"}
        Gateway(api.handler).request("POST", path, json_body=body)
    approved, late = kept.records[1], kept.records[3]
    assert approved.details == {
        "session_id": "ses_01",
        "intervention_id": "int_01",
        "option": "approve",
        "type": "approval_required",
        "tool_call.name": "delete_file",
        "tool_call.input_hash": "abc",
    }
    assert (late.outcome, late.code, late.details["option"]) == ("refused", "CONFLICT", "approve")
    assert "marker" not in str(kept.records)


def test_who_was_refused_is_logged_by_pseudonym(kept: Kept, caplog: pytest.LogCaptureFixture) -> None:
    assert say(kept, user="mallory", roles="[]").status == 403
    line = refused(caplog)
    assert (line["who"], line["tenant"], line["code"]) == ("p_acme_mallory", "p_acme_", "FORBIDDEN")
    assert line["route"] == "POST /v1/sessions/{session_id}/messages"


def test_who_asks_for_somebody_s_private_session_is_logged_by_pseudonym(
    kept: Kept, caplog: pytest.LogCaptureFixture
) -> None:
    gateway = Gateway(start_api(errors.SessionHidden(), audit=kept.audit).handler, claims(user="mallory"))
    assert gateway.request("POST", MESSAGES, json_body=HELLO).status == 404
    line = refused(caplog)
    assert (line["who"], line["code"]) == ("p_acme_mallory", "SESSION_NOT_FOUND")
    assert line["session_id"] in MESSAGES


def test_who_names_no_usable_tenant_is_logged_as_far_as_the_token_says(
    kept: Kept, caplog: pytest.LogCaptureFixture
) -> None:
    assert say(kept, user="mallory", tenant=None).status == 403
    assert refused(caplog)["who"] == "p__mallory"


def test_a_refusal_is_logged_without_a_pseudonym_where_its_key_is_away(
    kept: Kept, caplog: pytest.LogCaptureFixture
) -> None:
    audit = kept.audit._replace(pseudonyms=NoPseudonyms(errors.AwsDenied("get_secret_value")))
    gateway = Gateway(start_api(audit=audit).handler, token=claims(user="mallory", roles="[]"))
    assert gateway.request("POST", MESSAGES, json_body=HELLO).status == 403
    line = refused(caplog)
    assert "who" not in line
    assert "mallory" not in str(line)


def refused(caplog: pytest.LogCaptureFixture) -> dict[str, Any]:
    (record,) = (record for record in caplog.records if record.getMessage() == "refused")
    return vars(record)


def counted(capsys: pytest.CaptureFixture[str]) -> list[Any]:
    """How often the metric says that something is not in the trail."""
    written = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith("{")]
    return [count for line in written for count in line.get("NotRecorded", ())]
