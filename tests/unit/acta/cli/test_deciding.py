"""What a session waits for can be decided from the command line, and the command line says how."""

import json
import shlex
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acta.cli.hints import Invocation, deciding_lines
from acta.cli.main import main
from acta.cli.parser import build_parser
from shared.domain.interventions.intervention import HOURLY_OPTIONS, OPTIONS, STUCK_OPTIONS
from tests.unit.acta.cli.fake_deployment import SESSION_ID, FakeDeployment, poll, session, success

Acta = Callable[..., int]
RESOLVE = f"/v1/sessions/{SESSION_ID}/interventions/int_1/resolve"
KINDS = [*OPTIONS.items(), ("error_recovery", STUCK_OPTIONS), ("budget_exceeded", HOURLY_OPTIONS)]


@pytest.fixture
def acta(deployment: FakeDeployment) -> Acta:
    def run(*arguments: str) -> int:
        return main([*arguments, "--api-url", deployment.url, "--token", "a.b.c"])

    return run


def waiting(kind: str, options: tuple[str, ...] | None = None) -> dict[str, Any]:
    one = {"intervention_id": "int_1", "type": kind, "options": list(options or OPTIONS[kind])}  # type: ignore[index]
    return poll(session("waiting_for_user", interventions=[one]))


@pytest.mark.parametrize(("kind", "options"), KINDS)
def test_the_command_shown_for_an_option_decides_exactly_that(
    deployment: FakeDeployment, kind: str, options: tuple[str, ...]
) -> None:
    invocation = Invocation.from_arguments(Namespace(api_url=deployment.url, token="a.b.c"))
    deployment.polls(waiting(kind, options))
    deployment.on("POST", RESOLVE, success({}))
    deployment.on("POST", f"/v1/sessions/{SESSION_ID}/messages", success(session("executing"), 202))
    intervention = {"intervention_id": "int_1", "type": kind, "options": options}
    for option, line in zip(options, deciding_lines(invocation, SESSION_ID, intervention), strict=True):
        words = [word.replace("N", "900") if word in ("N",) else word for word in shlex.split(line)]
        given = [word.replace(": N}", ": 900}") for word in words]
        assert main(given[1:]) == 0, line
        if option == "answer":
            assert deployment.requests[-1].json == {"content": "TEXT"}
        else:
            assert deployment.requests[-1].path == RESOLVE
            assert deployment.requests[-1].json["option"] == option


@pytest.mark.parametrize(
    ("arguments", "body"),
    [
        (("resolve", SESSION_ID, "retry"), {"option": "retry"}),
        (("resolve", SESSION_ID, "int_1", "skip", "--comment", "no"), {"option": "skip", "comment": "no"}),
        (
            ("resolve", SESSION_ID, "record", "--input", '{"result": "sent"}'),
            {"option": "record", "input": {"result": "sent"}},
        ),
    ],
)
def test_a_call_of_unknown_outcome_is_settled(
    acta: Acta, deployment: FakeDeployment, arguments: tuple[str, ...], body: dict[str, Any]
) -> None:
    deployment.polls(waiting("error_recovery"))
    deployment.on("POST", RESOLVE, success({}))
    assert acta(*arguments) == 0
    assert deployment.requests_to("POST", RESOLVE)[0].json == body


def test_a_budget_is_raised_or_the_session_finished(acta: Acta, deployment: FakeDeployment) -> None:
    deployment.polls(waiting("budget_exceeded"))
    deployment.on("POST", RESOLVE, success({}))
    assert acta("raise", SESSION_ID, "--token-budget", "900") == 0
    assert acta("finish", SESSION_ID) == 0
    assert [request.json for request in deployment.requests_to("POST", RESOLVE)] == [
        {"option": "raise", "input": {"token_budget": 900}},
        {"option": "finish"},
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        ("raise", SESSION_ID),
        ("resolve", SESSION_ID, "record", "--input", "[]"),
        ("resolve", SESSION_ID, "record", "--input", "{"),
    ],
)
def test_a_decision_without_what_it_needs_is_refused_before_it_is_sent(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    assert acta(*arguments) == 2
    assert deployment.requests == []
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_an_answer_to_a_request_for_permission_is_refused_with_what_decides_it(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.polls(waiting("approval_required"))
    assert acta("answer", SESSION_ID, "yes") == 2
    error = capsys.readouterr().err
    assert f"acta approve {SESSION_ID} int_1" in error
    assert f"acta reject {SESSION_ID} int_1" in error
    assert len(error.splitlines()) == 1
    assert [request.method for request in deployment.requests] == ["GET"]


def test_several_that_fit_are_told_apart_by_what_they_are_about(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = [{"name": "delete_file", "input": {"path": "a\x1b[2J\n.txt"}}, {"name": "charge", "input": {}}]
    several = [
        {
            "intervention_id": f"int_{n}",
            "type": "approval_required",
            "tool_call": call,
            "options": ["approve"],
        }
        for n, call in enumerate(calls)
    ]
    deployment.polls(poll(session("waiting_for_user", interventions=several)))
    assert acta("approve", SESSION_ID) == 2
    assert capsys.readouterr().err.splitlines() == [
        "acta: several are open, name one of them:",
        '  int_0  approval required  delete_file {"path": "a\\u001b[2J\\n.txt"}',
        "  int_1  approval required  charge {}",
    ]


@pytest.mark.parametrize("command", [("run", "Do it"), ("watch", SESSION_ID)])
def test_no_wait_ends_where_a_person_is_needed(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    deployment.on("POST", "/v1/sessions", success(session("planning"), 202))
    deployment.polls(waiting("budget_exceeded"))
    assert acta(*command, "--no-wait") == 5
    assert f"acta raise {SESSION_ID} int_1 --token-budget N" in capsys.readouterr().out


def test_no_wait_with_json_keeps_standard_output_to_the_session(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("POST", "/v1/sessions", success(session("planning"), 202))
    deployment.polls(waiting("approval_required"))
    assert acta("run", "Do it", "--json", "--no-wait") == 5
    shown = capsys.readouterr()
    assert json.loads(shown.out)["state"] == "waiting_for_user"
    assert f"acta approve {SESSION_ID} int_1" in shown.err


def test_a_paused_session_is_one_that_waits_for_a_person(acta: Acta, deployment: FakeDeployment) -> None:
    deployment.polls(poll(session("paused")))
    assert acta("watch", SESSION_ID, "--no-wait") == 5


def test_hints_repeat_how_acta_was_called_but_never_the_token(tmp_path: Path) -> None:
    parsed = build_parser().parse_args(["watch", "s", "--state", "my state", "--token", "secret"])
    called = tmp_path / "acta"
    called.touch()
    line = Invocation.from_arguments(parsed, str(called)).line("cancel", "s")
    assert line == f"{called} cancel s --state 'my state' --token TOKEN"
    assert Invocation.from_arguments(parsed, "/x/main.py").program == "acta"
