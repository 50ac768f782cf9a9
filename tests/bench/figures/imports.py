"""Cold import: the whole CPU of a fresh interpreter that imports a function's handler from its bundle.

Beside it, in the same round: one that imports the same modules of the same libraries and nothing of ours, which is
what a handler that does nothing would pay; one that imports the libraries that every handler imported at
`FIXED_FLOOR`, so that less of them is seen as less; and one that imports nothing. Of several rounds the least counts:
whatever else the machine does can only add.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from acta.infra.packaging.bundle import ROOT, Bundler, built_folder
from acta.infra.packaging.install import InstallTarget, compile_bytecode, install
from acta.infra.toolchain import RUNTIME_PYTHON

ROUNDS = 12
FIXED_FLOOR = "49cba2a"
"""The commit whose imports of libraries are the yardstick that stays. The releases of the libraries are today's."""
FLOOR_LOCK = ROOT / "requirements" / "floor.txt"
FLOOR_MODULES = (
    "aws_lambda_powertools.logging",
    "aws_xray_sdk.core",
    "pydantic.plugin._loader",
    "pydantic.fields",
    "pydantic.type_adapter",
)
"""What `start` and `status` imported of libraries then: these, with what these import, were all 155 modules."""
LLM_SDKS = ("anthropic", "openai")
OURS = ("acta.functions", "acta.engine")
WORKER = Path(__file__).with_name("import_worker.py")
LOCAL = InstallTarget(sys.version_info[:2])
RUNTIME_VARIABLES = {
    "PATH": os.defpath,
    "TZ": ":UTC",
    "LANG": "C.UTF-8",
    "LAMBDA_TASK_ROOT": "/var/task",
    "AWS_XRAY_CONTEXT_MISSING": "LOG_ERROR",
    "AWS_REGION": "us-east-1",
}


class Imported(NamedTuple):
    """Milliseconds of CPU. `ratio`: to the do-nothing handler; `ratio_fixed`, `floor_fixed`: the handler and the
    do-nothing handler to the one of `FIXED_FLOOR`; `ratio_bare`: to bare Python.

    `llm_sdks`: those found in `sys.modules`. `own_modules`: how many of ours are.
    """

    handler_ms: float
    libraries_ms: float
    fixed_ms: float
    bare_ms: float
    llm_sdks: tuple[str, ...]
    own_modules: int

    @property
    def ratio(self) -> float:
        return self.handler_ms / self.libraries_ms

    @property
    def ratio_fixed(self) -> float:
        return self.handler_ms / self.fixed_ms

    @property
    def floor_fixed(self) -> float:
        return self.libraries_ms / self.fixed_ms

    @property
    def ratio_bare(self) -> float:
        return self.handler_ms / self.bare_ms


def measure(functions: Mapping[str, Mapping[str, str]], rounds: int = ROUNDS) -> dict[str, Imported]:
    """`functions`: name -> the environment variables its template gives it."""
    _compile_runtime()
    floor = _floor()
    return {name: _measure(name, variables, rounds, floor) for name, variables in functions.items()}


def _compile_runtime() -> None:
    """Else the first who imports a library of the runtime pays for its bytecode, and `-B` has everyone be the first."""
    subprocess.run(
        [str(RUNTIME_PYTHON), "-m", "compileall", "-q", str(RUNTIME_PYTHON.parents[1] / "lib")], check=False
    )


def _floor() -> Path:
    """The libraries of `FLOOR_LOCK`, with bytecode like those of a bundle."""
    digest = hashlib.sha256(FLOOR_LOCK.read_bytes() + sys.version.encode()).hexdigest()
    folder = built_folder(ROOT) / f"floor-{digest[:20]}"
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=folder.parent) as made:
            install(FLOOR_LOCK, Path(made), LOCAL)
            compile_bytecode(Path(made), Path(made))
            shutil.copytree(made, folder)
    return folder


def _measure(function: str, variables: Mapping[str, str], rounds: int, floor: Path) -> Imported:
    bundle = Bundler(LOCAL).build(function)
    handler = f"acta.functions.{function}.handler"
    environ = {**RUNTIME_VARIABLES, **variables}
    modules = _imported(bundle, environ, handler)
    libraries = [name for name, file in modules.items() if _is_library(name, file, bundle)]
    variants: tuple[tuple[Path, Sequence[str]], ...] = (
        (bundle, (handler,)),
        (bundle, libraries),
        (floor, FLOOR_MODULES),
        (bundle, ()),
    )
    for folder, names in variants:
        _cpu_ms(folder, environ, names)  # the files are in the page cache from here on
    spent: list[list[float]] = [[] for _ in variants]
    for _ in range(rounds):
        for row, (folder, names) in zip(spent, variants, strict=True):
            row.append(_cpu_ms(folder, environ, names))
    handler_ms, libraries_ms, fixed_ms, bare_ms = map(min, spent)
    return Imported(
        handler_ms,
        libraries_ms,
        fixed_ms,
        bare_ms,
        llm_sdks=tuple(sdk for sdk in LLM_SDKS if sdk in modules),
        own_modules=sum(1 for name in modules if name.split(".")[0] in OURS),
    )


def _imported(bundle: Path, environ: Mapping[str, str], handler: str) -> dict[str, str | None]:
    command = [*_command(bundle), "--report", handler]
    done = subprocess.run(command, env=environ, check=True, capture_output=True, text=True)
    found: dict[str, str | None] = json.loads(done.stdout.splitlines()[-1])
    return found


def _is_library(name: str, file: str | None, bundle: Path) -> bool:
    """From the bundle or from what the runtime brings, and not ours."""
    if file is None or name.split(".")[0] in (*OURS, "__main__"):
        return False
    return Path(file).is_relative_to(bundle) or "site-packages" in Path(file).parts


def _cpu_ms(bundle: Path, environ: Mapping[str, str], names: Sequence[str]) -> float:
    """User and system time of the child, from its start to where the last import is done."""
    child = subprocess.Popen(
        [*_command(bundle), *names], env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"an import failed in {bundle.name}")
    return (usage.ru_utime + usage.ru_stime) * 1000


def _command(bundle: Path) -> list[str]:
    return [str(RUNTIME_PYTHON), "-P", "-s", "-B", str(WORKER), str(bundle)]
