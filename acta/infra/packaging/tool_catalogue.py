"""The zip of a folder of Python tools, and the catalogue of all such tools, which goes into Acta's own zips (ADR 87).

A bundle contains the folder's files, the libraries that the folder requires, `acta/tools`, and pydantic. To learn which
tools it has, a separate process imports from the bundle what the Lambda will import. If the Lambda runs on another
platform than this machine, the same bundle is also made for this machine, and that one is imported.

Bundles and lists of tools are kept beside those of functions by the content that they are made from.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from acta.engine.tools.builtin import builtins
from acta.engine.tools.registry import from_spec
from acta.engine.tools.tenant.definition import Unusable
from acta.engine.tools.tool import PythonTool
from acta.infra.environments import Environment
from acta.infra.packaging.bundle import ROOT, add_to, built_folder, cached
from acta.infra.packaging.install import (
    InstallFailed,
    InstallTarget,
    compile_bytecode,
    install,
    normalise,
    prune_open,
    target_of,
)
from acta.infra.packaging.tool_lock import OWN_LOCK, locked
from acta.infra.tool_folders import BadFolder, ToolFolder
from acta.infra.toolchain import RUNTIME_PYTHON

SDK = Path("acta") / "tools"
RECIPE = "2"
"""Part of every key. Raise it when the way these bundles are built changes."""
HANDLER = "acta.tools.handler.handler"
CATALOGUE = Path("acta") / "engine" / "tools" / "python_catalogue.json"
"""Its place in the zips of Acta's functions."""
USED_SECONDS = 600
"""The longest time in a synthesis between the request for a bundle and the moment when it is read."""
DESCRIBE_SECONDS = 30
"""`acta/tools/describe.py` gives up earlier and says where it was, unless native code blocks the process."""
ONLY_DEFINES = "A module of tools only defines them: do such work in the function"
MAX_TOOLS = 120
"""The most tools of all folders together."""
MARGIN_SECONDS = 5
"""How much longer the Lambda may run than its longest tool, so that the caller gives up before the Lambda does."""
LONGEST_LAMBDA = 900
ASK = (
    "import sys, runpy; sys.path.insert(0, sys.argv[1]); "
    "runpy.run_module('acta.tools.describe', run_name='__main__')"
)
"""The bundle precedes the runtime's own libraries on Python's path, as in Lambda."""


@dataclass(frozen=True)
class BuiltFolder:
    """`path`: the folder that becomes the zip. `key`: of its content. `specs`: its tools, as `@tool` describes them."""

    folder: ToolFolder
    path: Path
    key: str
    specs: Sequence[Mapping[str, Any]]

    @property
    def timeout_seconds(self) -> int:
        """The Lambda's timeout."""
        longest = max(spec["timeout_seconds"] for spec in self.specs)
        return self.folder.timeout_seconds or min(LONGEST_LAMBDA, longest + MARGIN_SECONDS)


def build_folder(folder: ToolFolder, target: InstallTarget, root: Path = ROOT) -> BuiltFolder:
    """Builds what has changed since the last time, and asks the bundle for its tools. A caller that compares `specs`
    with the earlier ones learns whether Acta's own functions need a new catalogue.

    Raises BadFolder.
    """
    here = InstallTarget(sys.version_info[:2])
    path = _bundle(folder, target, root)
    asked = path if target == here else _bundle(folder, here, root)
    specs = _specs(folder, asked)
    built = BuiltFolder(folder, path, path.name.rpartition(".")[2], specs)
    longest = max(spec["timeout_seconds"] for spec in specs)
    if built.timeout_seconds < longest:
        raise BadFolder(
            f"{folder.path}: timeout_seconds in tool.toml is {built.timeout_seconds}, but a tool has {longest}. Raise "
            "it, or leave it out."
        )
    return built


def build_all(folders: Sequence[ToolFolder], environment: Environment) -> None:
    """Builds all folders before the synthesis, which builds them too, so that an error in one folder, or in all of them
    together, is reported at once and without other output. Raises BadFolder.
    """
    built = [build_folder(folder, target_of(environment)) for folder in folders]
    to_catalogue(built, environment.name, environment.longest_tool_seconds)


def to_catalogue(built: Sequence[BuiltFolder], environment: str, longest_tool_seconds: int) -> bytes:
    """The catalogue's text; empty where there are no tools. Raises BadFolder where Acta cannot offer one."""
    tools: dict[str, PythonTool] = {}
    for each in built:
        for spec in each.specs:
            tool = _tool(each.folder, spec, environment)
            if tool.name in tools:
                raise BadFolder(
                    f"{each.folder.path}: there is a tool {tool.name} in {tools[tool.name].folder}, too. Rename one."
                )
            if tool.timeout_seconds > longest_tool_seconds:
                raise BadFolder(
                    f"{each.folder.path}: a call of a tool has at most {longest_tool_seconds} seconds in the "
                    f"environment {environment}, {tool.name} has {tool.timeout_seconds}. Lower its timeout_seconds."
                )
            tools[tool.name] = tool
    if len(tools) > MAX_TOOLS:
        raise BadFolder(
            f"there are {len(tools)} Python tools, at most {MAX_TOOLS} are offered. Leave some out."
        )
    if not tools:
        return b""
    listed = [tool.model_dump(mode="json", exclude_defaults=True) for _, tool in sorted(tools.items())]
    return json.dumps({"tools": listed}, ensure_ascii=False, sort_keys=True, indent=1).encode()


def _tool(folder: ToolFolder, spec: Mapping[str, Any], environment: str) -> PythonTool:
    where = f"{folder.path}: the tool {spec['name']}"
    if spec["name"] in builtins():
        raise BadFolder(f"{where} has the name of a built-in one. Rename it: @tool(…, name=…).")
    try:
        return from_spec(spec, folder.name, environment, folder.tenants)
    except Unusable as unusable:
        raise BadFolder(f"{where}: {' '.join(unusable.problems['input_schema'])}") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise BadFolder(f"{where}: {field}: {first['msg']}") from None


def _bundle(folder: ToolFolder, target: InstallTarget, root: Path) -> Path:
    digest = hashlib.sha256(_libraries_key(folder, target, root).encode())
    own = [(path, Path(path.relative_to(folder.path))) for path in folder.files()]
    modules = [root / "acta" / "__init__.py", *sorted((root / SDK).glob("*.py"))]
    sdk = [(path, path.relative_to(root)) for path in modules]
    for path, place in (*own, *sdk):
        add_to(digest, place, path.read_bytes())

    def fill(work: Path) -> None:
        shutil.copytree(_libraries(folder, target, root), work, dirs_exist_ok=True)
        for path, place in (*own, *sdk):
            if (work / place).exists():
                raise BadFolder(f"{path}: a library of the folder's has this name. Rename the file.")
            (work / place.parent).mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, work / place)
        if target.python == sys.version_info[:2]:
            compile_bytecode(work, work)
        normalise(work)

    done = built_folder(root) / f"tools.{folder.name}.{digest.hexdigest()[:20]}"
    return cached(done, f"tools.{folder.name}.*", fill, used_seconds=USED_SECONDS)


def _libraries_key(folder: ToolFolder, target: InstallTarget, root: Path) -> str:
    builder = ".".join(map(str, sys.version_info[:3]))
    digest = hashlib.sha256(f"{RECIPE} {target} {builder}".encode())
    for path in (root / OWN_LOCK, locked(folder, root)):
        digest.update(path.read_bytes() if path is not None else b"")
    return digest.hexdigest()


def _libraries(folder: ToolFolder, target: InstallTarget, root: Path) -> Path:
    def fill(work: Path) -> None:
        install(root / OWN_LOCK, work, target)
        lock = locked(folder, root)
        if lock is not None:
            install(lock, work, target, config=True)
        prune_open(work)
        normalise(work)

    done = built_folder(root) / f"tools-libraries.{_libraries_key(folder, target, root)[:20]}"
    try:
        return cached(done, "tools-libraries.*", fill, used_seconds=USED_SECONDS)
    except InstallFailed as failed:
        raise BadFolder(f"{folder.path}: its libraries cannot be installed. {failed}") from None


def _specs(folder: ToolFolder, bundle: Path) -> Sequence[Mapping[str, Any]]:
    """Raises BadFolder."""
    variables = {"PATH": os.defpath, "LANG": "C.UTF-8", **(folder.variables or {})}
    # It has the libraries of AWS's runtime, such as boto3.
    python = str(RUNTIME_PYTHON) if RUNTIME_PYTHON.exists() else sys.executable
    return described(folder, [python, "-I", "-B", "-c", ASK, str(bundle)], variables, bundle)


def described(
    folder: ToolFolder, command: Sequence[str], variables: Mapping[str, str], where: Path
) -> Sequence[Mapping[str, Any]]:
    """What `command`, which runs `acta/tools/describe.py` in the folder `where`, says of the tools. Raises
    BadFolder."""
    try:
        ran = subprocess.run(
            command,
            env=variables,
            cwd=where,
            capture_output=True,
            text=True,
            check=False,
            timeout=DESCRIBE_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise BadFolder(
            f"{folder.path}: importing tools.py takes more than {DESCRIBE_SECONDS:.0f} seconds. {ONLY_DEFINES}."
        ) from None
    try:
        said = json.loads(ran.stdout)
    except ValueError:
        last = ran.stderr.strip().splitlines()[-1:] or ["it said nothing"]
        raise BadFolder(
            f"{folder.path}: importing tools.py ended the process with exit code {ran.returncode}: {last[0]}. "
            f"{ONLY_DEFINES}."
        ) from None
    if "error" in said:
        raise BadFolder(f"{folder.path}: {said['error']}")
    specs: Sequence[Mapping[str, Any]] = said["tools"]
    return specs
