"""What tools did to the world: a service that counts, and remembers under which key it was asked."""

import json
import threading
from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from tests.faults.calls import Answer, Request
from tests.faults.script import BOOK, CHARGE, RESERVE

LONG = "This room is said to have a view of the sea. "
PAIR_SECONDS = 10.0


class Effect(NamedTuple):
    """`times`: how often it took place; a service that knows the key repeats nothing."""

    tool: str
    what: str
    times: int


class Ledger:
    """`/run/tool` is asked with a body; the one tool that runs once takes no notice of keys, as such services do."""

    def __init__(self) -> None:
        self._asked: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
        self._changed = threading.Condition()
        self.answers: dict[str, tuple[str, str]] = {}
        """By run, the callback URL of the last call that is answered later, and the answer."""

    def __call__(self, request: Request) -> Answer:
        _, run, tool = request.path.split("/")
        what = str(json.loads(request.body)["what"])
        with self._changed:
            self._asked[run].append((tool, what, request.headers["idempotency-key"]))
            self._changed.notify_all()
            if tool == RESERVE:  # both of the pair are under way before either is done
                self._changed.wait_for(lambda: len(self._rooms(run)) > 1, PAIR_SECONDS)
            if (url := request.headers.get("acta-callback-url")) is not None:
                self.answers[run] = (url, receipt(tool, what))
                return Answer(202, {}, b"")
        return Answer(200, {"Content-Type": "text/plain"}, receipt(tool, what).encode())

    def effects(self, run: str) -> tuple[Effect, ...]:
        done: dict[tuple[str, str], list[str]] = defaultdict(list)
        for tool, what, key in self._asked[run]:
            if tool == CHARGE or key not in done[tool, what]:
                done[tool, what].append(key)
        return tuple(sorted(Effect(tool, what, len(keys)) for (tool, what), keys in done.items()))

    def has(self, run: str, tool: str, arguments: Mapping[str, object]) -> bool:
        """Whether it happened: what a person looks up before they answer."""
        return any(asked[:2] == (tool, arguments["what"]) for asked in self._asked[run])

    def _rooms(self, run: str) -> set[str]:
        return {what for tool, what, _ in self._asked[run] if tool == RESERVE}


def receipt(tool: str, what: str) -> str:
    """Of a room more than fits into a commit."""
    return f"{tool} {what}: done. " + (LONG * 120 if tool in (RESERVE, BOOK) else "")
