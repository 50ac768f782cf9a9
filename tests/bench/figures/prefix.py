"""What a run sends to its provider, and what of it the provider has seen before: counted, on the product's own
requests, in one process.

A session is played as in the deployed runs (`script.reading`), and each request is rendered as the adapter of the
provider would. Tokens are bytes of the rendered text divided by `BYTES_PER_TOKEN`, the product's own first estimate.
Each request is cut into the pieces a breakpoint may stand behind (a tool, a block of a message), in the order in which
providers match them: tools, system prompt, conversation.

    identical   pieces at the beginning that are the previous request's, byte for byte
    read        of these, up to the last place where the previous request had a breakpoint and which this one's
                breakpoints find (within 20 pieces); nothing under 1,024 tokens
    written     from there to this request's last breakpoint
    fresh       the rest: what changes each turn, at the end

Turns are assumed to follow each other within the cache's lifetime. Costs are the published prices' (`domain/prices`).
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from acta.engine.log.head import BYTES_PER_TOKEN
from acta.engine.models import providers
from acta.engine.models.anthropic import request as anthropic_request
from acta.engine.models.model import ModelReply, ModelRequest, RequestedCall, TokenUsage
from acta.engine.models.openai import responses as openai_responses_request
from acta.engine.models.providers import cost_usd
from tests.bench.stand.script import Reply, note, reading
from tests.bench.stand.stand import GOAL
from tests.bench.table import columns, heading, number
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import USAGE, ScriptedModel

COUNTS = (5, 20, 50, 100)
SIZE = "2KB"
MARKS = ("cache_control", "prompt_cache_breakpoint")
LOOK_BACK = 20
LEAST_TOKENS = 1_024

Body = dict[str, Any]
PROVIDERS: Mapping[str, Callable[[ModelRequest], Body]] = {
    "anthropic": anthropic_request.to_body,
    "openai": lambda request: openai_responses_request.to_body(request, official=True),
}


class Piece(NamedTuple):
    text: str
    marked: bool

    @property
    def bytes(self) -> int:
        return len(self.text.encode())


class Turn(NamedTuple):
    """Bytes of one request."""

    sent: int
    identical: int
    read: int
    written: int


def measure() -> dict[str, dict[str, dict[str, float]]]:
    """Provider -> turns -> figures."""
    replies = reading(SIZE, max(COUNTS))
    requests = play(replies)
    return {
        provider: {
            str(count): figures(provider, turns(provider, requests[: count + 1]), replies[: count + 1])
            for count in COUNTS
        }
        for provider in PROVIDERS
    }


def play(replies: Sequence[Reply]) -> list[ModelRequest]:
    """What the model was asked: the plan first, then a request a turn."""
    model = ScriptedModel([_said(reply) for reply in replies])
    house = House(model)
    for turn in range(len(replies) - 2):
        path, text = note(SIZE, turn)
        house.files.write(TENANT, path, text.encode())
    house.start(GOAL, max_steps=len(replies) + 10, token_budget=100_000_000)
    house.run()
    if len(model.requests) != len(replies):
        raise RuntimeError(f"the run ended after {len(model.requests)} of {len(replies)} replies")
    return model.requests


def _said(reply: Reply) -> ModelReply:
    calls = tuple(RequestedCall(call.name, call.input) for call in reply.calls)
    return ModelReply(reply.text, calls, "tools" if calls else "end", USAGE)


def turns(provider: str, requests: Sequence[ModelRequest]) -> list[Turn]:
    found: list[Turn] = []
    before: list[Piece] = []
    for request in requests:
        asked = request._replace(model=providers.PROVIDERS[provider].default_model)
        pieces = list(_pieces(PROVIDERS[provider](asked)))
        found.append(_turn(before, pieces))
        before = pieces
    return found


def _turn(before: Sequence[Piece], now: Sequence[Piece]) -> Turn:
    pairs = zip(before, now, strict=False)
    same = next(
        (at for at, (old, new) in enumerate(pairs) if old.text != new.text), min(len(before), len(now))
    )
    marks = [at for at, piece in enumerate(now, start=1) if piece.marked]
    places = [
        at
        for at, piece in enumerate(before[:same], start=1)
        if piece.marked and any(at <= mark <= at + LOOK_BACK for mark in marks)
    ]
    ends = [0]
    for piece in now:
        ends.append(ends[-1] + piece.bytes)
    read = ends[max(places, default=0)]
    if read < LEAST_TOKENS * BYTES_PER_TOKEN:
        read = 0
    return Turn(ends[-1], ends[same], read, max(0, ends[max(marks, default=0)] - read))


def figures(provider: str, run: Sequence[Turn], replies: Sequence[Reply]) -> dict[str, float]:
    """Sums over the run's requests; shares of what was sent; US dollars."""
    model = providers.PROVIDERS[provider].default_model
    plain = cached = 0.0
    for turn, reply in zip(run, replies, strict=True):
        said = len(reply.text) + sum(len(json.dumps(call.input)) for call in reply.calls)
        used = TokenUsage(_tokens(turn.sent), _tokens(said), _tokens(turn.read), _tokens(turn.written))
        cached += cost_usd(provider, model, used) or 0.0
        plain += cost_usd(provider, model, used._replace(cached_input=0, cache_write=0)) or 0.0
    sent = sum(turn.sent for turn in run)
    return {
        "requests": len(run),
        "input_tokens": sum(_tokens(turn.sent) for turn in run),
        "input_tokens_last_request": _tokens(run[-1].sent),
        "identical_share": sum(turn.identical for turn in run) / sent,
        "read_share": sum(turn.read for turn in run) / sent,
        "written_share": sum(turn.written for turn in run) / sent,
        "fresh_share": sum(turn.sent - turn.read - turn.written for turn in run) / sent,
        "cost_usd_without_cache": plain,
        "cost_usd_with_cache": cached,
        "cost_ratio": cached / plain,
    }


def _tokens(length: int) -> int:
    return round(length / BYTES_PER_TOKEN)


def _pieces(body: Body) -> Iterator[Piece]:
    for tool in body.get("tools", ()):
        yield _piece(tool)
    for block in body.get("system", ()):
        yield _piece(block)
    for item in body.get("messages", ()) or body.get("input", ()):
        parts = next((item[name] for name in ("content", "output") if isinstance(item.get(name), list)), None)
        if parts is None:
            yield _piece(item)
            continue
        shell = {name: value for name, value in item.items() if value is not parts}
        for at, part in enumerate(parts):
            yield _piece(part, shell if at == 0 else {})


def _piece(block: Mapping[str, Any], shell: Mapping[str, Any] | None = None) -> Piece:
    """`shell`: what stands around the first block of a message."""
    content = {name: value for name, value in block.items() if name not in MARKS}
    text = json.dumps([shell, content] if shell else content, ensure_ascii=False)
    return Piece(text, any(name in block for name in MARKS))


ROWS = (
    ("input tokens sent, all requests", "input_tokens"),
    ("  the last request alone", "input_tokens_last_request"),
    ("identical with the request before, %", "identical_share"),
    ("  read from the cache, %", "read_share"),
    ("  written to it, %", "written_share"),
    ("  neither, %", "fresh_share"),
    ("cost without caching, US cents", "cost_usd_without_cache"),
    ("cost with caching, US cents", "cost_usd_with_cache"),
    ("  of the cost without, %", "cost_ratio"),
)


def report(found: Mapping[str, Mapping[str, Mapping[str, float]]]) -> None:
    heading(f"What a run sends to its provider: one call a turn, {SIZE} results, sums over the run")
    names = [f"{provider} x{count}" for provider, rows in found.items() for count in rows]
    runs = [row for rows in found.values() for row in rows.values()]
    counted = ("input_tokens", "input_tokens_last_request")
    columns(
        names,
        [
            (text, [number(run[name] * (1 if name in counted else 100)) for run in runs])
            for text, name in ROWS
        ],
    )
    told = ", ".join(providers.PROVIDERS[provider].default_model for provider in found)
    print(
        f"Rendered by the product for {told}; {BYTES_PER_TOKEN:g} bytes a token; the previous request's breakpoints\n"
        "are taken as cached."
    )
