"""A prompt at the terminal while the session is followed: warned, taken away, answered, refused."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from acta.cli import exit_codes
from acta.engine.log.events import Event
from acta.engine.sessions.answers import event_view
from acta.infra.local.issuer import LocalIssuer
from tests.acta.cli.interventions.at_a_terminal import Terminal, at_a_terminal
from tests.acta.cli.interventions.waiting import waits
from tests.acta.fake_deployment import SESSION_ID, FakeDeployment, Reply, failure, poll, session, success

PROMPT = "approve / reject / modify > "
RESOLVE = f"/v1/sessions/{SESSION_ID}/interventions/int_1/resolve"
ABOUT = {"intervention_id": "int_1", "type": "approval_required"}
DONE = poll(session("completed", result={"goal_met": True, "answer": "All done."}))
CLEARED = "\r\x1b[2K"


def waiting(*events: dict[str, Any], **fields: Any) -> dict[str, Any]:
    one = {
        **ABOUT,
        "options": ["approve", "reject", "modify"],
        "default_action": "reject",
        "timeout_at": "2026-01-01T12:00:00Z",
        "tool_call": {"name": "delete_file", "input": {"path": "old.txt"}},
        **fields,
    }
    return poll(session("waiting_for_user", interventions=[one]), *events, poll_after_ms=50)


AT = datetime(2026, 1, 31, 9, tzinfo=UTC)


def event(type: str, **data: Any) -> dict[str, Any]:
    return dict(event_view(Event(seq=7, at=AT, type=type, data={**ABOUT, **data})))


def going_on(*events: dict[str, Any]) -> dict[str, Any]:
    return poll(session("executing"), *events, poll_after_ms=50)


@contextmanager
def watching(deployment: FakeDeployment, token: str = "a.b.c") -> Iterator[Terminal]:
    with at_a_terminal("watch", SESSION_ID, "--api-url", deployment.url, "--token", token) as terminal:
        yield terminal


@pytest.mark.parametrize(
    ("happened", "notice"),
    [
        (
            event("intervention.resolved", option="approve", resolved_by="ben"),
            'no longer open: decided: approve, by "ben"',
        ),
        (event("intervention.expired", option="reject"), "no longer open: nobody decided in time: reject"),
        (event("thought", message_id="msg_1", content="hm"), "no longer open: it was decided elsewhere"),
    ],
)
def test_a_prompt_goes_when_the_matter_is_over_and_the_session_is_followed_on(
    deployment: FakeDeployment, happened: dict[str, Any], notice: str
) -> None:
    deployment.polls(waiting())
    with watching(deployment) as terminal:
        terminal.until(PROMPT)
        terminal.type("app")
        terminal.until("app")
        deployment.polls(going_on(happened), DONE)
        assert terminal.until(notice).startswith(CLEARED)
        rest = terminal.rest()
    assert "All done." in rest
    assert PROMPT not in rest
    assert not deployment.requests_to("POST", RESOLVE)


@pytest.mark.parametrize("time", range(4))
def test_ctrl_c_at_the_instant_the_prompt_appears_ends_the_command(
    deployment: FakeDeployment, time: int
) -> None:
    deployment.polls(waiting(), waiting(), waiting(event("intervention.warned")))
    with watching(deployment) as terminal:
        terminal.until(PROMPT)
        terminal.interrupt()
        rest = terminal.rest()
        assert terminal.process.wait(60) == exit_codes.INTERRUPTED
    assert "Traceback" not in rest
    assert not deployment.requests_to("POST", RESOLVE)


def test_a_session_that_is_cancelled_elsewhere_takes_its_prompt_with_it(deployment: FakeDeployment) -> None:
    deployment.polls(waiting())
    with watching(deployment) as terminal:
        terminal.until(PROMPT)
        deployment.polls(poll(session("cancelled")))
        terminal.until("no longer open: the session is cancelled")
        assert "cancelled" in terminal.rest()


def test_a_decision_that_is_due_soon_is_announced_and_what_was_typed_is_kept(
    deployment: FakeDeployment,
) -> None:
    deployment.polls(waiting())
    deployment.on("POST", RESOLVE, success({}))
    with watching(deployment) as terminal:
        terminal.until(PROMPT)
        terminal.type("rej")
        terminal.until("rej")
        deployment.polls(waiting(event("intervention.warned")), waiting())
        terminal.until("this is due soon: reject without an answer until 2026-01-01T12:00:00Z")
        terminal.until(PROMPT + "rej")
        deployment.polls(DONE)
        terminal.type("ect\n")
        terminal.rest()
    assert [request.json for request in deployment.requests_to("POST", RESOLVE)] == [{"option": "reject"}]


def test_a_decision_at_the_terminal_is_taken_while_the_session_is_followed(
    deployment: FakeDeployment,
) -> None:
    deployment.polls(waiting())
    deployment.on("POST", RESOLVE, success({}))
    with watching(deployment) as terminal:
        terminal.until(PROMPT)
        terminal.type("approve\n")
        terminal.until("approve")
        until_decided(deployment)
        deployment.polls(DONE)
        assert "no longer open" not in terminal.rest()
    assert [request.json for request in deployment.requests_to("POST", RESOLVE)] == [{"option": "approve"}]


def test_the_question_of_a_child_is_asked_and_decided_where_its_parent_is_watched(
    deployment: FakeDeployment,
) -> None:
    above = session("waiting_for_tool", state_reason="waiting_for_agents", children={"at_work": 1})
    chain = [{"session_id": SESSION_ID, "agent_name": "Lead", "goal": "Clean up"}]
    of_child = [
        waits(name, session_id=f"ses_{name}", agent_name="Clerk", chain=chain) for name in ("int_1", "int_2")
    ]
    path = "/v1/sessions/ses_{0}/interventions/{0}/resolve"
    inbox, one = (success({"items": some, "next_cursor": None}) for some in (of_child, of_child[:1]))
    for each in of_child:
        deployment.on("POST", path.format(each["intervention_id"]), success({}))
    for answers, typed in ((one, PROMPT), (inbox, "all 2: y / n, or each > ")):
        deployment.polls(poll(above, poll_after_ms=50))
        deployment.on("GET", "/v1/interventions", answers)
        with watching(deployment) as terminal:
            terminal.until("Session ses_int_1 (Clerk) below this one waits for a person.")
            terminal.until(typed)
            terminal.type("n\n")
            terminal.until("n\r\n")
            until_decided(deployment, 1, path.format("int_1" if answers is one else "int_2"))
            deployment.polls(DONE)
            assert "no longer open" not in terminal.rest()
    decided = [request.path for request in deployment.requests if request.method == "POST"]
    assert decided == [path.format(name) for name in ("int_1", "int_1", "int_2")]


def test_an_input_that_is_refused_is_asked_for_again_at_once(deployment: FakeDeployment) -> None:
    deployment.polls(waiting())
    wrong = failure(400, "VALIDATION_FAILED", "The input does not fit the tool.", details={"input": ["path"]})
    deployment.on("POST", RESOLVE, wrong, success({}))
    with watching(deployment) as terminal:
        terminal.until(PROMPT)
        terminal.type('modify\n{"p": 1}\n')
        terminal.until("not taken: The input does not fit the tool. (VALIDATION_FAILED): input: path")
        terminal.until(PROMPT)
        terminal.type("reject\n")
        until_decided(deployment, 2)
        deployment.polls(DONE)
        terminal.rest()
    assert deployment.requests_to("POST", RESOLVE)[1].json == {"option": "reject"}


@pytest.mark.parametrize(
    ("refusal", "explanation"),
    [
        (
            failure(403, "FORBIDDEN", "This needs the role finance."),
            ("This needs the role finance.", "only somebody with the role finance", "acta approve", "TOKEN"),
        ),
        (
            failure(403, "APPROVER_MUST_DIFFER", "You asked for this call."),
            (
                "You asked for this call.",
                "only somebody with the role finance who has not asked for it",
                "TOKEN",
            ),
        ),
        (
            failure(409, "CONFLICT", "This was decided already: reject.", details={"resolved_by": ["ben"]}),
            ("This was decided already: reject.", "resolved_by: ben"),
        ),
    ],
)
def test_a_decision_that_is_refused_for_good_is_explained_and_not_asked_again(
    deployment: FakeDeployment, refusal: Reply, explanation: tuple[str, ...]
) -> None:
    deployment.polls(waiting(role="finance", approver_must_differ="who has not" in str(explanation)))
    deployment.on("POST", RESOLVE, refusal)
    with watching(deployment) as terminal:
        terminal.until(PROMPT)
        terminal.type("approve\n")
        for text in explanation:
            terminal.until(text)
        seen = len(deployment.requests)
        while len(deployment.requests) < seen + 3:  # it is still followed
            terminal.more(0.0)
        deployment.polls(DONE)
        rest = terminal.rest()
    assert PROMPT not in rest
    assert "All done." in rest


def test_who_is_known_to_lack_the_role_reads_who_decides_and_is_not_asked(
    deployment: FakeDeployment, tmp_path: Path
) -> None:
    token = LocalIssuer.from_state(tmp_path, deployment.url).issue_token("acme", "ann", "member")
    deployment.polls(waiting(role="finance"))
    with watching(deployment, token) as terminal:
        terminal.until("only somebody with the role finance decides this")
        terminal.until("acta approve")
        terminal.until("acta token --tenant acme --user USER --role finance")
        deployment.polls(DONE)
        terminal.rest()
    assert PROMPT not in terminal.shown


def until_decided(deployment: FakeDeployment, times: int = 1, path: str = RESOLVE) -> None:
    while len(deployment.requests_to("POST", path)) < times:
        pass


def three(*open_ones: str) -> dict[str, Any]:
    (one,) = waiting()["session"]["interventions"]
    named = [
        {
            **one,
            "intervention_id": each,
            "tool_call": {"name": "delete_file", "input": {"path": f"{each}.txt"}},
        }
        for each in open_ones
    ]
    return poll(session("waiting_for_user", interventions=named), poll_after_ms=50)


@pytest.mark.parametrize(("typed", "option"), [("y", "approve"), ("no", "reject")])
def test_several_questions_of_yes_or_no_are_decided_in_one_go(
    deployment: FakeDeployment, typed: str, option: str
) -> None:
    ids = ("int_1", "int_2", "int_3")
    paths = [f"/v1/sessions/{SESSION_ID}/interventions/{each}/resolve" for each in ids]
    for path in paths:
        deployment.on("POST", path, success({}))
    deployment.polls(three(*ids))
    with watching(deployment) as terminal:
        shown = terminal.until("all 3: y / n, or each > ")
        assert all(f"{each}.txt" in shown for each in ids)
        terminal.type(f"{typed}\n")
        terminal.until(f"int_3  {option}")
        deployment.polls(DONE)
        assert "All done." in terminal.rest()
    assert [deployment.requests_to("POST", path)[0].json for path in paths] == [{"option": option}] * 3


def test_several_questions_can_be_asked_one_by_one(deployment: FakeDeployment) -> None:
    deployment.on("POST", RESOLVE, success({}))
    deployment.on("POST", RESOLVE.replace("int_1", "int_2"), success({}))
    deployment.polls(three("int_1", "int_2"))
    with watching(deployment) as terminal:
        terminal.until("all 2: y / n, or each > ")
        terminal.type("each\n")
        terminal.until(PROMPT)
        terminal.type("y\n")
        terminal.until(PROMPT)
        deployment.polls(DONE)
        terminal.type("n\n")
        assert "All done." in terminal.rest()
    assert deployment.requests_to("POST", RESOLVE)[0].json == {"option": "approve"}


def test_the_one_prompt_goes_when_all_of_it_was_decided_elsewhere(deployment: FakeDeployment) -> None:
    deployment.polls(three("int_1", "int_2"))
    with watching(deployment) as terminal:
        terminal.until("all 2: y / n, or each > ")
        deployment.polls(going_on(), DONE)
        terminal.until("no longer open: all of it was decided elsewhere")
        assert "All done." in terminal.rest()
