"""A provider that is full is waited for in a line, visibly, fairly between tenants, and nothing fails for being many
(ADR 106).
"""

from typing import Any

from shared.agent.session.engine_decision import position
from shared.domain.session.commit import Decision
from shared.ports.model import ModelReply, ModelRequest
from tests.in_process.queues import QueueHouse
from tests.in_process.scripted import ScriptedModel, completes, plans, step

WHALE, MINNOW = "whale", "minnow"


class TwoCalls(ScriptedModel):
    """Makes a plan and carries it out in one turn, whichever session asks."""

    def __init__(self) -> None:
        super().__init__([_reply], forever=True)


def _reply(request: ModelRequest) -> ModelReply:
    if [tool.name for tool in request.tools] == ["update_plan"]:
        return plans("look")
    done = completes("Done.")
    return done._replace(calls=(step(1, "completed", "ok"), *done.calls))


def house(**limits: Any) -> QueueHouse:
    return QueueHouse(TwoCalls(), **limits)


def start(one: QueueHouse, tenant: str, count: int = 1) -> list[str]:
    one.tenant = tenant
    return [one.start("Look").session_id for _ in range(count)]


def calls(one: QueueHouse) -> int:
    assert isinstance(one.model, ScriptedModel)
    return len(one.model.requests)


def test_all_end_though_the_provider_takes_four_calls_a_minute() -> None:
    one = house(requests=4)
    sessions = start(one, "acme", 12)

    one.run()
    queued = [one.of("acme", session) for session in sessions]
    one.run_all()

    waiting = [head for head in queued if head.state_reason == "queued"]
    assert len(waiting) == 12  # the first has made its plan
    assert [head.outage.position for head in waiting if head.outage] == list(range(12))
    assert {one.of("acme", session).state for session in sessions} == {"completed"}
    assert one.of("acme", sessions[-1]).outage is None


def test_no_more_calls_are_made_than_the_limit_says() -> None:
    one = house(requests=6)
    start(one, "acme", 20)
    began = one.clock.now()

    one.run_all()

    made = calls(one)
    minutes = (one.clock.now() - began).total_seconds() / 60
    assert made <= 6 * (minutes + 0.25) + 1
    assert minutes <= made / 6 + 1


def test_one_tenants_many_sessions_do_not_starve_anothers_one() -> None:
    one = house(requests=60)
    many = start(one, WHALE, 200)
    one.run()
    (few,) = start(one, MINNOW)
    one.run()
    assert one.of(MINNOW, few).state_reason == "queued"
    came = calls(one)

    for _ in range(500):
        if one.of(MINNOW, few).state == "completed":
            break
        one.dispatch(most=3)
        one.run()

    assert one.of(MINNOW, few).state == "completed"
    assert calls(one) - came <= 12
    assert any(one.of(WHALE, each).state_reason == "queued" for each in many)


def test_who_waits_too_long_calls_all_the_same() -> None:
    one = house(requests=4)
    second = start(one, "acme", 2)[1]
    one.run()
    head = one.of("acme", second)
    assert head.outage is not None
    assert head.outage.retry_at is not None

    one.clock.set(head.outage.retry_at)
    one.go_on(Decision(next="plan", at=position(head)))

    assert one.of("acme", second).state == "executing"
