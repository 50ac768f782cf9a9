"""The real `cdk bootstrap` and `cdk deploy` into the local AWS."""

import json
import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from acta_infra.local.assembly import Assembly
from acta_infra.local.cdk import CommandFailed, Commands
from acta_infra.local.issuer import AUDIENCE
from acta_infra.local.progress import Progress
from local_aws.emulator_process import ACCOUNT, REGION

STATELESS = "Acta-local-Stateless"
STACK_EVENT = re.compile(r"^(Acta-local-\w+) \|\s*(\d+)/(\d+) \|")


@dataclass(frozen=True)
class Deployment:
    """Which assembly is deployed as which API. `issuer_url` is the issuer that the API's authorizer trusts."""

    assembly_key: str
    issuer_url: str
    api_id: str

    @classmethod
    def from_file(cls, path: Path) -> "Deployment | None":
        try:
            return cls(**json.loads(path.read_text()))
        except (OSError, ValueError, TypeError):
            return None

    def to_file(self, path: Path) -> None:
        draft = path.with_suffix(".new")
        draft.write_text(json.dumps(self.__dict__))
        os.replace(draft, path)


def deploy(
    assembly: Assembly,
    synthesis: Commands,
    aws: Commands,
    state_dir: Path,
    issuer_url: str,
    progress: Progress,
) -> Deployment:
    """Synth and bootstrap at the same time, then deploy. Raises CommandFailed with the end of cdk's output."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        synthesised = pool.submit(run_synth, assembly, synthesis, progress)
        bootstrapped = pool.submit(run_bootstrap, aws, state_dir, progress)
        synthesised.result()
        bootstrapped.result()
    return run_deploy(assembly, aws, state_dir, issuer_url, progress)


def run_synth(assembly: Assembly, commands: Commands, progress: Progress) -> None:
    phase = "synthesise the stacks"
    progress.begin(phase)
    cached = assembly.is_synthesised
    assembly.synthesise(commands)
    progress.end(phase, "unchanged since last time" if cached else "")


def run_bootstrap(commands: Commands, state_dir: Path, progress: Progress) -> None:
    phase = "cdk bootstrap"
    progress.begin(phase)
    # in a folder without cdk.json, where bootstrap does not run the app
    commands.cdk("bootstrap", f"aws://{ACCOUNT}/{REGION}", cwd=state_dir)
    progress.end(phase)


def run_deploy(
    assembly: Assembly, commands: Commands, state_dir: Path, issuer_url: str, progress: Progress
) -> Deployment:
    phase = "cdk deploy"
    progress.begin(phase)
    outputs_file = state_dir / "outputs.json"

    def on_line(line: str) -> None:
        event = STACK_EVENT.match(line)
        if event:
            stack, done, total = event.groups()
            progress.note(phase, f"{stack} {done} of {total}")

    commands.cdk(
        "deploy",
        "--all",
        "--app",
        str(assembly.folder),
        "--require-approval",
        "never",
        "--progress",
        "events",
        "--parameters",
        f"{STATELESS}:IssuerUrl={issuer_url}",
        "--parameters",
        f"{STATELESS}:Audience={AUDIENCE}",
        "--outputs-file",
        str(outputs_file),
        cwd=state_dir,
        on_line=on_line,
    )
    progress.end(phase)
    try:
        api_id = json.loads(outputs_file.read_text())[STATELESS]["ApiId"]
    except (OSError, ValueError, KeyError):
        raise CommandFailed(f"cdk deploy left no output ApiId of {STATELESS}") from None
    return Deployment(assembly_key=assembly.key, issuer_url=issuer_url, api_id=api_id)
