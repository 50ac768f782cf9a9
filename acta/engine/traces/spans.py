"""The spans that a commit makes, by OpenTelemetry's conventions for generative AI (ADR 78), their ids, and their way
to the outside: from the stream's reader to a queue, from there to a receiver.

    invoke_agent {agent}        the run, when it ends
        plan {agent}            a turn before there is a plan, with its calls of the model below it
            chat {model}
        chat {model}            each further call of a model, those that failed too
        execute_tool {tool}     each call of a tool
            invoke_agent {agent}  the run of a session that the call has started, in the same trace
        intervention {type}     the time in which people were asked, up to their decision

Ids are hashes of where a span comes from: a run, or a part of a commit. So the same commit gives the same spans however
often it is read, and a span that is sent again can be told by its id.

Source: OpenTelemetry, "Semantic Conventions for GenAI agent and framework spans" and "… generative client AI spans",
status Development. What they have no name for is called `acta.…`. All of it is in the commit: times, tokens, names.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NamedTuple, Protocol

from acta.engine.clock import RUN, made_at
from acta.engine.log.commit import Commit, StepRecord
from acta.engine.log.conversation import AMENDED, AssistantEntry, ToolEntry
from acta.engine.log.head import Head
from acta.engine.models.providers import PROVIDERS, provider_of
from acta.engine.usage.store import UsagePartition

SpanKind = Literal["internal", "client"]
Value = str | int | float | bool
TRACE_BYTES, SPAN_BYTES = 16, 8
"""Source: W3C Trace Context, "trace-id" and "parent-id"."""


class Link(NamedTuple):
    """A span of another trace that this span refers to."""

    trace_id: bytes
    span_id: bytes


class Span(NamedTuple):
    """`parent_id` empty: it is the root of its trace. `error`: the code of what failed; empty: nothing did."""

    trace_id: bytes
    span_id: bytes
    parent_id: bytes
    name: str
    kind: SpanKind
    start: datetime
    end: datetime
    attributes: Mapping[str, Value]
    error: str = ""
    links: tuple[Link, ...] = ()


class RunName(NamedTuple):
    """A run, which has its own trace unless a call of another run has started it. The ids of its root and of a call of
    an agent are known before those are sent, so that spans below them can name them.
    """

    tenant: str
    session_id: str
    run_id: str

    @property
    def trace_id(self) -> bytes:
        return _hash("trace", *self)[:TRACE_BYTES]

    @property
    def root_id(self) -> bytes:
        return _hash("run", *self)[:SPAN_BYTES]

    def call_id(self, call_id: str) -> bytes:
        """The id of the span of a call of an agent."""
        return _hash("call", *self, call_id)[:SPAN_BYTES]

    def span_id(self, number: int, key: str, part: str) -> bytes:
        """`number`, `key`: of a commit of the session. A table that is restored to an earlier time uses numbers again,
        but no keys. `part`: the part of the commit that the span describes.
        """
        return _hash("span", *self, str(number), key, part)[:SPAN_BYTES]


def _hash(*parts: str) -> bytes:
    """Of the parts and their lengths, so that no two lists of parts are the same bytes."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8) + data)
    return digest.digest()


MODEL_KINDS = ("plan", "llm", "judge")


def spans_of(commit: Commit, *, with_content: bool = False) -> tuple[Span, ...]:
    """The commit's spans in the order in which they ended, the run's last. Empty: nothing was done.

    `with_content`: with what people, models and tools said, as far as it is in the commit and the session is the
    tenant's (`_of_reply` and its neighbours).
    """
    run_id = run_of(commit)
    if run_id is None:
        return ()
    run = RunName(commit.head.tenant, commit.head.session_id, run_id)
    making = _Making(commit, run, with_content and commit.head.private_to is None)
    return (*making.model_calls(), *making.tool_calls(), *making.questions(), *making.run())


def run_of(commit: Commit) -> str | None:
    """The run that the commit belongs to. A call may end when the session's next run has begun; the key says whose it
    was. None: the session has had no run.
    """
    first = commit.key.partition("/")[0]
    if first.startswith(f"{RUN}_"):
        return first
    return commit.head.run.run_id if commit.head.run is not None else None


def ends_run(commit: Commit) -> bool:
    """Whether the last of its spans is a run's."""
    return commit.head.run is not None and any(event.type == "run.finished" for event in commit.events)


def _conventional(provider: str) -> str:
    row = PROVIDERS.get(provider)
    return row.trace_name or row.name if row is not None else provider


class _Making:
    def __init__(self, commit: Commit, run: RunName, with_content: bool) -> None:
        self._commit = commit
        self._run = run
        head = commit.head
        parent = head.parent
        self._trace_id = run.trace_id
        """Of the run at the top of the tree."""
        self._above = b""
        """The span of the call that has started the run."""
        if parent is not None:
            top = parent.chain[0]
            self._trace_id = RunName(head.tenant, top.session_id, top.run_id).trace_id
            caller = RunName(head.tenant, parent.session_id, parent.run_id)
            self._above = caller.call_id(parent.call_id)
        self._with_content = with_content

    def model_calls(self) -> Iterator[Span]:
        step, failed = self._commit.step, self._commit.failed_attempts
        answered = step if step is not None and step.kind in MODEL_KINDS else None
        planned = answered is not None and answered.kind == "plan"
        parent = (
            self._run.span_id(self._commit.number, self._commit.key, "plan") if planned else self._run.root_id
        )
        for place, attempt in enumerate(failed):
            yield self._chat(f"attempt/{place}", attempt, parent, provider_of(attempt.name or ""))
        if answered is None:
            return
        replied = next((each for each in self._commit.entries if isinstance(each, AssistantEntry)), None)
        provider = replied.provider if replied is not None else ""
        spoken = self._chat("chat", answered, parent, provider or provider_of(answered.name or ""))
        yield self._saying(spoken, lambda: _of_reply(self._commit))
        if planned:
            agent = self._commit.head.agent_id
            about: dict[str, Value] = {
                "gen_ai.operation.name": "plan",
                "gen_ai.agent.id": agent,
                "gen_ai.agent.name": agent,
            }
            began = min((answered.started_at, *(each.started_at for each in failed)))
            yield self._span("plan", f"plan {agent}", began, answered.completed_at, about, self._run.root_id)

    def _chat(self, part: str, row: StepRecord, parent: bytes, provider: str) -> Span:
        model = row.name or ""
        attributes: dict[str, Value] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": model,
            **({"gen_ai.provider.name": _conventional(provider)} if provider else {}),
            "acta.attempt": row.attempt,
        }
        if row.error is None:
            attributes |= {
                "gen_ai.usage.input_tokens": row.input_tokens,
                "gen_ai.usage.output_tokens": row.output_tokens,
                "gen_ai.usage.cache_read.input_tokens": row.cached_input_tokens,
            }
            if row.cost_usd is not None:
                attributes["acta.cost_usd"] = row.cost_usd
        return self._of_row(part, f"chat {model}".rstrip(), row, attributes, parent, kind="client")

    def tool_calls(self) -> Iterator[Span]:
        """One span for each row of the step log. A call without a row, because a person decided how it ended or
        because it was not run, has only its event; then nothing says how long it took.
        """
        row, at = self._commit.step, self._commit.at
        ended = [event.data for event in self._commit.events if event.type == "tool.finished"]
        if row is not None and row.kind == "tool":
            call_id = self._commit.key.split("/")[1] if self._commit.key.count("/") == 2 else ""
            attributes = self._of_tool(row.name or "", call_id) | {"acta.attempt": row.attempt}
            ran = self._of_row("tool", f"execute_tool {row.name}", row, attributes, self._run.root_id)
            open_call = self._commit.head.open_call(call_id)
            if open_call is not None and open_call.children is not None:
                ran = ran._replace(span_id=self._run.call_id(call_id))
            yield self._saying(ran, lambda: _of_result(self._commit, call_id))
            return
        for data in ended:
            name, call_id = str(data.get("name", "")), str(data.get("call_id", ""))
            attributes = self._of_tool(name, call_id) | {"acta.not_timed": True}
            error = "" if data.get("ok") else "TOOL_ERROR"
            yield self._span(
                f"tool/{call_id}", f"execute_tool {name}", at, at, attributes, self._run.root_id, error=error
            )

    def _of_tool(self, name: str, call_id: str) -> dict[str, Value]:
        return {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            "gen_ai.tool.type": "function",
            **({"gen_ai.tool.call.id": call_id} if call_id else {}),
        }

    def questions(self) -> Iterator[Span]:
        row = self._commit.step
        if row is None or row.kind != "intervention":
            return
        attributes: dict[str, Value] = {"acta.intervention.type": row.name or ""}
        for event in self._commit.events:
            if event.type in ("intervention.resolved", "intervention.expired"):
                attributes["acta.intervention.id"] = str(event.data.get("intervention_id", ""))
                attributes["acta.intervention.option"] = str(event.data.get("option", ""))
                attributes["acta.intervention.expired"] = event.type == "intervention.expired"
        yield self._of_row("intervention", f"intervention {row.name}", row, attributes, self._run.root_id)

    def run(self) -> Iterator[Span]:
        """The root, when the run has ended."""
        head, run = self._commit.head, self._commit.head.run
        ended = next((event.data for event in self._commit.events if event.type == "run.finished"), None)
        if ended is None or run is None:
            return
        made = made_at(run.run_id)
        began = (
            datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=made)
            if made is not None
            else self._commit.at
        )
        attributes: dict[str, Value] = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.id": head.agent_id,
            "gen_ai.agent.name": head.agent_id,
            "acta.run.state": head.state,
            "acta.run.turns": run.turn,
            "acta.run.generations": run.generation,
        }
        if head.result is not None:
            attributes |= {"acta.run.reason": head.result.reason, "acta.run.goal_met": head.result.goal_met}
        error = head.error.code if head.error is not None else ""
        root = self._span(
            "run",
            f"invoke_agent {head.agent_id}",
            began,
            self._commit.at,
            attributes,
            self._above,
            error=error,
        )
        yield self._saying(root._replace(span_id=self._run.root_id), lambda: _of_run(head))

    def _saying(self, span: Span, said: Callable[[], Mapping[str, Value]]) -> Span:
        """The span with what was said, where that is wanted."""
        return span._replace(attributes={**span.attributes, **said()}) if self._with_content else span

    def _of_row(
        self,
        part: str,
        name: str,
        row: StepRecord,
        attributes: dict[str, Value],
        parent: bytes,
        *,
        kind: SpanKind = "internal",
    ) -> Span:
        numbered = attributes | {"acta.step": row.step_number}
        error = row.error or ""
        return self._span(
            part, name, row.started_at, row.completed_at, numbered, parent, kind=kind, error=error
        )

    def _span(
        self,
        part: str,
        name: str,
        start: datetime,
        end: datetime,
        attributes: dict[str, Value],
        parent: bytes,
        *,
        kind: SpanKind = "internal",
        error: str = "",
    ) -> Span:
        """Clocks of two machines may put the end before the start; then it took no time."""
        everywhere: dict[str, Value] = {
            "gen_ai.conversation.id": self._run.session_id,
            "acta.run.id": self._run.run_id,
            "acta.commit": self._commit.number,
            **({"error.type": error} if error else {}),
        }
        return Span(
            trace_id=self._trace_id,
            span_id=self._run.span_id(self._commit.number, self._commit.key, part),
            parent_id=parent,
            name=name,
            kind=kind,
            start=start,
            end=max(start, end),
            attributes=attributes | everywhere,
            error=error,
        )


# What people, models and tools said is in spans only where an operator has asked for it (docs/traces.md). Texts of more
# than 4 KB are not in the commit and stay where they are. Source of the form: OpenTelemetry, the JSON schemas of
# `gen_ai.input.messages` and `gen_ai.output.messages`; on spans they may be JSON strings.
def _of_reply(commit: Commit) -> dict[str, Value]:
    """The model's reply in the commit, with the calls it asked for and their inputs."""
    reply = next((each for each in commit.entries if isinstance(each, AssistantEntry)), None)
    if reply is None:
        return {}
    calls = [
        {"type": "tool_call", "id": call.call_id, "name": call.name, "arguments": call.input}
        for call in reply.calls
    ]
    texts = [{"type": "text", "content": reply.content.text}] if reply.content.text else []
    parts = [*texts, *calls]
    why = "tool_call" if calls else "stop"
    return {"gen_ai.output.messages": _json([{"role": "assistant", "parts": parts, "finish_reason": why}])}


def _of_result(commit: Commit, call_id: str) -> dict[str, Value]:
    """What the call came back with, without the input that a person wrote for it."""
    for each in commit.entries:
        if isinstance(each, ToolEntry) and each.call_id == call_id and each.content.text is not None:
            # A tool may write the note's first words too. The note is the text's end, and one JSON object on one line,
            # in which the first words cannot stand, because they begin with new lines.
            result, mark, note = each.content.text.rpartition(AMENDED)
            is_note = mark == AMENDED and note.startswith("{") and note.endswith("})") and "\n" not in note
            return {"gen_ai.tool.call.result": result if is_note else each.content.text}
    return {}


def _of_run(head: Head) -> dict[str, Value]:
    """The beginnings of the goal and of the answer."""
    asked = {"role": "user", "parts": [{"type": "text", "content": head.goal}]}
    attributes: dict[str, Value] = {"gen_ai.input.messages": _json([asked])}
    if head.result is not None and head.result.answer is not None:
        parts = [{"type": "text", "content": head.result.answer}]
        answered = {"role": "assistant", "parts": parts, "finish_reason": "stop"}
        attributes["gen_ai.output.messages"] = _json([answered])
    return attributes


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


class CommitName(NamedTuple):
    """A commit as the stream's keys name it."""

    partition: UsagePartition
    number: int


class SpansNotDelivered(Exception):
    """The receiver has not accepted the spans, as far as is known. They are sent again, with the same ids."""


class HandedOver(NamedTuple):
    """What one message of the queue has."""

    message_id: str
    """The queue's."""
    since: datetime
    """When it was handed over first."""
    commits: Sequence[CommitName]
    received: int = 1
    """How often it has come, about."""


class CommitQueue(Protocol):
    """Commits that are to become spans. They wait here, so that a receiver that is away holds nothing up."""

    def put(self, commits: Iterable[CommitName]) -> None:
        """Raises StoreThrottled, StoreUnavailable, AwsDenied where it is not certain that all of them are there."""


class CommitMessages(Protocol):
    """The same queue as it is read: AWS brings its messages, and deletes those that were not refused."""

    def parse(self, record: Mapping[str, Any]) -> HandedOver:
        """`record`: a message, as AWS brings it."""


class TracedCommit(NamedTuple):
    name: CommitName
    """By which it was asked for: sessions of two tenants may have the same id."""
    commit: Commit
    is_restored: bool = False
    """A restore brought it back, so its spans were sent when it was new."""


class CommitReader(Protocol):
    def read(self, names: Sequence[CommitName]) -> Sequence[TracedCommit]:
        """The commits, each once and those of a session in order. Left out: what was deleted or is damaged. Raises
        StoreThrottled, StoreUnavailable, AwsDenied, SchemaUnknown.
        """


class SpanReceiver(Protocol):
    def send(self, spans: Sequence[Span]) -> int:
        """How many of them the receiver refused for good. Raises SpansNotDelivered."""
