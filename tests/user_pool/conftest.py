"""The local AWS in which the user pool is made."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from acta.infra.local.stack import emulator
from acta.local_aws.testing import Cloud


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    with emulator(state_dir=tmp_path_factory.mktemp("aws")) as process:
        yield Cloud.of(process)
