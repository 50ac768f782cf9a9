"""A tiny agent loop in memory: the plan's rules, the file tools, an approving person. No clock, no store."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from shared.adapters.llm.offline.model import OfflineModel
from shared.domain.session.conversation import AssistantEntry, Content, Entry, ToolCall, ToolEntry, UserEntry
from shared.domain.untrusted.quoting import quoted
from shared.ports.model import ModelReply, ModelRequest, ToolDefinition

FILE_TOOLS = ("list_files", "read_file", "create_file", "delete_file")
_CLOSED = ("completed", "failed", "skipped")


def _definition(name: str) -> ToolDefinition:
    return ToolDefinition(name, name, {"type": "object", "properties": {}})


@dataclass
class Step:
    description: str
    tool: str | None
    status: str = "pending"
    result: str = ""


@dataclass
class Agent:
    """`approve`: what the person answers when asked whether to delete or replace a path."""

    files: dict[str, str]
    approve: Callable[[str], bool] = lambda path: True
    unreadable: Sequence[str] = ()
    tools: Sequence[str] = FILE_TOOLS
    max_tokens: int = 4_096
    result_limit: int = 65_536
    entries: list[Entry] = field(default_factory=list)
    replies: list[ModelReply] = field(default_factory=list)
    plan: list[Step] | None = None
    plans: list[list[Step]] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    state: str = "idle"
    answer: str = ""

    def say(self, text: str) -> "Agent":
        self.entries.append(UserEntry(message_id=f"m{len(self.entries)}", content=Content.of(text)))
        return self

    def run(self, goal: str, turns: int = 60) -> "Agent":
        """Until the run completes, fails or waits for the person."""
        self.say(goal)
        return self.go_on(turns)

    def go_on(self, turns: int = 60) -> "Agent":
        if self.state != "executing":
            self.plan, self.state = None, "planning"
        for _ in range(turns):
            if self.state not in ("planning", "executing"):
                return self
            self.step()
        raise AssertionError(f"still {self.state} after {turns} turns")

    def step(self) -> ModelReply:
        planning = self.state == "planning"
        reply = OfflineModel().complete(self.request(planning=planning), timeout=1.0)
        self.replies.append(reply)
        calls = tuple(
            ToolCall(call_id=f"c{len(self.entries)}-{n}", effect_id="e", name=c.name, input=c.input)
            for n, c in enumerate(reply.calls)
        )
        self.entries.append(
            AssistantEntry(message_id=f"m{len(self.entries)}", content=Content.of(reply.text), calls=calls)
        )
        for call in calls:
            text = (
                self._update(call.input or {}) if call.name == "update_plan" else self._tool(call, planning)
            )
            ok = not text.startswith("Error:")
            self.entries.append(
                ToolEntry(call_id=call.call_id, name=call.name, content=Content.of(text), ok=ok)
            )
        if reply.text.startswith("GOAL_COMPLETE") and not self.open_steps():
            self.state, self.answer = "completed", reply.text.removeprefix("GOAL_COMPLETE").strip()
        return reply

    def request(self, *, planning: bool) -> ModelRequest:
        names = ["update_plan"] if planning else ["update_plan", *self.tools]
        return ModelRequest(
            model="offline-rules",
            system="You are an agent.",
            tools=tuple(_definition(name) for name in names),
            entries=tuple(self.entries),
            suffix="",
            max_tokens=self.max_tokens,
            tool_choice="update_plan" if planning else "auto",
        )

    def open_steps(self) -> list[int]:
        return [n for n, step in enumerate(self.plan or [], 1) if step.status not in _CLOSED]

    def calls(self, name: str) -> list[dict[str, Any]]:
        return [c.input or {} for reply in self.replies for c in reply.calls if c.name == name]

    def _update(self, given: dict[str, Any]) -> str:
        text = self._updated(given)
        if text.startswith("Error:"):
            self.refusals.append(text)
        return text

    def _updated(self, given: dict[str, Any]) -> str:
        match given["action"]:
            case "create":
                unknown = [s["tool"] for s in given["steps"] if s.get("tool", "list_files") not in self.tools]
                if unknown or not given["goal"].strip() or not 1 <= len(given["steps"]) <= 10:
                    return f"Error: the plan is not valid: {unknown}"
                self.plan = [Step(s["description"], s.get("tool")) for s in given["steps"]]
                self.plans.append(self.plan)
                self.state = "executing"
                return "Plan created."
            case "update_step":
                assert self.plan is not None
                step = self.plan[given["step_number"] - 1]
                if step.status in ("completed", "skipped"):
                    return f"Error: step {given['step_number']} is finished."
                if given["step_status"] == "completed" and not given.get("step_result"):
                    return "Error: a completed step needs a step_result."
                step.status, step.result = given["step_status"], given.get("step_result", "")
                return "Step updated."
            case "wait_for_user":
                self.asked.append(given["reason"])
                self.state = "waiting"
                return "Asked the user."
            case "complete":
                if self.open_steps():
                    return f"Error: steps {self.open_steps()} are open."
                self.state = "completed"
                return "Plan completed."
            case "fail":
                self.state = "failed"
                return "Plan failed."
        return "Error: unknown action"

    def _tool(self, call: ToolCall, planning: bool) -> str:
        assert not planning, "no tool can run while planning"
        assert call.name in self.tools
        given = call.input or {}
        match call.name:
            case "list_files":
                return self._listed()
            case "read_file":
                return self._read(given["path"])
            case "create_file":
                if given["path"] in self.files:
                    if not given.get("replace"):
                        return f"Error: there is a file {given['path']} already. Choose another path."
                    if not self.approve(given["path"]):
                        return "Error: rejected by a person: keep it"
                self.files[given["path"]] = given["content"]
                return f"Created {given['path']}, {len(given['content'].encode())} bytes."
            case "delete_file":
                if not self.approve(given["path"]):
                    return "Error: rejected by a person: keep it"
                if self.files.pop(given["path"], None) is None:
                    return f"Error: there is no file {given['path']}"
                return f"Deleted {given['path']}."
        raise AssertionError(call.name)

    def _listed(self) -> str:
        sizes = {path: len(text.encode()) for path, text in sorted(self.files.items())}
        lines = [f"{path}  {size} {'byte' if size == 1 else 'bytes'}" for path, size in sizes.items()]
        text = "\n".join([f"{len(lines)} files, 0 folders in /:", *lines]) if lines else "No files in /."
        return quoted("listing", "/", text, key="call_1")

    def _read(self, path: str) -> str:
        if path in self.unreadable:
            return f"Error: {path} is not text"
        if path not in self.files:
            return f"Error: there is no file {path}"
        text = self.files[path]
        if len(text) <= self.result_limit:
            return quoted("file", path, text, key="call_1")
        cut = quoted("file", path, text[: self.result_limit], size=len(text), key="call_1")
        return f"{cut}\n[{self.result_limit} of {len(text)} bytes so far]"
