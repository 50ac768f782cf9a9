"""`acta logs`: one session's story across all functions, oldest first."""

import json
from argparse import Namespace
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from acta.cli.exit_codes import CliError
from acta.cli.main import main
from acta.cli.operations.logs import (
    began,
    follow,
    happened,
    is_part_of_the_story,
    named,
    own_tools,
    show_json,
    show_line,
    tell,
)
from acta.engine.clock import EFFECT, SESSION, make_id
from acta.infra.deployed.session_logs import LogsUnreadable, own_tool_functions, read_lines
from acta.infra.environments import LOCAL
from acta.infra.sizing import FunctionName

NOW = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)
SESSION_ID = make_id(SESSION, round(NOW.timestamp() * 1_000), bytes(10))


class CloudWatch:
    """Log groups with events, as CloudWatch Logs answers. `refuses`: a code instead, for one group."""

    def __init__(
        self, groups: Mapping[str, list[dict[str, Any]]], refuses: Mapping[str, str] | None = None
    ) -> None:
        self._groups, self._refuses = groups, refuses or {}
        self.asked: list[Mapping[str, Any]] = []

    def get_paginator(self, operation: str) -> "CloudWatch":
        self._operation = operation
        return self

    def paginate(self, **asked: Any) -> Iterator[Mapping[str, Any]]:
        if self._operation == "describe_log_groups":
            if self._refuses.get("all groups"):
                code = self._refuses["all groups"]
                raise ClientError({"Error": {"Code": code}}, operation_name="DescribeLogGroups")
            names = [name for name in self._groups if name.startswith(asked["logGroupNamePrefix"])]
            yield {"logGroups": [{"logGroupName": name} for name in names]}
            return
        assert self._operation == "filter_log_events"
        self.asked.append(asked)
        group = asked["logGroupName"]
        code = self._refuses.get(group) or ("" if group in self._groups else "ResourceNotFoundException")
        if code:
            raise ClientError({"Error": {"Code": code}}, operation_name="FilterLogEvents")
        for event in self._groups[group]:  # one on each page
            if (
                asked["filterPattern"].strip('"') in event["message"]
                and event["timestamp"] >= asked["startTime"]
            ):
                yield {"events": [event]}


def event(after: float, message: str, /, **fields: Any) -> dict[str, Any]:
    at = NOW + timedelta(seconds=after)
    said = {"message": message, "session_id": SESSION_ID, "level": "INFO", **fields}
    said["timestamp"] = at.strftime("%Y-%m-%d %H:%M:%S,%f")[:-3] + "+0000"
    return {"timestamp": round(at.timestamp() * 1_000), "message": json.dumps(said) + "\n"}


CLOUD = CloudWatch(
    {
        "/aws/lambda/acta-prod-step": [
            event(2, "step", op="think", turn=3, attempt=1, generation=1),
            event(3, "failed", op="think", error="ProviderTimeout", where="x:1", level="ERROR"),
            {"timestamp": round(NOW.timestamp() * 1_000) + 500, "message": f"no JSON about {SESSION_ID}\n"},
            event(4, "step", session_id="ses_other"),
        ],
        "/aws/lambda/acta-prod-start": [event(1, "answered", route="POST /v1/sessions", status=202)],
        "/aws/lambda/acta-prod-usage": [
            event(60, "run finished", state="completed", reason="goal_complete", turns=2, tokens=1200, seconds=9,
                  cost_usd=0.0123, waits=1, waited_seconds=5, _aws={"Timestamp": 1})
        ],
    }
)  # fmt: skip
FUNCTIONS: tuple[FunctionName, ...] = ("usage", "step", "start", "recover")


def test_lines_of_all_functions_are_one_story_oldest_first(capsys: pytest.CaptureFixture[str]) -> None:
    for line in read_lines(CLOUD, "prod", FUNCTIONS, SESSION_ID, NOW):
        show_line(line)
    assert capsys.readouterr().out.splitlines() == [
        f"2026-11-22 09:00:00.500  step       no JSON about {SESSION_ID}",
        "2026-11-22 09:00:01.000  start      POST /v1/sessions answered 202",
        "2026-11-22 09:00:02.000  step       turn 3: thinks, attempt 2",
        "2026-11-22 09:00:03.000  step       ERROR think failed: ProviderTimeout at x:1",
        "2026-11-22 09:01:00.000  usage      run completed (goal_complete), 2 turns, 1,200 tokens, $0.012300, 9 s, "
        "1 question, open for 5 s",
    ]


def test_as_json_a_line_has_all_that_was_logged_but_the_metrics_frame(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (line,) = read_lines(CLOUD, "prod", ("usage",), SESSION_ID, NOW)
    show_json(line)
    said = json.loads(capsys.readouterr().out)
    assert (said["at"], said["function"], said["tokens"]) == ("2026-11-22T09:01:00.000+00:00", "usage", 1200)
    assert "_aws" not in said


def test_only_what_is_new_enough_is_asked_for_and_a_function_that_never_ran_is_left_out() -> None:
    found = read_lines(CLOUD, "prod", FUNCTIONS, SESSION_ID, NOW + timedelta(seconds=3))
    assert [line.fields["message"] for line in found] == ["failed", "run finished"]
    assert CLOUD.asked[-1]["filterPattern"] == f'"{SESSION_ID}"'


TRACEBACK = "Traceback (most recent call last):\n  File \"tools.py\", line 3, in look\nKeyError: '\x1b[2J'"


def test_what_a_python_tool_printed_and_raised_is_part_of_the_story(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = {"tool": "look", "effect_id": "eff_1"}
    cloud = CloudWatch(
        {
            "/aws/lambda/acta-prod-tool": [],
            "/aws/lambda/acta-prod-tool-orders": [
                event(1, "tool printed", text="asking the shop", **said),
                event(2, "tool raised", text=TRACEBACK, error="KeyError", **{**said, "level": "ERROR"}),
                event(
                    3,
                    "tool failed",
                    text="there is no order 9",
                    error="ToolError",
                    **{**said, "level": "ERROR"},
                ),
            ],
        }
    )
    functions = own_tool_functions(cloud, "prod")
    assert functions == ["tool-orders"]
    for line in read_lines(cloud, "prod", functions, SESSION_ID, NOW):
        show_line(line)
    assert capsys.readouterr().out.splitlines() == [
        "2026-11-22 09:00:01.000  tool-orders  look printed: asking the shop",
        "2026-11-22 09:00:02.000  tool-orders  ERROR look raised: KeyError",
        "    Traceback (most recent call last):",
        '      File "tools.py", line 3, in look',
        "    KeyError: '\\x1b[2J'",
        "2026-11-22 09:00:03.000  tool-orders  ERROR look failed: there is no order 9",
    ]


def test_who_may_not_list_the_log_groups_sees_the_rest_and_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    cloud = CloudWatch({}, refuses={"all groups": "AccessDeniedException"})
    assert own_tools(cloud, LOCAL) == ()
    assert (
        "logs of Python tools are left out: logs:DescribeLogGroups: AccessDenied" in capsys.readouterr().err
    )


def test_a_trial_call_is_found_by_its_effect_id() -> None:
    effect_id = make_id(EFFECT, 0, bytes(10))
    assert named(Namespace(id=effect_id)) == effect_id


def test_what_cannot_be_read_is_said_by_its_code() -> None:
    denied = CloudWatch({}, refuses={"/aws/lambda/acta-prod-step": "AccessDeniedException"})
    with pytest.raises(LogsUnreadable, match="acta-prod-step: AccessDeniedException"):
        read_lines(denied, "prod", FUNCTIONS, SESSION_ID, NOW)


def test_reads_that_went_well_are_no_part_of_the_story() -> None:
    def wanted(**fields: Any) -> bool:
        cloud = CloudWatch({"/aws/lambda/acta-prod-status": [event(0, "answered", **fields)]})
        (line,) = read_lines(cloud, "prod", ("status",), SESSION_ID, NOW)
        return is_part_of_the_story(line)

    assert not wanted(route="GET /v1/sessions/{session_id}", status=200)
    assert wanted(route="GET /v1/sessions/{session_id}", status=404)
    assert wanted(route="POST /v1/sessions/{session_id}/pause", status=202)


def test_following_shows_each_line_once(capsys: pytest.CaptureFixture[str]) -> None:
    events = [event(0, "step", op="plan", turn=1)]
    cloud = CloudWatch({"/aws/lambda/acta-prod-step": events})

    def read(since: datetime) -> Any:
        return read_lines(cloud, "prod", ("step",), SESSION_ID, NOW)

    def pause(_: float) -> None:
        if len(events) == 3:
            raise KeyboardInterrupt
        events.append(event(len(events), "step", op="think", turn=len(events) + 1))

    known = tell(read, NOW, show_line, is_part_of_the_story)
    with pytest.raises(KeyboardInterrupt):
        follow(read, NOW, show_line, is_part_of_the_story, known, pause)
    shown = [line.partition("  step       ")[2] for line in capsys.readouterr().out.splitlines()]
    assert shown == ["turn 1: thinks, before there is a plan", "turn 2: thinks", "turn 3: thinks"]


def test_a_story_begins_when_the_session_was_made_unless_told_otherwise() -> None:
    assert began(Namespace(since=None), SESSION_ID) == NOW - timedelta(seconds=30)
    assert datetime.now(UTC) - began(Namespace(since="2h"), SESSION_ID) < timedelta(hours=2, minutes=1)
    with pytest.raises(CliError, match="--since is a time such as"):
        began(Namespace(since="yesterday"), SESSION_ID)


def test_what_a_line_says_moves_no_cursor() -> None:
    assert "\x1b" not in happened({"message": "step\x1b[2J", "x": "\x1b"})
    assert happened({"message": "swept", "looked": 3, "service": "acta-recover"}) == "swept looked=3"


def test_without_a_stack_or_with_another_environment_one_line_says_what_to_do(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["logs", SESSION_ID, "--state", str(tmp_path)]) == 2
    assert main(["logs", SESSION_ID, "--env", "nowhere"]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert "or give --env" in first
    assert "no environment is called nowhere" in second
