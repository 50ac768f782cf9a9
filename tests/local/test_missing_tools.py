"""A missing tool is reported before anything is started or made."""

import os
import socket
import subprocess
from pathlib import Path

import pytest

from acta.cli.operations.doctor import stack as look
from acta.infra.local.deploy import ToolMissing, cdk_environ, require_cdk
from acta.infra.local.stack import LocalStack, emulator
from acta.infra.local.state_directory import RunningStack, StateDir
from acta.infra.local.toolchain import CDK
from acta.local_aws.loopback import HOST
from tests.e2e.support.deployments import neutral_environ
from tests.local.served import command

NODE = "#!/bin/sh\nexit 0\n"


def acta(*arguments: str, **more: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command(*arguments),
        env={**neutral_environ(), **more},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture
def bin_folder(tmp_path: Path) -> Path:
    """A PATH of the test's own: nothing but what it puts there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


def put_node(folder: Path) -> None:
    (folder / "node").write_text(NODE)
    (folder / "node").chmod(0o755)


@pytest.mark.parametrize("arguments", [("up", "--state", "state"), ("deploy", "--env", "dev")])
def test_without_node_nothing_is_started_or_made(
    tmp_path: Path, bin_folder: Path, arguments: tuple[str, ...]
) -> None:
    state = tmp_path / "state"
    ended = acta(*[str(state) if word == "state" else word for word in arguments], PATH=str(bin_folder))
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("acta: Node.js 20 or newer is needed")
    assert len(ended.stderr.splitlines()) == 1
    assert not state.exists()


def test_without_the_cdk_command_line_make_setup_is_named(tmp_path: Path, bin_folder: Path) -> None:
    put_node(bin_folder)
    environment = {"PATH": str(bin_folder)}
    with pytest.raises(ToolMissing, match="make setup"):
        require_cdk(environment, tmp_path / "cdk")
    (tmp_path / "cdk").touch()
    require_cdk(environment, tmp_path / "cdk")


def test_deploying_without_credentials_ends_before_anything_is_bundled(
    tmp_path: Path, bin_folder: Path
) -> None:
    put_node(bin_folder)
    ended = acta(
        "deploy", "--env", "dev",
        PATH=str(bin_folder),
        HOME=str(tmp_path),
        AWS_CONFIG_FILE=os.devnull,
        AWS_SHARED_CREDENTIALS_FILE=os.devnull,
        AWS_EC2_METADATA_DISABLED="true",
    )  # fmt: skip
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "no AWS credentials were found" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_a_stack_that_had_to_leave_its_port_says_so(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind((HOST, 0))
        other.listen()
        taken = int(other.getsockname()[1])
        StateDir(tmp_path).write(RunningStack(1, taken, f"http://{HOST}:{taken}", "http://x", "offline"))
        stack = LocalStack(tmp_path, environ=neutral_environ())
        front = stack.open_front()
        try:
            assert stack.moved_from == taken
            assert front.port != taken
        finally:
            front.stop()


def test_the_doctor_finds_a_local_aws_that_was_left_behind(tmp_path: Path) -> None:
    assert look(tmp_path).fine
    with emulator(state_dir=StateDir(tmp_path).aws) as left:
        finding = look(tmp_path)
        assert not finding.fine
        assert f"kill {left.pid}" in finding.remedy
    assert look(tmp_path).fine


def test_the_switch_that_silences_node_s_warning_is_one_that_cdk_knows() -> None:
    name = "AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"
    assert cdk_environ({})[name] == "true"
    library = CDK.resolve().parents[1] / "lib" / "index.js"
    assert f'{name} === "true"' in library.read_text(encoding="utf-8")
