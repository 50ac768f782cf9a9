"""The engine in one process: it does what the state machine of Step Functions does (`acta/infra/engine`), state by
state, and keeps its executions in SQLite. So an execution outlives the process: `resume` goes on where the last one
stopped, and a state that was at work is tried again, as after a Lambda that died.

An execution that waits, for a person, for a time or for its next attempt, holds no thread. Its row says until when.

The rules of each state, its retries and its operation are read from the definition that is deployed. Only the JSONata
expressions are written again, in `_enter` and `_leave`.
"""

import json
import random
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from threading import RLock, Thread
from typing import Any, NamedTuple

from acta.embedded.database import Database
from acta.engine.app import App
from acta.engine.bound_tenant import bound_to
from acta.engine.clock import Clock
from acta.engine.log.commit import Decision
from acta.engine.turn.engine import EngineEvent, ExecutionStatus, TokenGone, seconds_for_work

Data = dict[str, Any]
WORKER_LOST = "Runtime.ExitError"
"""The error of a state that was at work when the process died; it has retries of its own (`recovery/outage.py`)."""
FORGOTTEN_AFTER_DAYS = 90
"""Source: AWS Step Functions Developer Guide, "Service quotas": closed executions are kept for 90 days."""
LATE = 600
"""Seconds for which a wait for people is entered again after a warning or an expiry was due."""
STEP_SECONDS, TOOL_SECONDS = 900, 660
"""The time of an invocation of `step` and of `tool`."""
ROUTES = {
    "think": "Think", "act": "Act", "plan": "Plan", "ask": "Ask", "wait": "Wait", "park": "Park",
    "roll_over": "RollOver", "done": "Done", "failed": "Failed",
}  # fmt: skip


def perform(app: App, event: EngineEvent) -> Data:
    """Does the work of one state, as the functions do, and returns what the engine goes on with."""
    at = event.at
    with bound_to(at.tenant):
        match event.op:
            case "plan" | "think":
                from acta.engine.turn.fused_turns import take_turns

                seconds = seconds_for_work(STEP_SECONDS * 1_000)
                return take_turns(app.steps, event.op, at, event.attempt, seconds).decision.to_engine()
            case "tool":
                from acta.engine.tools.execute import run_call

                seconds = seconds_for_work(TOOL_SECONDS * 1_000, app.settings.longest_tool_seconds)
                run_call(app.tool_runtime, at, event.call_id, event.attempt, seconds)
            case "lost_tool":
                from acta.engine.tools.execute import abandon_call

                abandon_call(app.tool_runtime, at, event.call_id, event.error)
            case _:
                from acta.engine.recovery.states import perform_state

                return perform_state(app, event)
    return {}


class Execution(NamedTuple):
    """An execution that runs."""

    name: str
    state: str
    """The state that it is in, as the definition calls it."""
    input: Data
    """What the state was entered with."""
    entered: float
    """When it was entered, in seconds since 1970."""
    retries: tuple[int, ...] = ()
    """How often each rule of the state's `Retry` was applied."""
    due: float | None = None
    """When it goes on. None: it is at work, or nobody has begun with it yet."""
    token: str = ""
    """Whoever has it may wake the execution. Empty: it waits for nobody."""

    @property
    def attempt(self) -> int:
        return sum(self.retries)


class Executions:
    """The rows of all executions, in a table of their own in the file that the stores share."""

    def __init__(self, database: Database) -> None:
        self._database = database
        with database.writing() as connection:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS executions (name TEXT PRIMARY KEY, running INTEGER NOT NULL, state TEXT,"
                " input TEXT, entered REAL, retries TEXT, due REAL, token TEXT, ended REAL)"
            )
            connection.execute("CREATE INDEX IF NOT EXISTS running ON executions (running, due)")

    def start(self, name: str, given: Mapping[str, object], now: float) -> bool:
        """Whether it is new. One that was started before is left as it is."""
        with self._database.writing() as connection:
            made = connection.execute(
                "INSERT INTO executions VALUES (?, 1, 'Route', ?, ?, '[]', NULL, '', NULL) ON CONFLICT DO NOTHING",
                (name, json.dumps(given), now),
            )
        return made.rowcount == 1

    def is_running(self, name: str) -> bool | None:
        """None: it was never started."""
        with self._database.reading() as connection:
            found = connection.execute("SELECT running FROM executions WHERE name = ?", (name,)).fetchone()
        return None if found is None else bool(found[0])

    def running(self, condition: str = "", *values: object) -> list[Execution]:
        """Those that run and fit a further condition of SQL, a constant of this module."""
        condition = f"running = 1 {condition}"
        with self._database.reading() as connection:
            rows = connection.execute(
                f"SELECT name, state, input, entered, retries, due, token FROM executions WHERE {condition}",
                values,
            ).fetchall()
        return [
            Execution(name, state, json.loads(given), entered, tuple(json.loads(retries)), due, token)
            for name, state, given, entered, retries, due, token in rows
        ]

    def next_due(self, now: float) -> float | None:
        """When the next one of those that still wait goes on by itself."""
        with self._database.reading() as connection:
            found = connection.execute(
                "SELECT min(due) FROM executions WHERE running = 1 AND due > ?", (now,)
            ).fetchone()
        due: float | None = found[0]
        return due

    def move(self, before: Execution, after: Execution) -> bool:
        """False: it was stopped or woken since `before` was read, and nothing was written."""
        with self._database.writing() as connection:
            changed = connection.execute(
                "UPDATE executions SET state = ?, input = ?, entered = ?, retries = ?, due = ?, token = ?"
                " WHERE name = ? AND running = 1 AND state = ? AND entered = ? AND token = ?",
                (after.state, json.dumps(after.input), after.entered, json.dumps(after.retries), after.due,
                 after.token, before.name, before.state, before.entered, before.token),
            )  # fmt: skip
        return changed.rowcount == 1

    def wake(self, token: str, given: Mapping[str, object], now: float) -> str | None:
        """The name of the execution that waited for this token. None: none does."""
        with self._database.writing() as connection:
            found = connection.execute(
                "UPDATE executions SET state = 'Route', input = ?, entered = ?, retries = '[]', due = NULL, token = ''"
                " WHERE token = ? AND running = 1 RETURNING name",
                (json.dumps(given), now, token),
            ).fetchall()
        return found[0][0] if found else None

    def end(self, name: str, now: float) -> None:
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE executions SET running = 0, ended = ?, input = '', token = '' WHERE name = ? AND running = 1",
                (now, name),
            )

    def forget(self, before: float) -> None:
        """Those that ended before then."""
        with self._database.writing() as connection:
            connection.execute("DELETE FROM executions WHERE running = 0 AND ended < ?", (before,))


class Engine:
    """A Workflow. `definition`: the state machine, as `acta.infra.engine.workflow.definition` gives it. `work`: does
    what one event asks a function for. `begin`: is called with the name of each execution that can go on, and has
    `drive` called with it, in a thread or later. `tell`: is called with the name of an execution and the state that it
    has entered.
    """

    def __init__(
        self,
        executions: Executions,
        clock: Clock,
        definition: Mapping[str, Any],
        work: Callable[[Data], Data],
        begin: Callable[[str], None],
        tell: Callable[[str, str], None] = lambda name, state: None,
        *,
        park_after_seconds: int,
        pause_seconds: Callable[[int], float],
    ) -> None:
        """`pause_seconds`: how long the engine pauses where no error can be handled, after so many pauses."""
        self._executions = executions
        self._clock = clock
        self._states: Mapping[str, Any] = definition["States"]
        self._of_a_call: Mapping[str, Any] = self._states["Act"]["ItemProcessor"]["States"]
        self._work = work
        self._begin = begin
        self._tell = tell
        self._park_after = park_after_seconds
        self._pause_seconds = pause_seconds
        self.stopping = False
        """Whether no further state is begun, because the process is about to end."""

    # The port, which stores, resolvers and recovery call.

    def start(self, decision: Decision) -> bool:
        at = decision.at
        name = f"{at.session_id}-{at.run_id}-{at.generation}"
        if self._executions.start(name, decision.to_engine(), self._now()):
            self._tell(name, "Route")
            self._begin(name)
            return True
        return self._executions.is_running(name) is True

    def wake(self, token: str, decision: Decision) -> None:
        name = self._executions.wake(token, decision.to_engine(), self._now()) if token else None
        if name is None:
            raise TokenGone
        self._tell(name, "Route")
        self._begin(name)

    def stop(self, session_id: str, run_id: str, generation: int) -> None:
        self._executions.end(f"{session_id}-{run_id}-{generation}", self._now())

    def status(self, session_id: str, run_id: str, generation: int) -> ExecutionStatus:
        running = self._executions.is_running(f"{session_id}-{run_id}-{generation}")
        return "absent" if running is None else "running" if running else "closed"

    def running(self) -> list[str]:
        return [each.name.partition("-")[0] for each in self._executions.running()]

    # The way of one execution.

    def resume(self) -> None:
        """Goes on with what the last process left, whose work is lost."""
        self._executions.forget(self._now() - FORGOTTEN_AFTER_DAYS * 86_400)
        for each in self._executions.running("AND due IS NULL"):
            if "Retry" in self._states[each.state]:
                self._failed(each, WORKER_LOST)
            else:
                self._begin(each.name)

    def look(self) -> float | None:
        """Begins everything that is due. Returns when the next thing will be; None: nothing waits for a time."""
        now = self._now()
        for each in self._executions.running("AND due <= ?", now):
            self._begin(each.name)
        return self._executions.next_due(now)

    def drive(self, name: str) -> None:
        """Takes the execution from state to state until it waits or ends. No two threads drive the same one."""
        while not self.stopping:
            found = self._executions.running("AND name = ? AND (due IS NULL OR due <= ?)", name, self._now())
            if not found:
                return
            [execution] = found
            if execution.state in ("Done", "Failed"):
                self._executions.end(name, self._now())
                return
            self._leave(execution)

    def abandon(self, name: str) -> None:
        """Ends an execution that cannot go on. Its session is then found by recovery."""
        self._executions.end(name, self._now())

    def _leave(self, execution: Execution) -> None:
        given = execution.input
        match execution.state:
            case "Route":  # a decision that is not known is an error like any other
                is_long = given["next"] == "wait" and given["wait_seconds"] > self._park_after
                following = (
                    "Park" if is_long and "stays" not in given else ROUTES.get(given["next"], "HandleError")
                )
                self._enter(execution, following, given)
            case "Wait":
                self._enter(execution, "Route", {"next": given["then"], "at": given["at"]})
            case "Pause":
                self._enter(execution, "HandleError", given)
            case "Act":
                self._act(execution)
            case "Ask" if execution.token:
                due = [at for at in given.get("wake_at", ()) if self._now() - LATE < at <= self._now()]
                self._enter(execution, "Route", {**given, "next": "ask" if due else "park"})
            case _:
                self._task(execution)

    def _task(self, execution: Execution) -> None:
        """A state that is the work of a function, and its way on."""
        working = execution._replace(due=None)
        if execution.state == "Ask":
            working = working._replace(token=self._clock.new_id("tok"))
        if not self._executions.move(execution, working):
            return
        try:
            result = self._work(self._event(self._states[execution.state], working))
        except Exception as error:
            self._failed(working, type(error).__name__)
            return
        if execution.state == "Ask":  # it may have been woken already: then this changes nothing
            self._executions.move(working, working._replace(due=self._now() + self._longest_wait(working)))
            return
        match execution.state:
            case "Park":
                self._enter(working, "Route", {**result, "stays": True})
            case "RollOver":
                self._enter(working, "Done", {})
            case _:
                self._enter(working, "Route", result)

    def _event(self, state: Mapping[str, Any], execution: Execution) -> Data:
        """What the state's function gets: the members that `Payload` names."""
        told = {
            "error": "DecisionUnknown",
            **execution.input,
            "op": state["Arguments"]["Payload"]["op"],
            "attempt": execution.attempt,
            "task_token": execution.token,
            "entered": datetime.fromtimestamp(execution.entered, UTC).isoformat(),
        }
        return {name: told[name] for name in state["Arguments"]["Payload"]}

    def _longest_wait(self, execution: Execution) -> float:
        """Until the next warning or expiry, and at most until the session is parked."""
        now, times = self._now(), execution.input.get("wake_at", ())
        later = [at for at in times if at > now]
        if later:
            return min(float(int(min(later) - now) + 1), self._park_after)
        return 60.0 if any(at > now - LATE for at in times) else self._park_after

    def _failed(self, execution: Execution, error: str) -> None:
        """After the retries that the state has for this error, its way where none is left."""
        after = self._retried(self._states[execution.state].get("Retry", ()), execution.retries, error)
        if after is not None:
            retries, pause = after
            again = execution._replace(retries=retries, due=self._now() + pause, token="")
            self._executions.move(execution, again)
            return
        given = execution.input
        match execution.state:
            case "Park":
                stays = "wait" if "wait_seconds" in given else "ask"
                self._enter(execution, "Route", {**given, "next": stays, "stays": True})
            case "HandleError" if error == "PoisonedSession":
                self._enter(execution, "Failed", {})
            case "HandleError":
                caught = {"error": "DecisionUnknown", **given}
                kept = {"at": given["at"], "error": caught["error"], "pauses": given.get("pauses", 0) + 1}
                self._enter(execution, "Pause", kept)
            case _:
                self._enter(execution, "HandleError", {"at": given["at"], "error": error})

    def _retried(
        self, rules: list[Mapping[str, Any]], retries: tuple[int, ...], error: str
    ) -> tuple[tuple[int, ...], float] | None:
        """How often each rule was applied with this time, and the seconds until then. None: the error stays."""
        retries = retries or (0,) * len(rules)
        for number, rule in enumerate(rules):
            if error not in rule["ErrorEquals"] and "States.TaskFailed" not in rule["ErrorEquals"]:
                continue
            if retries[number] >= rule["MaxAttempts"]:
                return None
            longest = rule["IntervalSeconds"] * rule["BackoffRate"] ** retries[number]
            pause = random.uniform(0, min(longest, rule["MaxDelaySeconds"]))  # noqa: S311, as in Step Functions
            return tuple(had + (at == number) for at, had in enumerate(retries)), pause
        return None

    def _act(self, execution: Execution) -> None:
        """Runs the calls of a reply, so many at once as the definition says."""
        if not self._executions.move(execution, execution._replace(due=None)):
            return
        left, failures = iter(execution.input["calls"]), list[str]()
        lock = RLock()

        def run() -> None:
            while not failures:
                with lock:
                    call_id = next(left, None)
                if call_id is None:
                    return
                try:
                    self._call(execution, call_id)
                except Exception as error:
                    failures.append(type(error).__name__)

        most = min(self._states["Act"]["MaxConcurrency"], len(execution.input["calls"]))
        threads = [Thread(target=run, name=f"call-{number}", daemon=True) for number in range(1, most)]
        for thread in threads:
            thread.start()
        run()
        for thread in threads:
            thread.join()
        at = execution.input["at"]
        if failures:
            self._enter(execution, "HandleError", {"at": at, "error": failures[0]})
        else:
            self._enter(execution, "Think", {"next": "think", "at": at})

    def _call(self, execution: Execution, call_id: str) -> None:
        """One call: `Tool`, and `LostTool` where it has no answer after its retries."""
        state, error = "Tool", ""
        while True:
            self._tell(execution.name, state)
            given = {"at": execution.input["at"], "call_id": call_id, "error": error}
            one, rules = Execution(execution.name, state, given, self._now()), self._of_a_call[state]
            while True:
                try:
                    self._work(self._event(rules, one))
                except Exception as raised:
                    error = type(raised).__name__
                    after = self._retried(rules["Retry"], one.retries, error)
                    if after is None:
                        if state == "LostTool":
                            raise
                        break
                    one = one._replace(retries=after[0])
                    self._clock.sleep(after[1])
                else:
                    return
            state = "LostTool"

    def _enter(self, execution: Execution, state: str, given: Data) -> None:
        """Moves on. A state that only waits has its time from the beginning."""
        now, due = self._now(), None
        if state == "Wait":
            due = now + given["wait_seconds"]
        elif state == "Pause":
            due = now + self._pause_seconds(given["pauses"])
        after = Execution(execution.name, state, given, max(now, execution.entered + 1e-6), due=due)
        if self._executions.move(execution, after):
            self._tell(execution.name, state)

    def _now(self) -> float:
        return self._clock.now().timestamp()
