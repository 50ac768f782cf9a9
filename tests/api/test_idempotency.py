"""Requests about sessions that are sent again with their `Idempotency-Key`."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from acta.engine.log.commit import KEY_LIFE, Commit, Decision, IdempotencyRecord
from acta.engine.log.dynamodb_index import DynamoIndex
from acta.engine.log.store import NO_ITEMS, NumberTaken, SessionIndex, TransactionItems
from acta.testing.workflow import MemoryWorkflow
from tests.api.gateway import Answer
from tests.api.session_functions import functions_of
from tests.in_process.house import TENANT, USER, House
from tests.in_process.lossy import LossyLog
from tests.in_process.scripted import ScriptedModel, completes, plans, says, step
from tests.people.policies import waiting

GOAL = "Find the letter about the garden"
HEADERS = {"Idempotency-Key": "k"}


class Front:
    """The functions `start` and `intervene` over one house, as one person calls them."""

    def __init__(
        self, house: House, index: SessionIndex | None = None, user: str = USER, roles: object = "[member]"
    ) -> None:
        self.house = house
        functions = functions_of(house, index, user, roles)
        self._start, self._intervene = functions.start, functions.intervene

    def start(self, message: str = GOAL) -> Answer:
        return self._start.request("POST", "/v1/sessions", json_body={"content": message}, headers=HEADERS)

    def say(self, session_id: str, content: str = GOAL) -> Answer:
        path = f"/v1/sessions/{session_id}/messages"
        return self._start.request("POST", path, json_body={"content": content}, headers=HEADERS)

    def control(self, session_id: str, what: str) -> Answer:
        return self._intervene.request("POST", f"/v1/sessions/{session_id}/{what}", headers=HEADERS)

    def resolve(self, session_id: str, intervention_id: str, option: str) -> Answer:
        path = f"/v1/sessions/{session_id}/interventions/{intervention_id}/resolve"
        return self._intervene.request("POST", path, json_body={"option": option}, headers=HEADERS)

    def delete(self, session_id: str) -> None:
        assert self._intervene.request("DELETE", f"/v1/sessions/{session_id}").status == 204


def front(*turns: Any) -> Front:
    return Front(
        House(
            ScriptedModel([*turns] or [plans("look"), says("", step(1, "completed", "ok")), completes("Ok.")])
        )
    )


def started(made: Front) -> str:
    return str(made.house.start(GOAL).session_id)


def numbers(made: Front, session_id: str) -> int:
    newest = made.house.log.latest(TENANT, session_id)
    return newest.number if newest is not None else 0


def test_a_start_sent_again_gets_the_first_answer_however_far_the_session_has_come() -> None:
    made = front()
    first = made.start()
    made.house.run()
    again = made.start()
    assert (again.status, again.json, again.headers["Location"]) == (
        202,
        first.json,
        first.headers["Location"],
    )
    assert made.house.head(first.data["session_id"]).state == "completed"
    assert len(made.house.index.sessions(TENANT, states=(), agent_id=None, limit=9, cursor=None).entries) == 1


CONTROLS: dict[str, Callable[[Front, str], Answer]] = {
    "messages": lambda made, session: made.say(session),
    "pause": lambda made, session: made.control(session, "pause"),
    "cancel": lambda made, session: made.control(session, "cancel"),
}


@pytest.mark.parametrize("what", CONTROLS)
def test_what_is_sent_again_changes_nothing_and_gets_the_first_answer(what: str) -> None:
    made = front()
    session = started(made)
    first = CONTROLS[what](made, session)
    made.house.run()
    before = numbers(made, session)
    again = CONTROLS[what](made, session)
    assert (first.status, again.status, again.json) == (202, 202, first.json)
    assert numbers(made, session) == before


def test_a_resume_sent_again_gets_the_first_answer() -> None:
    made = front()
    session = started(made)
    made.house.pause(session)
    first = made.control(session, "resume")
    made.house.run()
    again = made.control(session, "resume")
    assert (first.status, again.status, again.json) == (202, 202, first.json)


@pytest.mark.parametrize(
    ("before", "what", "after"),
    [
        (["pause"], "pause", ["resume"]),
        (["pause", "resume"], "resume", ["pause"]),
        (["cancel"], "cancel", ["say"]),
    ],
)
def test_one_that_changed_nothing_changes_nothing_when_it_is_sent_again_later(
    before: list[str], what: str, after: list[str]
) -> None:
    made = front()
    session = started(made)
    others: dict[str, Callable[[], object]] = {
        "pause": lambda: made.house.pause(session),
        "resume": lambda: made.house.resume(session),
        "cancel": lambda: made.house.cancel(session),
        "say": lambda: made.house.say(session, "Go on after all"),
    }
    for each in before:
        others[each]()
    first = made.control(session, what)
    for each in after:
        others[each]()
    there = made.house.head(session)
    again = made.control(session, what)
    assert (first.status, again.status, again.json) == (202, 202, first.json)
    assert made.house.head(session) == there


def test_one_without_a_key_that_changes_nothing_writes_nothing() -> None:
    made = front()
    session = started(made)
    made.house.pause(session)
    before = numbers(made, session)
    made.house.pause(session)
    assert numbers(made, session) == before


def test_a_decision_sent_again_gets_the_decision_that_was_made() -> None:
    house, session, one = waiting("approval_required")
    made = Front(house)
    first = made.resolve(session, one.intervention_id, "approve")
    house.run()
    again = made.resolve(session, one.intervention_id, "approve")
    assert (first.status, again.status, again.json) == (200, 200, first.json)
    assert again.data["resolution"] == "approve"


def test_once_the_session_is_deleted_a_repeat_gets_ids_alone() -> None:
    made = front()
    session = made.start().data["session_id"]
    made.say(session)
    for what in ("pause", "resume", "cancel"):
        assert made.control(session, what).status == 202
    made.delete(session)
    answers = [
        made.start(),
        made.say(session),
        *(made.control(session, what) for what in ("pause", "resume", "cancel")),
    ]
    assert [(answer.status, answer.data) for answer in answers] == [(202, {"session_id": session})] * 5
    assert answers[0].headers["Location"] == f"/v1/sessions/{session}"
    assert made.house.index.sessions(TENANT, states=(), agent_id=None, limit=9, cursor=None).entries == ()


def test_once_the_session_is_deleted_a_decision_sent_again_gets_ids_alone() -> None:
    house, session, one = waiting("approval_required")
    made = Front(house)
    assert made.resolve(session, one.intervention_id, "approve").status == 200
    made.delete(session)
    again = made.resolve(session, one.intervention_id, "approve")
    assert (again.status, again.data) == (
        200,
        {"session_id": session, "intervention_id": one.intervention_id},
    )


def test_a_deletion_that_was_cut_short_shows_nothing_to_a_repeat_either() -> None:
    """The session says that it is deleted, and what it held is still there."""
    house, session, one = waiting("approval_required")
    made = Front(house)
    made.say(session)
    assert made.resolve(session, one.intervention_id, "reject").status == 200
    repository = house.fresh_repository()
    for change in repository.attempts(repository.newest(TENANT, session), "delete"):
        change.set(deleted=True)
        change.commit()
    assert made.say(session).data == {"session_id": session}
    again = made.resolve(session, one.intervention_id, "reject")
    assert again.data == {"session_id": session, "intervention_id": one.intervention_id}


def test_a_record_has_ids_and_a_number_and_no_text() -> None:
    made = front()
    session = made.start().data["session_id"]
    record = made.house.index.idempotency_record(TENANT, "POST /v1/sessions", f"{USER}\nk")
    assert record is not None
    assert (record.status, record.answer, record.commit) == (202, {"session_id": session}, 1)
    assert record.expires_at == made.house.clock.now() + KEY_LIFE
    assert GOAL not in json.dumps(record, default=str)


@pytest.mark.parametrize("body", [GOAL, "Something else"])
def test_a_key_that_somebody_else_has_used_is_a_key_of_ones_own(body: str) -> None:
    made = front()
    theirs = made.start().data["session_id"]
    other = Front(made.house, user="mia")
    own = other.start(body)
    assert (own.status, own.data["created_by"]) == (202, "mia")
    assert own.data["session_id"] != theirs
    assert made.start().data["session_id"] == theirs


def test_somebody_else_who_repeats_an_approval_is_asked_for_the_role() -> None:
    house, session, one = waiting("approval_required", role="finance")
    cleo = Front(house, user="cleo", roles=["member", "finance"])
    approved = [cleo.resolve(session, one.intervention_id, "approve").status for _ in range(2)]
    repeated = Front(house, user="mia").resolve(session, one.intervention_id, "approve")
    assert (approved, repeated.status) == ([200, 200], 409)


def test_a_key_with_another_body_is_refused_and_does_nothing() -> None:
    made = front()
    session = made.start().data["session_id"]
    assert made.start("Something else").error["code"] == "IDEMPOTENCY_MISMATCH"
    made.say(session, "One")
    before = numbers(made, session)
    assert made.say(session, "Two").error["code"] == "IDEMPOTENCY_MISMATCH"
    assert numbers(made, session) == before


def test_a_conflict_leaves_its_key_free() -> None:
    made = front()
    session = str(made.house.start(None).session_id)
    assert made.control(session, "pause").error["code"] == "CONFLICT"
    made.house.say(session, GOAL)
    assert made.control(session, "pause").status == 202


class Overtaken(DynamoIndex):
    """The house's index. Between a request's first look for its key and its commit, another request is made."""

    def __init__(self, index: DynamoIndex) -> None:
        vars(self).update(vars(index))
        self.meanwhile: Callable[[], object] | None = None

    def idempotency_record(self, tenant: str, route: str, key: str) -> IdempotencyRecord | None:
        found = super().idempotency_record(tenant, route, key)
        if self.meanwhile is not None:
            act, self.meanwhile = self.meanwhile, None
            act()
        return found


@pytest.mark.parametrize("what", ["start", "say", "cancel"])
def test_of_two_requests_with_one_key_at_once_both_get_the_answer_of_the_first(what: str) -> None:
    house = House(ScriptedModel([]))
    index = Overtaken(house.index)
    made = Front(house, index)
    session = "" if what == "start" else started(made)
    send: Callable[[], Answer] = {
        "start": made.start,
        "say": lambda: made.say(session),
        "cancel": lambda: made.control(session, "cancel"),
    }[what]
    answers: list[Answer] = []
    index.meanwhile = lambda: answers.append(send())
    answers.append(send())
    assert [answer.status for answer in answers] == [202, 202]
    assert answers[0].json == answers[1].json


class Meets:
    """The house's log. The first writes meet another transaction at one of their items, which ends in the meantime."""

    def __init__(self, house: House, times: int, meanwhile: Callable[[], object]) -> None:
        self._log, self._times, self._meanwhile = house.log, times, meanwhile

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)

    def append(self, commit: Commit, extra_items: TransactionItems = NO_ITEMS) -> None:
        if self._times:
            self._times -= 1
            if not self._times:
                self._meanwhile()
            raise NumberTaken
        self._log.append(commit, extra_items)


@pytest.mark.parametrize("times", [1, 3])
def test_of_two_first_requests_whose_transactions_meet_both_get_one_answer(times: int) -> None:
    house = House(ScriptedModel([]))
    theirs, answers = Front(house), list[Answer]()
    house.log = Meets(house, times, lambda: answers.append(theirs.start()))  # type: ignore[assignment]
    answers.append(Front(house).start())
    assert [answer.status for answer in answers] == [202, 202]
    assert answers[0].json == answers[1].json
    assert len(house.index.sessions(TENANT, states=(), agent_id=None, limit=9, cursor=None).entries) == 1


def test_a_start_whose_answer_was_lost_is_made_once() -> None:
    house = House(ScriptedModel([]))
    house.log = LossyLog(house, 1)  # type: ignore[assignment]
    made = Front(house)
    first, again = made.start(), made.start()
    assert (first.status, again.json) == (202, first.json)
    assert house.head(first.data["session_id"]).state == "planning"


def test_a_start_that_always_meets_others_is_left_to_a_later_try() -> None:
    house = House(ScriptedModel([]))
    house.log = Meets(house, 99, lambda: None)  # type: ignore[assignment]
    answer = Front(house).start()
    assert (answer.status, answer.error["code"]) == (503, "UNAVAILABLE")


class Crash(BaseException):
    """The worker is gone."""


class Dies(MemoryWorkflow):
    def __init__(self) -> None:
        super().__init__()
        self.lives = False

    def start(self, decision: Decision) -> bool:
        if not self.lives:
            raise Crash
        return super().start(decision)


def test_a_start_whose_worker_died_before_it_started_the_engine_is_started_by_the_repeat() -> None:
    house = House(ScriptedModel([plans("look"), says("", step(1, "completed", "ok")), completes("Ok.")]))
    house.workflow = workflow = Dies()
    made = Front(house)
    with pytest.raises(Crash):
        made.start()
    workflow.lives = True
    again = made.start()
    assert (again.status, again.data["state"]) == (202, "planning")
    house.run()
    assert house.head(again.data["session_id"]).state == "completed"
