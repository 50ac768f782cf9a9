"""A deployment is made once and copied for every stack that wants one: `cdk deploy` costs about twenty seconds.

What comes from `cdk` itself is tested where a stack starts from nothing, in `tests/local/test_up.py`.
"""

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from acta.infra.local.config import LocalConfig
from acta.infra.local.deploy import Assembly
from acta.infra.local.stack import LocalStack
from acta.infra.local.state_directory import LocalDeployment, RunningStack, StateDir
from acta.infra.packaging.bundle import ROOT
from acta.infra.tool_folders import TOOLS_DIR, digest_of
from acta.local_aws.loopback import HOST, free_port
from tests.e2e.support.own_tools import tools_dir

CACHE = ROOT / "build" / "deployed"
EMULATOR_SOURCES = ROOT / "acta" / "infra" / "local"
KEPT = 2


def neutral_environ() -> dict[str, str]:
    """This process's variables without any that would choose a model or a setting. With the tests' Python tools."""
    chosen = ("_API_KEY", "_BASE_URL")
    return {
        **{
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("ACTA_", "AWS_")) and not name.endswith(chosen)
        },
        TOOLS_DIR: str(tools_dir()),
    }


def prepare(path: Path, environ: Mapping[str, str]) -> None:
    """Makes the new directory `path` the state of a stack that was deployed and has stopped. A stack that starts on
    it with `environ` deploys nothing; it has a key and a port of its own. Nothing is done where `environ` asks for
    another deployment than the usual one: that stack deploys itself.
    """
    if LocalConfig.from_environ(environ).context != LocalConfig.from_environ(neutral_environ()).context:
        return
    made = made_once()
    shutil.copytree(made, path)
    path.chmod(0o700)
    state = StateDir(path)
    deployment = LocalDeployment.from_file(state.deployment)
    assert deployment is not None
    port = free_port()
    url = f"http://{HOST}:{port}"
    # The API's authorizer trusts one issuer, the front's URL.
    rewritten = [replaced(file, deployment.issuer_url, url) for file in sorted(state.aws.glob("*.json"))]
    assert any(rewritten), "the local AWS keeps the issuer's URL in another form"
    replace(deployment, issuer_url=url).to_file(state.deployment)
    state.write(RunningStack(os.getpid(), port, url, "", "offline"))


def replaced(file: Path, old: str, new: str) -> bool:
    text = file.read_text()
    if old not in text:
        return False
    file.write_text(text.replace(old, new))
    return True


def made_once() -> Path:
    """The state directory of what was deployed from the sources as they are, kept under `build/` by their content."""
    kept = CACHE / key()
    with only_one():
        if not kept.is_dir():
            with tempfile.TemporaryDirectory(prefix="acta-deployed-") as scratch:
                deploy(Path(scratch) / "state", kept)
            forget_old()
        os.utime(kept)
    return kept


def key() -> str:
    """Of the deployed app, and of the local AWS, whose files these are."""
    usual = LocalConfig.from_environ(neutral_environ())
    assembly = Assembly.of_sources(usual.context, environment=digest_of(usual.tool_folders))
    digest = hashlib.sha256(assembly.key.encode())
    for path in sorted(EMULATOR_SOURCES.rglob("*.py")):
        digest.update(f"\0{path.relative_to(ROOT).as_posix()}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:20]


def deploy(state: Path, kept: Path) -> None:
    """Of the stopped stack's state, what another stack can go on with: not its key, its lock and its logs."""
    with LocalStack(state, environ=neutral_environ()) as stack:
        assert stack.is_alive
    draft = kept.with_name(f"{kept.name}.{os.getpid()}")
    shutil.rmtree(draft, ignore_errors=True)
    shutil.copytree(stack.state.aws, draft / "aws", ignore=shutil.ignore_patterns("lock", "*.log"))
    shutil.copy(stack.state.deployment, draft)
    draft.rename(kept)


@contextmanager
def only_one() -> Iterator[None]:
    """The others wait: they get what this one makes."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def forget_old() -> None:
    made = sorted((each for each in CACHE.iterdir() if each.is_dir()), key=lambda each: each.stat().st_mtime)
    for old in made[:-KEPT]:
        shutil.rmtree(old, ignore_errors=True)
