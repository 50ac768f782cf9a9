"""A JSONata expression has its second of evaluation on AWS; here it has ten.

ministack bounds evaluation by the clock on the wall. On a loaded machine a thread may stand still for
longer than a second in the middle of an expression that takes a millisecond, and a run would fail for a
reason AWS never has. Patches: `services.stepfunctions.jsonata`.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from infra.local.emulator.settings import Settings
from infra.local.emulator.upstream import module

_MILLISECONDS = 10_000


def apply(settings: Settings) -> None:
    states = module("services.stepfunctions")
    package = states.jsonata
    parse = package.Jsonata.jsonata

    def parse_patiently(expression: str, timeout: int | None = None) -> Any:
        return parse(expression, timeout=_MILLISECONDS)

    states.jsonata = SimpleNamespace(utils=package.utils, Jsonata=SimpleNamespace(jsonata=parse_patiently))
