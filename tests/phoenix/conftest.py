"""Only where ACTA_TEST_TRACES is set (`make test-traces`): 150 packages are installed once, 630 MB on the disk."""

import os
from collections.abc import Iterator

import pytest

from acta.infra.toolchain import make_side_environment
from tests.e2e.conftest import Admit, admit, ann, behind
from tests.phoenix.server import Phoenix

__all__ = ["Admit", "admit", "ann", "behind"]

WANTED = "ACTA_TEST_TRACES"

collect_ignore_glob = [] if os.environ.get(WANTED) else ["test_*.py"]


@pytest.fixture(scope="session")
def phoenix(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Phoenix]:
    make_side_environment("otlp", "Python environment of a receiver of traces")
    with Phoenix(tmp_path_factory.mktemp("phoenix")) as started:
        yield started.wait()
