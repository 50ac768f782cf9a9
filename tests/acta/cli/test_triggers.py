"""`acta triggers`."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.acta.conftest import Acta
from tests.acta.fake_deployment import FakeDeployment, success

ISSUES = "/v1/triggers/issues"


def trigger(**more: Any) -> dict[str, Any]:
    return {
        "trigger_id": "issues", "webhook": {"scheme": "github", "secret": "hook"}, "source": None, "version": 2,
        "url": "https://api.test/v1/hooks/abc.def", "agent_id": "desk", "goal": "Look\x1b[0m", "paused": False, **more,
    }  # fmt: skip


def event(**more: Any) -> dict[str, Any]:
    return {
        "event_id": "evt_1", "received_at": "2026-11-27T09:00:00.000Z", "outcome": "refused", "session_id": None,
        "code": "PAUSED", "reason": "The trigger is paused.", **more,
    }  # fmt: skip


def test_triggers_are_listed_with_where_their_events_come_from(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = [trigger(), trigger(trigger_id="orders", webhook=None, source="shop", paused=True)]
    deployment.on("GET", "/v1/triggers", success({"items": shown, "next_cursor": None}))
    assert acta("triggers", "ls") == 0
    first, second = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert first[:5] == ["issues", "desk", "a", "webhook", "(github)"]
    assert second[:4] == ["orders", "desk", "shop", "paused"]


def test_what_get_shows_can_be_put_again(
    acta: Acta, deployment: FakeDeployment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    read = trigger(created_by="ann", roles=["admin"], events={"started": 1}, created_at="x", updated_at="y")
    deployment.on("GET", ISSUES, success(read))
    deployment.on("PUT", ISSUES, success(trigger(version=3)))
    assert acta("triggers", "get", "issues", "--json") == 0
    file = tmp_path / "issues.json"
    file.write_text(capsys.readouterr().out)
    assert acta("triggers", "put", str(file)) == 0
    assert capsys.readouterr().out == "issues  version 3\n"
    assert set(deployment.requests[-1].json) == {"webhook", "source", "agent_id", "goal", "paused", "version"}


def test_the_url_is_printed_alone_and_said_to_be_missing(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("GET", ISSUES, success(trigger()), success(trigger(url=None)))
    assert acta("triggers", "url", "issues") == 0
    assert capsys.readouterr().out == "https://api.test/v1/hooks/abc.def\n"
    assert acta("triggers", "url", "issues") == 2
    assert "has no URL" in capsys.readouterr().err


def test_events_are_shown_and_replayed(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    page = {"items": [event(), event(event_id="evt_0", session_id="ses_1", reason=None)], "next_cursor": None}
    deployment.on("GET", f"{ISSUES}/events", success(page))
    waiting = event(outcome="waiting", reason="It is tried in the next minute.")
    deployment.on("POST", f"{ISSUES}/events/evt_1/replay", success(waiting))
    assert acta("triggers", "events", "issues", "--outcome", "refused") == 0
    shown = capsys.readouterr().out
    assert "The trigger is paused." in shown
    assert "ses_1" in shown
    (asked,) = deployment.requests_to("GET", f"{ISSUES}/events")
    assert asked.path.endswith("?outcome=refused")
    assert acta("triggers", "replay", "issues", "evt_1") == 0
    assert capsys.readouterr().out == "evt_1  waiting: It is tried in the next minute.\n"


def test_an_event_is_sent_by_hand(
    acta: Acta, deployment: FakeDeployment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    started, ignored = {"outcome": "started", "event_id": "evt_1"}, {"outcome": "ignored"}
    deployment.on("POST", f"{ISSUES}/events", success(started), success(ignored))
    file = tmp_path / "event.json"
    file.write_text('{"path": "inbox/a.pdf"}')
    assert acta("triggers", "send", "issues", str(file), "--id", "e-1") == 0
    assert deployment.requests[-1].json == {"event": {"path": "inbox/a.pdf"}, "event_id": "e-1"}
    assert acta("triggers", "send", "issues", str(file)) == 0
    assert capsys.readouterr().out == "evt_1  started\nignored: it does not fit the pattern\n"
    file.write_text("[1]")
    assert acta("triggers", "send", "issues", str(file)) == 2


def test_a_trigger_is_paused_and_resumed(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.on("POST", f"{ISSUES}/pause", success(trigger(paused=True)))
    deployment.on("POST", f"{ISSUES}/resume", success(trigger()))
    assert acta("triggers", "pause", "issues") == 0
    assert acta("triggers", "resume", "issues", "--json") == 0
    first, _, rest = capsys.readouterr().out.partition("\n")
    assert (first, json.loads(rest)["paused"]) == ("issues  paused", False)
