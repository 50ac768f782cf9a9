"""The seam to ministack: the one release the patches were written against, and the only way to its modules.

ministack ships no type information, so its modules are `Any` here. It reads its settings from the environment
when it is imported: ask for a module only after `own_environment.clean_environment` ran.
"""

from __future__ import annotations

import importlib
import importlib.util
from importlib.metadata import PackageNotFoundError, version
from typing import Any

REQUIRED_RELEASE = "1.5.33"


class WrongRelease(Exception):
    """The installed packages are not those the patches were written for."""


def require_release() -> None:
    """Raises WrongRelease for any other ministack: a patch made for another release may miss silently."""
    try:
        found = version("ministack")
    except PackageNotFoundError:
        found = "none"
    if found != REQUIRED_RELEASE:
        raise WrongRelease(
            f"the local AWS needs ministack {REQUIRED_RELEASE}, found {found}: install its requirements.txt"
        )
    if importlib.util.find_spec("cryptography") is None:
        # Without it the JWT authorizer refuses every token and does not say why.
        raise WrongRelease("the local AWS needs the package cryptography: install its requirements.txt")


def module(name: str) -> Any:
    """A module of ministack by its path below the package, for example `services.lambda_svc`."""
    return importlib.import_module(f"ministack.{name}")
