"""What waits is listed over all sessions, and an intervention's id alone is enough to decide it."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from acta.cli.interventions import line_of
from acta.cli.main import main
from tests.unit.acta.cli.fake_deployment import SESSION_ID, FakeDeployment, failure, success

Acta = Callable[..., int]
LISTING = "/v1/interventions"
RESOLVE = f"/v1/sessions/{SESSION_ID}/interventions/int_1/resolve"
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def acta(deployment: FakeDeployment) -> Acta:
    def run(*arguments: str) -> int:
        return main([*arguments, "--api-url", deployment.url, "--token", "a.b.c"])

    return run


def waits(name: str = "int_1", **fields: Any) -> dict[str, Any]:
    return {
        "intervention_id": name,
        "session_id": SESSION_ID,
        "type": "approval_required",
        "context": {},
        "tool_call": {"name": "delete_file", "input": {"path": "old.txt"}},
        "options": ["approve", "reject", "modify"],
        "default_action": "reject",
        "created_at": (NOW - timedelta(minutes=12)).isoformat(),
        "timeout_at": (NOW + timedelta(minutes=18)).isoformat(),
        **fields,
    }


def page(*waiting: dict[str, Any], cursor: str | None = None) -> Any:
    return success({"items": list(waiting), "next_cursor": cursor})


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
    assert asked == ["state=pending", "cursor=2&state=pending"]


def test_a_line_says_what_is_asked_how_long_it_waits_and_what_comes_by_itself() -> None:
    words = line_of(waits(), NOW).split("  ")
    assert [word.strip() for word in words if word.strip()] == [
        "int_1", SESSION_ID, "approval required", "12m", "reject in 18m", 'delete_file {"path": "old.txt"}',
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("after", "told"),
    [(-5.0, "reject now"), (59.0, "reject in 59s"), (7_300.0, "reject in 2h"), (200_000.0, "reject in 2d")],
)
def test_an_expiry_is_told_in_its_largest_unit(after: float, told: str) -> None:
    assert told in line_of(waits(timeout_at=(NOW + timedelta(seconds=after)).isoformat()), NOW)


def test_a_question_is_shown_where_there_is_no_call_and_what_has_no_expiry_waits_for_ever() -> None:
    asked = waits(
        type="clarification_needed", tool_call=None, context={"question": "Which\none?"}, timeout_at=None
    )
    line = line_of(asked, NOW)
    assert line.endswith("Which one?")
    assert "waits for ever" in line


def test_a_call_of_unknown_end_is_shown_with_what_is_asked_about_it() -> None:
    question = "charge was started and its end is unknown. Look whether it happened."
    call = {"name": "charge", "input": {"cents": 5}}
    line = line_of(waits(type="error_recovery", tool_call=call, context={"question": question}), NOW)
    assert line.endswith(f'{question}  charge {{"cents": 5}}')


def test_a_session_that_a_person_paused_is_listed_as_that_and_asks_nothing() -> None:
    paused = {"asked_by": "person", "question": "paused", "requested_by": "ann\x1b[2J"}
    line = line_of(waits(type="checkpoint_review", tool_call=None, context=paused), NOW)
    assert line.endswith("paused by ann\\x1b[2J")
    assert "checkpoint review" not in line


def test_nothing_foreign_leaves_its_line_or_moves_the_cursor() -> None:
    foreign = "\x1b[2Jold\n\u202etxt" + "x" * 500
    for asked in (
        waits(tool_call={"name": foreign, "input": {"path": foreign}}),
        waits(tool_call=None, context={"question": foreign}),
        waits(tool_call=None, context={"other": foreign}, type=foreign, default_action=foreign),
        waits(foreign, created_at=foreign, timeout_at=foreign),
    ):
        line = line_of(asked, NOW)
        assert line.isprintable()
        assert len(line) < 400


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
