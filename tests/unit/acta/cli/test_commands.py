"""Whole commands against a deployment of the tests': exit codes, what is printed where."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from acta.cli.main import main
from infra.local.emulator_process import free_port
from infra.local.issuer import Issuer
from infra.local.state import RunningStack, StateDir
from shared.domain.interventions.intervention import input_hash
from tests.unit.acta.cli.fake_deployment import (
    SESSION_ID,
    FakeDeployment,
    Reply,
    failure,
    poll,
    session,
    success,
)

Acta = Callable[..., int]
ENDED = session("completed", result={"goal_met": True, "answer": "All done.", "reason": "goal_complete"})


@pytest.fixture
def acta(deployment: FakeDeployment) -> Acta:
    def run(*arguments: str) -> int:
        return main([*arguments, "--api-url", deployment.url, "--token", "a.b.c"])

    return run


def exit_code(arguments: Sequence[str]) -> int:
    """Of a command argparse itself may end."""
    try:
        return main(arguments)
    except SystemExit as ended:
        return int(ended.code or 0)


def test_run_starts_a_session_and_follows_it_to_its_answer(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("POST", "/v1/sessions", success(session("planning"), 202))
    deployment.polls(poll(session("planning"), {"seq": 1, "type": "run.started"}), poll(ENDED))
    assert acta("run", "Do it", "--max-steps", "7", "--token-budget", "900") == 0
    assert deployment.requests[0].json == {"message": "Do it", "max_steps": 7, "token_budget": 900}
    shown = capsys.readouterr()
    assert "All done." in shown.out
    assert "\x1b" not in shown.out + shown.err


def test_run_json_prints_the_session_alone_on_standard_output(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("POST", "/v1/sessions", success(session("planning"), 202))
    deployment.polls(poll(session("failed", error={"code": "X", "message": "no"})))
    assert acta("run", "Do it", "--json") == 1
    assert json.loads(capsys.readouterr().out)["state"] == "failed"


def test_run_detached_prints_the_id_and_polls_nothing(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("POST", "/v1/sessions", success(session("planning"), 202))
    assert acta("run", "Do it", "--detach") == 0
    assert capsys.readouterr().out == f"{SESSION_ID}\n"
    assert len(deployment.requests) == 1


def test_a_waiting_session_off_a_terminal_says_how_to_decide_and_is_followed_on(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    waiting = {"intervention_id": "int_1", "type": "approval_required", "options": ["approve", "reject"]}
    deployment.polls(
        poll(session("waiting_for_user", interventions=[waiting])),
        poll(session("waiting_for_user", interventions=[waiting])),
        poll(session("completed", result={"goal_met": False, "reason": "max_steps"})),
    )
    assert acta("watch", SESSION_ID) == 3
    assert capsys.readouterr().out.count(f"acta approve {SESSION_ID} int_1") == 1


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
    assert capsys.readouterr().err == f"acta: session {SESSION_ID} has nothing open to approve\n"


@pytest.mark.parametrize("action", ["pause", "resume", "cancel"])
def test_control_commands_post_to_their_route(acta: Acta, deployment: FakeDeployment, action: str) -> None:
    deployment.on("POST", f"/v1/sessions/{SESSION_ID}/{action}", success(session("cancelled"), 202))
    assert acta(action, SESSION_ID) == 0


def test_answer_says_it_to_the_session(acta: Acta, deployment: FakeDeployment) -> None:
    question = {"intervention_id": "int_1", "type": "clarification_needed", "options": ["answer", "cancel"]}
    deployment.polls(poll(session("waiting_for_user", interventions=[question])))
    path = f"/v1/sessions/{SESSION_ID}/messages"
    deployment.on("POST", path, success(session("executing"), 202))
    assert acta("answer", SESSION_ID, "the second one") == 0
    assert deployment.requests_to("POST", path)[0].json == {"content": "the second one"}


def test_files_go_up_and_come_down_byte_by_byte(
    acta: Acta, deployment: FakeDeployment, tmp_path: Path
) -> None:
    content = bytes(range(256))
    (tmp_path / "in.bin").write_bytes(content)
    deployment.on("PUT", "/v1/files/a/b.bin", success({}, 201))
    deployment.on("GET", "/v1/files/a/b.bin", Reply(200, content))
    assert acta("files", "put", str(tmp_path / "in.bin"), "a/b.bin") == 0
    assert deployment.requests[0].body == content
    assert acta("files", "get", "a/b.bin", "-o", str(tmp_path / "out.bin")) == 0
    assert (tmp_path / "out.bin").read_bytes() == content


def test_every_page_of_the_files_is_listed(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    first = {"items": [{"path": "a.md", "bytes": 3}], "next_cursor": "2"}
    deployment.on(
        "GET", "/v1/files", success(first), success({"items": [{"path": "b\x1b.md"}], "next_cursor": None})
    )
    assert acta("files", "ls") == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["3", "a.md"],
        ["0", "b\\x1b.md"],
    ]


def test_an_unknown_session_is_one_clear_line(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    reply = failure(404, "SESSION_NOT_FOUND", "There is no such session.")
    deployment.on("GET", f"/v1/sessions/{SESSION_ID}", reply)
    assert acta("watch", SESSION_ID) == 2
    assert capsys.readouterr().err == "acta: There is no such session. (SESSION_NOT_FOUND)\n"


def test_an_expired_token_is_one_clear_line(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("GET", "/v1/sessions", Reply(401, {"message": "Unauthorized"}))
    assert acta("sessions") == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_malformed_token_is_refused_before_it_is_sent(
    deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sessions", "--api-url", deployment.url, "--token", "two words\r\nX: y"]) == 2
    assert deployment.requests == []
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_without_a_stack_the_command_says_how_to_start_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sessions", "--state", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert "acta up" in error
    assert len(error.splitlines()) == 1


def test_a_deployment_that_is_not_there_is_one_clear_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sessions", "--api-url", f"http://127.0.0.1:{free_port()}", "--token", "a.b.c"]) == 2
    assert "connection was refused" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["run"],
        ["fly"],
        ["up", "--port", "0"],
        ["up", "--port", "x"],
        ["token", "--tenant", "t"],
        ["deploy", "--env", "local"],
        ["files"],
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert len(shown.err.splitlines()) == 1


def test_a_token_is_printed_bare_and_verifies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    StateDir(tmp_path).write(RunningStack(1, 5, "http://127.0.0.1:5", "http://127.0.0.1:6", "offline"))
    arguments = ["token", "--tenant", "acme", "--user", "ann", "--role", "admin", "--state", str(tmp_path)]
    assert main(arguments) == 0
    import jwt

    issuer = Issuer.from_state(tmp_path, "http://127.0.0.1:5")
    claims = jwt.decode(
        capsys.readouterr().out.strip(), issuer.key.public_key(), algorithms=["RS256"], audience="acta"
    )
    assert (claims["iss"], claims["tenant"], claims["sub"]) == ("http://127.0.0.1:5", "acme", "ann")
    assert "admin" in claims["roles"]


def test_a_token_has_any_role_an_agent_may_name_and_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    StateDir(tmp_path).write(RunningStack(1, 5, "http://127.0.0.1:5", "http://127.0.0.1:6", "offline"))
    arguments = ["token", "--tenant", "acme", "--user", "ann", "--state", str(tmp_path)]
    assert main([*arguments, "--role", "member", "--role", "finance"]) == 0
    import jwt

    claims = jwt.decode(capsys.readouterr().out.strip(), options={"verify_signature": False})
    assert claims["roles"] == ["finance", "member"]
    for wrong in ("", "two words", "fin\n", "x" * 65):
        assert main([*arguments, "--role", wrong]) == 2
        shown = capsys.readouterr()
        assert (shown.out, len(shown.err.splitlines())) == ("", 1)


def test_a_token_of_a_stack_that_never_was_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["token", "--tenant", "t", "--user", "u", "--state", str(tmp_path / "none")]) == 2
    assert not (tmp_path / "none").exists()
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_large_input_is_shown_whole_before_it_is_approved(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = {"path": "a.md", "content": "x" * 900 + "THE END"}
    shown = {"name": "create_file", "input": {"content": "xxx…"}, "shortened": True}
    call = {**shown, "input_hash": input_hash(whole)}
    waiting = {
        "intervention_id": "int_1",
        "type": "approval_required",
        "options": ["approve", "reject"],
        "context": {},
        "tool_call": call,
    }
    deployment.on(
        "GET", f"/v1/sessions/{SESSION_ID}/interventions/int_1/input", success({**call, "input": whole})
    )
    deployment.polls(poll(session("waiting_for_user", interventions=[waiting])), poll(session("cancelled")))
    assert acta("watch", SESSION_ID) == 4
    assert "THE END" in capsys.readouterr().out
