"""A deployed local stack whose Lambdas are, function by function, of this release or of the one before.

A `Mix` says which functions are the old ones. A course is a list of them: the fleet changes to the next one while the
model is asked, and before a person decides. So the work goes on in the midst of a deployment, or of its rollback.
"""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Self

from infra.engine.workflow import PLACEHOLDERS
from shared.adapters.dynamodb.session_index import DynamoIndex
from shared.adapters.system_clock import SystemClock
from shared.domain.schema.versions import CURRENT, PREVIOUS
from shared.domain.session.head import Head
from tests.faults.calls import Answer, Request
from tests.faults.person import Json
from tests.faults.provider import Provider, place_of
from tests.faults.scenario import LONGEST_SECONDS, Play, Run
from tests.faults.script import SCRIPT
from tests.faults.stand import Stand
from tests.releases import previous

SCRIPT_OF_BOTH = tuple(
    turn._replace(calls=tuple(call for call in turn.calls if call.name != "remember")) for turn in SCRIPT
)
"""While the older version is written a note after text from outside is refused, so it ends otherwise on purpose."""
LIMITS = {"*": {"starts_per_minute": 100, "open_sessions": 100, "requests_per_second": 500, "long_polls": 50}}
"""So wide that nothing is refused: what has ended may not be counted as open, whichever release ended it (ADR 65)."""
FUNCTIONS = ("start", "status", "step", "tool", "intervene", "admin", "recover")


class Mix(NamedTuple):
    """`old`: the functions that are of the release before. `machine`: whose state machine new executions get.
    `version`: the schema version that today's functions write.
    """

    old: frozenset[str] = frozenset()
    machine: str = "new"
    version: int = PREVIOUS


def old(*names: str, machine: str = "new") -> Mix:
    return Mix(frozenset(names), machine)


OLD, NEW = old(*FUNCTIONS, machine="old"), old()
RAISED = NEW._replace(version=CURRENT)


class Held(NamedTuple):
    """A reply of the model. `asked_for`: its worker is in its turn; `may_go`: is set by whoever holds it."""

    asked_for: threading.Event
    may_go: threading.Event


class Roles(NamedTuple):
    """ARNs, by release; the same where the function has one role."""

    former: str
    todays: str


class Fleet(Stand):
    """`take(mix)` changes it; what is being carried out is carried out by the release that began it."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._mix: Mix | None = None
        self._course: list[Mix] = []
        self._provider = Provider(SCRIPT_OF_BOTH)
        self._roles: dict[str, Roles] = {}
        self._tenant = ""
        self.held: dict[tuple[str, int], Held] = {}
        """Replies that are kept back, by the run's tag and their place in the script."""
        self.counted: list[int] = []
        """How many sessions counted as open at each change of the last run, and after it."""
        super().__init__(model=self._ask, ACTA_TENANT_LIMITS=json.dumps(LIMITS))

    def __enter__(self) -> Self:
        """Both releases' zips are made first: nothing waits for them amid a run. Raises NoHistory."""
        for name in FUNCTIONS:
            previous.zip_of(name)
            previous.todays_zip_of(name)
        return super().__enter__()

    def play(self, *course: Mix) -> Run:
        """The scenario once, in a fleet that starts with the first of the course and keeps the last."""
        first, *self._course = course
        self.take(first)
        play = MixedPlay(self)
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
        with self._changing:
            before, self._mix = self._mix, mix
        for name in FUNCTIONS:
            is_old = name in mix.old
            if before is None or is_old != (name in before.old):
                self.become(name, is_old)
            if before is None or mix.version != before.version:
                variables = {**self.function(name), "ACTA_WRITE_VERSION": str(mix.version)}
                self._lambdas.update_function_configuration(
                    FunctionName=f"acta-local-{name}", Environment={"Variables": variables}
                )
        if before is not None and mix.machine == before.machine:
            return
        if before is None:
            self._definitions = {"new": self._deployed(), "old": self._old_definition()}
        if mix.machine != "new" or before is not None:
            self.states.update_state_machine(
                stateMachineArn=self.machine, definition=json.dumps(self._definitions[mix.machine])
            )

    def become(self, name: str, is_old: bool) -> None:
        """Its code and its role. A deployment changes both at once; here no code is ever with a role that is too narrow
        for it.
        """
        roles = self._roles_of(name)
        code = previous.zip_of(name) if is_old else previous.todays_zip_of(name)
        function = {"FunctionName": f"acta-local-{name}"}
        if is_old:
            self._lambdas.update_function_configuration(**function, Role=roles.former)
        self._lambdas.update_function_code(**function, ZipFile=code)
        if not is_old:
            self._lambdas.update_function_configuration(**function, Role=roles.todays)

    def _roles_of(self, name: str) -> Roles:
        if name not in self._roles:
            found = self._lambdas.get_function_configuration(FunctionName=f"acta-local-{name}")
            tenant = found["Environment"]["Variables"].get("ACTA_TENANT_ROLE", "")
            self._roles[name] = Roles(
                self._former(name, found["Role"], tenant) if tenant else found["Role"], found["Role"]
            )
        return self._roles[name]

    def _former(self, name: str, todays: str, tenant: str) -> str:
        """The one role that the release before knows, which a deployment keeps beside the new ones while the version
        that is written is the older one (`infra/lambdas/roles.py`): it may do what both of them may. The local AWS
        writes today's version and has none. It may also assume the role for tenants, for `become`.
        """
        iam = self.client("iam")
        documents = [
            iam.get_role_policy(RoleName=arn.rpartition("/")[2], PolicyName="acta")["PolicyDocument"]
            for arn in (todays, tenant)
        ]
        statements = [one for document in documents for one in document["Statement"]]
        statements.append({"Effect": "Allow", "Action": "sts:AssumeRole", "Resource": tenant})
        made = iam.create_role(
            RoleName=f"former-{name}", AssumeRolePolicyDocument=_trusting({"Service": "lambda.amazonaws.com"})
        )
        former = str(made["Role"]["Arn"])
        iam.put_role_policy(
            RoleName=f"former-{name}", PolicyName="acta", PolicyDocument=json.dumps({"Statement": statements})
        )
        iam.update_assume_role_policy(
            RoleName=tenant.rpartition("/")[2], PolicyDocument=_trusting({"AWS": [todays, former]})
        )
        return former

    @property
    def _lambdas(self) -> Any:
        return self.client("lambda")

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

    def _deployed(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = json.loads(
            self.states.describe_state_machine(stateMachineArn=self.machine)["definition"]
        )
        return found

    def _old_definition(self) -> Mapping[str, Any]:
        text = json.dumps(previous.state_machine())
        for placeholder, name in PLACEHOLDERS.items():
            found = self._lambdas.get_function_configuration(FunctionName=f"acta-local-{name}")
            text = text.replace("${" + placeholder + "}", found["FunctionArn"])
        filled: Mapping[str, Any] = json.loads(text)
        return filled

    def has_met(self, error: str, head: Head) -> bool:
        """Whether a function has answered the session's execution with this error."""
        history = self.states.get_execution_history(executionArn=self.execution_of(head), maxResults=1_000)
        return any(
            event.get("taskFailedEventDetails", {}).get("error") == error for event in history["events"]
        )


def _trusting(principal: Mapping[str, Any]) -> str:
    return json.dumps({"Statement": {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": principal}})


class MixedPlay(Play):
    stand: Fleet

    def decide(self, session_id: str, one: Json) -> None:
        self.stand.go_on()
        super().decide(session_id, one)


class TooLateRollback(Play):
    """`step` is of the release before although today's version was written already. Its own release comes back once it
    has met a document that it cannot read. `met`: whether it has.
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
    "only the release before": (OLD,),
    "an open execution of the release before": (old(machine="old"),),
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
