"""`acta tools secrets`."""

import getpass
import io
import sys

import pytest

from tests.acta.conftest import Acta
from tests.acta.fake_deployment import FakeDeployment, success

VALUE = "Bearer sk-1234567890"
SECRET = {
    "name": "stripe",
    "created_at": "2026-11-22T09:00:00.000Z",
    "updated_at": "2026-11-22T10:00:00.000Z",
}
PATH = "/v1/tool-secrets/stripe"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("sent", [VALUE, f"{VALUE}\n", f"{VALUE}\r\n"])
def test_a_value_comes_from_standard_input_and_is_not_printed(
    acta: Acta, deployment: FakeDeployment, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    sent: str,
) -> None:  # fmt: skip
    deployment.on("PUT", PATH, success(SECRET, 201))
    monkeypatch.setattr(sys, "stdin", io.StringIO(sent))
    assert acta("tools", "secrets", "set", "stripe") == 0
    (request,) = deployment.requests
    assert request.json == {"value": VALUE}
    assert VALUE not in "".join(capsys.readouterr())


def test_the_hosts_that_get_it_are_arguments(
    acta: Acta, deployment: FakeDeployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployment.on("PUT", PATH, success(SECRET, 201))
    monkeypatch.setattr(sys, "stdin", io.StringIO(VALUE))
    assert acta("tools", "secrets", "set", "stripe", "--host", "a.example", "--host", "b.example:8443") == 0
    assert deployment.requests[0].json == {"value": VALUE, "hosts": ["a.example", "b.example:8443"]}


def test_at_a_terminal_it_is_asked_for_without_an_echo(
    acta: Acta, deployment: FakeDeployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployment.on("PUT", PATH, success(SECRET))
    monkeypatch.setattr(sys, "stdin", Terminal())
    typed = {"Value of stripe (not shown): ": VALUE}
    monkeypatch.setattr(getpass, "getpass", typed.__getitem__)
    assert acta("tools", "secrets", "set", "stripe") == 0
    assert deployment.requests[0].json == {"value": VALUE}


def test_without_a_value_nothing_is_sent(
    acta: Acta, deployment: FakeDeployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n"))
    assert acta("tools", "secrets", "set", "stripe") == 2
    assert deployment.requests == []


def test_a_value_is_no_argument(acta: Acta, deployment: FakeDeployment) -> None:
    assert acta("tools", "secrets", "set", "stripe", VALUE) == 2
    assert deployment.requests == []


def test_secrets_are_listed_and_deleted_by_name(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    items = [{**SECRET, "updated_by": "ann\x1b"}]
    deployment.on("GET", "/v1/tool-secrets", success({"items": items, "next_cursor": None}))
    deployment.on("DELETE", PATH, success({}))
    assert acta("tools", "secrets", "list") == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.split() == ["stripe", "2026-11-22", "10:00:00", "ann\\x1b"]
    assert acta("tools", "secrets", "rm", "stripe") == 0
    assert (deployment.requests[-1].method, deployment.requests[-1].path) == ("DELETE", PATH)
