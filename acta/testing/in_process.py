"""All of Acta in one process: the use cases that the Lambdas run, on SQLite in memory, and the engine's loop."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from acta.embedded.objects import SqliteObjects
from acta.embedded.services import StoredSecrets
from acta.embedded.table import SqliteTable
from acta.engine.agents.agent import DEFAULT_AGENT, AgentDefinition, Purpose
from acta.engine.agents.dynamodb import DynamoDefinitions
from acta.engine.app import App
from acta.engine.clock import SystemClock
from acta.engine.errors import Conflict, EngineError, SessionNotFound
from acta.engine.files.given import GivenFiles
from acta.engine.files.s3 import S3FileStore
from acta.engine.log.commit import Decision, Position
from acta.engine.log.dynamodb import DynamoLog
from acta.engine.log.dynamodb_index import DynamoIndex
from acta.engine.log.head import Head, SessionSettings, Wait
from acta.engine.log.repository import SessionRepository
from acta.engine.log.s3 import S3Blobs
from acta.engine.memories.memory import RelevantMemories
from acta.engine.models.model import Model
from acta.engine.people.intervention import Intervention
from acta.engine.people.requester import Requester
from acta.engine.people.resolve import Resolution, resolve
from acta.engine.people.wait import ask
from acta.engine.queue.admission import Admission
from acta.engine.queue.dynamodb import DynamoAdmission
from acta.engine.recovery.handle_error import handle_error, park
from acta.engine.recovery.recover import roll_over
from acta.engine.sessions import control
from acta.engine.sessions.history import History
from acta.engine.sessions.start import NewSession, post_message, start
from acta.engine.settings import Settings
from acta.engine.signed_urls import SignedUrls
from acta.engine.store.table_layout import stored, to_commit
from acta.engine.tools.callbacks import answer_once
from acta.engine.tools.execute import abandon_call, run_call
from acta.engine.tools.port import Registry
from acta.engine.tools.registry import TenantRegistry
from acta.engine.tools.secret_reader import ToolSecretReader, ToolSecretStore
from acta.engine.tools.tenant.functions import PythonTools
from acta.engine.turn.context import TurnDeps, TurnKind
from acta.engine.turn.engine import Timeouts, position
from acta.engine.turn.fused_turns import StepDeps, take_turns
from acta.engine.turn.running_text import RunningText
from acta.testing.clock import FakeClock
from acta.testing.python_tools import TENANT as TENANT
from acta.testing.python_tools import USER as USER
from acta.testing.python_tools import CalledInProcess, as_offered, files_for
from acta.testing.workflow import MemoryWorkflow
from acta.tools.call import Files
from acta.tools.define import Tool
from acta.tools.files import writer_of
from acta.tools.run import Event

MOST_STEPS = 2_000
SECONDS_OF_ONE_TURN, SECONDS_OF_FUSED_TURNS = 60.0, 870.0
"""How many seconds one invocation of `step` has for models and tools."""
NO_TOOLS: Mapping[str, Tool] = MappingProxyType({})

_decoded = lru_cache(4_096)(to_commit)
"""A test looks at the same commits hundreds of times. They are frozen, and equal bytes are equal commits."""


class InProcess:
    """`model` answers every call. Time stands still unless a test moves `clock` or the engine waits. `tools`: Python
    tools of the environment, which are called in this process. `settings`: fields of `acta.engine.settings.Settings`;
    the environment variables of the process are not read.
    """

    def __init__(self, model: Model, *, tools: Mapping[str, Tool] = NO_TOOLS, **settings: Any) -> None:
        self.settings = Settings(
            **{"env": "test", "table": "t", "bucket": "b", "session_bucket": "s", **settings}
        )
        self.clock = FakeClock()
        self.table = SqliteTable(None, clock=self.clock)
        self.objects = SqliteObjects(self.table)
        named = self.settings.table, self.clock, self.table
        self.log = DynamoLog(*named, decode=lambda item: _decoded(*stored(item)))
        self.index, self.definitions = DynamoIndex(*named), DynamoDefinitions(*named)
        self.blobs = S3Blobs(self.settings.session_bucket, self.objects, parallel=1)
        self.files = S3FileStore(self.settings.bucket, self.objects)
        self.line = DynamoAdmission(self.settings.table, self.table)
        stores = App(self.settings, clock=self.clock, dynamodb=self.table)
        self.partials, self.attempts, self.memories = stores.partials, stores.attempts, stores.memories
        self._secrets_manager = StoredSecrets(self.table.database)
        self.secrets: dict[str, str] = {}
        """The values of the Python tools' secrets, by name."""
        self.workflow = MemoryWorkflow()
        self.park_after: int | None = None
        """`park_after_seconds` of the environment. None: a wait passes by moving the clock, however long it is."""
        limits = self.settings.limits_of_providers
        self.admission = Admission(self.line, self.clock, limits) if limits else None
        self.memories_of_run = RelevantMemories(self.memories)
        self.registry: Registry = TenantRegistry(
            self.definitions.snapshot,
            optional=self.settings.offered_tools,
            approvers=self.settings.tool_approvers,
            environment=as_offered(tools),
        )
        self.timeouts = Timeouts(
            self.settings.approval_timeout_seconds, self.settings.intervention_warn_seconds
        )
        self.model = model
        self.model_of: Callable[[str], Model] = lambda session_id: self.model
        """The model of a session's turns."""
        self.thinking = ""
        """The session whose turn is made."""
        self.repository = self.fresh_repository()
        self._python_tools = PythonTools(
            {},
            SystemClock(),
            lambda tenant, person, access, given: {"person": person},
            lambda seconds: CalledInProcess(tools, self.files_of, self.secrets),
        )
        self.on_key_refused: Callable[[Position, str], None] = lambda at, code: None
        self.turns_told: list[dict[str, object]] = []
        self.runtime = self.app().tool_runtime
        self.tenant, self.user, self.roles = TENANT, USER, frozenset({"member"})
        self.comment: str | None = None
        """What the person who decides says about the decision."""
        self.resting: dict[str, Decision] = {}
        """By session, the last wait of an execution for an answer to a tool call. No time passes until a test lets it.
        The next execution may have gone on since, because the answer came, a person cancelled, or a child ended.
        """
        self.decisions: list[Decision] = []
        self.waits: list[int] = []

    def files_of(self, tool: Tool, event: Event) -> Files:
        """The files that a call of a Python tool reaches. It reaches private files only in a private session."""
        head = self.head(event["session_id"])
        person = event["user"] if head.private_to is not None else None
        files = self.files if head.seen_files is None else GivenFiles(self.files, head.seen_files)
        return files_for(tool, files, event["tenant"], person, writer_of(event))

    @property
    def requester(self) -> Requester:
        return Requester(self.tenant, self.user, self.roles)

    def fresh_repository(self) -> SessionRepository:
        chosen = self.settings
        return SessionRepository(
            self.log, self.blobs, self.clock, write_version=chosen.write_version, limits=chosen.limits
        )

    def app(self, **parts: Any) -> App:
        """What the Lambdas are put together from, on the stores of this class. `parts`: take the place of its parts."""
        given = {
            "clock": self.clock,
            "dynamodb": self.table,
            "s3": self.objects,
            "log": self.log,
            "blobs": self.blobs,
            "session_index": self.index,
            "repository": self.fresh_repository(),
            "attempts": self.attempts,
            "partials": self.partials,
            "workflow": self.workflow,
            "definitions": self.definitions,
            "registry": self.registry,
            "current_registry": self.registry,
            "timeouts": self.timeouts,
            "memories": self.memories,
            "memories_of_run": self.memories_of_run,
            "files": self.files,
            "secret_values": ToolSecretStore(self.settings.env, client=self._secrets_manager),
            "secret_reader": ToolSecretReader(self.settings.env, self._secrets_manager),
            "python_tools": self._python_tools,
            "models": _Models(self),
            "key_refused": self.on_key_refused,
            "turn_told": lambda at, counts: self.turns_told.append({"turn": at.turn, **counts}),
            "running_text": self._running_text(),
            "signed_urls": SignedUrls("https://acta.test", lambda: "the-key-of-a-test"),
            "lines": self.line,
            "admission": self.admission,
        }
        return App(self.settings, **{**given, **parts})

    @property
    def worker(self) -> TurnDeps:
        return self.app(repository=self.repository).turns

    @property
    def steps(self) -> StepDeps:
        tools = self.runtime._replace(repository=self.repository)
        return StepDeps(self.worker, self.settings.turns_per_step, lambda: tools)

    def step(self, kind: TurnKind, at: Position, attempt: int = 0) -> Decision:
        """What the engine gets from one invocation of `step`."""
        self.thinking = at.session_id
        is_fused = self.settings.turns_per_step > 1
        seconds = SECONDS_OF_FUSED_TURNS if is_fused else SECONDS_OF_ONE_TURN
        return take_turns(self.steps, kind, at, attempt, seconds).decision

    def _running_text(self) -> RunningText | None:
        every = timedelta(milliseconds=self.settings.partial_text_ms)
        return RunningText(self.partials, self.clock, every, lambda work: work()) if every else None

    def start(self, message: str | None, **limits: Any) -> Head:
        new = NewSession(
            agent_id=limits.get("agent_id", DEFAULT_AGENT), agent_name=limits.get("agent_name", ""), message=message,
            max_steps=limits.get("max_steps", 50), token_budget=limits.get("token_budget", 1_000_000),
            cost_budget_usd=limits.get("cost_budget_usd"), review_every=limits.get("review_every", 0),
            settings=SessionSettings(visibility=limits.get("visibility", "tenant")),
            output_schema=limits.get("output_schema", ""),
        )  # fmt: skip
        return start(self.fresh_repository(), self.workflow, self.requester, new)

    def say(self, session_id: str, text: str, output_schema: str = "") -> Head:
        return post_message(self.app(), self.requester, session_id, text, output_schema=output_schema)

    def resolve(self, session_id: str, one: Intervention, option: str, **given: Any) -> Intervention:
        chosen, asked = Resolution(option, given or None, self.comment), one.intervention_id
        return resolve(self.app(), self.requester, session_id, asked, chosen)[1]

    def cancel(self, session_id: str) -> Head:
        return control.cancel(
            self.fresh_repository(),
            self.workflow,
            self.requester,
            session_id,
            self.attempts,
            self.settings.token_window_seconds,
            lambda: self.app().family,
        )

    def pause(self, session_id: str) -> Head:
        app = self.app()
        return control.pause(app, self.requester, session_id, lambda: app.family)

    def resume(self, session_id: str) -> Head:
        app = self.app()
        return control.resume(app, self.requester, session_id, lambda: app.family)

    def answer_call(self, session_id: str, call_id: str, result: Any, error: str | None) -> None:
        """Raises Conflict where the call is over."""
        answer_once(self.app(), self.tenant, session_id, call_id, result, error)

    def wait_out(self, session_id: str) -> None:
        """Moves the clock to the time until which the session waits for an answer, and has it go on."""
        head, resting = self.head(session_id), self.resting.pop(session_id, None)
        wait = head.wait_for_calls
        if wait is None or wait.until is None or resting is None or resting.at != position(head):
            raise Conflict("The session waits for no answer.")
        self.clock.set(max(self.clock.now(), wait.until))
        self._execute(Decision(next=resting.then or "think", at=resting.at), lambda decision: None)

    def _rests(self, at: Position) -> bool:
        try:
            wait = self.head(at.session_id).wait_for_calls
        except SessionNotFound:  # deleted meanwhile
            return False
        return self.park_after is None and wait is not None and wait.reason != "waiting_until"

    def head(self, session_id: str) -> Head:
        return self.fresh_repository().newest(self.tenant, session_id).head

    def stored_history(self, session_id: str) -> History:
        return History(self.log, self.blobs, self.tenant, session_id)

    def run(self, before: Callable[[Decision], object] = lambda decision: None) -> None:
        """Drives every execution that was started or woken until all have ended or wait for people or answers.

        `before` is called ahead of each state with the decision that led to it.
        """
        for _ in range(MOST_STEPS):
            decision = self.workflow.take()
            if decision is None:
                return
            self._execute(decision, before)
        raise AssertionError("the engine did not come to rest")

    def _execute(self, decision: Decision, before: Callable[[Decision], object]) -> None:
        for _ in range(MOST_STEPS):
            self.decisions.append(decision)
            before(decision)
            try:
                following = self._state(decision)
            except EngineError as error:
                following = handle_error(self.app(), decision.at, type(error).__name__)
            if following is None:
                return
            decision = following
        raise AssertionError("the execution did not end")

    def _parked(self, at: Position) -> Decision:
        following = park(self.app(), at)
        return self._waited(following) if following.next == "wait" else following

    def _waited(self, decision: Decision) -> Decision:
        self.waits.append(decision.wait_seconds or 0)
        self.clock.advance(decision.wait_seconds or 0)
        return Decision(next=decision.then or "think", at=decision.at)

    def _state(self, decision: Decision) -> Decision | None:
        at = decision.at
        match decision.next:
            case "plan":
                return self.step("plan", at)
            case "think":
                return self.step("think", at)
            case "act":
                for call_id in decision.calls or ():
                    try:
                        run_call(self.runtime, at, call_id, 0, 60)
                    except EngineError as error:
                        abandon_call(self.runtime, at, call_id, type(error).__name__)
                return Decision(next="think", at=at)
            case "ask":
                token = self.workflow.wait(decision)
                wait = Wait(token=token, entered=self.clock.now())
                ask(self.fresh_repository(), self.workflow, self.timeouts, at, wait)
                return None
            case "wait" if self._rests(at):
                self.resting[at.session_id] = decision
                return None
            case "wait" if self.park_after is not None and (decision.wait_seconds or 0) > self.park_after:
                return self._parked(at)
            case "wait":
                return self._waited(decision)
            case "roll_over":
                roll_over(self.fresh_repository(), self.workflow, at)
                self.workflow.close(decision)
                return None
            case "done" | "failed":
                self.workflow.close(decision)
                return None


class _Models:
    """Gives each turn its model (`InProcess.model_of`)."""

    def __init__(self, acta: InProcess) -> None:
        self._acta = acta

    def choose(self, agent: AgentDefinition, purpose: Purpose) -> tuple[Model, str]:
        return self._acta.model_of(self._acta.thinking), agent.named_for(purpose)[1] or "test-model"

    def context_tokens(self, agent: AgentDefinition, provider: str, model: str) -> int:
        return agent.limits.context_tokens or self._acta.settings.context_tokens
