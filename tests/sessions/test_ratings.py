"""`POST /v1/sessions/{id}/rating`: people say what they think of an answer, and usage counts it where the run ended."""

import pytest

from acta.engine.log.events import AnswerRated
from acta.engine.log.head import MAX_ANSWERS, MAX_RATINGS
from acta.engine.usage.fold import fold
from acta.engine.usage.usage import Dimension, day_of, hour_of
from tests.api.gateway import Answer
from tests.api.session_functions import Person
from tests.doubles.audit import PlainPseudonyms
from tests.doubles.usage import MemoryUsage
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, completes, plans, says, step

RUN = [plans("look"), says("", step(1, "completed", "ok")), completes("Done.")]


def answered(runs: int = 1, script: int | None = None) -> tuple[House, str]:
    """After so many completed runs, a day apart. `script`: of how many runs the model has the replies."""
    house = House(ScriptedModel(RUN * (script or runs)))
    session = str(Person(house, "ann").start().data["session_id"])
    house.run()
    for _ in range(runs - 1):
        again(house, session)
    return house, session


def again(house: House, session: str) -> None:
    """Another run, the next day."""
    house.clock.advance(86_400)
    Person(house, "ann").say(session, "Once more")
    house.run()


def rate(house: House, session: str, rating: str, user: str = "ann", key: str = "", **fields: str) -> Answer:
    path, headers = f"/v1/sessions/{session}/rating", {"idempotency-key": key} if key else {}
    return Person(house, user).ask("POST", path, json_body={"rating": rating, **fields}, headers=headers)


def ratings_in(house: House, session: str) -> list[dict[str, object]]:
    return [event.event.data for event in house.poll(session).events if event.event.type == AnswerRated.type]


def counts(house: House, usage: MemoryUsage, dimension: Dimension = "tenant") -> dict[int, tuple[int, int]]:
    """Ups and downs by hour or day, as they are once all commits were counted."""
    fold(usage, PlainPseudonyms(), usage.committed())
    rows = usage.rows(TENANT, dimension, 0, 10**9)
    return {key.at: (row.rated_up, row.rated_down) for key, row in rows if row.rated_up or row.rated_down}


def test_each_person_has_one_rating_of_a_run_and_may_change_it() -> None:
    house, session = answered()
    run = house.head(session).run
    assert run is not None
    first = rate(house, session, "up")
    assert (first.status, first.data["state"]) == (202, "completed")
    rate(house, session, "down", "bob", comment="Too short")
    shown = rate(house, session, "down").data["ratings"]
    assert shown == [
        {"run_id": run.run_id, "by": "ann", "rating": "down"},
        {"run_id": run.run_id, "by": "bob", "rating": "down"},
    ]
    assert ratings_in(house, session) == [
        {"run_id": run.run_id, "rating": "up", "by": "ann"},
        {"run_id": run.run_id, "rating": "down", "by": "bob", "comment": "Too short"},
        {"run_id": run.run_id, "rating": "down", "by": "ann"},
    ]


def test_the_same_rating_again_says_nothing_and_the_same_request_does_nothing() -> None:
    house, session = answered()
    for _ in range(3):
        assert rate(house, session, "up").status == 202
        assert rate(house, session, "up", key="k", comment="Good").status == 202
    assert [each.get("comment") for each in ratings_in(house, session)] == [None, "Good"]


def test_the_newest_completed_run_is_rated_unless_another_one_is_named() -> None:
    house, session = answered(runs=2)
    first, second = (each.run_id for each in house.head(session).answers)
    Person(house, "ann").say(session, "Again")  # a run is under way, which has no answer yet
    rate(house, session, "up")
    rate(house, session, "down", run_id=first)
    assert [(each["run_id"], each["rating"]) for each in ratings_in(house, session)] == [
        (second, "up"),
        (first, "down"),
    ]
    unknown = rate(house, session, "up", run_id="run_of_nobody")
    assert (unknown.status, unknown.error["code"]) == (409, "CONFLICT")


def test_where_nothing_was_answered_nothing_can_be_rated() -> None:
    house = House(ScriptedModel(RUN))
    session = str(Person(house, "ann").start().data["session_id"])
    refused = rate(house, session, "up")
    assert (refused.status, refused.error["code"]) == (409, "CONFLICT")
    assert ratings_in(house, session) == []


@pytest.mark.parametrize("body", [{}, {"rating": "good"}, {"rating": "up", "comment": "x" * 2_001}])
def test_what_is_no_rating_is_refused(body: dict[str, str]) -> None:
    house, session = answered()
    path = f"/v1/sessions/{session}/rating"
    assert Person(house, "ann").ask("POST", path, json_body=body).status == 400


def test_a_private_session_is_rated_by_its_owner_alone() -> None:
    house = House(ScriptedModel(RUN))
    session = str(Person(house, "ann").start(visibility="private").data["session_id"])
    house.run()
    refused = rate(house, session, "up", "bob")
    assert (refused.status, refused.error["code"]) == (404, "SESSION_NOT_FOUND")
    assert rate(house, session, "up").status == 202


def test_no_more_people_are_kept_than_an_answer_has_room_for() -> None:
    house, session = answered()
    for number in range(MAX_RATINGS):
        assert rate(house, session, "up", f"user-{number}").status == 202
    assert rate(house, session, "up", "one-more").status == 409
    assert rate(house, session, "down", "user-0").status == 202, "who has rated may change it"


def test_a_rating_does_not_make_its_author_one_of_those_who_asked() -> None:
    house, session = answered(script=2)
    rate(house, session, "down", "bob", comment="Far too short")
    head = house.head(session)
    assert head.askers == {"ann"}
    assert head.raters == ("bob",)
    again(house, session)
    assert isinstance(house.model, ScriptedModel)
    assert "Once more" in str(house.model.requests)
    assert "Far too short" not in str(house.model.requests), "and the agent is not told"


def test_usage_counts_a_rating_where_its_run_ended_and_moves_it_when_it_is_changed() -> None:
    house, session = answered(runs=2)
    usage = MemoryUsage(house.table)
    first, second = house.head(session).answers
    day, next_day = day_of(first.ended_at), day_of(second.ended_at)
    rate(house, session, "up", run_id=first.run_id)
    rate(house, session, "up", "bob", run_id=first.run_id)
    rate(house, session, "down")
    assert counts(house, usage, "agent") == {day: (2, 0), next_day: (0, 1)}
    house.clock.advance(86_400 * 5)
    rate(house, session, "down", run_id=first.run_id)
    assert counts(house, usage, "agent") == {day: (1, 1), next_day: (0, 1)}
    assert counts(house, usage) == {hour_of(first.ended_at): (1, 1), hour_of(second.ended_at): (0, 1)}
    assert counts(house, usage) == {hour_of(first.ended_at): (1, 1), hour_of(second.ended_at): (0, 1)}


def test_a_rating_stays_counted_after_its_run_is_forgotten_and_its_session_deleted() -> None:
    house, session = answered(script=1 + MAX_ANSWERS)
    usage = MemoryUsage(house.table)
    rate(house, session, "up")
    before = counts(house, usage)
    assert [*before.values()] == [(1, 0)]
    for _ in range(MAX_ANSWERS):
        again(house, session)
    head = house.head(session)
    assert len(head.answers) == MAX_ANSWERS
    assert not any(each.ratings for each in head.answers)
    assert counts(house, usage) == before
    assert Person(house, "ann").ask("DELETE", f"/v1/sessions/{session}").status == 204
    assert counts(house, usage) == before
