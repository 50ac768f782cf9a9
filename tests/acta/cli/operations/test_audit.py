"""`acta audit`."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.acta.conftest import Acta
from tests.acta.fake_deployment import FakeDeployment, success

SINCE, UNTIL = "2026-11-22T09:00:00Z", "2026-11-23T09:00:00+01:00"
RECORD = {
    "audit_id": "aud_1",
    "at": "2026-11-22T09:00:00.000Z",
    "ended_at": None,
    "who": "p_1",
    "roles": ["member"],
    "source": "192.0.2.0/24",
    "action": "file.write",
    "details": {"path": "a\x1b.md"},
    "outcome": "refused",
    "code": "CONFLICT",
}


def page(*records: dict[str, object], cursor: str | None = None) -> object:
    return success({"items": records, "next_cursor": cursor})


def test_each_record_is_a_line_without_control_characters(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("GET", "/v1/audit", page(RECORD))  # type: ignore[arg-type]
    assert acta("audit") == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.split("  ")[:2] == ["2026-11-22 09:00:00", "refused CONFLICT"]
    assert line.endswith("p_1 192.0.2.0/24  path=a\\x1b.md")


def test_a_record_says_that_its_request_came_over_mcp(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("GET", "/v1/audit", page(RECORD | {"via": "mcp_form"}))  # type: ignore[arg-type]
    assert acta("audit") == 0
    assert " p_1 192.0.2.0/24 over mcp_form  " in capsys.readouterr().out


def test_what_is_looked_for_is_asked_of_the_deployment_page_by_page_up_to_the_limit(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("GET", "/v1/audit", page(RECORD, cursor="c"), page(RECORD, RECORD, cursor="d"))  # type: ignore[arg-type]
    words = f"audit --since {SINCE} --until {UNTIL} --action file.write --user ann --session ses_1 --limit 2 --json"
    assert acta(*words.split()) == 0
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [RECORD] * 2
    first, second = (parse_qs(urlsplit(one.path).query) for one in deployment.requests_to("GET", "/v1/audit"))
    assert first == {
        "from": [SINCE],
        "to": [UNTIL],
        "action": ["file.write"],
        "user": ["ann"],
        "session_id": ["ses_1"],
    }
    assert second == {**first, "cursor": ["c"]}


def test_that_there_is_no_record_is_said(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("GET", "/v1/audit", page())  # type: ignore[arg-type]
    assert acta("audit") == 0
    assert capsys.readouterr() == ("", "no records\n")


@pytest.mark.parametrize("option", ["--since", "--until"])
@pytest.mark.parametrize(
    "time", ["yesterday", "2026-11-22", "2026-11-22T09:00:00", "", "9999-12-31T23:59:59-01:00"]
)
def test_a_time_that_is_none_is_refused_with_an_example(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str], option: str, time: str
) -> None:
    code = acta("audit", option, time)
    shown = capsys.readouterr()
    assert (code, shown.out, deployment.requests) == (2, "", [])
    assert option in shown.err
    assert "2026-11-22T09:00:00Z" in shown.err
