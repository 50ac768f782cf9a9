"""Workers that never come through: killed each time, or held until their own time is up."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.faults.point import Fault
from tests.faults.scenario import Play, Run
from tests.faults.stand import Stand

pytestmark = pytest.mark.e2e

ALWAYS = 1_000
ATTEMPTS = 4
"""Of a step whose worker exits: the first and three more."""


def test_a_session_that_kills_its_worker_each_time_fails_with_a_code_and_alone(
    stand: Stand, clean: Run
) -> None:
    fault = Fault("step model:Messages reply 2", "before", times=ALWAYS)
    poisoned = Play(stand, fault)
    others: list[Run] = []
    with ThreadPoolExecutor(1) as pool:
        playing = pool.submit(poisoned.run)
        while not playing.done():
            others.append(Play(stand).run())
    ended = playing.result().ending
    assert (ended.session["state"], ended.session["error"]["code"]) == ("failed", "STEP_FAILED")
    assert "Runtime.ExitError" in ended.session["error"]["message"]
    assert poisoned.track.fired[fault] == ATTEMPTS
    assert (ended.effects, ended.pending, ended.listed) == ((), 0, True)
    assert others
    assert [run.ending.differences(clean.ending, run.asked) for run in others] == [[]] * len(others)


def test_a_worker_that_is_held_until_its_time_is_up_is_followed_by_another(stand: Stand, clean: Run) -> None:
    fault = Fault("intervene dynamodb:PutItem ask 1", "hold")
    play = Play(stand, fault)
    with stand.time_limit("intervene", seconds=4):
        run = play.run()
    assert play.track.all_fired
    assert run.ending.differences(clean.ending, run.asked) == []
    pages = (
        stand.client("stepfunctions")
        .get_paginator("get_execution_history")
        .paginate(executionArn=run.execution)
    )
    told = json.dumps([event for page in pages for event in page["events"]], default=str)
    assert "Sandbox.Timedout" in told
