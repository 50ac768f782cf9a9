"""From an empty folder to a finished goal and to a deployment in the local AWS, with nothing but the wheel."""

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest

from tests.package.conftest import Install, Installed

pytestmark = [pytest.mark.e2e, pytest.mark.thorough]
ENVIRONMENTS = """
from dataclasses import replace
from acta.infra.environments import LOCAL
from acta.infra.api.issuers import ExternalIssuer
ENVIRONMENTS = [
    replace(LOCAL, name="trial", auth=ExternalIssuer({url!r}, "acta", roles_are_json=True))
]
"""
NOT_OURS = '{"app": "exit 7", "context": {"@aws-cdk/core:bootstrapQualifier": "theirs"}}'
"""A `cdk.json` that spoils whatever reads it."""


@contextmanager
def serving(made: Installed, command: str, **more: str) -> Iterator[dict[str, Any]]:
    """What `acta up` or `acta dev` prints when it is ready. `more`: further variables."""
    with (made.folder / "serving.log").open("w") as log:
        serving = subprocess.Popen(
            [str(made.folder / "venv" / "bin" / "acta"), command, "--samples", "--json"],
            cwd=made.work, env={**made.environ, **more}, stdout=subprocess.PIPE, stderr=log, text=True,
        )  # fmt: skip
        try:
            assert serving.stdout is not None
            line = serving.stdout.readline()
            assert line, (made.folder / "serving.log").read_text()
            yield json.loads(line)
        finally:
            serving.send_signal(signal.SIGINT)
            serving.wait(60)


def test_acta_dev_serves_the_api_and_the_page_without_node(install: Install) -> None:
    made = install("deploy")
    with serving(made, "dev", PATH=str(made.folder / "venv" / "bin")) as ready:
        ran = made.run("acta", "run", "List my files")
        assert ran.returncode == 0, ran.stderr
        assert "meeting-notes.md" in ran.stdout
        page = httpx2.get(f"{ready['api_url']}/console/inbox", trust_env=False)
        assert (page.status_code, "<script" in page.text) == (200, True)
    assert made.opened == []
    assert [path.name for path in made.work.iterdir()] == [".acta"]


def test_an_installed_acta_serves_a_stack_and_deploys_without_the_clone(install: Install) -> None:
    made = install("deploy")
    assert made.run("acta", "init").returncode == 0
    (made.work / "cdk.json").write_text(NOT_OURS)
    before = sorted(made.work.iterdir())
    with serving(made, "up") as ready:
        (made.work / "environments.py").write_text(ENVIRONMENTS.format(url=ready["api_url"]))
        healthz = json.loads(
            made.python(f"import httpx2; print(httpx2.get('{ready['api_url']}/healthz').text)").stdout
        )
        assert made.run("acta", "--version").stdout == f"acta {healthz['data']['version']}\n"
        ran = made.run("acta", "run", "List my files")
        assert ran.returncode == 0, ran.stderr
        assert "meeting-notes.md" in ran.stdout
        aws = {
            "AWS_ENDPOINT_URL": ready["aws_endpoint_url"],
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_SHARED_CREDENTIALS_FILE": ready["aws_credentials_file"],
        }
        for words in (("bootstrap",), ("deploy", "--yes"), ("diff", "--exit-code")):
            done = made.run("acta", *words, "--env", "trial", **aws)
            assert done.returncode == 0, done.stdout + done.stderr
        told = json.loads(made.run("acta", "outputs", "--json", "--env", "trial", **aws).stdout)
        assert told["outputs"]["ApiUrl"]
    assert "Everything is there" in made.run("acta", "setup").stdout
    assert made.run("acta", "doctor").returncode == 0
    assert made.opened == []
    assert sorted(made.work.iterdir()) == sorted([*before, made.work / ".acta"])
