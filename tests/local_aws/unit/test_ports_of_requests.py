"""Which ports a request to the emulator may name."""

from pathlib import Path

import pytest

from acta.local_aws.access.web_page_guard import ports_of
from acta.local_aws.settings import Settings


@pytest.mark.parametrize(
    ("endpoint", "ports"),
    [
        ("http://127.0.0.1:4566", {4566}),
        ("http://127.0.0.1:9000", {4566, 9000}),
        ("http://localhost:9000", {4566, 9000}),
        ("http://[::1]", {4566, 80}),
        ("http://proxy.example:9000", {4566}),
    ],
)
def test_a_proxy_of_this_machine_that_the_lambdas_use_may_keep_their_host(
    tmp_path: Path, endpoint: str, ports: set[int]
) -> None:
    assert ports_of(Settings(4566, tmp_path, tmp_path, Path("python"), endpoint)) == ports
