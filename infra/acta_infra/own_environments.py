"""Environments that an operator keeps in a file of their own, beside those of `infra/acta_infra/environments.py`.

So a checkout of Acta stays as it was released, and the next release is checked out over it without a conflict.
"""

import runpy
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from acta_infra.environments import ENVIRONMENTS, LOCAL, Environment, UnusableValue

VARIABLE = "ACTA_ENVIRONMENTS"
"""Names the file: Python, which binds `ENVIRONMENTS` to a list or tuple of `Environment`."""


def every_environment(environ: Mapping[str, str]) -> Mapping[str, Environment]:
    """By name. One of the operator's replaces one of Acta's. Raises UnusableValue where the file cannot be used."""
    path = environ.get(VARIABLE)
    if not path:
        return ENVIRONMENTS
    return MappingProxyType({**ENVIRONMENTS, **{each.name: each for each in _in_file(path)}})


def _in_file(path: str) -> tuple[Environment, ...]:
    try:
        found = runpy.run_path(path).get("ENVIRONMENTS")
    except Exception as error:  # whatever the file does
        raise UnusableValue(
            f"{VARIABLE}={path}{_line(error, path)}: {type(error).__name__}: {error}"
        ) from None
    if not isinstance(found, (list, tuple)) or not all(isinstance(each, Environment) for each in found):
        raise UnusableValue(f"{VARIABLE}={path}: the file has to bind ENVIRONMENTS to a list of Environment")
    if any(each.name == LOCAL.name for each in found):
        raise UnusableValue(f"{VARIABLE}={path}: {LOCAL.name} is the environment of the local stack")
    beside = Path(path).absolute().parent
    return tuple(each.with_tools_dir(str(beside / each.tools_dir)) for each in found)


def _line(error: Exception, path: str) -> str:
    """Where in the file it was raised; empty where it was not read so far."""
    lines = [each.lineno for each in traceback.extract_tb(error.__traceback__) if each.filename == path]
    return f", line {lines[-1]}" if lines else ""
