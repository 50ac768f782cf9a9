"""What `acta up` prints when it ends."""

import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from acta.cli.exit_codes import CliError
from acta.cli.local.ready import tell_of_missing_tools
from acta.cli.local.up import serve
from acta.infra.local.issuer import LocalIssuer
from acta.infra.local.stack import LocalStack, lost_since
from acta.infra.local.state_directory import StateDir
from acta.infra.tool_folders import ToolFolder
from acta.local_aws.credentials import Credentials
from acta.local_aws.emulator_process import NEVER
from tests.acta.fake_deployment import FakeDeployment, success


class Served:
    """A started stack whose local AWS has ended, or that a signal stops."""

    url = "http://127.0.0.1:5"
    aws_endpoint_url = "http://127.0.0.1:6"
    config = SimpleNamespace(provider="offline")
    moved_from = None
    loss = lost_since(NEVER)
    tools_dir = None

    def __init__(self, path: Path, *, signalled: bool) -> None:
        self.state = StateDir(path)
        self.signalled = signalled
        self.emulator = SimpleNamespace(log_path=self.state.aws / "emulator.log")

    def tool_folders(self) -> tuple[ToolFolder, ...]:
        return ()

    def logs(self) -> None:
        """Never asked: it has no folders."""

    @property
    def issuer(self) -> LocalIssuer:
        return LocalIssuer.from_state(self.state.path, self.url)

    @property
    def is_alive(self) -> bool:
        if self.signalled:
            raise KeyboardInterrupt
        return False


def served(path: Path, **how: Any) -> LocalStack:
    return cast(LocalStack, Served(path, **how))


def test_a_signal_is_answered_at_once_before_the_stack_is_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(KeyboardInterrupt):
        serve(served(tmp_path, signalled=True), as_json=True)
    assert capsys.readouterr().err == "stopping, saving the sessions ...\n"


def test_a_local_aws_that_ended_by_itself_is_reported_with_what_is_lost_and_its_log(tmp_path: Path) -> None:
    with pytest.raises(CliError) as ended:
        serve(served(tmp_path, signalled=False), as_json=True)
    assert "nothing had been saved: the sessions, definitions and files made until then are lost" in str(
        ended.value
    )
    assert str(tmp_path / "aws" / "emulator.log") in str(ended.value)


def test_what_is_lost_is_named_by_the_time_of_the_last_save() -> None:
    assert "as of 2026-01-01T12:00:00+00:00, the last orderly stop" in lost_since("2026-01-01T12:00:00+00:00")


def test_a_person_is_told_how_to_use_the_aws_command_and_no_secret(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = tmp_path / "a state"
    (state / "aws").mkdir(parents=True)
    credentials = Credentials.new()
    credentials.to_file(state / "aws" / "credentials")
    with pytest.raises(KeyboardInterrupt):
        serve(served(state, signalled=True), as_json=False)
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("AWS"))
    variables = dict(word.split("=", 1) for word in shlex.split(line)[1:])
    assert variables["AWS_ENDPOINT_URL"] == Served.aws_endpoint_url
    assert Credentials.from_file(Path(variables["AWS_SHARED_CREDENTIALS_FILE"])) == credentials
    assert credentials.secret_access_key not in line


def test_the_page_is_shown_where_the_person_wants_that(tmp_path: Path) -> None:
    shown: list[str] = []

    def opens(address: str) -> bool:
        shown.append(address)
        return True

    with pytest.raises(KeyboardInterrupt):
        serve(served(tmp_path, signalled=True), as_json=True, opens=opens)
    (address,) = shown
    assert address.startswith("http://127.0.0.1:5/console/inbox#code=")


def test_an_agent_whose_tool_is_gone_is_told_once_and_again_when_it_goes_a_second_time(
    tmp_path: Path, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    stack, told = served(tmp_path, signalled=True), set[str]()
    cast(Any, stack).url = deployment.url
    gone = "There is no tool find any more: sessions of this agent go on without it."

    def agents(*warnings: str) -> None:
        desk = {"agent_id": "desk", "warnings": list(warnings)}
        deployment.on("GET", "/v1/agents", success({"items": [desk], "next_cursor": None}))
        tell_of_missing_tools(stack, told)

    agents(gone)
    agents(gone)
    assert capsys.readouterr().err == f"tools: agent desk: {gone}\n"
    agents()
    agents(gone)
    assert capsys.readouterr().err == f"tools: agent desk: {gone}\n"
