"""A deployed local stack whose Lambdas are, function by function, of this release or of one after it.

The one after it is made from these sources (`following.py`). Here this release is the old one. A `Mix` says which
functions are of it. A course is a list of them: the fleet changes to the next one while the model is asked, and before
a person decides. So the work goes on in the midst of a deployment, or of its rollback.
"""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Self

from acta.engine.clock import SystemClock
from acta.engine.log.dynamodb_index import DynamoIndex
from acta.engine.log.head import Head
from acta.engine.store.schema import CURRENT
from acta.engine.store.table_layout import unpack
from tests.faults.calls import Answer, Request
from tests.faults.person import Json
from tests.faults.provider import place_of
from tests.faults.scenario import LONGEST_SECONDS, Play, Run
from tests.faults.stand import Stand
from tests.faults.tree import TreePlay, TreeProvider
from tests.releases.following import FIELD, zip_of

LIMITS = {"*": {"starts_per_minute": 100, "open_sessions": 100, "requests_per_second": 500, "long_polls": 50}}
"""So wide that nothing is refused: what has ended may not be counted as open, whichever release ended it (ADR 65)."""
FUNCTIONS = ("start", "status", "step", "tool", "intervene", "admin", "recover")


class Mix(NamedTuple):
    """`old`: the functions that are of this release. `version`: the schema version that the others write. `too_old`:
    the old ones are of a release that does not read the next version.
    """

    old: frozenset[str] = frozenset()
    version: int = CURRENT
    too_old: bool = False

    def code_of(self, function: str) -> "Code":
        if function in self.old:
            return Code(-1 if self.too_old else 0, CURRENT)
        return Code(1, self.version)


class Code(NamedTuple):
    """What a function is: `ahead` as in `changed_files`, 0: of this release. `writes`: the schema version."""

    ahead: int
    writes: int


def old(*names: str) -> Mix:
    return Mix(frozenset(names))


OLD, NEW = old(*FUNCTIONS), old()
RAISED = NEW._replace(version=CURRENT + 1)
"""All functions are of the release after this one, and write its version."""


class Held(NamedTuple):
    """A reply of the model. `asked_for`: its worker is in its turn; `may_go`: is set by whoever holds it."""

    asked_for: threading.Event
    may_go: threading.Event


class Fleet(Stand):
    """`take(mix)` changes it; what is being carried out is carried out by the release that began it."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._code = dict.fromkeys(FUNCTIONS, Code(0, CURRENT))
        self._course: list[Mix] = []
        self._provider = TreeProvider()
        self._tenant = ""
        self.held: dict[tuple[str, int], Held] = {}
        """Replies that are kept back, by the run's tag and their place in the script."""
        self.counted: list[int] = []
        """How many sessions counted as open at each change of the last run, and after it."""
        super().__init__(model=self._ask, ACTA_TENANT_LIMITS=json.dumps(LIMITS))

    def __enter__(self) -> Self:
        """Both releases' zips are made first: nothing waits for them amid a run."""
        for name in FUNCTIONS:
            zip_of(name, 0)
            zip_of(name, 1)
        return super().__enter__()

    def play(self, *course: Mix, scenario: "type[MixedPlay] | None" = None) -> Run:
        """The scenario once, in a fleet that starts with the first of the course and keeps the last."""
        first, *self._course = course
        self.take(first)
        play = (scenario or MixedPlay)(self)
        self._tenant, self.counted = play.tag, []
        run = play.run()
        self._count()
        assert not self._course, f"the run was over with {len(self._course)} of the course to come"
        return run

    def go_on(self) -> None:
        """To the next of the course."""
        self._count()
        with self._changing:
            following = self._course.pop(0) if self._course else None
        if following is not None:
            self.take(following)

    def _count(self) -> None:
        index = DynamoIndex(self.function("step")["ACTA_TABLE"], SystemClock(), self.client("dynamodb"))
        self.counted.append(index.counts(self._tenant).open)

    def take(self, mix: Mix) -> None:
        for name in FUNCTIONS:
            self.become(name, mix.code_of(name))

    def become(self, name: str, code: Code) -> None:
        """A deployment changes code and variables at once. Here no code ever is told to write what it does not know."""
        with self._changing:
            before, self._code[name] = self._code[name], code
        lambdas, function = self.client("lambda"), {"FunctionName": f"acta-local-{name}"}
        if code.writes < before.writes:
            self._write(name, code.writes)
        if code.ahead != before.ahead:
            lambdas.update_function_code(**function, ZipFile=zip_of(name, code.ahead))
        if code.writes > before.writes:
            self._write(name, code.writes)

    def _write(self, name: str, version: int) -> None:
        variables = {**self.function(name), "ACTA_WRITE_VERSION": str(version)}
        self.client("lambda").update_function_configuration(
            FunctionName=f"acta-local-{name}", Environment={"Variables": variables}
        )

    def hold(self, tag: str, place: int) -> "Held":
        """Keeps back the reply that has this place in the script of the run, from 0."""
        return self.held.setdefault((tag, place), Held(threading.Event(), threading.Event()))

    def _ask(self, request: Request) -> Answer:
        held = self.held.get((request.tag or "", place_of(request)))
        if held is not None:
            held.asked_for.set()
            held.may_go.wait(LONGEST_SECONDS)
        self.go_on()
        return self._provider(request)

    def has_met(self, error: str, head: Head) -> bool:
        """Whether a function has answered the session's execution with this error."""
        history = self.states.get_execution_history(executionArn=self.execution_of(head), maxResults=1_000)
        return any(
            event.get("taskFailedEventDetails", {}).get("error") == error for event in history["events"]
        )

    def drawn(self) -> set[str | None]:
        """The values that the commits of the last run's sessions have in the field that this release does not know."""
        found = self.client("dynamodb").scan(
            TableName=self.function("step")["ACTA_TABLE"],
            FilterExpression="begins_with(pk, :session) AND begins_with(sk, :commit)",
            ExpressionAttributeValues={
                ":session": {"S": f"T#{self._tenant}#S#"},
                ":commit": {"S": "C#"},
            },
        )["Items"]
        return {json.loads(unpack(item["z"]["B"]))["head"].get(FIELD) for item in found}


class MixedPlay(Play):
    stand: Fleet

    def decide(self, session_id: str, one: Json) -> None:
        self.stand.go_on()
        super().decide(session_id, one)


class MixedTree(TreePlay, MixedPlay):
    """The same as a tree of five sessions."""

    stand: Fleet


class TooLateRollback(Play):
    """`step` is of a release that cannot read the version that was written already. The release that wrote it
    comes back once `step` has met such a document. `met`: whether it has.
    """

    stand: Fleet
    met = False

    def wait(self, session_id: str, until: Callable[[Head], bool]) -> Head:
        def look(head: Head) -> bool:
            if not self.met and self.stand.has_met("SchemaUnknown", head):
                self.met = True
                self.stand.take(RAISED)
            return until(head)

        return super().wait(session_id, look)


API = ("start", "status", "admin")
COURSES: Mapping[str, Sequence[Mix]] = {
    "only this release": (OLD,),
    "step is old": (old("step"),),
    "tool is old": (old("tool"),),
    "intervene is old": (old("intervene"),),
    "the API is old": (old(*API),),
    "only step is new": (old(*API, "tool", "intervene", "recover"),),
    "only tool is new": (old(*API, "step", "intervene", "recover"),),
    "only intervene is new": (old(*API, "step", "tool", "recover"),),
    "rolled out, step last": (OLD, OLD, old(*API, "step", "recover"), old("step"), NEW),
    "rolled back": (NEW, NEW, old("tool", "intervene"), old("tool", "intervene", "step"), OLD),
    "rolled out for good": (OLD, old("step"), NEW, RAISED),
    "the write version is raised and lowered again": (NEW, RAISED, RAISED, NEW, RAISED, NEW),
}
"""Name -> course. The scenario asks the model six times and a person once, who decides after the fourth reply."""
ALTERNATING = (
    old("step"), old("tool"), old("step", "intervene"), old("tool", "status"), old("step", "tool"), old("intervene"),
    old("step"), NEW,
)  # fmt: skip
"""What changes from turn to turn: each function is of either release, beside others of either."""
CARRIED = tuple(
    mix._replace(version=RAISED.version) for mix in (NEW, old("step"), old("tool"), OLD, old("step"), NEW)
)
"""The newer version is written from the start on, and functions of this release work on the session in between."""
