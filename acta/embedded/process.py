"""All of Acta in one process (`acta dev`): the use cases and the API that run in AWS, on stores in one file.

What AWS does between the functions is done here by threads: the states of the engine, a round of recovery each minute,
and what the table's stream and the queues bring to `usage`, `notify` and `traces`. Each invocation of a function has a
`Worker` to itself, as it has an execution environment on Lambda. What needs no AWS is not here: who may do what in IAM,
metrics and alarms.
"""

import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from queue import Empty, LifoQueue, SimpleQueue
from sqlite3 import Connection
from typing import Any, TextIO

from acta.embedded.engine import Engine, Executions, perform
from acta.embedded.gateway import LambdaContext
from acta.embedded.objects import SqliteObjects
from acta.embedded.python_tools import ToolFolders
from acta.embedded.services import Functions, Queues, StoredSecrets
from acta.embedded.table import SqliteTable
from acta.engine.api.app import Api
from acta.engine.api.operation import Function
from acta.engine.app import App
from acta.engine.aws.clients import serve_here
from acta.engine.clock import Clock, SystemClock
from acta.engine.errors import StoreUnavailable
from acta.engine.files.store import FileStore
from acta.engine.models.agent_model import AgentModels
from acta.engine.prompts.prompt import SEEDS
from acta.engine.prompts.seeding import store_prompts
from acta.engine.recovery.aws import ADMIT
from acta.engine.recovery.store import ROUNDS
from acta.engine.settings import Settings
from acta.engine.telemetry import Telemetry
from acta.engine.tools.lambda_function import LambdaToolFunction
from acta.engine.tools.operations import answer, operations_of
from acta.engine.tools.tenant.functions import FunctionGuard, LambdaTool, PythonTools
from acta.engine.triggers.sources import read_event
from acta.engine.turn.engine import engine_event
from acta.engine.usage.aws_estimate import AwsRates
from acta.engine.usage.aws_prices import prices_in
from acta.infra.deployed.session_logs import TIMESTAMP
from acta.infra.local.state_directory import LOG

Data = dict[str, Any]
SESSIONS_AT_ONCE = 16
"""Executions that are at work. Others wait for their turn; one that waits for a person or a time takes no place."""
REQUESTS_AT_ONCE = 64
REQUEST_SECONDS = 29
MINUTE = 60.0
ROUND_SECONDS = 60.0
BATCH = 100
NOTIFY, TRACES, EVENTS = "notify", "traces", "events"
"""Names of the queues."""
TAKES = {NOTIFY: "notify", TRACES: "traces", EVENTS: "wake"}
"""Which function takes from which queue."""
FUNCTIONS = {"plan": "step", "think": "step", "tool": "tool", "lost_tool": "tool"}
"""Which function does an operation of the engine; `intervene` does the others. Its name stands in the log."""
AGAIN_SECONDS, DAY = 2.0, 86_400.0
MOST_LOG_BYTES = 20_000_000
Made = Callable[[Function], Path]
"""The folder of files that were made for a function."""


class EmbeddedTelemetry(Telemetry):
    """Writes lines of JSON into one file, as the functions write them into their log groups: ids and counts, never
    content. There are no metrics. It stands for Powertools' logger and metrics, too.
    """

    def __init__(self, function: str, out: TextIO, lock: threading.Lock) -> None:
        self._service = f"acta-{function}"
        self._namespace = "Acta/local"
        self._out = out
        self._lock = lock
        self.logger: Any = self
        self.metrics: Any = self

    def watch(self, handler: Callable[[Data, Any], Any]) -> Callable[[Data, Any], Any]:
        return handler

    def info(self, message: str, extra: Mapping[str, Any] | None = None) -> None:
        self._write("INFO", message, extra)

    def warning(self, message: str, extra: Mapping[str, Any] | None = None) -> None:
        self._write("WARNING", message, extra)

    def error(self, message: str, extra: Mapping[str, Any] | None = None) -> None:
        self._write("ERROR", message, extra)

    def append_keys(self, **keys: Any) -> None:
        pass

    def add_metric(self, *given: Any, **named: Any) -> None:
        pass

    def _write(self, level: str, message: str, extra: Mapping[str, Any] | None) -> None:
        told = {name: value for name, value in (extra or {}).items() if name != "_aws"}
        self.write({"level": level, "message": message, **told})

    def write(self, fields: Mapping[str, Any]) -> None:
        """A line of the function's log."""
        at = {"timestamp": datetime.now(UTC).strftime(TIMESTAMP), "service": self._service}
        text = json.dumps({**at, **fields}, default=str)
        with self._lock, suppress(OSError):  # on a full disk the work goes on
            self._out.write(f"{text}\n")
            self._out.flush()


def _log_in(state: Path) -> TextIO:
    """The file of the log. A long one is put aside, and takes the place of the one that was put aside before."""
    path = state / LOG
    if path.exists() and path.stat().st_size > MOST_LOG_BYTES:
        path.replace(path.with_suffix(".log.1"))
    return path.open("a", encoding="utf-8")


class EmbeddedApp(App):
    """`App` with the parts that differ in one process."""

    def __init__(self, process: "Process", function: str) -> None:
        super().__init__(
            process.settings,
            clock=process.clock,
            dynamodb=process.table,
            s3=process.objects,
            workflow=process.engine,
        )
        self._process = process
        self._function: Any = function

    @cached_property
    def telemetry(self) -> Telemetry:
        return self._process.telemetry(self._function)

    @cached_property
    def made(self) -> Path:
        return self._process.made(self._function)

    @cached_property
    def models(self) -> AgentModels:
        return self._process.models

    @cached_property
    def configured_models(self) -> Any:
        return self._process.models.configured

    @cached_property
    def own_tools(self) -> Any:
        return self._process.tools.of

    @cached_property
    def rates(self) -> AwsRates:
        """What the same session would cost in AWS, in the region that `acta up` has."""
        chosen = self.settings
        prices = chosen.aws_prices or prices_in("us-east-1")
        return AwsRates(prices, os.uname().machine, chosen.step_memory_mb, chosen.tool_memory_mb)

    @cached_property
    def python_tools(self) -> PythonTools:
        def reach(
            tenant: str, person: str | None, access: str, given: tuple[str, ...] | None
        ) -> Mapping[str, Any]:
            reached = {"person": person, "access": access, "max_bytes": self.settings.max_file_bytes}
            return reached if given is None else {**reached, "given": list(given)}

        return PythonTools({}, self.clock, reach, lambda seconds: self._process.functions)

    @cached_property
    def lambda_tools(self) -> LambdaTool:
        return LambdaTool(FunctionGuard(self.settings), lambda seconds: self._process.functions)

    @cached_property
    def tool_function(self) -> LambdaToolFunction:
        return LambdaToolFunction("tool", lambda: self._process.functions)


class Worker:
    """Serves one invocation at a time. What its functions keep between invocations, it keeps."""

    def __init__(self, process: "Process") -> None:
        self._process = process
        self._apps: dict[str, EmbeddedApp] = {}
        self._apis: dict[Function, Api] = {}

    def app(self, function: str) -> EmbeddedApp:
        if function not in self._apps:
            self._apps[function] = EmbeddedApp(self._process, function)
        return self._apps[function]

    def api(self, function: Function) -> Api:
        if function not in self._apis:
            app = self.app(function)
            is_open = function in ("wake", "console", "fallback")
            self._apis[function] = Api(
                function,
                app,
                app.telemetry,
                audit=None if is_open else app.audit,
                limiter=None if is_open else app.limiter,
                is_repeat=lambda request: app.idempotency.is_repeat(request),
            )
        return self._apis[function]


class Process:
    """`state`: the directory of its files. `definition`, `park_after_seconds`, `pause_seconds`: as `Engine` takes them.
    `tools`: the folders of Python tools. `made`: finds what was made for a function. Nothing runs before `start`.
    """

    def __init__(
        self,
        state: Path,
        settings: Settings,
        tools: ToolFolders,
        made: Made,
        definition: Mapping[str, Any],
        *,
        park_after_seconds: int,
        pause_seconds: Callable[[int], float],
        clock: Clock | None = None,
    ) -> None:
        self.settings = settings
        self.tools = tools
        self.made = made
        self.clock = clock or SystemClock()
        self.models = AgentModels(settings)
        self.table = SqliteTable(state / "acta.db", streamed=[settings.table], clock=self.clock)
        self.objects = SqliteObjects(self.table, self._written)
        self.queues = Queues(self.table.database, again_seconds=AGAIN_SECONDS, kept_seconds=DAY)
        self.functions = Functions({"tool": self._asked}, self._later, tools.call)
        self._log = _log_in(state)
        self._log_lock = threading.Lock()
        self._idle: LifoQueue[Worker] = LifoQueue()
        self._requests = threading.BoundedSemaphore(REQUESTS_AT_ONCE)
        self._names: SimpleQueue[str] = SimpleQueue()
        self._driven: dict[str, bool] = {}
        """The executions that a thread has, and whether something has happened to them since it looked."""
        self._driven_lock = threading.Lock()
        self._timer, self._lines, self._stopped = threading.Event(), threading.Event(), threading.Event()
        self.engine = Engine(
            Executions(self.table.database),
            self.clock,
            definition,
            self._work,
            self._begin,
            park_after_seconds=park_after_seconds,
            pause_seconds=pause_seconds,
        )
        tools.reach_files = self._files_of
        secrets = StoredSecrets(self.table.database)
        serve_here({"secretsmanager": secrets, "sqs": self.queues, "lambda": self.functions})

    def start(self) -> None:
        """Goes on with what the last process left."""
        with self.worker() as worker:
            store_prompts(SEEDS, worker.app("admin").definitions, self.clock)
        self.engine.resume()
        for target in (self._timed, self._minutes, self._admit, self._follow, self._deliver):
            self._keep(target, target.__name__)
        for number in range(SESSIONS_AT_ONCE):
            self._keep(self._drive, f"session-{number}")

    def _keep(self, loop: Callable[[], None], name: str) -> None:
        """Runs a loop in a thread until the process stops. An error, as of a full disk, begins it again."""

        def run() -> None:
            while not self._stopped.is_set():
                try:
                    loop()
                except Exception as error:
                    self.telemetry("intervene").failure(error)
                    self._stopped.wait(AGAIN_SECONDS)

        threading.Thread(target=run, name=name, daemon=True).start()

    def stop(self) -> None:
        """Begins nothing more. What is at work now is tried again by the next process."""
        self.engine.stopping = True
        for event in (self._stopped, self._timer, self._lines, self.table.changed, self.queues.sent):
            event.set()
        self.tools.stop()

    def telemetry(self, function: str) -> EmbeddedTelemetry:
        return EmbeddedTelemetry(function, self._log, self._log_lock)

    @contextmanager
    def worker(self) -> Iterator[Worker]:
        try:
            worker = self._idle.get_nowait()
        except Empty:
            worker = Worker(self)
        try:
            yield worker
        finally:
            self._idle.put(worker)

    @contextmanager
    def api(self, function: Function) -> Iterator[Api]:
        """Raises TimeoutError where too many other requests are being answered."""
        if not self._requests.acquire(timeout=REQUEST_SECONDS):
            raise TimeoutError("too many requests at once")
        try:
            with self.worker() as worker:
                yield worker.api(function)
        finally:
            self._requests.release()

    # The engine: what the functions do for it, and the threads that drive its executions.

    def _work(self, event: Data) -> Data:
        step = engine_event(event)
        with self.worker() as worker:
            app = worker.app(FUNCTIONS.get(step.op, "intervene"))
            with app.telemetry.work("engine", step):
                return perform(app, step)

    def _begin(self, name: str) -> None:
        with self._driven_lock:
            is_new = name not in self._driven
            self._driven[name] = True
        if is_new:
            self._names.put(name)

    def _drive(self) -> None:
        while not self._stopped.is_set():
            name = self._names.get()
            while True:
                with self._driven_lock:
                    if not self._driven[name]:
                        del self._driven[name]
                        break
                    self._driven[name] = False
                try:
                    self.engine.drive(name)
                except Exception as error:  # the execution is lost, and recovery finds its session
                    self.telemetry("intervene").failure(error)
                    self._abandon(name)
            self._timer.set()

    def _abandon(self, name: str) -> None:
        while not self._stopped.is_set():
            try:
                return self.engine.abandon(name)
            except StoreUnavailable:
                self._stopped.wait(AGAIN_SECONDS)

    def _timed(self) -> None:
        """Begins executions whose time has come."""
        while not self._stopped.is_set():
            self._timer.clear()
            due = self.engine.look()
            now = self.clock.now().timestamp()
            self._timer.wait(MINUTE if due is None else min(MINUTE, max(0.01, due - now)))

    # What AWS calls functions for: a schedule, the stream, queues and other functions.

    def _minutes(self) -> None:
        self._call_recover({"repair": True})
        while not self._stopped.wait(MINUTE):
            for round in ROUNDS:
                self._call_recover({"round": round})
            if self.settings.limits_of_providers:
                self._lines.set()

    def _admit(self) -> None:
        while not self._stopped.is_set():
            self._lines.wait()
            self._lines.clear()
            self._call_recover(ADMIT)

    def _call_recover(self, event: Data) -> None:
        with self.worker() as worker:
            app = worker.app("recover")
            try:
                app.recovery.handle(event, LambdaContext.of(ROUND_SECONDS))
            except Exception as error:  # the next round does its work
                app.telemetry.failure(error)

    def _later(self, name: str, event: Data) -> None:
        """Only turns ask for an invocation that they do not wait for: of `recover`, for the lines of providers."""
        self._lines.set()

    def _asked(self, event: Data) -> Data:
        """What the API asks the function `tool` for."""
        with self.worker() as worker:
            app = worker.app("tool")
            return answer(event, REQUEST_SECONDS * 1_000, app.telemetry, operations_of(app))

    def _files_of(self, person: str | None) -> FileStore:
        with self.worker() as worker:  # a store keeps nothing between two calls
            return worker.app("tool").files.seen_by(person)

    def _follow(self) -> None:
        """Brings the changes of the table to `usage` and `notify`. As from a stream in AWS, a batch that failed comes
        again in halves, and a change that fails alone until it is a day old.
        """
        most = BATCH
        self.table.changed.set()
        while not self._stopped.is_set():
            self.table.changed.wait()
            self.table.changed.clear()
            while not self._stopped.is_set() and (records := self.table.changes(most)):
                if not self._took(records):
                    most = max(1, len(records) // 2)
                    self._stopped.wait(AGAIN_SECONDS)
                    continue
                most = BATCH
                self.table.forget_changes(int(records[-1]["dynamodb"]["SequenceNumber"]))

    def _took(self, records: list[Data]) -> bool:
        """False: they have to come again."""
        with self.worker() as worker:
            try:
                worker.app("usage").usage_count.handle({"Records": records})
                worker.app("notify").notifications.handle({"Records": records})
            except Exception as error:
                self.telemetry("usage").failure(error)
                oldest = records[0]["dynamodb"]
                age = self.clock.now().timestamp() - oldest["ApproximateCreationDateTime"]
                if len(records) > 1 or age < DAY:
                    return False
                self.telemetry("usage").error("change given up", {"change": oldest["SequenceNumber"]})
        return True

    def _written(self, connection: Connection, event: Data) -> None:
        """Puts the event of an object into the queue for each source of files that it is one of."""
        if event["detail"]["bucket"]["name"] != self.settings.bucket:
            return
        for name, source in self.settings.event_sources.items():
            if source.kind == "files" and read_event(source, event).tenants:
                self.queues.put(connection, EVENTS, json.dumps({"source": name, "event": event}))

    def _deliver(self) -> None:
        """Brings the messages of the queues to the functions that take them."""
        while not self._stopped.is_set():
            self.queues.sent.wait(AGAIN_SECONDS)
            self.queues.sent.clear()
            for message in self.queues.receive(BATCH):
                with self.worker() as worker:
                    try:
                        app, event = worker.app(TAKES[message.queue]), {"Records": [message.record]}
                        match message.queue:
                            case "notify":
                                done = app.notifications.handle(event)
                            case "traces":
                                done = app.trace_export.handle(event)
                            case _:
                                done = app.event_delivery.handle(event)
                        if not done["batchItemFailures"]:
                            self.queues.take_away(message)
                    except Exception as error:
                        self.telemetry(TAKES[message.queue]).failure(error)
