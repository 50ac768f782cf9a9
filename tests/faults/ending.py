"""What a run came to, told without ids and times, so that two runs can be compared, whichever release tells them."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from acta.engine.log.head import Head
from acta.engine.turn.final_answer import for_people
from tests.faults.ledger import Effect
from tests.faults.person import Insistent, Json
from tests.faults.script import CHARGE
from tests.faults.stand import Stand

TOLD_APART = ("state.changed", "llm.retried", "budget.warning")
"""Events that tell of what came between, not of what came of it."""


class Ending(NamedTuple):
    """`files`: the tenant's, with their sizes; `pending`: what people would still find to decide; `listed`: whether the
    tenant's listing has it as it ended; `engine`: how its execution ended; `events`: how many of each type.
    """

    session: Mapping[str, Any]
    messages: tuple[Any, ...]
    effects: tuple[Effect, ...]
    files: tuple[tuple[str, int], ...]
    events: Mapping[str, int]
    steps: Mapping[str, int]
    pending: int
    listed: bool
    engine: str
    below: "Mapping[str, Ending]" = MappingProxyType({})
    """The sessions below, by who they are."""

    def differences(self, clean: "Ending", asked: tuple[str, ...]) -> list[str]:
        """From the clean run, one line each. What a question about a call leaves behind is not one."""
        found = []
        if self.below.keys() != clean.below.keys():
            found.append(f"below: {', '.join(self.below)} instead of {', '.join(clean.below)}")
        for name, one in self.below.items():
            if name in clean.below:
                found += [f"{name}: {line}" for line in one.differences(clean.below[name], asked)]
        for name, mine, other in zip(self._fields, self._without(asked), clean._without(asked), strict=True):
            if mine != other and name != "below":
                found.append(
                    f"{name}: {_short(*_apart(mine, other))} instead of {_short(*_apart(other, mine))}"
                )
        return found

    def _without(self, asked: tuple[str, ...]) -> "Ending":
        if not asked:
            return self
        events = {
            kind: n for kind, n in self.events.items() if not kind.startswith(("intervention.", "tool."))
        }
        steps = {kind: n for kind, n in self.steps.items() if kind not in ("intervention", "tool")}
        return self._replace(events=events, steps=steps)


def ending(person: Insistent, stand: Stand, tag: str, head: Head) -> Ending:
    """Looks at everything the API tells of it."""
    path = f"/v1/sessions/{head.session_id}"
    seen = person.snapshot(path)
    told = person.rows(f"{path}/messages")
    plans = person.rows(f"{path}/plan", "versions") if seen["session"]["plan"] else []
    steps = person.rows(f"{path}/steps")
    trace = person.rows(f"{path}/trace")
    listed = person.data("/v1/sessions", state=head.state)["items"]
    pending = person.data("/v1/interventions", state="pending")["items"]
    arn = stand.execution_of(head)
    events = Counter(event["type"] for event in seen["events"] if event["type"] not in TOLD_APART)
    return Ending(
        session=_session(seen["session"], len(plans), len(trace), tag),
        messages=_messages(told, tag),
        effects=stand.ledger.effects(tag),
        files=stand.files(tag),
        events=dict(events),
        steps=dict(Counter(step["kind"] for step in steps if not _failed_call(step))),
        pending=len(pending),
        listed=[one["session_id"] for one in listed] == [head.session_id],
        engine=stand.states.describe_execution(executionArn=arn)["status"],
    )


def _failed_call(step: Json) -> bool:
    """An attempt at a model call that led to nothing: it tells of what came between."""
    return step["kind"] in ("plan", "llm") and step["error"] is not None


def _session(session: Json, versions: int, thoughts: int, tag: str) -> Json:
    plan = session["plan"]
    kept = {
        name: session[name] for name in ("state", "state_reason", "goal", "result", "error", "interventions")
    }
    return {
        **kept,
        "result": _filled(kept["result"]),
        "goal": kept["goal"].replace(tag, "…"),
        "plan": plan and plan["status"],
        "steps": [
            (one["description"], one["status"], one["result"]) for one in (plan or {"steps": ()})["steps"]
        ],
        "versions": versions,
        "thoughts": thoughts,
        "iteration": session["run"]["iteration"],
    }


def _filled(fields: Json | None) -> Json | None:
    """Without the fields that are null, which an earlier release may not have."""
    return fields and {name: value for name, value in fields.items() if value is not None}


def _messages(told: list[Json], tag: str) -> tuple[Any, ...]:
    """Results of calls made side by side come in any order: those in a row are sorted by what was called."""
    inputs: dict[str, str] = {}
    found: list[tuple[str, str, str]] = []
    row: list[tuple[str, str, str]] = []
    for message in json.loads(json.dumps(told).replace(tag, "…")):
        for call in message.get("tool_calls") or ():
            inputs[call["call_id"]] = f"{call['name']} {call['input']}"
        if message["role"] == "tool":
            call = inputs.get(message["call_id"], "unknown call")
            row.append(("tool", call, _result(call, message["content"])))
            continue
        found += [
            *sorted(row),
            (message["role"], ", ".join(_calls(message)), _said(message)),
        ]
        row = []
    return (*found, *sorted(row))


def _said(message: Json) -> str:
    """The release before shows people the marker of a goal that is reached."""
    content = str(message["content"])
    return for_people(content) if message["role"] == "assistant" else content


def _calls(message: Json) -> list[str]:
    return [f"{call['name']} {call['input']}" for call in message.get("tool_calls") or ()]


MARK = re.compile(r" #[0-9]{9} ---$", re.MULTILINE)
"""Of a quotation. The release before quotes without."""
CHARGED = re.compile(rf"{CHARGE} [a-z0-9 ]+: done\.")
SESSION_ID = re.compile(r"ses_[0-9A-HJKMNP-TV-Z]{26}")


def _result(call: str, content: str) -> str:
    """A person who says what the service said says it without the fence. Marks of quotations are left out."""
    said = CHARGED.search(content)
    if call.startswith(CHARGE) and said is not None:
        return said[0]
    return SESSION_ID.sub("…", MARK.sub(" ---", content))


def _apart(mine: object, other: object) -> tuple[object, ...]:
    """What of `mine` is not in `other`, where both consist of parts."""
    match mine, other:
        case dict(), dict():
            return tuple(item for item in mine.items() if item not in other.items())
        case tuple(), tuple():
            return tuple(each for each in mine if each not in other) or mine
    return (mine,)


def _short(*values: object) -> str:
    text = ", ".join(str(value) for value in values)
    return text if len(text) < 600 else f"{text[:600]}…"
