"""The official suite's scenarios for clients, of all that Acta offers as one: no failures.

Those about flows that need a person's sign-in, or a library that signs, are not offered; docs/mcp.md says why.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from acta.infra.packaging.bundle import ROOT
from tests.mcp.environment import Environment, NotInstalled, environment

NEW, OLD, EXTENSION = "2026-07-28", "2025-11-25", "extension"
RUN = [
    (NEW, "tools_call"),
    (NEW, "request-metadata"),
    (NEW, "sep-2322-client-request-state"),
    (NEW, "http-standard-headers"),
    (NEW, "http-custom-headers"),
    (NEW, "http-invalid-tool-headers"),
    (NEW, "json-schema-ref-no-deref"),
    (NEW, "json-schema-2020-12-preservation"),
    (OLD, "initialize"),
    (OLD, "tools_call"),
    (OLD, "sse-retry"),
    (EXTENSION, "auth/client-credentials-basic"),
]
SAMPLE = [(NEW, "tools_call"), (OLD, "sse-retry")]
"""One of each revision."""
MOST_SECONDS = 120


@pytest.fixture(scope="module")
def suite() -> Environment:
    return environment()


@pytest.fixture(scope="module")
def suite_if_there_is_one() -> Environment:
    try:
        return environment()
    except NotInstalled as why:
        pytest.skip(str(why))


@pytest.mark.thorough
@pytest.mark.parametrize(("version", "scenario"), RUN)
def test_no_check_of_a_scenario_for_clients_fails(
    suite: Environment, version: str, scenario: str, tmp_path: Path
) -> None:
    assert_nothing_fails(suite, version, scenario, tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize(("version", "scenario"), SAMPLE)
def test_no_check_of_a_sample_for_clients_fails(
    suite_if_there_is_one: Environment, version: str, scenario: str, tmp_path: Path
) -> None:
    assert_nothing_fails(suite_if_there_is_one, version, scenario, tmp_path)


def assert_nothing_fails(suite: Environment, version: str, scenario: str, tmp_path: Path) -> None:
    command = [suite.node, suite.suite, "client", "--scenario", scenario, "-o", tmp_path]
    command += ["--command", f"{sys.executable} -m tests.mcp.client_driver"]
    if version != EXTENSION:
        command += ["--spec-version", version]
    done = subprocess.run(
        [str(part) for part in command],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=MOST_SECONDS,
    )
    checks = [
        check
        for path in tmp_path.rglob("checks.json")
        for check in json.loads(path.read_text(encoding="utf-8"))
    ]
    assert any(check["status"] == "SUCCESS" for check in checks), done.stdout + done.stderr
    assert [check for check in checks if check["status"] in ("FAILURE", "WARNING")] == []
