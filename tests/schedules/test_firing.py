"""What the minute's round does with schedules: each time once, whatever happens."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from acta.engine.errors import StoreUnavailable
from acta.engine.schedules.fire import fire_due
from acta.engine.schedules.schedule import Schedule
from acta.engine.sessions.answers import session_view
from tests.in_process.family import FamilyHouse
from tests.in_process.house import TENANT
from tests.in_process.scripted import call, says
from tests.schedules.scheduled import SUNDAY, Scheduled


def test_a_daily_schedule_comes_once_on_a_day_of_23_and_on_one_of_25_hours() -> None:
    world = Scheduled()
    world.made()
    for minute in range(180):
        world.at(2027, 3, 28, minute // 60, minute % 60)
    world.house.run()
    assert world.history() == [("03-28T01:00", "started")]
    world.house.clock.set(datetime(2027, 10, 30, 1, tzinfo=UTC))
    world.ask("POST", "/nightly/pause")
    world.ask("POST", "/nightly/resume")  # the months between are left out
    for minute in range(180):
        world.at(2027, 10, 31, minute // 60, minute % 60)
    assert (
        world.history()
        == [("03-28T01:00", "started"), ("10-30T00:30", "missed"), ("10-31T00:30", "started")][::2]
    )


def test_the_session_of_a_time_names_it_and_its_goal_is_the_template_at_that_time() -> None:
    world = Scheduled()
    world.made(metadata={"team": "ops"}, visibility="private", limits={"max_steps": 7})
    world.at(2027, 3, 28, 1, 0)
    head = world.last()
    assert head.goal == "Report of 2027-03-28, since never."
    assert (head.created_by, head.private_to, head.metadata, head.max_steps) == (
        "ann",
        "ann",
        {"team": "ops"},
        7,
    )
    assert session_view(head)["origin"] == {
        "kind": "schedule", "id": "nightly", "at": "2027-03-28T01:00:00.000Z", "event": "",
    }  # fmt: skip
    world.house.run()
    world.at(2027, 3, 29, 0, 31)
    assert world.last().goal == "Report of 2027-03-29, since 2027-03-28T03:00:00+02:00."


@pytest.mark.parametrize("rounds", [2, 3])
def test_a_time_whose_round_runs_again_starts_one_session(rounds: int) -> None:
    world = Scheduled()
    world.made()
    for _ in range(rounds):
        world.at(2027, 3, 28, 1, 0)
    assert len(world.sessions()) == 1
    assert world.history() == [("03-28T01:00", "started")]


class DiesBeforeItMoves(Exception):
    pass


def test_a_round_that_dies_after_the_start_starts_the_same_session_again_and_then_moves_on() -> None:
    world = Scheduled()
    world.made()
    world.house.clock.set(datetime(2027, 3, 28, 1, tzinfo=UTC))
    store = world.house.app().schedules

    class Dying:
        def __getattr__(self, name: str) -> Any:
            if name == "replace":
                raise DiesBeforeItMoves
            return getattr(store, name)

    met: list[str] = []
    deps = world.recovery.app.firing._replace(
        schedules=Dying(),
        on_error=lambda subject, error: met.append(type(error).__name__),
    )
    assert fire_due(deps) == {"again": 1}
    assert (met, len(world.sessions()), world.stored.last_session) == (["DiesBeforeItMoves"], 1, "")
    world.at(2027, 3, 28, 1, 1)
    assert len(world.sessions()) == 1
    assert world.history() == [("03-28T01:00", "started")]
    assert world.stored.next_at == datetime(2027, 3, 29, 0, 30, tzinfo=UTC)


def test_two_rounds_at_once_count_nothing_twice() -> None:
    world = Scheduled()
    world.made()
    world.house.clock.set(datetime(2027, 3, 28, 1, tzinfo=UTC))
    store, deps = world.house.app().schedules, world.recovery.app.firing

    class Between:
        """Another round settles the time between this one's start and its move."""

        def __getattr__(self, name: str) -> Any:
            if name == "replace":
                fire_due(deps)
            return getattr(store, name)

    fire_due(deps._replace(schedules=Between()))
    assert (len(world.sessions()), world.stored.counts) == (1, {"started": 1})
    assert world.history() == [("03-28T01:00", "started")]


def test_a_session_that_was_started_is_noted_though_a_person_changed_the_schedule_meanwhile() -> None:
    world = Scheduled()
    world.made()
    world.house.clock.set(datetime(2027, 3, 28, 1, tzinfo=UTC))
    store, deps = world.house.app().schedules, world.recovery.app.firing
    changed: list[int] = []

    class Between:
        def __getattr__(self, name: str) -> Any:
            if name == "replace" and not changed:
                changed.append(world.ask("PATCH", "/nightly", {"cron": "0 5 * * *"}).status)
            return getattr(store, name)

    fire_due(deps._replace(schedules=Between()))
    assert (changed, world.history()) == ([200], [("03-28T01:00", "started")])
    assert world.stored.next_at == datetime(2027, 3, 28, 3, tzinfo=UTC)
    assert world.last().origin is not None


def overlapping(overlap: str) -> Scheduled:
    """Every minute, and the first session is open."""
    world = Scheduled()
    world.made(cron=None, every="1 minute", overlap=overlap)
    world.at(2027, 3, 28, 0, 1)
    return world


def test_skip_leaves_out_times_while_the_session_before_is_open() -> None:
    world = overlapping("skip")
    world.at(2027, 3, 28, 0, 2)
    world.house.run()
    world.at(2027, 3, 28, 0, 3)
    assert [outcome for _, outcome in world.history()] == ["started", "skipped", "started"]
    assert world.stored.counts == {"started": 2, "skipped": 1}


def test_queue_starts_each_time_once_the_one_before_has_ended_and_keeps_ten() -> None:
    world = overlapping("queue")
    for minute in range(2, 14):
        world.at(2027, 3, 28, 0, minute)
    assert [outcome for _, outcome in world.history()] == ["started", *["queued"] * 10, "skipped", "skipped"]
    world.ask("PATCH", "/nightly", {"end": "2027-03-28T00:13:00Z"})
    for _ in range(12):
        world.house.run()
        world.round()
    assert [outcome for _, outcome in world.history()] == [*["started"] * 11, "skipped", "skipped"]
    origins = [head.origin.at.minute for head in world.sessions() if head.origin is not None]
    assert origins == list(range(1, 12))
    assert world.stored.looked_at is None


def test_cancel_ends_the_session_before_and_allow_starts_one_beside_it() -> None:
    world = overlapping("cancel")
    world.at(2027, 3, 28, 0, 2)
    assert [head.state for head in world.sessions()] == ["cancelled", "planning"]
    beside = overlapping("allow")
    beside.at(2027, 3, 28, 0, 2)
    assert [head.state for head in beside.sessions()] == ["planning", "planning"]


def test_the_session_after_a_cancelled_one_begins_once_all_that_worked_for_that_one_has_ended() -> None:
    sleeps = [says("", call("wait_until", seconds=86_400)), says("Found it.")]
    asks = [says("", call("worker", goal="Find it")), says("Done.")]
    house = FamilyHouse({"boss": asks, "worker": sleeps}, {"boss": {"agents": [{"agent": "worker"}]}})
    world = Scheduled(house=house)
    world.made(cron=None, every="1 minute", overlap="cancel", agent_id="boss")
    world.at(2027, 3, 28, 0, 1)
    house.run()
    first = world.last()
    (worker,) = house.children(first.session_id)
    assert worker.state == "waiting_for_tool"

    world.at(2027, 3, 28, 0, 2)
    assert house.head(first.session_id).state == "cancelled"
    assert world.history() == [("03-28T00:01", "started")], "the worker may still be at work"
    house.run()
    assert house.head(worker.session_id).state == "cancelled"
    world.round()
    assert world.history() == [("03-28T00:01", "started"), ("03-28T00:02", "started")]


@pytest.mark.parametrize(
    ("catch_up", "history"),
    [
        ("none", [("03-28T00:15", "missed"), ("03-28T06:00", "started")]),
        ("last", [("03-28T00:15", "missed"), ("03-28T05:45", "started"), ("03-28T06:00", "started")]),
        ("all", [*((f"03-28T{n // 4:02}:{n % 4 * 15:02}", "started") for n in range(1, 25))]),
    ],
)
def test_times_that_came_while_acta_was_away_are_made_up_for_as_the_schedule_says(
    catch_up: str, history: list[tuple[str, str]]
) -> None:
    world = Scheduled()
    world.made(cron=None, every="15 minutes", overlap="allow", catch_up=catch_up)
    world.at(2027, 3, 28, 5, 59)
    world.at(2027, 3, 28, 6, 0)
    assert world.history() == history


def test_at_most_fifty_times_are_made_up_for() -> None:
    world = Scheduled()
    world.made(cron="* * * * *", overlap="allow", catch_up="all")
    world.at(2027, 3, 30, 0, 0)
    outcomes = [outcome for _, outcome in world.history()]
    assert outcomes[:1] + outcomes[-1:] == ["missed", "started"]
    assert len(world.sessions()) == 50


def test_an_outage_of_minutes_misses_nothing_whatever_catch_up_says() -> None:
    world = Scheduled()
    world.made(cron="*/2 * * * *", overlap="allow", catch_up="none")
    world.at(2027, 3, 28, 0, 9)
    assert [tick[-5:] for tick, _ in world.history()] == ["00:02", "00:04", "00:06", "00:08"]


def test_start_and_end_bound_a_schedule_and_one_that_has_ended_is_not_looked_at() -> None:
    world = Scheduled()
    world.made(cron=None, every="1 hour", start="2027-03-28T01:30:00+01:00", end="2027-03-28T02:00:00Z")
    for hour in range(6):
        world.at(2027, 3, 28, hour, 31)
        world.house.run()
    assert [tick for tick, _ in world.history()] == ["03-28T00:30", "03-28T01:30"]
    assert (world.stored.next_at, world.stored.looked_at) == (None, None)


def test_a_paused_schedule_starts_nothing_and_what_came_meanwhile_is_not_made_up_for() -> None:
    world = Scheduled()
    world.made(cron="0 * * * *", catch_up="all")
    assert world.ask("POST", "/nightly/pause").data["paused"] is True
    world.at(2027, 3, 28, 5, 0)
    assert world.sessions() == []
    world.house.clock.set(datetime(2027, 3, 28, 5, 20, tzinfo=UTC))
    assert world.ask("POST", "/nightly/resume").data["next_at"] == "2027-03-28T06:00:00.000Z"
    world.at(2027, 3, 28, 6, 0)
    assert world.history() == [("03-28T06:00", "started")]


LIMITS = {"tenant_limits": {"*": {"starts_per_minute": 100, "open_sessions": 1}}}


def test_a_time_that_meets_the_tenants_limit_is_tried_each_minute_and_refused_when_it_is_late() -> None:
    world = Scheduled(settings=LIMITS)
    world.made()
    other = world.house.start("Something else.").session_id
    world.at(2027, 3, 28, 1, 0)
    world.at(2027, 3, 28, 1, 5)
    assert (len(world.sessions()), world.history()) == (1, [])
    world.house.cancel(other)
    world.at(2027, 3, 28, 1, 6)
    assert world.history() == [("03-28T01:00", "started")]
    world.at(2027, 3, 29, 0, 30)  # the session of the day before is open, and counts
    world.ask("PATCH", "/nightly", {"overlap": "allow"})
    world.at(2027, 3, 30, 0, 30)
    world.at(2027, 3, 30, 0, 41)
    assert world.history()[1:] == [("03-29T00:30", "skipped"), ("03-30T00:30", "refused")]
    assert world.stored.failures == 1


def fails(world: Scheduled, day: int) -> None:
    world.at(2027, 4, day, 0, 30)


def test_a_schedule_that_fails_again_and_again_is_told_and_one_good_session_ends_that() -> None:
    world = Scheduled(datetime(2027, 4, 1, tzinfo=UTC))
    world.made(user="ann")
    told: list[tuple[str, int]] = []
    agent = world.house.definitions.agent(TENANT, "default")
    assert agent is not None
    closed = agent.model_copy(update={"start_roles": ("finance",), "version": agent.version + 1})
    world.house.definitions.replace_agent(TENANT, agent, closed)

    def on_told(tenant: str, schedule_id: str, in_a_row: int) -> None:
        told.append((schedule_id, in_a_row))

    deps = world.recovery.app.firing._replace(told=on_told)
    for day in range(1, 8):
        world.house.clock.set(datetime(2027, 4, day, 0, 30, tzinfo=UTC))
        fire_due(deps)
    assert told == [("nightly", 5), ("nightly", 6), ("nightly", 7)]
    assert world.history()[-1] == ("04-07T00:30", "failed")
    assert "finance" in world.ask("GET", "/nightly/runs").data["items"][0]["reason"]
    world.house.definitions.replace_agent(
        TENANT, closed, agent.model_copy(update={"version": closed.version + 1})
    )
    world.at(2027, 4, 8, 0, 30)
    world.house.run()
    world.at(2027, 4, 9, 0, 30)
    assert world.stored.failures == 0


def test_a_session_that_fails_counts_as_a_failure_of_its_schedule() -> None:
    world = Scheduled()
    world.made()
    world.at(2027, 3, 28, 1, 0)
    repository = world.house.fresh_repository()
    session = repository.newest(TENANT, world.stored.last_session)
    for change in repository.attempts(session, "fails"):
        change.to_state("failed", "stuck")
        change.commit()
    world.at(2027, 3, 29, 0, 30)
    assert world.stored.failures == 1


def test_an_error_of_one_schedule_stops_no_other() -> None:
    world = Scheduled()
    world.made(schedule_id="a-broken-one")
    world.made()
    world.house.clock.set(datetime(2027, 3, 28, 1, tzinfo=UTC))
    store = world.house.app().schedules

    class Failing:
        def __getattr__(self, name: str) -> Any:
            def get(tenant: str, schedule_id: str) -> Schedule | None:
                if schedule_id == "a-broken-one":
                    raise StoreUnavailable("it does not answer")
                return store.get(tenant, schedule_id)

            return get if name == "get" else getattr(store, name)

    met: list[str] = []
    deps = world.recovery.app.firing._replace(schedules=Failing(), on_error=lambda what, _: met.append(what))
    assert fire_due(deps) == {"again": 1, "started": 1}
    assert met == ["a-broken-one"]


def test_a_schedule_that_is_made_again_under_an_id_has_its_own_sessions_and_history() -> None:
    world = Scheduled()
    world.made()
    world.at(2027, 3, 28, 1, 0)
    first = world.stored.last_session
    assert world.ask("DELETE", "/nightly").status == 204
    world.house.clock.set(SUNDAY + timedelta(hours=1, minutes=-1))
    world.made()
    assert world.history() == []
    world.at(2027, 3, 28, 1, 0)
    assert world.stored.last_session != first


def test_every_tenants_schedules_are_fired_each_for_its_own_tenant() -> None:
    world = Scheduled()
    world.made()
    store = world.house.app().schedules
    store.create("globex", world.stored)
    world.at(2027, 3, 28, 1, 0)
    other = store.get("globex", "nightly")
    assert other is not None
    assert other.last_session not in ("", world.stored.last_session)
    assert world.house.fresh_repository().newest("globex", other.last_session).head.tenant == "globex"


def test_no_log_line_has_a_goal_and_one_says_what_was_started(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    world = Scheduled()
    world.made(goal="The secret plan of {{date}}")
    world.at(2027, 3, 28, 1, 0)
    lines = [vars(record) for record in caplog.records]
    assert [line["started"] for line in lines if line["msg"] == "fired schedules"] == [1]
    assert "secret plan" not in repr(lines)
