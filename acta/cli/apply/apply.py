"""`acta apply DIR` makes a tenant's definitions what the files say, after showing what that changes; `acta export DIR`
writes the files.
"""

import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from acta.cli import exit_codes
from acta.cli.apply.folder import NAME, NOT_RIGHT, SUFFIX, DefinitionSet, Key, read_definition, read_folder
from acta.cli.apply.kinds import AGENTS, KINDS, Digest, named
from acta.cli.apply.plan import ApplyPlan, ApplyStep, TenantDefinitions, plan, tools_after, why_no_call
from acta.cli.apply.schema import Json
from acta.cli.connection import connect
from acta.cli.exit_codes import CliError
from acta.cli.terminal.prompt import is_agreed
from acta.cli.terminal.text import cli_error, counted, echo, note, one_line, visible
from acta.client.errors import ApiError, ClientError
from acta.engine.agents.agent import DEFAULT_AGENT
from acta.engine.tools.builtin import builtins
from acta.engine.untrusted.own_files import NameRefused, inside, write_own
from acta.repository import repository
from acta.yaml_text import write

NOBODY_TO_ASK = "nobody can be asked here: add --yes, once --plan has shown what will change"
REFUSED = "nothing was written: the plan names what cannot be as the files say"
WITHOUT = "only a repository, which has acta.yaml and environments.py, needs no name"
AGAIN = "Apply again to do the rest: what was done is not done twice"


def apply(arguments: Namespace) -> int:
    """Returns exit code 1 if a write failed or the person said no, 3 if `--plan` shows changes. Raises CliError."""
    here = arguments.folder or repository()
    if here is None:
        typed = "acta apply . --check" if arguments.check else "acta apply ."
        raise CliError(f"name the FOLDER of the definitions, such as `{typed}`: {WITHOUT}")
    folder = read_folder(Path(here), arguments.set_name)
    if arguments.check:
        _check_agents(folder)
        echo(f"set {folder.set_name}: {counted(len(folder.definitions), 'definition')}, all of them right")
        return exit_codes.OK
    deployed = TenantDefinitions(connect(arguments, role="admin"))
    made = plan(
        folder,
        deployed,
        adopt=arguments.adopt,
        overwrite=arguments.overwrite,
    )
    if not arguments.json:
        for line in plan_lines(made, coloured=is_coloured(sys.stdout)):
            echo(line)
    if arguments.plan or made.refusals or not made.steps:
        if arguments.json:
            echo(json.dumps(as_json(made)))
        if made.refusals:
            raise CliError(REFUSED)
        return exit_codes.DIFFERS if made.steps else exit_codes.OK
    count = len(made.steps)
    question = f"Write {'this change' if count == 1 else f'these {count} changes'}? [y/N] "
    if not arguments.yes and not is_agreed(question, NOBODY_TO_ASK, as_json=arguments.json):
        echo("Nothing was written.")
        return exit_codes.FAILED
    return _make(deployed, made, as_json=arguments.json)


def _check_agents(folder: DefinitionSet) -> None:
    """Raises CliError for agents that may not call those that they name. Says which of these have no file here."""
    tools = tools_after(folder, builtins())
    wrong = [
        f"{key}{SUFFIX}: {why}"
        for key in folder.definitions
        if (why := why_no_call(key, folder.definitions, tools))
    ]
    if wrong:
        raise CliError("\n".join([NOT_RIGHT, *wrong]))
    for key, definition in folder.definitions.items():
        for name in named(KINDS[key.kind], definition, AGENTS.folder):
            if name != DEFAULT_AGENT and Key(AGENTS.folder, name) not in folder.definitions:
                note(
                    f"acta: {key} names the agent {one_line(name)}, which has no file here: it must be there already"
                )


def _make(deployed: TenantDefinitions, made: ApplyPlan, *, as_json: bool) -> int:
    """Makes the steps in their order and stops at the first one that fails."""
    done: list[ApplyStep] = []
    for step in made.steps:
        try:
            warnings = deployed.make(step, made)
        except ClientError as error:
            left = made.steps[len(done) :]
            if as_json:
                echo(json.dumps(_outcome(made, done)))
                code = error.code if isinstance(error, ApiError) else "FAILED"
                note(exit_codes.as_json(code, f"{step.key}: {error}", getattr(error, "details", {})))
            else:
                echo(f"Not all was applied: {counted(len(done), 'change')} written, {len(left)} not.")
                for each in left:
                    echo(f"  not written: {each.key}")
                note(f"acta: {step.key}: {_why(error).rstrip('.')}. {AGAIN}")
            return exit_codes.FAILED
        done.append(step)
        for warning in warnings:
            note(f"acta: {step.key}: {visible(str(warning), keep_newlines=False)}")
    echo(json.dumps(_outcome(made, done)) if as_json else f"Applied: {counted(len(done), 'change')} written.")
    return exit_codes.OK


def _outcome(made: ApplyPlan, done: list[ApplyStep]) -> dict[str, Any]:
    left = made.steps[len(done) :]
    return {**as_json(made), "written": len(done), "not_written": [str(step.key) for step in left]}


def _why(error: ClientError) -> str:
    """The error's message, followed by what is wrong with each field; no sentence twice."""
    said = str(error)
    for field, sentences in getattr(error, "details", {}).items():
        if isinstance(sentences, list):
            new = " ".join(each for each in map(str, sentences) if each not in said)
            said = f"{said} {field}: {new}" if new else said
    return visible(said, keep_newlines=False)


MARKS = {"create": "+", "change": "~", "adopt": "=", "delete": "-"}
SAYS = {
    "create": "is made",
    "change": "is changed",
    "adopt": "is as the file says, and becomes this set's",
    "delete": "is deleted: the files no longer have it",
}
LEFT_OUT = " …"
GREEN, RED, YELLOW, PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[33m", "\x1b[0m"
OF_MARK = {"+": GREEN, "-": RED, "~": YELLOW, "!": RED}


def is_coloured(stream: TextIO, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether `stream` is a terminal with colours whose owner has not switched them off (no-color.org)."""
    return stream.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def plan_lines(plan: ApplyPlan, *, coloured: bool) -> Iterator[str]:
    for step in plan.steps:
        yield _painted(MARKS[step.action], f"{step.key} {SAYS[step.action]}", coloured)
        for line in difference(step):
            yield f"    {_painted(line[:1], line[1:], coloured, between='')}"
    for kept in plan.kept:
        yield f"  {kept.key} stays though the files no longer have it: {visible(kept.why)}"
    for refusal in plan.refusals:
        yield _painted("!", f"{refusal.key}: {visible(refusal.why)}", coloured)
        for line in difference(refusal.step):
            yield f"    {_painted(line[:1], line[1:], coloured, between='')}"
    yield summary(plan)


def summary(plan: ApplyPlan) -> str:
    counted = {action: sum(step.action == action for step in plan.steps) for action in MARKS}
    words = {"create": "to make", "change": "to change", "adopt": "to take over", "delete": "to delete"}
    said = [f"{count} {words[action]}" for action, count in counted.items() if count]
    said += [f"{len(plan.refusals)} refused"] if plan.refusals else []
    said += [f"{plan.unchanged} as the files say"] if plan.unchanged or not said else []
    return f"set {plan.set_name}: {', '.join(said)}"


def difference(step: ApplyStep) -> list[str]:
    """The lines of the difference, each with `+`, `-` or a blank before it, escaped for a terminal."""
    before = _lines(step.before.definition if step.before else None)
    after = _lines(step.after)
    lines = islice(
        unified_diff(before, after, lineterm="", n=2), 3, None
    )  # the first three lines are headings
    return [visible(LEFT_OUT if line.startswith("@@") else line) for line in lines]


def _lines(definition: Json | None) -> list[str]:
    return [] if definition is None else write(definition).splitlines()


def _painted(mark: str, text: str, coloured: bool, between: str = " ") -> str:
    line = f"{mark}{between}{text}"
    colour = OF_MARK.get(mark) if coloured else None
    return f"{colour}{line}{PLAIN}" if colour else line


def as_json(plan: ApplyPlan) -> dict[str, Any]:
    return {
        "set": plan.set_name,
        "changes": [_step_json(step) for step in plan.steps],
        "refused": [{**_step_json(each.step), "why": each.why} for each in plan.refusals],
        "kept": [{"kind": each.key.kind, "name": each.key.name, "why": each.why} for each in plan.kept],
        "unchanged": plan.unchanged,
    }


def _step_json(step: ApplyStep) -> dict[str, Any]:
    return {
        "kind": step.key.kind,
        "name": step.key.name,
        "action": step.action,
        "before": step.before.definition if step.before else None,
        "after": step.after,
    }


HIDDEN = "has values of headers that nobody is shown: write them in place of ***, or refer to secrets"


class Written(NamedTuple):
    """`new`: no such file is there. `same`: one is there and says the same, perhaps with other comments. `differing`:
    one is there and says something else.
    """

    new: dict[Key, Json]
    same: dict[Key, Json]
    differing: dict[Key, Json]


def export(arguments: Namespace) -> int:
    """Raises CliError, also if a file says something else and may not be replaced: then nothing was written."""
    folder = Path(arguments.folder)
    found = compared(
        folder, definitions(TenantDefinitions(connect(arguments, role="admin")), arguments.set_name)
    )
    refused = {} if arguments.overwrite else found.differing
    to_write = {} if refused else {**found.new, **found.differing}
    for key, definition in to_write.items():
        path = path_of(folder, key)
        with cli_error(OSError, words=f"{one_line(str(path), 300)} cannot be written: {{}}"):
            # also if the file system takes two names for the same file
            write_own(path, write(definition).encode(), replace=key in found.differing)
    tell(arguments, found, to_write, refused)
    if refused:
        raise CliError(
            "nothing was written: there are files that say something else; --overwrite replaces them"
        )
    return exit_codes.OK


def definitions(deployed: TenantDefinitions, set_name: str | None) -> dict[Key, Json]:
    """The definitions that the tenant's admins have written, of one set or of all; built-in ones are left out."""
    found = deployed.read()
    own = {
        key: each for key, each in found.items() if not each.is_built_in and set_name in (None, each.owner)
    }
    return {key: each.definition for key, each in own.items() if not deployed.is_of_the_release(key, each)}


def compared(folder: Path, wanted: Mapping[Key, Json]) -> Written:
    made = Written({}, {}, {})
    for key, definition in wanted.items():
        path, kind = path_of(folder, key), KINDS[key.kind]
        if not path.exists():
            made.new[key] = definition
            continue
        there = read_definition(path, kind)
        says_it = there is not None and Digest.of(kind, there).shown == Digest.of(kind, definition).shown
        (made.same if says_it else made.differing)[key] = definition
    return made


def path_of(folder: Path, key: Key) -> Path:
    """Raises CliError: the name is what a deployment says, and files are written only into the folder."""
    try:
        if NAME.fullmatch(key.name):
            return inside(folder, f"{key.kind}/{key.name}{SUFFIX}")
        raise NameRefused(f"{key.name!r} is no name of a definition")
    except NameRefused as refused:
        raise CliError(f"nothing was written: {one_line(str(refused), 300)}") from None


def tell(
    arguments: Namespace, found: Written, written: Mapping[Key, Json], refused: Mapping[Key, Json]
) -> None:
    if arguments.json:
        parts = {"written": written, "unchanged": found.same, "refused": refused}
        echo(json.dumps({name: [str(key) for key in keys] for name, keys in parts.items()}))
    else:
        for key in written:
            echo(f"+ {key}{SUFFIX}")
        for key in refused:
            echo(f"! {key}{SUFFIX} says something else")
        echo(f"{len(written)} files written, {len(found.same)} said the same already")
    for key, definition in written.items():
        if "***" in str(definition.get("config", {}).get("headers")):
            note(f"acta: {key}{SUFFIX} {HIDDEN}")
