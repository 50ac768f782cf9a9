"""Questions to people, and their decisions, as the API answers them."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, cast
from urllib.parse import quote

from pydantic import ConfigDict, with_config

from acta.engine.api.answers import Instant, TypedDict, copied
from acta.engine.audit.record import Via
from acta.engine.people import intervention as stored
from acta.engine.people.intervention import InterventionState
from acta.engine.people.policies import InterventionType
from acta.engine.people.visibility import viewer
from acta.engine.turn.final_answer import for_people
from acta.engine.untrusted.exact_json import canonical_json
from acta.engine.untrusted.visible import visible, visible_throughout


class FileOfCallView(TypedDict):
    """What a call of a built-in tool does with one of the tenant's files, and which arguments say so."""

    argument: str
    """The one with the file's path."""
    use: Literal["read", "write", "delete"]
    content: str | None
    """The argument with the text that the file gets."""
    replace: str | None
    """The argument that, if it is true, lets the call replace a file that is there."""


class PendingCallView(TypedDict):
    """A tool call that is decided on."""

    name: str
    """The tool's."""
    input: dict[str, Any]
    """Exactly what would run. Where it is `shortened`, its beginning; all of it is at `input_url`."""
    input_text: str | None
    """The whole input as its canonical JSON text, from which the hash is made. Show and change this one where numbers
    over 2^53 lose digits, as in JavaScript. null where the input is `shortened`."""
    input_hash: str
    """The first 32 hex digits of the SHA-256 of the whole input's canonical text. A decision is valid for this input
    and no other."""
    shortened: bool
    input_url: str | None
    """A path of this API; null where nothing was left out."""
    question: str | None
    """What a person who approves the call is asked, in a sentence. null: whether the agent may do this."""
    file: FileOfCallView | None
    """null: the tool names no file of the tenant's."""
    file_etag: str | None
    """The tag that the file had when this was asked, as its versions have it; empty: there was no file. The call runs
    only while that is so. null: it neither replaces nor deletes a file."""


class ReviewedCallView(PendingCallView):
    """One of the calls that run when a review is answered with `continue`."""

    call_id: str


class OutageView(TypedDict):
    """What a session has been waiting for."""

    reason: str
    code: str
    since: str


@with_config(ConfigDict(extra="allow"))
class ContextView(TypedDict):
    """What the person is shown. Types of questions have fields of their own beside these."""

    asked_by: NotRequired[Literal["acta", "agent", "person"]]
    """Whose words the question is in."""
    requested_by: NotRequired[str]
    """For a pause: the subject of the person who asked for it."""
    question: NotRequired[str]
    """The question. A long one is cut to its two ends; `message_id` then names the message that has all of it."""
    agent_said: NotRequired[str]
    """What the agent wrote with its question or call: its own words, and nothing else."""
    message_id: NotRequired[str]
    reason: NotRequired[str]
    """Why a call needs an approval."""
    cause: NotRequired[str]
    """Why no usable plan came about: what was wrong with the last one."""
    effect_id: NotRequired[str]
    """The effect id of a call whose end is not known."""
    calls: NotRequired[list[ReviewedCallView]]
    """Of a review: what runs when it is answered with `continue`."""
    outage: NotRequired[OutageView]
    total_tokens: NotRequired[int]
    """For a question about the budget: how much of `token_budget` is used."""
    token_budget: NotRequired[int]
    cost_usd: NotRequired[float | None]
    """How much of `cost_budget_usd` is used; null: not known."""
    cost_budget_usd: NotRequired[float | None]
    """null: the session has no limit in dollars."""
    token_budget_needed: NotRequired[int]
    """Only where the token budget is too low for the next call: how high it has to be for a whole answer."""
    cost_budget_usd_needed: NotRequired[float]
    """Only where the budget in dollars is too low for the next call: how high it has to be for a whole answer."""


class AskerView(TypedDict):
    """A session in whose name another one works."""

    session_id: str
    agent_id: str
    agent_name: str
    goal: str | None
    """The beginning of what it was asked for. null: it is private to somebody else."""


class InterventionView(TypedDict):
    """A question that waits for a person, or has been decided. One decision counts, the first."""

    intervention_id: str
    session_id: str
    agent_name: str
    """What the agent that asks was called when its session began."""
    chain: list[AskerView]
    """The sessions above, of which each has asked the next one for something and the last one this session. The first
    of all comes first. Empty: no other session has started this one."""
    type: InterventionType
    context: ContextView
    tool_call: PendingCallView | None
    role: str | None
    """The role that may decide; null: whoever may start the agent's sessions, by default any member."""
    also_roles: list[str]
    """Further roles that whoever decides needs as well, because agents of sessions above name them."""
    approver_must_differ: bool
    """Nobody who asked for the call may let it run."""
    options: list[str]
    """What `resolve` takes."""
    default_action: str
    """The option that holds when nobody decides until `timeout_at`."""
    timeout_at: Instant | None
    """null: it waits until somebody decides."""
    state: InterventionState
    resolution: str | None
    """The option that was chosen; at an expiry, `default_action`."""
    amended: bool
    """The call runs with `input`, which a person gave."""
    input: dict[str, Any] | None
    """What was given with the decision."""
    input_text: str | None
    """`input` as its canonical JSON text."""
    comment: str | None
    resolved_by: str | None
    """The subject of the person who decided. An expiry has none."""
    via: Via | None
    """How the decision came: `api`, over MCP in a form for the person (`mcp_form`) or from the client's model (`mcp`),
    which may only refuse and answer the agent's own questions. null: no person has chosen an option."""
    resolved_at: Instant | None
    created_at: Instant
    truncated: NotRequired[bool]
    """Its texts were cut, because one page could not hold it."""


class DecidedOfDeletedView(TypedDict):
    """The answer to a repeated decision whose session was deleted meanwhile."""

    session_id: str
    intervention_id: str


class CallInputView(TypedDict):
    """The whole input of a call that is decided on."""

    name: str
    """The tool's."""
    input: dict[str, Any]
    input_text: str
    """The input as its canonical JSON text, from which the hash is made."""
    input_hash: str
    """The decision is bound to it."""


def intervention_view(one: stored.Intervention) -> InterventionView:
    """Invisible characters of the context are made visible. A call's input is exact, at most shortened
    (docs/design/people.md 6)."""
    return copied(
        InterventionView,
        one,
        context=_context(one),
        chain=[_asker_view(one, each) for each in one.chain],
        tool_call=None if one.tool_call is None else pending_call_view(one, one.tool_call),
        approver_must_differ=stored.is_for_others_only(one),
        amended=one.resolution == "modify",
        input_text=None if one.input is None else canonical_json(one.input),
    )


def _asker_view(one: stored.Intervention, asker: stored.Asker) -> AskerView:
    """Who decides in another person's private session is shown what this session asks, and not what that person did."""
    asking = viewer()
    is_shown = asking is None or one.private_to in (None, asking.user)
    name = visible(asker.agent_name, keep_newlines=False)
    return copied(AskerView, asker, agent_name=name, goal=visible(asker.goal) if is_shown else None)


def _context(one: stored.Intervention) -> ContextView:
    """A review's calls show exact input, as an approval's does."""
    texts = {name: value for name, value in one.context.items() if name != stored.OTHERS_ONLY}
    calls = [
        {"call_id": call.call_id, **pending_call_view(one, call, f"?call_id={quote(call.call_id, safe='')}")}
        for call in stored.reviewed_calls(one)
    ]
    for name in ("agent_said", "question"):
        if isinstance(texts.get(name), str):
            texts[name] = for_people(texts[name])
    shown = visible_throughout(texts) | ({"calls": calls} if calls else {})
    return cast("ContextView", shown)


def pending_call_view(one: stored.Intervention, call: stored.PendingCall, query: str = "") -> PendingCallView:
    """`input_url`: where the whole of a shortened input is."""
    from acta.engine.tools.builtin import builtins  # most answers show no call

    url = f"/v1/sessions/{one.session_id}/interventions/{one.intervention_id}/input{query}"
    tool = builtins().get(call.name)  # no other tool has the name of a built-in one
    return copied(
        PendingCallView,
        call,
        input_text=None if call.shortened else canonical_json(call.input),
        input_url=url if call.shortened else None,
        question=(tool.question or None) if tool is not None else None,
        file=tool.file.model_dump() if tool is not None and tool.file is not None else None,
        file_etag=call.seen_file.etag if call.seen_file is not None else None,
    )
