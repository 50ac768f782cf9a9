"""Sessions take tokens of their tenant's hour in advance, and give back what they have not used
(docs/design/budgets.md 20)."""

from acta.engine.limits.shares import CHUNK_TOKENS, SHARE_TOKENS, hour_of, shares_of
from acta.engine.log.head import Head
from tests.in_process.house import TENANT, House
from tests.in_process.queues import QueueHouse
from tests.in_process.scripted import ScriptedModel, completes, plans, says, step
from tests.queue.test_admission import TwoCalls
from tests.recovery.test_parking import asking, waited_for_long

HOUR = 5_000_000


def granted(house: House) -> int:
    return house.index.granted_tokens(TENANT, hour_of(house.clock.now()))


def used(head: Head) -> int:
    return head.usage.total_tokens + head.budget.vanished_tokens


def test_sessions_that_are_over_hold_nothing_of_the_hour_however_many_there_were() -> None:
    house = House(TwoCalls(), tenant_tokens_per_hour=HOUR)
    sessions = [house.start("Look").session_id for _ in range(HOUR // CHUNK_TOKENS + 50)]
    house.run()
    heads = [house.head(session) for session in sessions]
    assert {head.state for head in heads} == {"completed"}
    assert {head.lease for head in heads} == {None}
    assert granted(house) == sum(map(used, heads)) < HOUR / 20


def test_a_large_hour_gets_back_to_its_shares_what_was_not_used() -> None:
    limit = 4 * SHARE_TOKENS
    house = House(TwoCalls(), tenant_tokens_per_hour=limit)
    sessions = [house.start("Look").session_id for _ in range(20)]
    house.run()
    hour = hour_of(house.clock.now())
    free = [house.index.free_tokens_of_share(TENANT, hour, share) for share in range(shares_of(limit))]
    assert granted(house) - sum(free) == sum(used(house.head(session)) for session in sessions)


def test_a_session_that_waits_for_people_for_long_gives_back_and_takes_anew_when_it_goes_on() -> None:
    house, session = asking()
    lease = house.head(session).lease
    assert lease is not None
    assert granted(house) == lease.granted, "its execution still waits"
    waited_for_long(house, session)
    assert house.head(session).lease is None
    assert granted(house) == used(house.head(session))
    (asked,) = house.head(session).interventions
    house.resolve(session, asked, "approve")
    house.run()
    assert house.head(session).state == "completed"
    assert granted(house) == used(house.head(session))


def test_a_session_in_a_line_holds_nothing_of_the_hour() -> None:
    house = QueueHouse(TwoCalls(), requests=60, tenant_tokens_per_hour=HOUR)
    house.tenant = TENANT
    sessions = [house.start("Look").session_id for _ in range(40)]
    house.run()
    heads = [house.of(TENANT, session) for session in sessions]
    queued = [head for head in heads if head.state_reason == "queued"]
    assert queued
    assert {head.lease for head in queued} == {None}
    assert granted(house) == sum(map(used, heads))


def test_a_run_that_ends_in_the_next_hour_gives_nothing_back_to_the_one_before() -> None:
    script = [plans("look"), says("", step(1, "completed", "ok")), completes("Done.")]
    house = House(ScriptedModel(script), tenant_tokens_per_hour=HOUR)
    session = house.start("Look").session_id
    first = hour_of(house.clock.now())
    house.run(lambda decision: house.clock.advance(3_600) if decision.next == "think" else None)
    head = house.head(session)
    assert (head.state, head.lease) == ("completed", None)
    assert house.index.granted_tokens(TENANT, first) == CHUNK_TOKENS
    assert granted(house) < used(head)
