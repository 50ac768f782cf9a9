"""CPU of a turn, split into what the SDK clients take and what is ours.

The step and the tool function run outside Lambda, each in a process of the runtime's interpreter on its deployed
bundle (`cpu_worker`), and are handed the events the state machine would send; AWS and the model are the same as in
the deployed runs. So everything is the product's but the runtime client, which is not there.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean, median
from types import TracebackType
from typing import Any, NamedTuple, Self

from acta.engine.agents.agent import DEFAULT_AGENT
from acta.engine.people.requester import Requester
from acta.engine.sessions.start import NewSession, start
from acta.infra.packaging.bundle import ROOT, Bundler
from acta.infra.packaging.install import InstallTarget
from acta.infra.toolchain import RUNTIME_PYTHON
from acta.testing.workflow import MemoryWorkflow
from tests.bench import growth
from tests.bench.stand import engine_walk
from tests.bench.stand.script import Reply
from tests.bench.stand.stand import GOAL, RUNTIME, TENANT, USER, RunFailed, Stand

HERE = Path(__file__).parent
LOCAL = InstallTarget(sys.version_info[:2])


class Spent(NamedTuple):
    """Milliseconds of CPU of one invocation. `modules`: the LLM SDKs imported after it. `probe`: of the same fixed
    work each time, right after it.
    """

    total: float
    sdk: float
    modules: tuple[str, ...]
    probe: float

    @property
    def own(self) -> float:
        return max(0.0, self.total - self.sdk)


class LambdaCode:
    """One function's bundle in a process that serves one event at a time."""

    def __init__(self, stand: Stand, name: str) -> None:
        environ = {
            **stand.lambda_environ,
            **stand.function(name),
            **RUNTIME,
            **stand.role_of(name),
            "PATH": os.defpath,
            "TZ": ":UTC",
            "AWS_ENDPOINT_URL": stand.stack.aws_endpoint_url,
            "AWS_EXECUTION_ENV": f"AWS_Lambda_python{sys.version_info[0]}.{sys.version_info[1]}",
            "AWS_LAMBDA_FUNCTION_NAME": f"acta-local-{name}",
        }
        bundle = Bundler(LOCAL).build(name)
        self._process = subprocess.Popen(
            [str(RUNTIME_PYTHON), "-P", "-s", "-B", str(HERE / "cpu_worker.py"), str(bundle), name],
            env=environ, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.import_ms = float(self._answer()["import_ms"])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def invoke(self, event: Mapping[str, Any]) -> tuple[Any, Spent]:
        """Raises RunFailed where the handler raised."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(event) + "\n")
        self._process.stdin.flush()
        answer = self._answer()
        return answer["result"], Spent(
            answer["total"], answer["sdk"], tuple(answer["modules"]), answer["probe"]
        )

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RunFailed("a function under measurement ended by itself")
        answer: dict[str, Any] = json.loads(line)
        return answer


class Turns(NamedTuple):
    """`turns`: (step, tool) of each turn, the first and the last left out. `first`: the first invocation of each."""

    turns: list[tuple[Spent, Spent]]
    first: tuple[Spent, Spent]


def walk(stand: Stand, step: LambdaCode, tool: LambdaCode, replies: list[Reply]) -> Turns:
    """One session from its first decision to its last, each state's function invoked in turn. Raises RunFailed."""
    stand.provider.play(replies)
    repository, workflow = stand.repository(), MemoryWorkflow()
    new = NewSession(DEFAULT_AGENT, GOAL, len(replies) + 10, 100_000_000, None, 0)
    start(repository, workflow, Requester(TENANT, USER), new)
    try:
        walked = engine_walk.walk(repository, workflow, step.invoke, tool.invoke)
    except engine_walk.WalkStopped as stopped:
        raise RunFailed(str(stopped)) from None
    stand.check_script_is_over()
    planned, *turns, _ = walked
    measured = [(turn.step, _together(turn.calls)) for turn in turns]
    return Turns(measured[1:], (planned.step, measured[0][1]))


def _together(calls: Sequence[Spent]) -> Spent:
    total, sdk = sum(each.total for each in calls), sum(each.sdk for each in calls)
    return Spent(total, sdk, calls[-1].modules, calls[-1].probe)


def figures(turns: Turns) -> dict[str, float]:
    """Medians over the turns: other work on the machine makes a few turns dear, it makes none cheap."""
    rows = [_row(step, tool) for step, tool in turns.turns]
    return {
        **{name: median([row[name] for row in rows]) for name in rows[0]},
        **growth.thirds(rows, middle=median),
        "cpu_ms_mean": mean(row["cpu_ms"] for row in rows),
        "cpu_ms_probe": median([spent.probe for turn in turns.turns for spent in turn]),
    }


def _row(step: Spent, tool: Spent) -> dict[str, float]:
    return {
        "cpu_ms": step.own + tool.own,
        "cpu_ms_step": step.own,
        "cpu_ms_tool": tool.own,
        "cpu_ms_sdk": step.sdk + tool.sdk,
        "cpu_ms_total": step.total + tool.total,
        "cpu_ms_probe": (step.probe + tool.probe) / 2,
    }
