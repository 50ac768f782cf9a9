"""What waits is listed over all sessions and decided from the command line, which shows the commands for it."""

import json
import shlex
from argparse import Namespace
from typing import Any

import pytest

from acta.cli.connection import Invocation
from acta.cli.main import main
from acta.cli.sessions.interventions import deciding_lines
from acta.engine.people.policies import HOURLY_OPTIONS, OPTIONS, STUCK_OPTIONS
from tests.acta.cli.interventions.waiting import waits
from tests.acta.conftest import Acta
from tests.acta.fake_deployment import SESSION_ID, FakeDeployment, failure, poll, session, success

LISTING = "/v1/interventions"
RESOLVE = f"/v1/sessions/{SESSION_ID}/interventions/int_1/resolve"
KINDS = [*OPTIONS.items(), ("error_recovery", STUCK_OPTIONS), ("budget_exceeded", HOURLY_OPTIONS)]


@pytest.fixture(autouse=True)
def no_other_session(deployment: FakeDeployment) -> None:
    deployment.on("GET", "/v1/sessions", page())


def page(*waiting: dict[str, Any], cursor: str | None = None) -> Any:
    return success({"items": list(waiting), "next_cursor": cursor})


def waiting(kind: str, options: tuple[str, ...] | None = None) -> dict[str, Any]:
    one = {"intervention_id": "int_1", "type": kind, "options": list(options or OPTIONS[kind])}  # type: ignore[index]
    return poll(session("waiting_for_user", interventions=[one]))


def test_every_page_of_what_waits_is_listed_one_line_each(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("GET", LISTING, page(waits("int_1"), cursor="2"), page(waits("int_2")))
    assert acta("interventions") == 0
    shown = capsys.readouterr()
    assert [line.split()[:2] for line in shown.out.splitlines()] == [
        ["int_1", SESSION_ID],
        ["int_2", SESSION_ID],
    ]
    assert shown.err.startswith("decide with acta approve ID --api-url ")
    asked = [request.path.partition("?")[2] for request in deployment.requests]
    assert asked[:2] == ["state=pending", "cursor=2&state=pending"]


def test_the_role_that_a_question_needs_is_listed(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("GET", LISTING, page(waits("int_1", role="fin\x1bance"), waits("int_2")))
    assert acta("interventions") == 0
    first, second = capsys.readouterr().out.splitlines()
    assert "needs fin\\x1bance" in first.split("  ")
    assert "needs" not in second


def test_what_a_person_has_paused_is_not_to_be_approved_but_resumed(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    paused = waits("int_1", type="checkpoint_review", tool_call=None, context={"asked_by": "person"})
    deployment.on("GET", LISTING, page(paused), page(paused, waits("int_2")))
    assert acta("interventions") == 0
    (only,) = capsys.readouterr().err.splitlines()
    assert only.startswith("continue what is paused with acta resume SESSION --api-url ")
    assert acta("interventions") == 0
    first, second = capsys.readouterr().err.splitlines()
    assert (first.startswith("decide with acta approve ID "), second) == (True, only)


def test_who_decides_by_a_role_names_somebody_s_private_session_as_any_other(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    hidden = failure(404, "SESSION_NOT_FOUND", "There is no such session.")
    deployment.on("GET", f"/v1/sessions/{SESSION_ID}", hidden)
    deployment.on("GET", f"/v1/sessions/{SESSION_ID}/interventions", page(waits("int_1")))
    deployment.on("POST", RESOLVE, success({}))
    assert acta("reject", SESSION_ID) == 0
    deployment.on("GET", f"/v1/sessions/{SESSION_ID}/interventions", hidden)
    assert acta("reject", SESSION_ID) == 2
    assert "There is no such session" in capsys.readouterr().err


def test_json_prints_them_all_as_they_are(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("GET", LISTING, page(waits("int_1"), cursor="2"), page(waits("int_2")))
    assert acta("interventions", "--json") == 0
    assert json.loads(capsys.readouterr().out) == [waits("int_1"), waits("int_2")]


def test_when_nothing_waits_that_is_said_and_is_no_error(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("GET", LISTING, page())
    assert acta("interventions") == 0
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "nothing waits for a person\n")


@pytest.mark.parametrize(
    ("arguments", "body"),
    [
        (("approve", "int_1"), {"option": "approve"}),
        (("reject", "int_1", "--comment", "no"), {"option": "reject", "comment": "no"}),
        (("answer", "int_1", "the second one"), {"option": "answer", "input": {"text": "the second one"}}),
        (("raise", "int_1", "--token-budget", "9"), {"option": "raise", "input": {"token_budget": 9}}),
        (("raise", "int_1", "--cost-budget", "9"), {"option": "raise", "input": {"cost_budget_usd": 9}}),
        (("raise", "int_1", "--cost-budget-usd", "9"), {"option": "raise", "input": {"cost_budget_usd": 9}}),
        (("finish", "int_1"), {"option": "finish"}),
        (("resolve", "int_1", "skip"), {"option": "skip"}),
    ],
)
def test_an_interventions_id_alone_decides_it(
    acta: Acta, deployment: FakeDeployment, arguments: tuple[str, ...], body: dict[str, Any]
) -> None:
    deployment.on("GET", LISTING, page(waits("int_0", session_id="ses_other"), cursor="2"), page(waits()))
    deployment.on("POST", RESOLVE, success({}))
    assert acta(*arguments) == 0
    (request,) = deployment.requests_to("POST", RESOLVE)
    assert request.json == body


@pytest.mark.parametrize("arguments", [("approve", "int_9"), ("answer", "int_9", "yes")])
def test_an_intervention_that_is_not_there_is_one_clear_line(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    deployment.on("GET", LISTING, page(waits()))
    assert acta(*arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith(
        "acta: nothing that waits for a person has the id int_9, and none of the last 500"
    )
    assert "name its session" in error
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize("arguments", [("approve", "int_1"), ("answer", "int_1", "yes")])
def test_one_that_waits_no_longer_is_answered_with_the_decision_that_was_taken(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    deployment.on("GET", LISTING, page(), page(waits("int_2"), cursor="2"), page(waits(state="resolved")))
    deployment.on("POST", RESOLVE, failure(409, "CONFLICT", "Decided.", details={"resolution": ["reject"]}))
    assert acta(*arguments) == 2
    assert "Decided. (CONFLICT): resolution: reject" in capsys.readouterr().err
    asked = [request.path.partition("?")[2] for request in deployment.requests_to("GET", LISTING)]
    assert asked == ["state=pending", "limit=100", "cursor=2&limit=100"]


def test_a_decision_that_came_too_late_is_one_clear_line(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("GET", LISTING, page(waits()))
    deployment.on(
        "POST", RESOLVE, failure(409, "CONFLICT", "It is decided.", details={"resolution": ["reject"]})
    )
    assert acta("approve", "int_1") == 2
    error = capsys.readouterr().err
    assert "It is decided. (CONFLICT): resolution: reject" in error
    assert len(error.splitlines()) == 1


def test_approve_finds_the_one_open_intervention(acta: Acta, deployment: FakeDeployment) -> None:
    waiting = {"intervention_id": "int_1", "options": ["approve", "reject"]}
    deployment.polls(poll(session("waiting_for_user", interventions=[waiting])))
    path = f"/v1/sessions/{SESSION_ID}/interventions/int_1/resolve"
    deployment.on("POST", path, success({}))
    assert acta("approve", SESSION_ID, "--comment", "fine") == 0
    assert deployment.requests_to("POST", path)[0].json == {"option": "approve", "comment": "fine"}


def test_approve_with_nothing_open_is_one_clear_line(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.polls(poll(session("executing")))
    assert acta("approve", SESSION_ID) == 2
    assert capsys.readouterr().err == f"acta: session {SESSION_ID} has nothing open that approve decides\n"


@pytest.mark.parametrize(
    ("state", "word"), [("cancelled", "cancelled"), ("failed", "failed"), ("completed", "goal not met")]
)
def test_approve_of_a_session_that_has_ended_says_how_it_ended(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str], state: str, word: str
) -> None:
    deployment.polls(poll(session(state)))
    assert acta("approve", SESSION_ID) == 2
    said = f"acta: session {SESSION_ID} is {word} and has nothing open that approve decides\n"
    assert capsys.readouterr().err == said


ABOVE = {**session("waiting_for_tool", state_reason="waiting_for_agents"), "children": {"at_work": 2}}
TREE = [
    {"session_id": SESSION_ID, "depth": 0, "agent_name": "Lead", "about": "", "questions": []},
    {"session_id": "ses_1", "depth": 1, "agent_name": "Clerk", "about": "a.pdf", "questions": []},
    {"session_id": "ses_2", "depth": 1, "agent_name": "Clerk", "about": "b.pdf", "questions": [{}]},
]


@pytest.mark.parametrize(
    ("arguments", "said", "command"),
    [
        (
            ("approve", SESSION_ID),
            "has nothing open that approve decides; sessions below it ask:",
            "approve ses_2 int_1",
        ),
        (
            ("reject", SESSION_ID, "--all"),
            "has nothing open that reject decides; sessions",
            "reject ses_2 int_1",
        ),
        (("answer", SESSION_ID, "yes"), "asks nothing, but sessions below it do:", "approve ses_2 int_1"),
    ],
)
def test_a_decision_about_a_session_whose_child_asks_names_the_child_and_what_decides_it(
    acta: Acta,
    deployment: FakeDeployment,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    said: str,
    command: str,
) -> None:
    deployment.polls(poll(ABOVE))
    deployment.on("GET", f"/v1/sessions/{SESSION_ID}/tree", success({"items": TREE, "next_cursor": None}))
    deployment.on("GET", "/v1/sessions/ses_2/interventions", page(waits(session_id="ses_2")))
    assert acta(*arguments) == 2
    first, about, *commands = capsys.readouterr().err.splitlines()
    assert said in first
    assert about == '  Clerk (b.pdf): approval required  delete_file {"path": "old.txt"}'
    assert commands[0].startswith(f"    acta {command} ")
    assert len(commands) == (3 if arguments[0] == "answer" else 1)
    assert {request.method for request in deployment.requests} == {"GET"}


def test_a_message_to_a_session_whose_children_ask_nothing_is_said(
    acta: Acta, deployment: FakeDeployment
) -> None:
    deployment.polls(poll(ABOVE))
    deployment.on("GET", f"/v1/sessions/{SESSION_ID}/tree", success({"items": TREE[:2], "next_cursor": None}))
    path = f"/v1/sessions/{SESSION_ID}/messages"
    deployment.on("POST", path, success(session("executing"), 202))
    assert acta("answer", SESSION_ID, "yes") == 0
    assert deployment.requests_to("POST", path)[0].json == {"content": "yes"}


def test_answer_says_it_to_the_session(acta: Acta, deployment: FakeDeployment) -> None:
    question = {"intervention_id": "int_1", "type": "clarification_needed", "options": ["answer", "cancel"]}
    deployment.polls(poll(session("waiting_for_user", interventions=[question])))
    path = f"/v1/sessions/{SESSION_ID}/messages"
    deployment.on("POST", path, success(session("executing"), 202))
    assert acta("answer", SESSION_ID, "the second one") == 0
    assert deployment.requests_to("POST", path)[0].json == {"content": "the second one"}


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


@pytest.mark.parametrize(
    ("context", "suggested"),
    [
        ({"token_budget_needed": 5_495}, "--token-budget 5495"),
        ({"cost_budget_usd": 0.03, "cost_budget_usd_needed": 0.04}, "--cost-budget 0.04"),
        (
            {"token_budget_needed": 5_495, "cost_budget_usd_needed": 0.04},
            "--token-budget 5495 --cost-budget 0.04",
        ),
        ({}, "--token-budget N"),
    ],
)
def test_the_limits_that_are_short_are_suggested_and_no_other(
    acta: Acta,
    deployment: FakeDeployment,
    capsys: pytest.CaptureFixture[str],
    context: dict[str, Any],
    suggested: str,
) -> None:
    one = {"intervention_id": "int_1", "options": ["raise"], "context": context}
    (line,) = deciding_lines(Invocation("acta", ()), SESSION_ID, one)
    assert line.endswith(f"int_1 {suggested}")
    deployment.on("POST", RESOLVE, success(one))
    if context:
        assert acta(*line.split()[1:]) == 0
        needed = {name.removesuffix("_needed"): value for name, value in context.items() if "needed" in name}
        assert deployment.requests_to("POST", RESOLVE)[0].json == {"option": "raise", "input": needed}
        assert capsys.readouterr().err == ""


def test_a_limit_below_what_the_next_call_needs_is_told_of(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    one = {
        "intervention_id": "int_1",
        "type": "budget_exceeded",
        "options": ["raise"],
        "context": {"token_budget_needed": 5_495},
    }
    deployment.on("POST", RESOLVE, success(one))
    for tokens, told in (("900", True), ("5495", False)):
        assert acta("raise", SESSION_ID, "int_1", "--token-budget", tokens) == 0
        assert ("the next call needs --token-budget 5495" in capsys.readouterr().err) is told


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
    assert [request.method for request in deployment.requests] == ["GET"]


def test_several_that_fit_are_listed_with_what_they_are_about(
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


@pytest.mark.parametrize("given", [{"path": "digest's 2\u202e.md", "size": 7}, {}])
def test_the_command_that_modifies_a_call_has_its_present_input_to_be_edited(
    acta: Acta, deployment: FakeDeployment, given: dict[str, Any]
) -> None:
    one = waits(tool_call={"name": "create_file", "input": given}, options=["modify"])
    (line,) = deciding_lines(Invocation("acta", ()), SESSION_ID, one)
    assert line.isprintable()
    deployment.on("POST", RESOLVE, success({}))
    assert acta(*shlex.split(line)[1:]) == 0
    assert deployment.requests_to("POST", RESOLVE)[0].json == {"option": "modify", "input": {"input": given}}


@pytest.mark.parametrize("call", [{"input": {"a": "x…"}, "shortened": True}, {"input": {"a": "x" * 2_000}}])
def test_a_command_repeats_no_input_that_is_long_or_not_known_whole(call: dict[str, Any]) -> None:
    (line,) = deciding_lines(Invocation("acta", ()), SESSION_ID, waits(tool_call=call, options=["modify"]))
    assert line.endswith("modify --input JSON")


def test_all_that_a_session_asks_permission_for_is_rejected_at_once_and_nothing_else(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    several = [waits("int_1"), waits("int_2"), waits("int_3", options=["answer", "cancel"])]
    deployment.polls(poll(session("waiting_for_user", interventions=several)))
    for one in several:
        path = f"/v1/sessions/{SESSION_ID}/interventions/{one['intervention_id']}/resolve"
        deployment.on("POST", path, success({}))
    assert acta("reject", SESSION_ID) == 2
    assert "--all" in capsys.readouterr().err
    assert acta("reject", SESSION_ID, "--all", "--comment", "no") == 0
    sent = [(one.path.split("/")[-2], one.json) for one in deployment.requests if one.method == "POST"]
    rejected = {"option": "reject", "comment": "no"}
    assert sent == [("int_1", rejected), ("int_2", rejected)]


def test_a_decision_that_no_question_takes_is_answered_with_those_that_there_are(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.polls(waiting("budget_exceeded"))
    assert acta("resolve", SESSION_ID, "nope") == 2
    lines = capsys.readouterr().err.splitlines()[1:]
    assert [line.split()[1] for line in lines] == ["raise", "finish", "resolve"]
