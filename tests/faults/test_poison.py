"""Workers that never come through: killed each time, or held until their own time is up."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.faults.person import Json
from tests.faults.point import Fault
from tests.faults.scenario import Play, Run
from tests.faults.stand import Stand

pytestmark = [pytest.mark.e2e, pytest.mark.thorough]

ALWAYS = 1_000
ATTEMPTS = 4
"""Of a step whose worker exits: the first and three more."""


def until_it_waits(play: Play) -> Json:
    """Plays until the session waits for its next try; how it stood then. It is cancelled, so that it rests."""
    play.register_tools()
    session_id = play.start()
    play.wait(session_id, lambda head: head.outage is not None)
    seen: Json = play.person.data(f"/v1/sessions/{session_id}")["session"]
    assert play.person.post(f"/v1/sessions/{session_id}/cancel", {}, "cancel").status_code == 202
    return seen


def test_a_session_that_kills_its_worker_each_time_waits_with_a_code_and_alone(
    stand: Stand, clean: Run
) -> None:
    fault = Fault("step model:Messages reply 2", "before", times=ALWAYS)
    poisoned = Play(stand, fault)
    others: list[Run] = []
    with ThreadPoolExecutor(1) as pool:
        playing = pool.submit(until_it_waits, poisoned)
        while not playing.done():
            others.append(Play(stand).run())
    waiting = playing.result()
    assert (waiting["state"], waiting["state_reason"]) == ("executing", "waiting_for_aws")
    assert (waiting["error"], waiting["cause"]["code"]) == (None, "STEP_FAILED")
    assert poisoned.track.fired[fault] == ATTEMPTS
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
