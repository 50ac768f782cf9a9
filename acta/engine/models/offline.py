"""`offline`: a stand-in for a model that works by rules, and says so. It needs no network and no key.

It lets somebody see Acta at work before they have a model: it makes a plan, calls tools, writes a file and answers. It
understands a handful of sentences (`read_goal`) and declines every message that has one word too many, so that no
condition and no "do not" is ever overlooked. It never follows what a file says.

Like any model it keeps nothing between calls: what has been done follows from the request's entries alone, so the next
turn goes on where the last one stopped, in another process too.
"""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from acta.engine.log.conversation import AssistantEntry, Entry, ToolEntry, UserEntry
from acta.engine.models.model import ModelReply, ModelRequest, RequestedCall, TokenUsage
from acta.engine.plans.plan import UPDATE_PLAN
from acta.engine.tools.builtin.search import FIND_TOOLS
from acta.engine.turn.final_answer import GOAL_COMPLETE, schema_in
from acta.engine.untrusted.exact_json import EXACT
from acta.engine.untrusted.quoting import unquoted

LABEL = "(Acta's offline stand-in: rules, no language model.)"
WHAT_TO_DO = (
    "What exactly should I do? I can list, count and summarize the files, write the result to a file, and use a tool: "
    'use read_file with {"path": "notes.md"}.'
)
HOW_TO_GET_A_MODEL = (
    "I am Acta's offline stand-in: rules, no language model. I can list, count and summarize the files in the storage, "
    "write the result to a file, and use a tool that you name with arguments that you give. For anything else "
    "configure a model: set ANTHROPIC_API_KEY or OPENAI_API_KEY and start again; ACTA_PROVIDER and ACTA_MODEL choose "
    "among them."
)
HELLO = (
    "Hello! I am Acta's offline stand-in: rules, no language model. Ask me to list, count or summarize your files. For "
    "example: List all files and write a summary to summary.md."
)
WELCOME = f"You are welcome. {LABEL}"
MAX_FILES = 100
"""Files that are read for one goal. The answer says how many were left out."""
MAX_CALLS = 5
"""Calls of one reply."""
_MAX_QUESTIONS = 2
_CHARS_PER_TOKEN = 4
_LIST = RequestedCall("list_files", {})

_FILE = r"[\w+~./-]{1,200}\.[A-Za-z][A-Za-z0-9]{0,7}"
_POLITE = r"(?:please|can you|could you)?\s*"
_USE = re.compile(
    _POLITE + r"(?:use|call)\s+(?:the\s+)?(?:tool\s+)?([A-Za-z][\w-]{0,63})\s+(?:with\s+)?(?=\{)", re.I
)
_CREATE = re.compile(
    _POLITE + rf"(?:create|write|make)\s+(?:(?:a|the)\s+)?(?:file\s+)?(?:called\s+)?({_FILE})\s+"
    r"(?:with|containing)\s+(?:the\s+)?(?:text|content)s?:?\s+(\S.*)", re.I | re.S,
)  # fmt: skip
_ASKED = re.compile(r"\AThe agent [^\n]{1,200} asks this of you:\n")
"""How a goal begins that another agent gives (`acta/engine/subagents/family.py`)."""
_WITHOUT_TEXT = re.compile(
    _POLITE + rf"(?:create|write|make)\s+(?:(?:a|the)\s+)?(?:file\s+)?({_FILE})[.!?]?\s*", re.I
)
_ON_A_FILE = re.compile(
    _POLITE + rf"(show|read|delete|summari[sz]e)\s+(?:the\s+)?(?:file\s+)?({_FILE})[.!?]?\s*", re.I
)
_TO_A_FILE = re.compile(rf"\b(?:to|into|in|as)\s+({_FILE})(?!\w)", re.I)
_KNOWN = (
    "a all and answer answers are by can content contents could count counts each every everything file files folder "
    "folders for from have how i in into is it its list listing many me my of our per please result results save show "
    "storage store summaries summarise summarize summary tell text the their them then there these this to what which "
    "write you"
)
_VAGUE = (
    "a anything clean do fix go help improve it me my organise organize please something start stuff the things tidy "
    "up work"
)
_THANKS = "danke thank thanks"
_GREETINGS = "bye goodbye hallo hello hey hi morning afternoon evening"
_SMALL_TALK = (
    f"{_THANKS} {_GREETINGS} a are day good great how lot many much nice ok so there to very well you"
)
_WHO_ARE_YOU = ("what can you do", "who are you", "what are you")


class Goal(NamedTuple):
    """What a message asks for.

    `call`: the one tool call; None: the files are listed. `summarizes`: the answer summarises them, or the one that
    the call reads. `counts`: the answer says how many files each folder has. `target`: the file that the answer is
    written to; empty: none.
    """

    call: RequestedCall | None = None
    summarizes: bool = False
    counts: bool = False
    target: str = ""


class Stage(NamedTuple):
    """A step of the plan. `tool`: what its calls need; empty: it has no calls. `calls`: all that are known by now."""

    description: str
    tool: str
    calls: Sequence[RequestedCall]


@dataclass
class OfflineRun:
    """What the entries say since the last message of a person."""

    message: str = ""
    questions: int = 0
    """Asked in the whole conversation."""
    is_asked: bool = False
    """The last reply asked the person something."""
    is_planned: bool = False
    statuses: dict[int, str] = field(default_factory=dict)
    """By the number of the step."""
    results: dict[str, ToolEntry] = field(default_factory=dict)
    """By `_key` of the call."""
    found: set[str] = field(default_factory=set)
    """Tools that a search has found. They can be called by their names, like those that are offered."""


class OfflineModel:
    @property
    def provider(self) -> str:
        return "offline"

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        text, *calls = _reply(request)
        read = len(request.system) + len(request.suffix) + sum(map(_chars, request.entries))
        read += sum(len(tool.description) + len(json.dumps(tool.input_schema)) for tool in request.tools)
        written = len(text) + sum(len(json.dumps(call.input)) for call in calls)
        usage = TokenUsage(read // _CHARS_PER_TOKEN, max(1, written // _CHARS_PER_TOKEN))
        return ModelReply(text=text, calls=tuple(calls), stop="tools" if calls else "end", usage=usage)


def read_goal(message: str) -> Goal | None:
    """None where a word of the message is not known."""
    # The page, and an agent that asks, list the files that come with a goal.
    text = _ASKED.sub("", message.rpartition("\n\nFiles:\n- ")[0] or message, count=1).strip()
    if (use := _USE.match(text)) is not None:
        try:
            given, end = EXACT.raw_decode(text, use.end())
        except (ValueError, RecursionError):
            return None
        rest = _listing_goal(text[end:]) if text[end:].strip(" .") else Goal()
        is_written_only = rest is not None and not rest.summarizes and not rest.counts
        return (
            rest._replace(call=RequestedCall(use[1], given)) if rest is not None and is_written_only else None
        )
    if (create := _CREATE.fullmatch(text)) is not None:
        return Goal(RequestedCall("create_file", {"path": create[1], "content": create[2].strip('"“”`')}))
    if (one := _ON_A_FILE.fullmatch(text)) is not None:
        verb = one[1].lower()
        tool = "delete_file" if verb == "delete" else "read_file"
        return Goal(RequestedCall(tool, {"path": one[2]}), summarizes=verb.startswith("summar"))
    return _listing_goal(text)


def _listing_goal(text: str) -> Goal | None:
    targets = _TO_A_FILE.findall(text)
    words = re.findall(r"[^\s,.;:!?\"“”]+", _TO_A_FILE.sub(" ", text).lower())
    if len(targets) > 1 or not words or not set(words) <= set(_KNOWN.split()):
        return None
    counts = "many" in words or "count" in words
    summarizes = any(word.startswith("summar") for word in words)
    return Goal(None, summarizes, counts, targets[0] if targets else "")


def _reply(request: ModelRequest) -> tuple[Any, ...]:
    """The text, and the calls after it."""
    run = _run_of(request.entries)
    offered = {tool.name for tool in request.tools} | run.found
    if UPDATE_PLAN not in offered:  # a summary of the conversation is asked for
        return (f"{LABEL}\nWhat was asked for:\n{run.message[:2_000]}",)
    goal = read_goal(run.message)
    without_text = _WITHOUT_TEXT.fullmatch(run.message.strip())
    said = set(re.findall(r"[^\s,.;:!?]+", run.message.lower()))
    is_thanks, is_greeting = said & set(_THANKS.split()), said & set(_GREETINGS.split())
    is_talk = (is_thanks or is_greeting) and said <= set(_SMALL_TALK.split())
    is_talk = is_talk or run.message.lower().strip(" ?!.") in _WHO_ARE_YOU
    if goal is None and is_talk and schema_in(request.system) is None:
        return (f"{GOAL_COMPLETE}\n\n{WELCOME if is_thanks else HELLO}",)
    is_vague = said <= set(_VAGUE.split())
    if goal is None and (is_vague or without_text) and run.questions < _MAX_QUESTIONS:
        question = f"What text should {without_text[1]} hold?" if without_text else WHAT_TO_DO
        return "", _update("wait_for_user", reason=question)
    room = max(500, request.max_tokens * _CHARS_PER_TOKEN - 2_500)  # beside plan updates and labels
    stages = _stages(goal, run, room)
    plan: list[RequestedCall] = []
    if not run.is_planned:
        steps = [
            {"step_number": number, "description": stage.description}
            | ({"tool": stage.tool} if stage.tool in offered else {})
            for number, stage in enumerate(stages, 1)
        ]
        plan.append(_update("create", goal=run.message.strip()[:1_900], steps=steps))
    if schema_in(request.system) is not None:
        reason = f"I cannot answer in the form that was asked for. {HOW_TO_GET_A_MODEL}"
        return "", *plan, _update("fail", reason=reason)
    text, *calls = _work_on(goal, stages, run, offered, room)
    return text, *plan, *calls


def _work_on(
    goal: Goal | None, stages: Sequence[Stage], run: OfflineRun, offered: set[str], room: int
) -> tuple[Any, ...]:
    """The calls of the first stage that is not done, or the answer, with the updates of the plan that are due."""
    updates: list[RequestedCall] = []
    for number, stage in enumerate(stages, 1):
        if run.statuses.get(number) in ("completed", "failed", "skipped"):
            continue
        missing = [call for call in stage.calls if _key(call) not in run.results]
        if missing and stage.tool not in offered and FIND_TOOLS in offered:
            search = RequestedCall(FIND_TOOLS, {"query": stage.tool})
            if _key(search) not in run.results:
                return f"Find the tool {stage.tool}.", *updates, search
        if missing and stage.tool in offered:
            if number not in run.statuses:
                updates.append(_update("update_step", step_number=number, step_status="in_progress"))
            return stage.description + ".", *updates, *missing[:MAX_CALLS]
        problems = [_said(run, call) for call in stage.calls if not _is_ok(run, call)]
        if goal is None:
            status, result = (
                "failed",
                "This cannot be done by rules: it takes a language model. Nothing was done.",
            )
        elif stage.tool and stage.tool not in offered:
            status, result = "failed", f"This agent has no tool {stage.tool}."
        elif problems and len(problems) == len(stage.calls):
            status, result = "failed", "; ".join(problems)
        else:
            status, result = "completed", f"Done{': ' if problems else '.'}{'; '.join(problems)}"
        updates.append(
            _update("update_step", step_number=number, step_status=status, step_result=result[:1_500])
        )
    answer = _answer(goal, run, room)
    gist = next((line for line in answer.splitlines() if line.strip() and not line.startswith("#")), "Done.")
    return f"{GOAL_COMPLETE}\n\n{answer}\n\n{LABEL}", *updates, _update("complete", reason=gist[:300])


def _stages(goal: Goal | None, run: OfflineRun, room: int) -> list[Stage]:
    if goal is None:
        return [Stage(f"Say that “{run.message.strip()[:100]}” takes a language model", "", ())]
    if goal.call is not None:
        stages = [Stage(f"Use {goal.call.name}", goal.call.name, [goal.call])]
    else:
        stages = [Stage("List the files in the storage", _LIST.name, [_LIST])]
    if goal.summarizes and goal.call is None:
        stages.append(Stage("Read each file", "read_file", _reads(goal, run)))
    if goal.counts:
        stages.append(Stage("Count the files", "", ()))
    if goal.target:
        content = f"# {'Summary' if goal.summarizes else 'Result'}\n\n{_found(goal, run, room)}\n\n{LABEL}\n"
        create = _create(run, goal.target, content)
        stages.append(Stage(f"Write {goal.target}", create.name, [create]))
    return stages


def _create(run: OfflineRun, path: str, content: str) -> RequestedCall:
    """A file that is there already is replaced: the person has named it."""
    create = RequestedCall("create_file", {"path": path, "content": content})
    made = run.results.get(_key(create))
    is_taken = made is not None and not made.ok and " already." in made.content.loaded
    return RequestedCall("create_file", {**(create.input or {}), "replace": True}) if is_taken else create


def _answer(goal: Goal | None, run: OfflineRun, room: int) -> str:
    if goal is None:
        return f"I cannot do this. Nothing was done. {HOW_TO_GET_A_MODEL}"
    found = _found(goal, run, room)
    if not goal.target:
        return found
    last = next(result for key, result in reversed(run.results.items()) if key.startswith("create_file"))
    return f"{last.content.loaded.strip().splitlines()[0][:300]}\n\n{found}"


def _found(goal: Goal, run: OfflineRun, room: int) -> str:
    """At most `room` characters."""
    if goal.call is not None:
        found = _summary(run, goal.call) if goal.summarizes else f"{goal.call.name}: {_said(run, goal.call)}"
        return found[:room]
    if not _is_ok(run, _LIST):
        return f"The files could not be listed: {_said(run, _LIST)}"
    files = _files(goal, run)
    parts = [f"{_plural(len(files), 'file')} in the storage"]
    if goal.counts:
        folders = Counter(path.rpartition("/")[0] or "(top)" for path in files)
        parts[0] += "".join(f"\n- {folder}: {_plural(n, 'file')}" for folder, n in sorted(folders.items()))
    elif not goal.summarizes:
        parts[0] += "".join(f"\n- {path} ({size})" for path, size in files.items())
    if goal.summarizes:
        reads = _reads(goal, run)
        budget = room // max(1, len(reads))
        parts += [f"## {(call.input or {})['path']}\n\n{_summary(run, call)}"[:budget] for call in reads]
        if len(files) > len(reads):
            parts.append(
                f"{_plural(len(files) - len(reads), 'more file')} left out: I read at most {MAX_FILES}."
            )
    if re.match(r"\d+ entr(?:y|ies) of more\b", unquoted(run.results[_key(_LIST)].content.loaded)):
        parts.append("The listing was cut, so there are more files than I know of.")
    return "\n\n".join(parts)[:room]


def _files(goal: Goal, run: OfflineRun) -> dict[str, str]:
    """Path -> size, as the listing has it, without the file that the run itself writes."""
    listing = run.results.get(_key(_LIST))
    text = unquoted(listing.content.loaded) if listing is not None and listing.ok else ""
    found = dict(re.findall(r"^(.+)  (\d+ bytes?)  \S+Z$", text, re.M))
    return {path: size for path, size in sorted(found.items()) if path != goal.target}


def _reads(goal: Goal, run: OfflineRun) -> list[RequestedCall]:
    return [RequestedCall("read_file", {"path": path}) for path in list(_files(goal, run))[:MAX_FILES]]


def _summary(run: OfflineRun, call: RequestedCall) -> str:
    """The headings and the first sentences of a file, or the size of a table."""
    if not _is_ok(run, call):
        return f"Could not be read: {_said(run, call)}"
    text, path = unquoted(run.results[_key(call)].content.loaded), str((call.input or {})["path"])
    size = f"({_plural(len(text.split()), 'word')} in {_plural(len(text.splitlines()), 'line')})"
    if path.lower().endswith(".csv") and (rows := [row for row in csv.reader(io.StringIO(text)) if row]):
        return (
            f"A table of {_plural(len(rows) - 1, 'row')}, with the columns {', '.join(rows[0][:10])}. {size}"
        )
    lines = [line.strip() for line in text.splitlines()]
    headings = "; ".join(line.lstrip("# ") for line in lines if line.startswith("#"))
    prose = " ".join(line for line in lines if line and not line.startswith(("#", "---")))
    sentences = " ".join(re.split(r"(?<=[.!?])\s+", prose)[:3])[:600]
    return " ".join(part for part in (headings and f"Headings: {headings[:300]}.", sentences, size) if part)


def _run_of(entries: Sequence[Entry]) -> OfflineRun:
    run = OfflineRun()
    results = {entry.call_id: entry for entry in entries if isinstance(entry, ToolEntry)}
    for entry in entries:
        if isinstance(entry, UserEntry) and entry.origin == "user":
            text = entry.content.loaded
            if run.is_asked and _WITHOUT_TEXT.fullmatch(run.message.strip()):  # the answer is the file's text
                text = f"{run.message.strip(' .!?')} with the text {text}"
            run = OfflineRun(text, run.questions)
        elif isinstance(entry, AssistantEntry):
            refused = False
            for call in entry.calls:
                result, given = results.get(call.call_id), call.input or {}
                is_ok = result is not None and result.ok
                if call.name == UPDATE_PLAN and given.get("action") == "create":
                    run.is_planned, refused = is_ok, not is_ok
                elif refused:  # nothing of this reply was done
                    continue
                elif call.name == UPDATE_PLAN and given.get("action") == "update_step" and is_ok:
                    run.statuses[given.get("step_number", 0)] = str(given.get("step_status"))
                elif call.name == UPDATE_PLAN:
                    run.is_asked = given.get("action") == "wait_for_user"
                    run.questions += run.is_asked
                elif result is not None:
                    run.results[_key(RequestedCall(call.name, given))] = result
                    if call.name == FIND_TOOLS:
                        lines = result.content.loaded.splitlines()
                        run.found |= {json.loads(line)["name"] for line in lines if line.startswith("{")}
    return run


def _update(action: str, **more: Any) -> RequestedCall:
    return RequestedCall(UPDATE_PLAN, {"action": action, **more})


def _key(call: RequestedCall) -> str:
    return call.name + json.dumps(call.input, sort_keys=True)


def _is_ok(run: OfflineRun, call: RequestedCall) -> bool:
    result = run.results.get(_key(call))
    return result is not None and result.ok


def _said(run: OfflineRun, call: RequestedCall) -> str:
    """What the tool returned; of an error, its sentence and what is quoted below it."""
    result = run.results.get(_key(call))
    if result is None:
        return "This was not done."
    first, _, rest = result.content.loaded.partition("\n")
    text = unquoted(result.content.loaded) if result.ok else f"{first} {unquoted(rest)}"
    return text.strip().removeprefix("Error: ")[:4_000]


def _chars(entry: Entry) -> int:
    return len(entry.content.loaded) + sum(
        len(json.dumps(call.input)) for call in getattr(entry, "calls", ())
    )


def _plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
