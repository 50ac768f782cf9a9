"""The scenario as a tree: a boss has two leads at work, each of which has a worker that books, charges and asks."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from acta.engine.log.head import Head
from acta.engine.subagents.tree import tree
from acta.engine.turn.budget import all_tokens, reserved
from acta.engine.usage.usage import Amounts
from tests.faults.calls import Request
from tests.faults.ending import Ending
from tests.faults.person import Json
from tests.faults.provider import Provider
from tests.faults.scenario import TOOLS, Play
from tests.faults.script import BOOK, CHARGE, NOTIFY, Said, Turn

ROOMS = ("room 1", "room 2")
MODELS = {"boss": "claude-opus-5", "lead": "claude-sonnet-5", "worker": "claude-haiku-4-5"}
"""By these the provider tells the agents apart."""
ROOM = re.compile(rb"room \d")


class TreeProvider(Provider):
    """Also answers the agents of the tree, each by its own script."""

    def turns_of(self, request: Request) -> Sequence[Turn]:
        body = json.loads(request.body)
        name = next((name for name, model in MODELS.items() if model == body["model"]), None)
        if name is None:
            return super().turns_of(request)
        if name == "boss":
            return (_asks("lead", f"Rooms for {request.tag}", *ROOMS), Turn("Both are booked.", ()))
        asked = ROOM.search(json.dumps(body["messages"][0]).encode())
        assert asked is not None
        room = asked[0].decode()
        if name == "lead":
            return (_asks("worker", f"Book {room} for {request.tag}"), Turn(f"The {room} is seen to.", ()))
        return (
            Turn("", (Said(BOOK, {"what": room}), Said(CHARGE, {"what": f"deposit of {room}"}))),
            Turn("", (Said(NOTIFY, {"what": f"guest of {room}"}),)),
            Turn(f"The {room} is booked.", ()),
        )


def _asks(name: str, goal: str, *items: str) -> Turn:
    return Turn("", (Said(name, {"goal": goal, **({"map": list(items)} if items else {})}),))


class TreePlay(Play):
    """Whatever people are asked anywhere in the tree is decided. Afterwards every session's end is compared, and the
    money: each parent is charged with what its children have used, and nothing is reserved any more.
    """

    tools: ClassVar[Mapping[str, Json]] = {BOOK: {"effect": "idempotent", "high_stakes": False}, **TOOLS}
    agent: ClassVar[str] = "boss"

    def register_tools(self) -> None:
        super().register_tools()
        for name, called in (("worker", ()), ("lead", ("worker",)), ("boss", ("lead",))):
            agent = {
                "agent_id": name,
                "name": name,
                "model": MODELS[name],
                "planning": "when_needed",
                "agents": [{"agent": each} for each in called],
            }
            answer = self.person.post("/v1/agents", agent, f"agent-{name}")
            assert answer.status_code == 201, answer.text

    def heads(self, root: Head) -> Iterator[Head]:
        return (node.head for node in tree(self.stand.log, root))

    def see_to(self, session_id: str) -> Head:
        while True:
            root = self.wait(session_id, lambda root: root.is_over or any(map(self.asks, self.heads(root))))
            if root.is_over:
                break
            for head in filter(self.asks, self.heads(root)):
                asked = self.person.data(f"/v1/sessions/{head.session_id}")["session"]["interventions"]
                for one in asked:
                    self.decide(head.session_id, one)
        for head in self.heads(root):
            self.rest(head)
        heads = list(self.heads(root))
        for head in heads:
            assert not head.owes_family, f"{head.agent_id} has not told its parent of its end"
            below = [each for each in heads if each.parent and each.parent.session_id == head.session_id]
            used = sum(all_tokens(each.budget) for each in below)
            assert (head.budget.children_tokens, reserved(head)) == (used, (0, 0.0)), (
                f"money of {head.agent_id}"
            )
        return root

    def ending(self, head: Head) -> Ending:
        whole = super().ending(head)
        below = {}
        for each in self.heads(head):
            if each.parent is not None:
                room = ROOM.search(each.goal.encode())
                below[f"{each.agent_id} of {room and room[0].decode()}"] = super().ending(each)
        return whole._replace(below=below)

    def used(self, session_id: str) -> Amounts:
        root = self.stand.repository.newest(self.tag, session_id).head
        found = super().used(session_id)
        for head in self.heads(root):
            if head.session_id != session_id:
                found = found.plus(super().used(head.session_id))
        return found
