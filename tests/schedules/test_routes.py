"""`/v1/schedules`."""

from datetime import UTC, datetime
from typing import Any

import pytest

from acta.engine.limits.caps import Caps
from acta.engine.schedules import schedule as limits
from tests.in_process.house import TENANT
from tests.schedules.scheduled import NIGHTLY, Scheduled


@pytest.fixture
def world() -> Scheduled:
    return Scheduled()


def test_a_schedule_is_read_as_it_was_written_with_its_next_five_times(world: Scheduled) -> None:
    created = world.create()
    assert (created.status, created.headers["Location"]) == (201, "/v1/schedules/nightly")
    read = world.ask("GET", "/nightly")
    assert read.data == created.data | {
        "next": [
            "2027-03-28T01:00:00.000Z", "2027-03-29T00:30:00.000Z", "2027-03-30T00:30:00.000Z",
            "2027-03-31T00:30:00.000Z", "2027-04-01T00:30:00.000Z",
        ],
    }  # fmt: skip
    assert created.data == {
        **NIGHTLY, "every": None, "start": None, "end": None, "overlap": "skip", "catch_up": "last", "limits": {},
        "visibility": None, "metadata": {}, "paused": False, "created_by": "ann", "applied": None, "version": 1,
        "created_at": "2027-03-28T00:00:00.000Z", "updated_at": "2027-03-28T00:00:00.000Z",
        "next_at": "2027-03-28T01:00:00.000Z", "waiting": 0, "last_at": None, "last_session": None, "failures": 0,
        "counts": dict.fromkeys(("started", "skipped", "queued", "refused", "failed", "missed"), 0),
    }  # fmt: skip
    unknown = world.ask("GET", "/nightly", headers={"If-None-Match": read.headers["ETag"]})
    assert unknown.status == 304


@pytest.mark.parametrize(
    ("fields", "field", "said"),
    [
        ({"cron": "61 * * * *"}, "cron", "five fields"),
        ({"cron": None}, "cron", "Nothing says when"),
        ({"every": "1 hour"}, "cron", "either"),
        ({"timezone": "Berlin"}, "timezone", "Europe/Berlin"),
        ({"goal": "Report of {{day}}"}, "goal", "Did you mean weekday, date?"),
        ({"goal": "Report of {{ }}"}, "goal", "There is no {{}}"),
        ({"goal": "x" * 10_001}, "goal", "10000"),
        ({"agent_id": "gone"}, "agent_id", "no agent"),
        ({"start": "2027-03-28"}, "start", "2027-01-31T09:30:00+01:00"),
        ({"start": 7}, "start", "2027-01-31T09:30:00+01:00"),
        ({"start": "2027-03-28T08:00:00Z", "end": "2027-03-27T08:00:00Z"}, "end", "before"),
        ({"overlap": "both"}, "overlap", "skip"),
        ({"limits": {"max_steps": 11}}, "limits.max_steps", "The most for sessions of this agent is 10"),
        ({"schedule_id": "a b"}, "schedule_id", "pattern"),
        ({"gaol": "Report"}, "gaol", "no such field"),
    ],
)
def test_a_schedule_that_could_not_run_is_refused_with_what_to_write(
    fields: dict[str, Any], field: str, said: str
) -> None:
    answer = Scheduled(caps=Caps(max_steps=10)).create("ann", "admin", **fields)
    assert (answer.status, answer.error["code"]) == (400, "VALIDATION_ERROR")
    assert said in " ".join(answer.error["details"][field])


def test_who_may_not_start_the_agent_may_not_schedule_it() -> None:
    world = Scheduled(start_roles=("finance",))
    assert world.create().status == 403
    assert world.create("ann", "finance").status == 201
    assert world.ask("POST", "/nightly/run", None, "boss", "admin").status == 403
    assert world.ask("PATCH", "/nightly", {"cron": "0 3 * * *"}, "boss", "admin").status == 403


def test_a_schedule_is_changed_by_its_writer_and_by_admins_and_is_theirs_from_then_on(
    world: Scheduled,
) -> None:
    world.made()
    assert world.ask("PATCH", "/nightly", {"goal": "Mine."}, "mia").status == 403
    for path in ("/nightly/pause", "/nightly/resume", "/nightly/run"):
        assert world.ask("POST", path, None, "mia").status == 403
    assert world.ask("DELETE", "/nightly", None, "mia").status == 403
    assert world.ask("GET", "/nightly", None, "mia").data["goal"] == NIGHTLY["goal"]
    changed = world.ask("PATCH", "/nightly", {"goal": "Theirs."}, "boss", "admin")
    assert (changed.data["created_by"], changed.data["version"], changed.data["cron"]) == (
        "boss",
        2,
        NIGHTLY["cron"],
    )
    assert world.stored.roles == ("admin", "member")
    world.at(2027, 3, 28, 1, 0)
    assert world.last().created_by == "boss"


def test_a_private_schedule_is_its_writers_alone_and_an_admin_may_only_stop_it(world: Scheduled) -> None:
    world.made(visibility="private", metadata={"case": "7"})
    assert world.ask("GET", "/nightly", None, "mia").status == 404
    assert world.ask("GET", "/nightly/runs", None, "mia").status == 404
    assert world.ask("GET", "", None, "mia").data["items"] == []
    seen = world.ask("GET", "/nightly", None, "boss", "admin").data
    assert (seen["goal"], seen["metadata"], seen["cron"]) == (None, None, NIGHTLY["cron"])
    for method, path, body in (
        ("PATCH", "/nightly", {"goal": "Tell me."}),
        ("PUT", "/nightly", {name: value for name, value in NIGHTLY.items() if name != "schedule_id"}),
        ("POST", "/nightly/run", None),
    ):
        assert world.ask(method, path, body, "boss", "admin").status == 403
    assert world.ask("POST", "/nightly/pause", None, "boss", "admin").data["goal"] is None
    assert world.stored.created_by == "ann"
    assert world.ask("DELETE", "/nightly", None, "boss", "admin").status == 204


def test_the_deployments_default_visibility_makes_a_schedule_private() -> None:
    world = Scheduled(settings={"default_visibility": "private"})
    world.made()
    assert world.ask("GET", "/nightly", None, "mia").status == 404
    world.at(2027, 3, 28, 1, 0)
    assert world.last().private_to == "ann"


def test_a_replacement_brings_defaults_and_a_change_keeps_what_it_does_not_name(world: Scheduled) -> None:
    world.made(overlap="queue", catch_up="none", limits={"max_steps": 5})
    changed = world.ask("PATCH", "/nightly", {"cron": None, "every": "6 hours", "overlap": None})
    assert (changed.data["every"], changed.data["overlap"], changed.data["catch_up"]) == (
        "6 hours",
        "skip",
        "none",
    )
    assert changed.data["next_at"] == "2027-03-28T06:00:00.000Z"
    assert world.ask("PATCH", "/nightly", {"goal": None}).error["details"]["goal"]
    body = {name: value for name, value in NIGHTLY.items() if name != "schedule_id"}
    put = world.ask("PUT", "/nightly", {**body, "version": 2})
    assert (put.data["catch_up"], put.data["limits"], put.data["version"]) == ("last", {}, 3)
    assert world.ask("PUT", "/nightly", {**body, "version": 2}).status == 409
    stale = world.ask("PUT", "/nightly", body, headers={"If-Match": changed.headers["ETag"]})
    assert stale.status == 412


def test_a_change_of_words_alone_leaves_the_next_time_where_it_is(world: Scheduled) -> None:
    world.made()
    world.house.clock.set(datetime(2027, 3, 28, 1, 0, 30, tzinfo=UTC))  # due, and not looked at yet
    world.ask("PATCH", "/nightly", {"goal": "Another one."})
    world.round()
    assert world.history() == [("03-28T01:00", "started")]


def test_a_change_meets_a_round_that_moved_the_schedule_and_is_made_on_what_it_left(world: Scheduled) -> None:
    world.made()
    store, moved = world.house.app().schedules, list[int]()

    class Between:
        def __getattr__(self, name: str) -> Any:
            if name == "replace" and not moved:
                moved.append(1)
                there = store.get(TENANT, "nightly")
                assert there is not None
                store.replace(TENANT, there, there.model_copy(update={"failures": 3}))
            return getattr(store, name)

    vars(world.apis["admin"].app)["schedules"] = Between()
    assert world.ask("PATCH", "/nightly", {"goal": "Another one."}).status == 200
    assert (world.stored.goal, world.stored.failures) == ("Another one.", 3)


def test_run_now_starts_a_session_whatever_is_open_and_moves_no_time(world: Scheduled) -> None:
    world.made()
    world.ask("POST", "/nightly/pause")
    world.house.clock.advance(61.5)
    answer = world.ask("POST", "/nightly/run")
    assert (answer.status, answer.data["created_by"]) == (202, "ann")
    assert answer.data["goal"] == "Report of 2027-03-28, since never."
    assert answer.headers["Location"] == f"/v1/sessions/{answer.data['session_id']}"
    (run,) = world.ask("GET", "/nightly/runs").data["items"]
    assert (run["outcome"], run["asked"], run["session_id"]) == ("started", True, answer.data["session_id"])
    assert world.stored.next_at == datetime(2027, 3, 28, 1, tzinfo=UTC)
    world.house.run()
    assert world.house.head(run["session_id"]).state == "completed"


def test_what_a_person_asks_for_is_not_the_session_before_of_the_next_time(world: Scheduled) -> None:
    world.made(overlap="skip")
    world.ask("POST", "/nightly/run")  # is open, for its engine does not run
    world.at(2027, 3, 28, 1)
    asked, own = world.sessions()
    assert asked.is_open
    assert own.goal == "Report of 2027-03-28, since never."
    assert world.history()[-1] == ("03-28T01:00", "started")
    assert world.stored.last_session == own.session_id


def test_a_repeated_run_with_its_key_starts_nothing_again(world: Scheduled) -> None:
    world.made()
    key = {"Idempotency-Key": "once"}
    first = world.ask("POST", "/nightly/run", headers=key)
    assert world.ask("POST", "/nightly/run", headers=key).data["session_id"] == first.data["session_id"]
    assert (len(world.sessions()), len(world.history())) == (1, 1)


def test_run_now_meets_the_tenants_limits() -> None:
    world = Scheduled(settings={"tenant_limits": {"*": {"starts_per_minute": 100, "open_sessions": 1}}})
    world.made()
    assert world.ask("POST", "/nightly/run").status == 202
    refused = world.ask("POST", "/nightly/run")
    assert (refused.status, refused.error["code"]) == (429, "TOO_MANY_OPEN_SESSIONS")
    assert len(world.history()) == 1


def test_a_repeated_creation_with_its_key_is_answered_alike_and_an_id_is_taken_once(world: Scheduled) -> None:
    key = {"Idempotency-Key": "once"}
    first = world.ask("POST", "", NIGHTLY, headers=key)
    assert world.ask("POST", "", NIGHTLY, headers=key).data == first.data
    assert (world.create().status, world.create(schedule_id=None).status) == (409, 201)


def test_schedules_and_histories_come_in_pages(world: Scheduled) -> None:
    for name in ("c", "a", "b"):
        world.made(schedule_id=name)
    first = world.ask("GET", query={"limit": "2"}).data
    rest = world.ask("GET", query={"limit": "2", "cursor": first["next_cursor"]}).data
    assert [each["schedule_id"] for each in (*first["items"], *rest["items"])] == ["a", "b", "c"]
    assert rest["next_cursor"] is None
    world.made(cron="* * * * *", overlap="allow")
    for minute in range(1, 6):
        world.at(2027, 3, 28, 0, minute)
    found: list[str] = []
    query: dict[str, str] | None = {"limit": "2"}
    while query is not None:
        page = world.ask("GET", "/nightly/runs", query=query).data
        found += [each["tick"][14:16] for each in page["items"]]
        query = {**query, "cursor": page["next_cursor"]} if page["next_cursor"] else None
    assert found == ["05", "04", "03", "02", "01"]
    assert world.ask("GET", "/nightly/runs", query={"cursor": first["next_cursor"]}).status == 400
    assert world.ask("GET", query={"cursor": "made-up"}).status == 400


def test_a_tenant_has_so_many_schedules_and_no_more(
    world: Scheduled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acta.engine.schedules.routes.MAX_SCHEDULES", 2)
    assert limits.MAX_SCHEDULES == 500
    assert [world.create(schedule_id=f"s{number}").status for number in range(3)] == [201, 201, 409]


def test_what_is_not_there_is_not_found(world: Scheduled) -> None:
    for method, path, body in (
        ("GET", "/none", None), ("GET", "/none/runs", None), ("PUT", "/none", {"agent_id": "default", "goal": "x"}),
        ("PATCH", "/none", {}), ("DELETE", "/none", None), ("POST", "/none/pause", None), ("POST", "/none/run", None),
    ):  # fmt: skip
        assert world.ask(method, path, body).status == 404


def test_pausing_and_resuming_twice_changes_nothing_more(world: Scheduled) -> None:
    world.made()
    versions = [
        world.ask("POST", f"/nightly/{verb}").data["version"]
        for verb in ("pause", "pause", "resume", "resume")
    ]
    assert versions == [2, 2, 3, 3]


def test_times_that_wait_are_left_out_when_the_schedule_is_paused(world: Scheduled) -> None:
    world.made(cron="* * * * *", overlap="queue")
    for minute in range(1, 4):
        world.at(2027, 3, 28, 0, minute)
    assert world.ask("POST", "/nightly/pause").data["waiting"] == 0
    assert [outcome for _, outcome in world.history()] == ["started", "skipped", "skipped"]
