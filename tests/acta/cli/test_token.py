"""`acta token`."""

import json
from pathlib import Path

import jwt
import pytest

from acta.cli.main import main
from acta.infra.local.issuer import LocalIssuer
from acta.infra.local.state_directory import RunningStack, StateDir


def test_a_token_is_printed_bare_and_verifies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    StateDir(tmp_path).write(RunningStack(1, 5, "http://127.0.0.1:5", "http://127.0.0.1:6", "offline"))
    arguments = ["token", "--tenant", "acme", "--user", "ann", "--role", "admin", "--state", str(tmp_path)]
    assert main(arguments) == 0
    issuer = LocalIssuer.from_state(tmp_path, "http://127.0.0.1:5")
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
    claims = jwt.decode(capsys.readouterr().out.strip(), options={"verify_signature": False})
    assert json.loads(claims["roles"]) == ["finance", "member"]
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


@pytest.mark.parametrize("ttl", ["-5", "0", "soon", "9" * 5_000])
def test_a_token_that_is_never_valid_is_not_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], ttl: str
) -> None:
    StateDir(tmp_path).write(RunningStack(1, 5, "http://127.0.0.1:5", "http://127.0.0.1:6", "offline"))
    code = main(["token", "--tenant", "t", "--user", "u", "--state", str(tmp_path), "--ttl", ttl])
    shown = capsys.readouterr()
    assert (code, shown.out) == (2, "")
    assert "--ttl" in shown.err
