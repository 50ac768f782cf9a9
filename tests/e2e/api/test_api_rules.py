"""People who do whatever comes to mind, over HTTP, while the deployed engine works: the rules of sessions hold."""

from random import Random
from typing import Any

import pytest

from acta.engine.log.head import TRANSITIONS
from tests.e2e.support.person import OVER, Json, Person, Seen

WALKS = 3
ACTIONS = 14
GOALS = ("Delete the file old.txt", "List my files", "Copy old.txt to new.txt, then delete old.txt", "Hello")


class Walk:
    """One session and what somebody did to it; `said`: the messages that were accepted."""

    def __init__(self, person: Person, chance: Random) -> None:
        self.person, self.chance = person, chance
        person.put_file("old.txt", "old")
        goal = chance.choice(GOALS)
        self.said = [goal]
        self.session_id = person.start(goal, review_every=chance.choice([0, 0, 1]))
        self.path = f"/v1/sessions/{self.session_id}"

    def act(self) -> None:
        match self.chance.choice(
            ["say", "pause", "resume", "cancel", "poll", "resolve", "resolve", "resolve"]
        ):
            case "say":
                text = f"And {self.chance.choice(GOALS)}{'!' * len(self.said)}"
                if self.accepted(f"{self.path}/messages", content=text):
                    self.said.append(text)
            case "poll":
                self.look()
            case "resolve":
                self.resolve(wrong=self.chance.random() < 0.2)
            case control:
                self.accepted(f"{self.path}/{control}")

    def look(self) -> Json:
        session = self.person.snapshot(self.session_id)
        assert (session["state"] == "waiting_for_user") == bool(session["interventions"])
        return session

    def resolve(self, wrong: bool = False) -> None:
        for one in self.look()["interventions"][:1]:
            option = "shrug" if wrong else self.chance.choice(one["options"])
            given: dict[str, Any] = {}
            if option == "answer":
                given = {"input": {"text": f"List my files{'!' * len(self.said)}"}}
            if option == "modify":
                given = {"input": {"path": "old.txt"}}
            path = f"{self.path}/interventions/{one['intervention_id']}/resolve"
            if self.accepted(path, option=option, **given) and option == "answer":
                self.said.append(given["input"]["text"])

    def accepted(self, path: str, **body: Any) -> bool:
        answer = self.person.post(path, body)
        assert answer.status_code in (200, 202, 400, 409), answer.text
        return answer.status_code < 300

    def to_the_end(self) -> Seen:
        """Goes on with whatever is asked until the run is over; a person who is asked too often cancels."""
        for _ in range(20):
            seen = self.person.watch(
                self.session_id, lambda s: s["state"] in OVER or bool(s["interventions"])
            )
            if seen.session["state"] in OVER:
                return seen
            self.resolve()
        self.accepted(f"{self.path}/cancel")
        return self.person.watch(self.session_id, lambda s: s["state"] in OVER)


def accounts(walk: Walk) -> tuple[Json, list[Json]]:
    """Usage and steps of one moment: a reply that was under way when the run was cancelled is counted when it comes."""
    while True:
        before = walk.person.snapshot(walk.session_id)["usage"]
        steps = walk.person.items(f"{walk.path}/steps")
        if walk.person.snapshot(walk.session_id)["usage"] == before:
            return before, steps


@pytest.mark.parametrize("seed", range(WALKS))
def test_whatever_a_person_does_over_http_the_rules_of_sessions_hold(ann: Person, seed: int) -> None:
    walk = Walk(ann, Random(seed))
    for _ in range(ACTIONS):
        walk.act()
    seen = walk.to_the_end()

    assert [event["seq"] for event in seen.events] == list(range(1, seen.session["last_seq"] + 1))
    state = None
    for event in seen.of("state.changed"):
        assert event["data"]["from"] == state
        assert event["data"]["to"] == state or event["data"]["to"] in TRANSITIONS[state]
        state = event["data"]["to"]
    assert state == seen.session["state"]
    messages = ann.items(f"{walk.path}/messages")
    assert sorted(one["content"] for one in messages if one["role"] == "user") == sorted(walk.said)
    asked = [call["call_id"] for one in messages for call in one.get("tool_calls") or ()]
    got = [one["call_id"] for one in messages if one["role"] == "tool"]
    assert len(got) == len(set(got))
    assert set(got) <= set(asked)
    usage, steps = accounts(walk)
    assert sum(one["input_tokens"] + one["output_tokens"] for one in steps) == usage["total_tokens"]
    assert [one["step_number"] for one in steps] == list(range(1, len(steps) + 1))
