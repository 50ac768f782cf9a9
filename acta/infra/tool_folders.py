"""The folders of an environment's Python tools: which there are, and what the file `tool.toml` in each says.

A folder stands in the environment's `tools_dir` and has `tools.py`. It becomes one Lambda, `acta-<env>-tool-<folder>`
(docs/own-tools.md). Nothing of it is imported here: `acta/infra/packaging/tool_catalogue.py` asks the bundle
which tools it has.
"""

import hashlib
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from acta.engine.untrusted.validation_messages import did_you_mean
from acta.infra.sizing import LAMBDA_TIMEOUT
from acta.repository import repository

MODULE, FILE, REQUIREMENTS, LOCK = "tools.py", "tool.toml", "requirements.txt", "requirements.lock"
DEFAULT_DIR = "tools"
"""Next to the operator's file of environments, or else in the repository or the folder where the command is run."""
TOOLS_DIR = "ACTA_TOOLS_DIR"
"""The environment variable that names another directory, where no environment of AWS is named."""
FOLDER_PATTERN = r"[a-z0-9]+(-[a-z0-9]+)*"
MAX_FOLDER_CHARS = 20
"""The limit lets `acta-<env>-tool-<folder>` fit in the 64 characters of a Lambda's name."""
MAX_FOLDERS = 40
"""The versions of all folders are in one variable of `tool`, and Lambda allows 4 KB for all variables of a function."""
RESERVED = ("ACTA_", "AWS_", "LAMBDA_", "_")
"""Prefixes of the variables that Lambda or Acta sets."""
NOT_SHIPPED = ("test_*", "tests", "conftest.py", "__pycache__", ".*", FILE, REQUIREMENTS, LOCK)
"""Patterns of file and folder names that the zip leaves out, at any depth."""

SecretName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
VariableName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,63}$")]
Tenant = Annotated[str, Field(pattern=r"^(\*|[A-Za-z0-9][A-Za-z0-9._@+:-]{0,63})$")]


class BadFolder(ValueError):
    """A folder cannot become a Lambda. The message names it and says what to do."""


class _Said(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    tenants: list[Tenant] | None = None
    memory: Annotated[int, Field(ge=128, le=10_240)] | None = None
    timeout_seconds: Annotated[int, Field(ge=1, le=LAMBDA_TIMEOUT)] | None = None
    secrets: list[SecretName] | None = None
    variables: dict[VariableName, str] | None = None


class _File(_Said):
    environments: dict[str, _Said] = Field(default_factory=dict)
    """Environment name -> what differs there. Its `variables` are added to the others, its other fields replace."""


@dataclass(frozen=True)
class ToolFolder:
    """`path`: the folder's path. `tenants`: who has its tools; `*` means everybody. `memory`: the Lambda's, in MB.
    `timeout_seconds`: the Lambda's; None: what its tools need. `secrets`: names below `acta/<env>/tool-<folder>/` in
    Secrets Manager that its calls may read. `variables`: the Lambda's.
    """

    name: str
    path: Path
    tenants: tuple[str, ...]
    memory: int = 256
    timeout_seconds: int | None = None
    secrets: tuple[str, ...] = ()
    variables: Mapping[str, str] | None = None
    environments: tuple[str, ...] = ()
    """The environments for which the folder's file says something different."""

    @property
    def requirements(self) -> tuple[str, ...]:
        """The libraries that the folder asks for: `httpx==0.28.1`. Raises BadFolder for what no lock can hold.

        A path, a URL or an option such as `-e` makes uv build a package here, which runs the package's code.
        """
        path = self.path / REQUIREMENTS
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else ()
        wanted = tuple(line for line in (each.partition("#")[0].strip() for each in lines) if line)
        for line in wanted:
            if not re.fullmatch(r"[A-Za-z0-9][^/@\\]*", line.partition(";")[0]):
                raise BadFolder(
                    f"{path}: {line!r} is not the name of a library with its version, such as httpx==0.28.1. A library "
                    "comes from the registry that this machine is set up with; modules of your own stand in the folder."
                )
        return wanted

    @property
    def lock(self) -> Path:
        """The versions and hashes of the libraries and of all that they need, which `acta lock` writes."""
        return self.path / LOCK

    def files(self) -> Iterator[Path]:
        """The folder's files that go into its zip, sorted."""
        for path in sorted(self.path.rglob("*")):
            parts = path.relative_to(self.path).parts
            if path.is_file() and not any(Path(part).match(no) for part in parts for no in NOT_SHIPPED):
                yield path


def tools_directory(environ: Mapping[str, str]) -> Path:
    """Where the folders of Python tools are, or would be, if no environment of AWS is named."""
    return (repository() or Path.cwd()) / (environ.get(TOOLS_DIR) or DEFAULT_DIR)


def folders_in(tools_dir: Path | None, environment: str) -> tuple[ToolFolder, ...]:
    """The tool folders, sorted by name; empty if `tools_dir` is None or missing. A folder without `tools.py` is none.

    Raises BadFolder.
    """
    if tools_dir is None or not tools_dir.is_dir():
        return ()
    found = [path for path in sorted(tools_dir.iterdir()) if (path / MODULE).is_file()]
    if len(found) > MAX_FOLDERS:
        raise BadFolder(
            f"{tools_dir}: there are {len(found)} folders of tools, and at most {MAX_FOLDERS} are deployed"
        )
    return tuple(read_folder(path, environment) for path in found)


def read_folder(path: Path, environment: str) -> ToolFolder:
    """Raises BadFolder."""
    if not re.fullmatch(FOLDER_PATTERN, path.name) or len(path.name) > MAX_FOLDER_CHARS:
        raise BadFolder(
            f"{path}: the Lambda is called after the folder, so its name is of a-z, 0-9 and single hyphens, "
            f"{MAX_FOLDER_CHARS} characters at most. Rename it."
        )
    said = _file(path / FILE)
    here = said.environments.get(environment, _Said())
    tenants = said.tenants if here.tenants is None else here.tenants
    if tenants is None:
        raise BadFolder(
            f'{path / FILE}: it does not say who has the tools. Write tenants = ["*"] for every tenant, or their names.'
        )
    variables = {**(said.variables or {}), **(here.variables or {})}
    reserved = sorted(name for name in variables if name.startswith(RESERVED))
    if reserved:
        raise BadFolder(
            f"{path / FILE}: Lambda and Acta set variables whose names begin so: {', '.join(reserved)}. Rename them."
        )
    return ToolFolder(
        name=path.name,
        path=path,
        tenants=tuple(tenants),
        memory=here.memory or said.memory or 256,
        timeout_seconds=here.timeout_seconds or said.timeout_seconds,
        secrets=tuple(said.secrets or () if here.secrets is None else here.secrets),
        variables=variables,
        environments=tuple(said.environments),
    )


def require_known(folders: tuple[ToolFolder, ...], known: Collection[str]) -> None:
    """`known`: the names of all environments. Raises BadFolder for a file that mentions another environment: what it
    says about that one would have no effect.
    """
    for folder in folders:
        for name in folder.environments:
            if name not in known:
                raise BadFolder(
                    f"{folder.path / FILE}: there is no environment {name}. {did_you_mean(name, list(known))} Where a "
                    "file of yours has it, name that in ACTA_ENVIRONMENTS."
                )


def digest_of(folders: tuple[ToolFolder, ...]) -> str:
    """A digest of everything in the folders that is deployed; empty where there are no folders."""
    if not folders:
        return ""
    digest = hashlib.sha256()
    for folder in folders:
        said = (folder.name, folder.tenants, folder.memory, folder.timeout_seconds, folder.secrets)
        digest.update(f"{said} {sorted((folder.variables or {}).items())}\0".encode())
        for path in (*folder.files(), *([folder.lock] if folder.lock.is_file() else [])):
            digest.update(f"{path.relative_to(folder.path).as_posix()}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _file(path: Path) -> _File:
    try:
        return _File.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise BadFolder(
            f'{path}: there is no such file. Make it with one line, tenants = ["*"], which gives every tenant the '
            "tools of the folder, or name some."
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadFolder(f"{path}: this is no TOML: {error}") from None
    except ValidationError as error:
        raise BadFolder(f"{path}: {'; '.join(_words(error))}") from None


def _words(error: ValidationError) -> Iterator[str]:
    for each in error.errors(include_url=False, include_input=False):
        field: Any = ".".join(str(part) for part in each["loc"])
        if each["type"] == "extra_forbidden":
            known = ", ".join(sorted(_File.model_fields))
            yield f"there is no setting {field}; there are {known}"
        else:
            yield f"{field}: {each['msg']}"
