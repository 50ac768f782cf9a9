"""A trial call of a tool: what runs, what is refused before anything runs, and what the outcome says."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from acta.engine.errors import (
    AwsDenied,
    CallerError,
    Conflict,
    FieldsInvalid,
    Forbidden,
    FunctionUnavailable,
    NotFound,
    StoreUnavailable,
    ToolFailed,
    ToolNotRun,
    ToolUnanswered,
    Unavailable,
)
from acta.engine.tools.builtin import builtins
from acta.engine.tools.operations import MAX_RESULT_BYTES, OperationRequest, trial
from acta.engine.tools.port import CallContext, Trial
from acta.engine.tools.registry import BuiltinRegistry
from acta.engine.tools.tool import HttpConfig, ToolDefinition, ToolSpec
from acta.engine.untrusted.quoting import OutsideText
from acta.testing.clock import FakeClock

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SCHEMA = {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}
ANSWER = OutsideText("answer", "pay", "Paid.", status=200)


def tool(**fields: Any) -> ToolDefinition:
    config = HttpConfig(url="https://pay.example.com/", method="POST")
    given = {"name": "pay", "description": "Pays", "input_schema": SCHEMA, "kind": "http", "config": config}
    times = {"version": 1, "created_at": NOW, "updated_at": NOW}
    return ToolDefinition.model_validate({**given, **times, **fields})


class Tools(BuiltinRegistry):
    """A registry and a toolbox: `said` is what the tool answers, or an error to raise."""

    def __init__(self, said: Any = ANSWER, **fields: Any) -> None:
        self.tool = tool(**fields)
        self.said = said
        self.ran: list[tuple[Mapping[str, Any], CallContext]] = []

    def specs(self, tenant: str, agent_id: str) -> Mapping[str, ToolSpec]:
        return {**builtins(), "pay": self.tool}

    def run(self, spec: ToolSpec, arguments: Mapping[str, Any], context: CallContext) -> str | OutsideText:
        self.ran.append((arguments, context))
        if isinstance(self.said, Exception):
            raise self.said
        said: str | OutsideText = self.said
        return said


def call(
    tools: Tools,
    name: str = "pay",
    *,
    given: Mapping[str, Any] = {"order": "7"},  # never changed
    confirmed: bool = False,
    roles: tuple[str, ...] = ("admin",),
) -> Trial:
    told = {"name": name, "input": given, "effect_id": "eff_1", "confirm": confirmed, "roles": [*roles]}
    return trial(OperationRequest("acme", "ann", told, 20), tools, tools, FakeClock())


def test_the_tool_runs_once_for_the_tenant_under_the_effect_id_and_belongs_to_no_session() -> None:
    tools = Tools()
    assert call(tools) == Trial("succeeded", 0, "Paid.", 5, 200)
    ((arguments, context),) = tools.ran
    assert arguments == {"order": "7"}
    assert (context.tenant, context.user, context.session_id) == ("acme", "ann", "")
    assert (context.effect_id, context.rerun, context.deadline_seconds) == ("eff_1", False, 20)


def test_a_tool_has_no_more_time_than_it_says() -> None:
    tools = Tools(timeout_seconds=3)
    call(tools)
    assert tools.ran[0][1].deadline_seconds == 3


@pytest.mark.parametrize(
    ("error", "name", "fields", "asked"),
    [
        (NotFound, "other", {}, {}),
        (Conflict, "read_file", {}, {}),
        (Conflict, "create_file", {}, {"confirmed": True}),
        (FieldsInvalid, "pay", {}, {"given": {"order": 7}}),
        (FieldsInvalid, "pay", {}, {"given": {"order": "7", "more": 1}}),
        (Conflict, "pay", {"high_stakes": True}, {}),
        (
            Forbidden,
            "pay",
            {"high_stakes": True, "approver_role": "finance", "approver_must_differ": False},
            {"confirmed": True},
        ),
        (
            Forbidden,
            "pay",
            {"high_stakes": True, "approver_role": "finance"},
            {"confirmed": True, "roles": ("finance", "admin")},
        ),
        (Forbidden, "pay", {"high_stakes": True, "approver_must_differ": True}, {"confirmed": True}),
    ],
    ids=[
        "no tool", "built in", "built in, confirmed", "input", "unknown argument", "high stakes", "another's role",
        "a role whose bearer must be another one", "must be another one",
    ],
)  # fmt: skip
def test_what_may_not_run_is_refused_before_anything_runs(
    error: type[CallerError], name: str, fields: Mapping[str, Any], asked: Mapping[str, Any]
) -> None:
    tools = Tools(**fields)
    with pytest.raises(error):
        call(tools, name, **asked)
    assert tools.ran == []


def test_a_call_of_high_stakes_runs_once_it_is_confirmed_by_who_has_the_role() -> None:
    fields = {"high_stakes": True, "approver_role": "finance", "approver_must_differ": False}
    assert call(Tools(**fields), confirmed=True, roles=("finance",)).outcome == "succeeded"


@pytest.mark.parametrize("ran", [True, False])
def test_a_failure_says_what_a_model_is_told_what_was_answered_and_what_helps(ran: bool) -> None:
    said = OutsideText("answer", "pay", "no such order", size=2_000)
    failed = ToolFailed("pay answered with status 404.", said, ran=ran, remedy="Set it.", status=404)
    trial = call(Tools(failed))
    assert trial.outcome == ("failed" if ran else "not_run")
    assert (trial.result, trial.bytes, trial.status) == ("no such order", 2_000, 404)
    assert (trial.message, trial.remedy) == ("pay answered with status 404.", "Set it.")


@pytest.mark.parametrize(
    "said", [ToolUnanswered("x"), FunctionUnavailable("x"), StoreUnavailable("table acta")], ids=type
)
def test_without_an_answer_nobody_knows_and_the_trial_says_so(said: Exception) -> None:
    trial = call(Tools(said, timeout_seconds=20))
    assert (trial.outcome, trial.result, trial.remedy) == ("unknown", None, "")
    assert "table" not in trial.message
    longer = call(Tools(said, timeout_seconds=120))
    assert "20 seconds" in longer.remedy
    assert "120" in longer.remedy


def test_where_aws_turned_the_call_away_the_caller_is_told_to_come_again_without_names_of_aws() -> None:
    with pytest.raises(Unavailable, match="has not run") as unavailable:
        call(Tools(ToolNotRun(AwsDenied("invoke: arn:aws:lambda:acta-prod-tool-pay"))))
    assert "arn" not in str(unavailable.value)


def test_of_a_large_answer_the_beginning_is_shown_in_whole_characters() -> None:
    text = "x" + "€" * MAX_RESULT_BYTES
    trial = call(Tools(OutsideText("answer", "pay", text)))
    assert trial.result is not None
    assert text.startswith(trial.result)
    assert MAX_RESULT_BYTES - 3 < len(trial.result.encode()) <= MAX_RESULT_BYTES
    assert trial.bytes == len(text.encode())
