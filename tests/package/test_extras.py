"""What each extra brings, what it leaves out, and what a command says that needs more."""

import json
import signal
import subprocess
import zipfile
from pathlib import Path

import httpx
import pytest

from acta import __version__
from acta.infra.toolchain import ROOT
from tests.package.conftest import Install, dist

pytestmark = pytest.mark.thorough

HEAVY = ("aws_cdk", "botocore", "anthropic", "openai", "aws_lambda_powertools", "uv", "mcp")
USES = """
import acta
client = acta.Client(acta.Deployment("http://127.0.0.1:9", "a.b.c"))
@acta.tool(effect="read")
def look(number: str) -> str:
    "Looks it up."
    return number
print(acta.__version__)
"""
RUNS = """
from acta import tool
from acta.testing import call, completes, run, uses

@tool(effect="read")
def look(number: str) -> str:
    "Looks it up."
    return f"It is {number}."

def test_an_agent_uses_it():
    session = run("Look 7 up.", [uses("look", number="7"), completes("It is 7.")], tools=[look])
    assert session.goal_met
"""
NOT_IMPORTED = """
from importlib import import_module
import click
def functions(group):
    for each in group.commands.values():
        yield from functions(each) if isinstance(each, click.Group) else (each.function,)
for module in sorted({each.partition(":")[0] for each in functions(ACTA)}):
    try:
        import_module(module)
    except ModuleNotFoundError:
        print(module)
"""


def absent(*names: str) -> str:
    return f"from importlib.util import find_spec; print([each for each in {names!r} if find_spec(each)])"


def test_without_an_extra_there_are_the_client_and_the_tools(install: Install) -> None:
    made = install()
    assert made.python(USES).stdout == f"{__version__}\n"
    assert made.python(absent(*HEAVY, "click", "yaml", "jsonschema", "rich")).stdout == "[]\n"
    told = made.run("acta", "sessions")
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr == "acta: click is missing, which this command needs: pip install 'acta-agents[cli]'\n"
    assert made.opened == []
    made.python(f"open({str(ROOT / 'pyproject.toml')!r})")
    assert len(made.opened) == 1, "what is opened is noted"


def test_testing_runs_an_agent_and_brings_no_sdk_and_no_command(install: Install) -> None:
    made = install("testing", "pytest")
    (made.work / "test_agent.py").write_text(RUNS)
    ran = made.run("pytest", "-q")
    assert ran.returncode == 0, ran.stdout
    assert made.python(absent(*HEAVY, "click", "rich")).stdout == "[]\n"
    assert made.opened == []


def test_cli_has_the_commands_and_names_deploy_for_the_others(install: Install) -> None:
    made = install("cli")
    assert made.run("acta", "--version").stdout == f"acta {__version__}\n"
    assert made.python(absent(*HEAVY)).stdout == "[]\n"
    assert made.python(NOT_IMPORTED).stdout == ""
    told = made.run("acta", "deploy", "--env", "dev", "--yes")
    assert told.returncode == 2
    assert told.stderr.endswith("pip install 'acta-agents[deploy]'\n")
    assert made.run("acta", "dev").stderr.endswith("pip install 'acta-agents[dev]'\n")
    assert made.run("acta", "sessions").stderr.startswith("acta: no local stack serves")
    assert made.run("acta", "init").returncode == 0
    assert (made.work / ".github" / "workflows" / "acta.yml").is_file()
    assert made.run("acta", "new", "tool", "parcels").returncode == 0
    assert made.opened == []


def test_dev_serves_a_new_repository_without_cdk_and_node(install: Install) -> None:
    made = install("dev")
    assert made.python(absent("aws_cdk", "botocore")).stdout == "[]\n"
    assert made.run("acta", "init").returncode == 0
    command = [str(made.folder / "venv" / "bin" / "acta"), "dev", "--json"]
    environ = {**made.environ, "PATH": str(made.folder / "venv" / "bin")}
    with subprocess.Popen(
        command, cwd=made.work, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as dev:
        try:
            assert dev.stdout is not None
            served = json.loads(dev.stdout.readline())
            page = httpx.get(f"{served['api_url']}/console", follow_redirects=True, trust_env=False)
            assert (page.status_code, "<html" in page.text) == (200, True)
            ran = made.run("acta", "run", 'use lookup_orders with {"number": "7"}')
            assert ran.returncode == 0, ran.stderr
            logged = made.run("acta", "logs", "last")
            assert (logged.returncode, "run completed" in logged.stdout) == (0, True), logged.stderr
        finally:
            dev.send_signal(signal.SIGTERM)
    assert made.opened == []


def test_a_cache_that_cannot_be_written_is_said_with_what_to_do(install: Install) -> None:
    made = install("cli")
    (made.folder / "file").touch()
    told = made.run("acta", "setup", XDG_CACHE_HOME=str(made.folder / "file"))
    assert told.returncode == 2
    assert told.stderr.startswith(f"acta: {made.folder / 'file'}/acta/{__version__} cannot be written")
    assert told.stderr.endswith("set XDG_CACHE_HOME to another folder\n")


def test_the_wheel_has_only_the_package_with_its_page_and_two_builds_are_the_same_bytes(
    built: tuple[Path, Path], tmp_path: Path
) -> None:
    again = dist(tmp_path)
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in built]
    with zipfile.ZipFile(built[0]) as wheel:
        names = wheel.namelist()
        metadata = wheel.read(f"acta_agents-{__version__}.dist-info/METADATA").decode()
    assert {name.partition("/")[0] for name in names} == {"acta", f"acta_agents-{__version__}.dist-info"}
    assert "acta/functions/console/made/page.html.gz" in names
    assert "Classifier: Private :: Do Not Upload" in metadata
    text = b"".join(path.read_bytes() for path in (ROOT / "acta" / "infra").rglob("*.py"))
    assert str(ROOT).encode() not in text
