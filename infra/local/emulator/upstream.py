"""The one place that imports ministack, and the release the gaps were written against.

ministack ships no type information, so its modules are `Any` here. Import this module only after
`process_environment.clean` ran: ministack reads its settings from the environment at import time.
"""

from __future__ import annotations

import importlib
import importlib.util
from importlib.metadata import PackageNotFoundError, version
from typing import Any

REQUIRED_RELEASE = "1.5.33"


class WrongRelease(Exception):
    """The installed packages are not those the gaps were closed for."""


def require_release() -> None:
    """Refuse every ministack but the pinned one: patches against another release would miss silently."""
    try:
        found = version("ministack")
    except PackageNotFoundError:
        found = "none"
    if found != REQUIRED_RELEASE:
        raise WrongRelease(
            f"the local AWS needs ministack {REQUIRED_RELEASE}, found {found}: run `make setup`"
        )
    if importlib.util.find_spec("cryptography") is None:
        # Without it the JWT authorizer refuses every token and says nothing.
        raise WrongRelease("the local AWS needs the package cryptography: run `make setup`")


def module(name: str) -> Any:
    """A module of ministack by its path below the package, e.g. `services.lambda_svc`."""
    return importlib.import_module(f"ministack.{name}")
