"""A missing tool is reported before anything is started or made."""

import errno
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from acta.cli.operations import doctor
from acta.cli.operations.doctor import stack as look
from acta.infra import toolchain
from acta.infra.local.deploy import cdk_environ
from acta.infra.local.stack import emulator
from acta.infra.local.state_directory import RunningStack, StateDir
from acta.infra.toolchain import CDK, SetupFailed, require_node, require_npm
from acta.local_aws.loopback import HOST
from tests.e2e.support.deployments import neutral_environ
from tests.local.served import command


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


def put_node(folder: Path, version: str = "v20.1.0") -> None:
    (folder / "node").write_text(f"#!/bin/sh\necho {version}\n")
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


def test_node_has_to_be_new_enough_and_npm_to_be_there(bin_folder: Path) -> None:
    put_node(bin_folder, "v18.19.0")
    with pytest.raises(SetupFailed, match=r"20 or newer is needed, this is 18\.19\.0"):
        require_node(str(bin_folder))
    put_node(bin_folder)
    assert require_node(str(bin_folder)) == "20.1.0"
    with pytest.raises(SetupFailed, match="npm is needed"):
        require_npm(str(bin_folder))


def test_deploying_without_credentials_ends_before_anything_is_bundled(
    tmp_path: Path, bin_folder: Path
) -> None:
    put_node(bin_folder)
    (bin_folder / "npm").symlink_to("node")
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
        front, moved_from = StateDir(tmp_path).open_front(None, None)
        try:
            assert moved_from == taken
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


def test_the_doctor_says_that_a_stack_is_still_starting(tmp_path: Path) -> None:
    state = StateDir(tmp_path)
    state.claim()
    front, _ = state.open_front(None, None)
    try:
        state.write(RunningStack(1, front.port, f"http://{HOST}:{front.port}", "http://x", "offline"))
        assert "it is starting" in look(tmp_path).remedy
    finally:
        front.stop()
        state.release()


def test_the_doctor_names_the_extra_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "find_spec", lambda name: None if name in ("aws_cdk", "uv") else object())
    said = {each.what: each for each in doctor.findings_of(tmp_path)}
    assert said["libraries of acta dev"].fine
    missing = said["libraries of acta up and acta deploy"]
    assert (missing.fine, missing.remedy) == (False, "pip install 'acta-agents[deploy]'")


def test_without_the_extra_nothing_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    monkeypatch.setattr(toolchain, "MADE", tmp_path)
    monkeypatch.setattr(toolchain, "UV", str(tmp_path / "uv"))
    monkeypatch.setitem(sys.modules, "uv", None)
    for name in ("require_node", "require_npm"):
        monkeypatch.setattr(toolchain, name, lambda: None)
    monkeypatch.setattr(toolchain, "make_node_packages", lambda: made.append("npm"))
    with pytest.raises(SetupFailed, match=r"acta-agents\[deploy\]"):
        toolchain.make_missing()
    assert made == []


def test_the_switch_that_silences_node_s_warning_is_one_that_cdk_knows() -> None:
    name = "AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"
    assert cdk_environ({})[name] == "true"
    library = CDK.resolve().parents[1] / "lib" / "index.js"
    assert f'{name} === "true"' in library.read_text(encoding="utf-8")


def test_programs_in_a_folder_of_another_user_are_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toolchain, "MADE", tmp_path)
    with toolchain.only_one():
        pass
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(SetupFailed, match="belongs to another user"), toolchain.only_one():
        pass


def test_an_error_of_the_system_beside_the_python_environments_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(toolchain, "MADE", tmp_path)
    monkeypatch.setattr(toolchain, "make_node_packages", fails)
    for name in ("require_node", "require_npm", "make_side_environment", "uv"):
        monkeypatch.setattr(toolchain, name, lambda *_: None)
    with pytest.raises(SetupFailed, match="No space left"):
        toolchain.make_missing()
