"""A provider that is full is waited for in a line, visibly, fairly between tenants, and nothing fails for being many
(ADR 106).
"""

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import pytest

from acta.engine.errors import ProviderOverloaded, StoreUnavailable
from acta.engine.log.commit import Decision
from acta.engine.log.conversation import AssistantEntry
from acta.engine.log.repository import SessionRepository
from acta.engine.models.model import ModelReply, ModelRequest
from acta.engine.queue.admission import Admission
from acta.engine.queue.dispatcher import admit
from acta.engine.queue.places import (
    BURST,
    LINE,
    PASSED_OVER_FOR,
    Grant,
    GrantPrice,
    ProviderBucket,
    ProviderLimits,
    QueuePlace,
    in_milliseconds,
)
from acta.engine.recovery.sweep import SweepDeps, Unreadable, sweep
from acta.engine.turn.engine import position
from tests.in_process.deaths import Deaths, Died, Port, driven, new_worker, points
from tests.in_process.queues import QueueHouse
from tests.in_process.scripted import ScriptedModel, completes, plans, step
from tests.stores import in_memory

WHALE, MINNOW = "whale", "minnow"


class TwoCalls(ScriptedModel):
    """Makes a plan and carries it out in one turn, whichever session asks."""

    def __init__(self) -> None:
        super().__init__([_reply], forever=True)


def _reply(request: ModelRequest) -> ModelReply:
    if not any(isinstance(entry, AssistantEntry) for entry in request.entries):
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
    assert [head.delay.position for head in waiting if head.delay] == list(range(12))
    assert {one.of("acme", session).state for session in sessions} == {"completed"}
    assert one.of("acme", sessions[-1]).delay is None


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


def test_a_line_that_no_dispatcher_looks_after_stops_nobody_for_long() -> None:
    one = house(requests=4)
    second = start(one, "acme", 2)[1]
    one.run()
    comes_again(one, second)
    assert one.of("acme", second).state == "executing"


def comes_again(one: QueueHouse, session: str) -> None:
    """Its time in the line is over, and recovery starts its execution."""
    head = one.of("acme", session)
    assert head.delay is not None
    assert head.delay.until is not None
    one.clock.set(max(one.clock.now(), head.delay.until))
    one.go_on(Decision(next="plan", at=position(head)))


def test_who_has_waited_for_long_keeps_its_place_while_the_line_is_looked_after() -> None:
    one = house(requests=4)
    second = start(one, "acme", 2)[1]
    one.run()
    before, bucket = one.of("acme", second).delay, one.line.bucket("scripted")
    one.clock.advance(600)
    assert one.line.keep_line("scripted", bucket, one.clock.now() + timedelta(minutes=3))
    paid = one.line.bucket("scripted")

    comes_again(one, second)

    after = one.of("acme", second).delay
    assert before is not None
    assert after is not None
    assert (after.since, after.position) == (before.since, before.position)
    assert one.line.bucket("scripted") == paid, "nothing is owed"
    one.run_all()
    assert one.of("acme", second).state == "completed"


def test_a_bucket_owes_no_more_than_a_burst_however_many_wait_for_however_long() -> None:
    one = house(requests=20, tenant_tokens_per_hour=0)
    sessions = start(one, "acme", 300)
    one.run()
    for _ in range(60):  # a quarter of an hour and more, in which the line has room for a fraction of them
        end = one.clock.now() + timedelta(seconds=20)
        one.dispatch(most=30)
        one.clock.set(max(end, one.clock.now()))
        for session in sessions:
            head = one.of("acme", session)
            if (
                head.delay is not None
                and head.delay.until is not None
                and head.delay.until <= one.clock.now()
            ):
                comes_again(one, session)
        one.run()
        ahead = one.line.bucket("scripted").requests - in_milliseconds(one.clock.now())
        assert ahead <= BURST
    assert sum(tally.admitted for tally in one.tallies[-10:]) > 40, "the line goes on at the limit's rate"


@pytest.mark.parametrize("how", ["damaged", "newer"])
def test_a_place_of_a_session_that_cannot_be_read_does_not_keep_the_line(how: str) -> None:
    one = house(requests=60)
    sessions = start(one, "acme", 20)
    one.run()
    bad = next(each for each in reversed(sessions) if one.of("acme", each).state_reason == "queued")
    *_, newest = in_memory.commits_of(one.table, "acme", bad)
    in_memory.put(one.table, newest, **{"v": {"N": "9"}} if how == "newer" else {"z": {"B": b"damaged"}})
    one.run_all()
    assert {one.of("acme", each).state for each in sessions if each != bad} == {"completed"}
    assert not one.line.bucket("scripted").has_line(in_milliseconds(one.clock.now()))


def test_a_resumed_session_that_asks_a_person_instead_does_not_keep_the_line() -> None:
    one = house(requests=60)
    sessions = start(one, "acme", 20)
    one.run()
    asking = next(each for each in reversed(sessions) if one.of("acme", each).state_reason == "queued")
    one.limit(asking, token_budget=1)
    one.resume(asking)
    one.run_all()
    assert one.of("acme", asking).state == "waiting_for_user"
    assert not one.line.bucket("scripted").has_line(in_milliseconds(one.clock.now()))


class SilentLog:
    """A log that does not answer for one session."""

    def __init__(self, log: Any, session_id: str) -> None:
        self._log, self._session_id = log, session_id

    def __getattr__(self, method: str) -> Any:
        found = getattr(self._log, method)

        def ask(*given: Any, **more: Any) -> Any:
            if self._session_id in given or self._session_id in more.values():
                raise StoreUnavailable(method)
            return found(*given, **more)

        return ask if callable(found) else found


def until_dropped(one: QueueHouse) -> float:
    """Seconds for which the line has still places although nobody in it can be served."""
    began = one.clock.now()
    while one.line.first_after("scripted", "") is not None:
        one.dispatch(most=5)
        one.clock.advance(5)
        assert one.clock.now() - began < 2 * PASSED_OVER_FOR
    return (one.clock.now() - began).total_seconds()


def joined_without_commit(one: QueueHouse, session: str) -> None:
    one.line.join(
        QueuePlace("scripted", "acme", session, one.clock.now(), 10), one.clock.now(), one.clock.now()
    )


def resumed_on_its_way(one: QueueHouse, session: str) -> None:
    one.tenant = "acme"
    one.resume(session)  # and no worker takes it up


def read_in_vain(one: QueueHouse, session: str) -> None:
    one.log = SilentLog(one.log, session)  # type: ignore[assignment]


@pytest.mark.parametrize("reason", [joined_without_commit, resumed_on_its_way, read_in_vain])
def test_a_place_goes_two_minutes_after_it_was_first_passed_over_whatever_the_reason(reason: Any) -> None:
    one = house(requests=4)
    session = start(one, "acme", 2)[1]
    if reason is not joined_without_commit:
        one.run()
    log = one.log
    one.clock.advance(300)  # its wait is older than the bound, and it is passed over for the first time
    reason(one, session)

    seconds = until_dropped(one)

    bound = PASSED_OVER_FOR.total_seconds()
    assert bound < seconds < bound + 60
    one.dispatch()
    assert not one.line.bucket("scripted").has_line(in_milliseconds(one.clock.now()))
    one.log = log
    if reason is read_in_vain:
        comes_again(one, session)  # by the deadline of its parked wait
    one.run_all()
    assert one.of("acme", session).state == "completed"


def test_a_session_that_is_passed_over_once_and_admitted_keeps_no_age() -> None:
    one = house(requests=4)
    session = start(one, "acme", 2)[1]
    one.run()
    log, place = one.log, one.line.first_after("scripted", "")
    assert place is not None
    read_in_vain(one, session)
    one.dispatch(most=2)
    one.log = log
    assert one.line.first_after("scripted", "") == place
    one.run_all()
    assert one.of("acme", session).state == "completed"


def test_a_line_waits_for_no_other_provider_s_end() -> None:
    """The first one is joined as fast as the dispatcher admits from it."""
    one = house(requests=6_000)
    first = sorted(start(one, "acme", 1))
    assert first
    store, clock = one.line, one.clock
    for number in range(80):
        store.join(QueuePlace("busy", "t", f"ses_{number}", clock.now(), 1), clock.now(), clock.now() + LINE)
    store.join(QueuePlace("scripted", "t", "ses_x", clock.now(), 1), clock.now(), clock.now() + LINE)
    for place in store.page_after("busy", "", 100) + store.page_after("scripted", "", 100):
        store.pass_over(place, clock.now())
    clock.advance(PASSED_OVER_FOR.total_seconds() + 1)  # each place is dropped when it is looked at
    limits = {"busy": ProviderLimits(None, 6_000), "scripted": ProviderLimits(None, 6_000)}
    left = iter(range(60))
    admit(one.admit_deps(lambda: next(left, None) is not None)._replace(limits=limits))
    assert store.page_after("busy", "", 1)
    assert not store.page_after("scripted", "", 1)


def test_a_queued_session_holds_no_execution_and_one_commit_more() -> None:
    one = house(requests=4)
    second = start(one, "acme", 2)[1]
    one.run()

    head = one.of("acme", second)
    assert head.run is not None
    assert head.run.parked
    assert one.workflow.status(second, head.run.run_id, 1) == "closed"
    assert one.workflow.status(second, head.run.run_id, head.run.generation) == "absent"
    assert [e.event.data.get("code") for e in one.poll(second).events if e.event.data.get("code")] == [
        "QUEUED"
    ]


def test_what_a_call_did_not_use_is_there_for_the_next_ones() -> None:
    """Each of the two calls reserves more than 4,096 tokens, its output, and uses a hundred."""
    one, granted = house(tokens=60_000), []
    began = in_milliseconds(one.clock.now())
    assert isinstance(one.model, ScriptedModel)
    one.model.meanwhile = lambda: granted.append(one.line.bucket("scripted").tokens - began)
    session = start(one, "acme")[0]
    one.run()

    assert one.of("acme", session).state == "completed"
    first, both = granted
    assert first > 4_096
    assert both - first < first


class Counting:
    """The line's store, which counts its writes and their tokens. `loses_answers`: of what is given back."""

    def __init__(self, store: Any, *, loses_answers: bool = False) -> None:
        self._store, self._loses_answers = store, loses_answers
        self.calls: Counter[str] = Counter()
        self.taken = self.given_back = 0

    def __getattr__(self, method: str) -> Any:
        return getattr(self._store, method)

    def take(self, provider: str, price: GrantPrice, now: datetime) -> Grant:
        self.calls["take"] += 1
        took: Grant = self._store.take(provider, price, now)
        self.taken += price.tokens if took.granted else 0
        return took

    def take_for(self, tenant: str, provider: str, price: GrantPrice, now: datetime) -> Grant:
        took: Grant = self._store.take_for(tenant, provider, price, now)
        self.taken += price.tokens if took.granted else 0
        return took

    def give_back(self, provider: str, tokens: int, now: datetime) -> None:
        self.calls["give_back"] += 1
        self.given_back += tokens
        self._store.give_back(provider, tokens, now)
        if self._loses_answers:
            raise StoreUnavailable("give_back")


def with_workers(tokens: int, sessions: int, **more: Any) -> tuple[QueueHouse, Counting]:
    """So many sessions at one instant, each with a worker of its own."""
    one = house(tokens=tokens, tenant_tokens_per_hour=0)
    one.line = counting = Counting(one.line, **more)  # type: ignore[assignment]
    one.tenant = "acme"
    for _ in range(sessions):
        one.admission = Admission(one.line, one.clock, one.settings.limits_of_providers)
        new_worker(one)
        one.start("Look")
        one.run()
    return one, counting


def test_what_large_calls_did_not_use_is_there_for_other_workers_at_once() -> None:
    """Each of 24 calls reserves a quarter of a burst and more, and uses little of it."""
    one, counting = with_workers(60_000, 12)
    assert calls(one) == 24
    assert one.line.first_after("scripted", "") is None, "nobody has to wait"
    assert counting.calls["give_back"] == 24
    ahead = one.line.bucket("scripted").tokens - in_milliseconds(one.clock.now())
    assert 0 < ahead < BURST, "what was used is paid for"


@pytest.mark.parametrize("tokens", [10_000_000, 100_000_000])
def test_small_calls_cost_no_write_more(tokens: int) -> None:
    """Also where others take from the bucket at the same time."""
    one, counting = with_workers(tokens, 12)
    assert calls(one) == 24
    assert counting.calls["give_back"] == 0
    assert counting.calls["take"] <= 24


def test_tokens_whose_give_back_is_unclear_are_not_given_back_again_and_not_used() -> None:
    clear, _ = with_workers(60_000, 1)
    one, counting = with_workers(60_000, 1, loses_answers=True)
    assert calls(one) == counting.calls["give_back"] == counting.calls["take"] == 2
    began = in_milliseconds(one.clock.now()) - in_milliseconds(clear.clock.now())
    assert one.line.bucket("scripted").tokens - began == clear.line.bucket("scripted").tokens


def admitted_with_deaths(deaths: Deaths) -> None:
    """The dispatcher pays for one call, and the worker that makes it may die before its reply is kept."""
    one = house(tokens=60_000)
    one.line.take("scripted", GrantPrice(tokens=BURST), one.clock.now())
    session, log = start(one, "acme")[0], one.log
    one.line = counting = Counting(one.line)  # type: ignore[assignment]
    one.admission = Admission(one.line, one.clock, one.settings.limits_of_providers)
    new_worker(one)
    one.run()
    one.clock.advance(60)
    assert one.dispatch().admitted == 1
    for name in ("log", "attempts"):
        setattr(one, name, Port(getattr(one, name), name, deaths))
    new_worker(one)
    for _ in range(20):
        driven(one)
        one.dispatch(most=3)
        if SessionRepository(log, one.blobs, one.clock).newest("acme", session).head.is_over:
            assert 0 < counting.given_back < counting.taken
            return
        one.clock.advance(61)
        sweep(SweepDeps(one.app(), Unreadable()))
    raise AssertionError(f"at the {len(deaths.met)}th call")


def test_wherever_a_worker_dies_no_more_is_given_back_than_was_taken() -> None:
    for number in points(admitted_with_deaths):
        admitted_with_deaths(Deaths(number))


def test_a_cancelled_or_deleted_session_leaves_the_line() -> None:
    one = house(requests=4)
    _, cancelled, deleted, last = start(one, "acme", 4)
    one.run()
    one.tenant = "acme"
    one.cancel(cancelled)
    one.delete(deleted)
    one.run_all()

    assert one.of("acme", cancelled).state == "cancelled"
    assert one.of("acme", last).state == "completed"
    assert sum(tally.dropped for tally in one.tallies) == 2


def test_a_paused_session_lets_others_go_first_and_queues_again() -> None:
    one = house(requests=4)
    _, paused, last = start(one, "acme", 3)
    one.run()
    one.tenant = "acme"
    one.pause(paused)
    one.run_all()
    assert one.of("acme", last).state == "completed"
    assert one.of("acme", paused).state == "waiting_for_user"

    one.resume(paused)
    one.run_all()
    assert one.of("acme", paused).state == "completed"


def test_who_resumes_a_queued_session_keeps_its_place() -> None:
    one = house(requests=4)
    _, second, third = start(one, "acme", 3)
    one.run()
    since = one.of("acme", second).delay
    one.tenant = "acme"
    one.clock.advance(3)
    one.resume(second)
    one.run()

    now = one.of("acme", second).delay
    assert since is not None
    assert now is not None
    assert (now.since, now.position, now.reason) == (since.since, since.position, "queued")
    one.run_all()
    assert one.of("acme", second).state == one.of("acme", third).state == "completed"


def test_a_message_to_a_queued_session_is_delivered_with_its_call() -> None:
    one = house(requests=4)
    second = start(one, "acme", 2)[1]
    one.run()
    one.tenant = "acme"
    one.say(second, "Look twice")
    assert one.of("acme", second).state_reason == "queued"
    one.run_all()
    assert one.of("acme", second).state == "completed"
    assert not one.of("acme", second).undelivered


def test_fused_turns_queue_amid_them_and_go_on() -> None:
    one = house(requests=4, turns_per_step=8)
    sessions = start(one, "acme", 3)
    one.run_all()
    assert {one.of("acme", session).state for session in sessions} == {"completed"}


def test_a_provider_s_wish_to_wait_is_for_the_session_that_met_it() -> None:
    """Each model may have a limit of its own: a 429 of one says nothing about calls of other models and tenants."""
    one = house(requests=6_000)
    one.park_after = 100
    one.model = ScriptedModel([ProviderOverloaded("429", retry_after=400.0), _reply], forever=True)
    met, *others = start(one, "acme", 3)
    one.run()
    assert one.of("acme", met).state_reason == "waiting_for_provider"
    assert {one.of("acme", each).state for each in others} == {"completed"}


def in_a_line_with_deaths(deaths: Deaths) -> None:
    """Three sessions of two tenants. A worker or a dispatcher that dies is followed by another one."""
    one = house(requests=4)
    sessions = [("acme", each) for each in start(one, "acme", 2)] + [("umbrella", start(one, "umbrella")[0])]
    log, line = one.log, one.line

    def states() -> set[str]:
        repository = SessionRepository(log, one.blobs, one.clock)
        return {repository.newest(*each).head.state for each in sessions}

    for name in ("log", "attempts", "workflow", "line"):
        setattr(one, name, Port(getattr(one, name), name, deaths))
    new_worker(one)
    one.admission = Admission(one.line, one.clock, one.settings.limits_of_providers)
    for _ in range(100):
        try:
            driven(one)
            one.dispatch(most=3)
            one.clock.advance(61)
            sweep(SweepDeps(one.app(), Unreadable()))
        except Died:
            new_worker(one)
        if states() == {"completed"} and line.first_after("scripted", "") is None:
            return
    raise AssertionError(f"at the {len(deaths.met)}th call: {states()}")


def test_wherever_a_worker_or_a_dispatcher_dies_everybody_comes_out_of_the_line() -> None:
    for number in points(in_a_line_with_deaths):
        in_a_line_with_deaths(Deaths(number))


def test_limits_that_answers_name_are_learnt_and_kept_to() -> None:
    class Telling(TwoCalls):
        def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
            if request.stream_options.on_limits is not None:
                request.stream_options.on_limits(self.provider, ProviderLimits(requests_per_minute=4))
            return super().complete(request, timeout=timeout)

    one = QueueHouse(Telling(), learns=True)
    sessions = start(one, "acme", 6)
    one.run()
    queued = [each for each in sessions if one.of("acme", each).state_reason == "queued"]
    one.run_all()

    assert one.line.bucket("scripted").limits == ProviderLimits(requests_per_minute=4)
    assert len(queued) >= 5
    assert {one.of("acme", each).state for each in sessions} == {"completed"}


def test_a_provider_that_names_no_limit_costs_no_write() -> None:
    one = QueueHouse(TwoCalls(), learns=True)
    sessions = start(one, "acme", 20)
    one.run()
    assert {one.of("acme", each).state for each in sessions} == {"completed"}
    assert one.line.bucket("scripted") == ProviderBucket()
