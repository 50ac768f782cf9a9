"""What applying a folder would do, found from the files and from what the deployment has; and the reads and writes over
the API that this takes.

A definition belongs to the set that applied it, to another set, or to nobody. A set changes and deletes only its own
definitions, and only while they are as it applied them: if a person has changed one since, `overwrite` is needed.
`adopt` takes over a definition of another set or of nobody. A definition that is in use is kept. Whether a
schedule or a trigger is paused is no part of its definition (ADR 226).
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, Literal, NamedTuple

from acta.cli.apply.folder import DefinitionSet, Key
from acta.cli.apply.kinds import (
    AGENTS,
    KINDS,
    PAUSED,
    PROMPTS,
    TOOLS,
    TRIGGERS,
    DefinitionKind,
    Digest,
    as_file,
    from_answer,
    named,
    secrets_named,
)
from acta.cli.apply.schema import Json, nearest
from acta.cli.terminal.text import one_line
from acta.client.api import Client
from acta.client.flows import path_of
from acta.engine.subagents.tool import MAX_TREE, circle

TAKEN = "a tool of this name is built in, or comes from the environment's Python: it cannot be a file"
NOT_YET = "`acta dev` takes a tool a few seconds after it was written, and AWS has it after `acta deploy`."
FIXED = "there is no prompt of this name, and prompts' names are fixed: `acta prompts ls` lists them"
NEVER_APPLIED = Digest("", "")
Action = Literal["create", "change", "adopt", "delete"]


class Found(NamedTuple):
    """A definition of the deployment, as its file would be. `owner`: the set that applied it, `applied`: the digest of
    what was applied; both are empty if nobody owns it. `is_built_in`: it is the product's own.
    """

    definition: Json
    version: int
    owner: str = ""
    applied: Digest = NEVER_APPLIED
    is_built_in: bool = False

    def is_edited(self, kind: str) -> bool:
        """Whether somebody has changed it since it was applied."""
        return Digest.of(KINDS[kind], self.definition).shown != self.applied.shown


class ApplyStep(NamedTuple):
    """One write. `before` is None for a new definition, `after` for a deleted one. `adopt` changes only the owner.
    `digest`: of what the file says.
    """

    action: Action
    key: Key
    before: Found | None
    after: Json | None
    digest: Digest = NEVER_APPLIED


class Refusal(NamedTuple):
    """Why a definition is not written as the files say. `step`: the write that was refused."""

    key: Key
    why: str
    step: ApplyStep


class Kept(NamedTuple):
    """A definition that the files no longer have and that is not deleted, with the reason."""

    key: Key
    why: str


@dataclass
class ApplyPlan:
    """`steps`: in the order in which they are made. If there are `refusals`, no step is made."""

    set_name: str
    steps: list[ApplyStep] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)
    unchanged: int = 0


def plan(
    folder: DefinitionSet,
    deployed: "TenantDefinitions",
    *,
    adopt: bool,
    overwrite: bool,
) -> ApplyPlan:
    made, found = ApplyPlan(folder.set_name), deployed.read()
    tools = tools_after(folder, deployed.tools)
    staying = {**{key: each.definition for key, each in found.items()}, **folder.definitions}
    for key in ordered(folder.definitions):
        wanted, there = folder.definitions[key], found.get(key)
        step = _step(key, wanted, there, made.set_name)
        if step is None:
            made.unchanged += 1
            continue
        if there is None:
            is_taken = key.kind == TOOLS.folder and key.name in deployed.tools
            why = FIXED if key.kind == PROMPTS.folder else TAKEN if is_taken else ""
        else:
            why = _refusal(step, there, made.set_name, adopt=adopt, overwrite=overwrite)
        why = why or _missing(key, wanted, tools, staying, deployed, folder.root)
        if why := why or why_no_call(key, staying, tools):
            made.refusals.append(Refusal(key, why, step))
        else:
            made.steps.append(step)
    gone = {
        key: each.definition
        for key, each in found.items()
        if key not in folder.definitions and each.owner == folder.set_name
    }
    for key in reversed(ordered(gone)):
        each, step = found[key], ApplyStep("delete", key, found[key], None)
        why = _use(key, staying, deployed.has_running_sessions)
        if why:
            made.kept.append(Kept(key, why))
        elif each.is_edited(key.kind) and not overwrite:
            made.refusals.append(Refusal(key, "it was changed by hand since: --overwrite deletes it", step))
        else:
            made.steps.append(step)
            del staying[key]
    return made


def tools_after(folder: DefinitionSet, offered: Collection[str]) -> list[str]:
    """Names of the tools that agents may name once everything is written."""
    known = set(offered)
    for key, definition in folder.definitions.items():
        if key.kind == TOOLS.folder:
            known.add(key.name)
        prefix = KINDS[key.kind].prefix
        if prefix is not None:
            known = {each for each in known if not each.startswith(key.name + prefix)}
            known |= {f"{key.name}{prefix}{tool}" for tool in definition.get("tools", {})}
    return sorted(known)


def _missing(
    key: Key,
    wanted: Json,
    tools: Sequence[str],
    staying: Collection[Key],
    deployed: "TenantDefinitions",
    root: Path,
) -> str:
    """A sentence for each tool, agent, secret and event source that the definition names and that does not exist; empty
    if there is none. `root`: the folder that is applied.
    """
    kind = KINDS[key.kind]
    agents = sorted(each.name for each in staying if each.kind == AGENTS.folder)
    known = [*tools, *_called(wanted)]
    denied = [each for field in kind.denies for each in wanted.get(field, ())]
    missing = {
        ("tool", each): known for each in (*named(kind, wanted, TOOLS.folder), *denied) if each not in known
    }
    missing |= {("agent", each): agents for each in named(kind, wanted, AGENTS.folder) if each not in agents}
    for part in ("auth", "config", "webhook"):
        secrets = [each for each in secrets_named(wanted.get(part)) if each not in deployed.secrets]
        missing |= {("secret", each): deployed.secrets for each in secrets}
    if (source := wanted.get("source")) and source not in deployed.sources:
        missing["event source", source] = deployed.sources
    said = [
        f"there is no {what} {one_line(each)}. {nearest(each, names) if names else 'There is none at all.'}"
        for (what, each), names in missing.items()
    ]
    for what, each in missing:
        if what == "secret":
            hosts = "--no-host" if key.kind == TRIGGERS.folder else "--host HOST"
            said.append(f"`acta tools secrets set {one_line(each)} {hosts}` sets it.")
        elif what == "tool" and (path := _python_of(each, root)):
            said.append(f"{one_line(path)} defines {one_line(each)}: {NOT_YET}")
    return " ".join(said)


def _python_of(tool: str, root: Path) -> str:
    """The file below `tools/` that defines the tool, as it seems. Empty: there is none."""
    paths = sorted(root.glob("tools/*/*.py"))
    found = (each for each in paths if f"def {tool}(" in each.read_text(encoding="utf-8", errors="replace"))
    return next((each.relative_to(root).as_posix() for each in found), "")


def _called(definition: Json) -> list[str]:
    """The names of the tools that the agent's own agents are."""
    return [each.get("as") or each["agent"] for each in definition.get("agents", ())]


def why_no_call(key: Key, definitions: Mapping[Key, Json], tools: Collection[str]) -> str:
    """Why the agent may not call those that it names; empty if it may. The others: all that there will be."""
    if "agents" not in definitions[key]:
        return ""
    if taken := [each for each in _called(definitions[key]) if each in tools]:
        return f"there is a tool {one_line(taken[0])} already: name the agent with `as`"

    def called(name: str) -> list[str]:
        return named(AGENTS, definitions.get(Key(AGENTS.folder, name), {}), AGENTS.folder)

    way = circle(key.name, called(key.name), called)
    if way is None:
        return f"with those that they call the agents that it calls are more than {MAX_TREE}"
    return f"the agent would call itself: {' -> '.join(map(one_line, way))}" if way else ""


def _step(key: Key, wanted: Json, there: Found | None, set_name: str) -> ApplyStep | None:
    """None if the definition is there, belongs to this set and says what the file says."""
    kind = KINDS[key.kind]
    wants = Digest.of(kind, wanted)
    if there is None:
        return ApplyStep("create", key, None, wanted, wants)
    is_paused = there.definition.get(PAUSED, False)
    if PAUSED in kind.beside and wants.paused in ("", there.applied.paused):  # people have the say
        wanted = as_file(kind, key.name, {**wanted, PAUSED: is_paused})
    says_more = wants.whole != wants.shown  # the API hides a part: compare what was applied
    if (
        Digest.of(kind, there.definition).shown != wants.shown
        or (says_more and there.applied.whole != wants.whole)
        or wanted.get(PAUSED, False) != is_paused
    ):
        return ApplyStep("change", key, there, wanted, wants)
    if there.is_built_in or (there.owner == set_name and there.applied == wants):
        return None
    return ApplyStep("adopt", key, there, wanted, wants)


def _refusal(step: ApplyStep, there: Found, set_name: str, *, adopt: bool, overwrite: bool) -> str:
    """Why the step must not be made; empty if it may be made."""
    if there.is_built_in:
        return ""
    if there.owner != set_name:
        whose = (
            f"the set {there.owner} owns it" if there.owner else "no set owns it: somebody made it by hand"
        )
        return "" if adopt else f"{whose}; --adopt takes it into this set"
    if step.action == "change" and there.is_edited(step.key.kind) and not overwrite:
        return "it was changed by hand since it was applied; --overwrite puts it as the file says"
    return ""


def _use(key: Key, staying: Mapping[Key, Json], running: Callable[[str], bool]) -> str:
    """Why the definition cannot be deleted yet; empty if it can. `staying`: all definitions that will be left."""
    if key.kind == AGENTS.folder and running(key.name):
        return "it has sessions that are running"
    users = [
        str(each) for each, definition in staying.items() if each != key and _names(each, definition, key)
    ]
    return f"in use by {', '.join(users)}" if users else ""


def ordered(definitions: Mapping[Key, Json]) -> list[Key]:
    """The keys in an order in which each definition comes before those that name it."""
    keys = sorted(definitions, key=lambda each: ([*KINDS].index(each.kind), each.name))
    graph = {
        key: [
            called
            for name in named(KINDS[key.kind], definitions[key], AGENTS.folder)
            if (called := Key(AGENTS.folder, name)) in definitions
        ]
        for key in keys
    }
    try:
        return [*TopologicalSorter(graph).static_order()]
    except CycleError:  # agents that call each other in a circle are refused
        return keys


def _names(user: Key, definition: Json, used: Key) -> bool:
    """Whether the agent names the tool, the other agent, or one of the server's tools, or the schedule the agent."""
    prefix = KINDS[used.kind].prefix
    return any(
        each == used.name if prefix is None else each.startswith(used.name + prefix)
        for each in named(KINDS[user.kind], definition, used.kind)
    )


Answer = Mapping[str, Any]
OF_THE_RELEASE = "acta"
"""The author of a prompt's version if no person has written it."""
WITHDRAWN = "The release's own text again"
RUNNING = ("planning", "executing", "waiting_for_tool", "waiting_for_user")


class TenantDefinitions:
    """The definitions of the client's tenant. Every method raises ClientError."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.tools: frozenset[str] = frozenset()
        """Names of all tools that agents may be given; filled in by `read`."""

    @cached_property
    def secrets(self) -> list[str]:
        return [each["name"] for each in self._client.tool_secrets.list()]

    @cached_property
    def sources(self) -> list[str]:
        """The operator's event sources that triggers may name."""
        return self._client.health()["event_sources"]

    def read(self) -> dict[Key, Found]:
        found = {}
        for kind in KINDS.values():
            answers = list(self._calls(kind).list())
            if kind is TOOLS:
                self.tools = frozenset(answer["name"] for answer in answers)
            for answer in answers:
                # Built-in definitions cannot be written and have no version; a private schedule has no goal to see.
                if "version" in answer and answer.get("goal", "") is not None:
                    found[Key(kind.folder, answer[kind.identity])] = _found(kind, answer)
        return found

    def make(self, step: ApplyStep, plan: ApplyPlan) -> tuple[str, ...]:
        """Makes the step and returns the answer's warnings. Raises ConflictError if somebody else was faster."""
        kind, name, before = KINDS[step.key.kind], step.key.name, step.before
        calls = self._calls(kind)
        if step.after is None:
            assert before is not None, "what goes was there"
            if kind is PROMPTS:
                # A prompt is never gone: the release's own text is in force again, as a new version that is nobody's.
                seed = self._client.prompts.get(name)["seed_content"]
                body = {
                    "content": seed,
                    "comment": WITHDRAWN,
                    "expected_version": before.version,
                    "applied": None,
                }
                self._client.put(path_of("admin", "prompts", name), body)
            else:
                calls.delete(name, before.version)
            return ()
        mark = {"set": plan.set_name, "digest": str(step.digest)}
        if kind is PROMPTS:
            assert before is not None, "a prompt is never new"
            written = self._client.prompts.write(
                name,
                step.after["content"],
                comment=step.after.get("comment"),
                expected_version=before.version,
                applied=mark,
            )
            return tuple(written["warnings"])
        body = {**kind.written, **step.after, "applied": mark}
        if kind.is_put:
            calls.write(name, {**body, "version": before and before.version})
            return ()
        if before is None:
            written = calls.create({kind.identity: name, **body})
        else:
            written = calls.replace(name, {**body, "version": before.version})
        return tuple(written.get("warnings", ()))

    def is_of_the_release(self, key: Key, found: Found) -> bool:
        """Whether the version in force has the release's own text, as it has after a prompt was withdrawn."""
        if key.kind != PROMPTS.folder:
            return False
        return bool(self._client.prompts.get(key.name)["seed_content"] == found.definition["content"])

    def has_running_sessions(self, agent_id: str) -> bool:
        """Only sessions that the caller may see are counted."""
        return any(
            next(iter(self._client.sessions(agent_id=agent_id, state=state, limit=1)), None) is not None
            for state in RUNNING
        )

    def _calls(self, kind: DefinitionKind) -> Any:
        return getattr(self._client, kind.folder.replace("-", "_"))


def _found(kind: DefinitionKind, answer: Answer) -> Found:
    applied = answer.get("applied") or {"set": "", "digest": ""}
    return Found(
        from_answer(kind, answer),
        answer["version"],
        applied["set"],
        Digest.from_text(applied["digest"]),
        answer["version"] == 0 or answer.get("created_by") == OF_THE_RELEASE,
    )
