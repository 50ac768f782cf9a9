"""What several suites share: one deployment on the local AWS for the whole test session."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from xdist.scheduler import LoadScopeScheduling

from acta.infra.local.issuer import LocalIssuer
from acta.local_aws.credentials import Credentials

pytest_plugins = ("tests.stores.fixtures",)
"""What the suites of stores run on."""

# the same examples each time, and no deadline that a busy machine misses
hypothesis.settings.load_profile("ci")

RUNNING = "ACTA_TEST_STATE"
"""The state directory of a stack that is up already (`acta up`), to test against instead of a new one."""


TOGETHER = (
    "faults",
    "releases",
    "infra",
    "tests/local_aws/contracts",
    "state_machine",
)
"""Folders whose tests share what is expensive to start: where there are several processes, one of them runs all."""
BEGUN_FIRST = (
    "e2e 0", "infra", "state_machine", "tests/local_aws/contracts", "e2e 1", "faults", "releases",
    "local/test_up.py", "local/test_a_stop_in_between.py",
)  # fmt: skip
"""What takes long, so that nothing long is left when all else is done. The second half of `e2e` is not among the first
four: the first half has to make the deployment that both copy, and another process would only wait for it.
"""


class ByWhatIsShared(LoadScopeScheduling):  # type: ignore[misc]  # it has no types
    """A folder of `TOGETHER`, a half of `e2e` or any other file is one process's, in order.

    `e2e` is not halved on a stack that is up already: its files give the functions settings of their own.
    """

    @cached_property
    def _deployed(self) -> list[str]:
        files = (nodeid.split("::")[0].removeprefix("tests/") for nodeid in self.collection or ())
        return sorted({file for file in files if file.startswith("e2e/")})

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.split("::")[0].removeprefix("tests/")
        if file in self._deployed:
            half = 0 if os.environ.get(RUNNING) else self._deployed.index(file) % 2
            return f"e2e {half}"
        return next((folder for folder in TOGETHER if file.startswith(f"{folder}/")), file)

    def _assign_work_unit(self, node: Any) -> None:
        def place(scope: str) -> tuple[int, int]:
            first = BEGUN_FIRST.index(scope) if scope in BEGUN_FIRST else len(BEGUN_FIRST)
            return first, -len(self.workqueue[scope])

        self.workqueue.move_to_end(min(self.workqueue, key=place), last=False)
        super()._assign_work_unit(node)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByWhatIsShared:
    """Not `--dist loadgroup`, whose marks have no effect with pytest 9.2 (pytest-xdist's issue 1386)."""
    return ByWhatIsShared(config, log)


@dataclass(frozen=True)
class Deployed:
    """Where the deployment is: its API, the AWS behind it, its credentials, who signs tokens, its state directory."""

    url: str
    aws_endpoint_url: str
    credentials: Credentials
    issuer: LocalIssuer
    state: Path


@pytest.fixture(scope="session")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    """Started once in each process, with the `offline` model. A test that wants another one configures the function."""
    from acta.infra.local.stack import LocalStack
    from acta.infra.local.state_directory import StateDir
    from tests.e2e.support.deployments import neutral_environ, prepare

    running = os.environ.get(RUNNING)
    if running:
        state = StateDir(Path(running))
        found = state.running()
        issuer = LocalIssuer.from_state(state.path, found.api_url)
        credentials = Credentials.from_file(state.credentials)
        yield Deployed(found.api_url, found.aws_endpoint_url, credentials, issuer, state.path)
        return
    path, environ = tmp_path_factory.mktemp("stack") / "state", neutral_environ()
    prepare(path, environ)
    with LocalStack(path, environ=environ) as stack:
        yield Deployed(stack.url, stack.aws_endpoint_url, stack.credentials, stack.issuer, stack.state.path)
