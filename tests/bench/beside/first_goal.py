"""From an empty folder to the first finished goal, with `acta dev` and with `langgraph dev`, in one run.

Each is installed by pip into a fresh environment, from the same cache of wheels, serves one agent with one tool, and is
given "hi". The same scripted server answers both at once, so no second is a model's. Acta is the wheel of this tree
(`make dist`). LangGraph's page is not measured: it is a hosted one, which asks the local server.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, NamedTuple

import httpx
from llmock.scenarios import Reply as Scripted
from llmock.simulation import MockResponseSettings
from llmock.testing import LLMockServer

from acta.infra.toolchain import ROOT
from acta.local_aws.loopback import free_port
from tests.bench.beside import others
from tests.bench.stand.stand import RunFailed
from tests.bench.table import columns, heading

STARTS = 3
"""Of each, in turn; the median counts."""
SECONDS = 120.0
READY_AIM, TOTAL_AIM = 3.0, 60.0
"""Seconds of Acta: from `acta dev` to the page, and from the empty folder to the finished goal."""
GREETING = "Hello! What can I do for you?"
GRAPH = """
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent


def lookup_orders(number: str) -> str:
    \"\"\"Finds an order by its number.\"\"\"
    return f"order {number} was sent"


graph = create_react_agent(ChatOpenAI(model="gpt-4o-mini"), [lookup_orders])
"""


class Contender(NamedTuple):
    """`prepare`: makes the folder's files. `ready`: the path that answers once it serves. `goal`: has one done, at the
    server's URL. Both are given the environment's folder of programs and the folder.
    """

    name: str
    packages: tuple[str, ...]
    reply: str
    prepare: Callable[[Path, Path], None]
    command: tuple[str, ...]
    ready: str
    goal: Callable[[Path, Path, str], None]


def measure() -> dict[str, Any]:
    """Contender -> seconds. Raises RunFailed."""
    with LLMockServer(responses=MockResponseSettings(tool_mode="off")) as server:
        environ = {**os.environ, "OPENAI_API_KEY": "scripted", "OPENAI_BASE_URL": server.base_url("openai")}
        environ |= {"LANGSMITH_TRACING": "false", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        with tempfile.TemporaryDirectory() as scratch:
            places = {one: Path(scratch) / one.name for one in (_acta(), _langgraph())}
            found = {one.name: _from_nothing(server, one, place, environ) for one, place in places.items()}
            starts: dict[str, list[float]] = {name: [] for name in found}
            for _ in range(STARTS):
                for one, place in places.items():
                    with _serving(one, place, environ) as (_, seconds):
                        starts[one.name].append(seconds)
    for name, row in found.items():
        row["ready_again"] = statistics.median(starts[name])
    return {"rows": found, "missed": missed(found["acta dev"])}


def missed(acta: Mapping[str, float]) -> list[str]:
    aims = {"ready_again": READY_AIM, "total": TOTAL_AIM}
    return [f"{name}: {acta[name]:.1f} s, aim {aim:g} s" for name, aim in aims.items() if acta[name] > aim]


def _from_nothing(
    server: LLMockServer, one: Contender, place: Path, environ: Mapping[str, str]
) -> dict[str, float]:
    server.state.reset()
    server.state.scenarios.add(Scripted(one.reply))
    begun = time.monotonic()
    place.mkdir()
    _run([sys.executable, "-m", "venv", ".venv"], place, environ)
    programs = place / ".venv" / "bin"
    _run([str(programs / "pip"), "install", "--quiet", *one.packages], place, environ)
    installed = time.monotonic()
    one.prepare(programs, place)
    with _serving(one, place, environ) as (url, ready):
        asked = time.monotonic()
        one.goal(programs, place, url)
        done = time.monotonic()
    return {"install": installed - begun, "ready": ready, "goal": done - asked, "total": done - begun}


@contextmanager
def _serving(one: Contender, place: Path, environ: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    """The server's URL, and the seconds until it answered."""
    port = free_port()
    program, *options = one.command
    url, begun = f"http://127.0.0.1:{port}", time.monotonic()
    with (
        (place / "server.log").open("wb") as log,
        subprocess.Popen(
            [str(place / ".venv" / "bin" / program), *options, "--port", str(port)],
            cwd=place, env=environ, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        ) as process,
    ):  # fmt: skip
        try:
            while not _answers(url + one.ready):
                if process.poll() is not None or time.monotonic() - begun > SECONDS:
                    raise RunFailed(f"{one.name} does not serve")
                time.sleep(0.02)
            yield url, time.monotonic() - begun
        finally:
            process.terminate()


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=1, follow_redirects=True).status_code == httpx.codes.OK
    except httpx.TransportError:
        return False


def _acta() -> Contender:
    try:
        (wheel,) = (ROOT / "dist").glob("acta_agents-*.whl")
    except ValueError:
        raise RunFailed("there is no wheel: make dist") from None

    def init(programs: Path, place: Path) -> None:
        _run([str(programs / "acta"), "init"], place, os.environ)

    def goal(programs: Path, place: Path, url: str) -> None:
        _run([str(programs / "acta"), "run", "hi"], place, os.environ)

    reply = f"{GREETING}\n\nGOAL_COMPLETE"
    return Contender("acta dev", (f"{wheel}[dev]",), reply, init, ("acta", "dev"), "/console", goal)


def _langgraph() -> Contender:
    try:
        others.versions()
    except others.Unavailable as why:
        raise RunFailed(str(why)) from None
    places = [str(path) for path in ROOT.glob(".venv-bench/lib/python*/site-packages")]
    pinned = {found.metadata["Name"]: found.version for found in distributions(path=places)}
    packages = tuple(f"{name}{extra}=={pinned[name]}" for name, extra in PACKAGES.items())

    def write(programs: Path, place: Path) -> None:
        (place / "graph.py").write_text(GRAPH)
        (place / "langgraph.json").write_text(
            '{"dependencies": ["."], "graphs": {"agent": "./graph.py:graph"}}'
        )

    def goal(programs: Path, place: Path, url: str) -> None:
        asked = {"assistant_id": "agent", "input": {"messages": [{"role": "user", "content": "hi"}]}}
        answer = httpx.post(f"{url}/runs/wait", json=asked, timeout=SECONDS)
        if answer.status_code != httpx.codes.OK or GREETING not in answer.text:
            raise RunFailed(f"langgraph dev answered {answer.status_code}")

    command = ("langgraph", "dev", "--no-browser", "--no-reload")
    return Contender("langgraph dev", packages, GREETING, write, command, "/ok", goal)


PACKAGES = {"langgraph-cli": "[inmem]", "langchain-openai": "", "langgraph": ""}
"""What a project with one agent asks for -> its extra. The versions are those of the other comparisons."""


def _run(command: Sequence[str], place: Path, environ: Mapping[str, str]) -> None:
    done = subprocess.run(command, cwd=place, env=environ, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RunFailed(f"{Path(command[0]).name} {command[1]} failed with exit code {done.returncode}")


def report(found: Mapping[str, Any]) -> None:
    heading("From an empty folder to the first goal, seconds")
    names = ("install", "ready", "ready_again", "goal", "total")
    rows = [(name, [f"{row[each]:.1f}" for each in names]) for name, row in found["rows"].items()]
    columns(names, rows)
    print(f"Aims of acta dev: {'; '.join(found['missed']) or 'met'}")
