"""What several suites share: one deployment on the local AWS for the whole test session."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from xdist.scheduler import LoadScopeScheduling

from infra.local.issuer import Issuer

hypothesis.settings.load_profile(
    "ci"
)  # the same examples each time, and no deadline that a busy machine misses

RUNNING = "ACTA_TEST_STATE"
"""The state directory of a stack that is up already (`acta up`), to test against instead of a new one."""


TOGETHER = ("e2e", "faults", "infra", "contracts/emulator", "integration/state_machine")
"""Folders whose tests share what is expensive to start: where there are several processes, one of them runs all."""


class ByWhatIsShared(LoadScopeScheduling):  # type: ignore[misc]  # it has no types
    """A folder of `TOGETHER` or a file is one process's, in order; the largest come first."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.split("::")[0].removeprefix("tests/")
        return next((folder for folder in TOGETHER if file.startswith(f"{folder}/")), file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByWhatIsShared:
    """Not `--dist loadgroup`, whose marks have no effect with pytest 9.2 (pytest-xdist's issue 1386)."""
    return ByWhatIsShared(config, log)


@dataclass(frozen=True)
class Deployed:
    """Where the deployment is: its API, the AWS behind it, who signs its tokens, and its state directory."""

    url: str
    aws_endpoint_url: str
    issuer: Issuer
    state: Path


def neutral_environ() -> dict[str, str]:
    """This process's variables without any that would choose a model or a setting."""
    chosen = ("_API_KEY", "_BASE_URL")
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ACTA_", "AWS_")) and not name.endswith(chosen)
    }


@pytest.fixture(scope="session")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    """Started once, with the `offline` model; a test that wants another model configures the function."""
    from infra.local.stack import LocalStack
    from infra.local.state_directory import StateDir

    running = os.environ.get(RUNNING)
    if running:
        state = StateDir(Path(running))
        found = state.running()
        yield Deployed(
            found.api_url, found.aws_endpoint_url, Issuer.from_state(state.path, found.api_url), state.path
        )
        return
    environ: Mapping[str, str] = neutral_environ()
    with LocalStack(tmp_path_factory.mktemp("stack") / "state", environ=environ) as stack:
        yield Deployed(stack.url, stack.aws_endpoint_url, stack.issuer, stack.state.path)
