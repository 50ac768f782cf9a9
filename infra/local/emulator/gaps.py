"""Every difference between ministack and AWS that is closed here, in the order they are applied.

Each entry's module says which behaviour it restores and which attribute it replaces. What a client can see
of it has a contract test in `tests/contracts/emulator`, so a newer ministack shows which gaps are still
there.
"""

from __future__ import annotations

from collections.abc import Callable

from infra.local.emulator.gateway import failures, token_expiry
from infra.local.emulator.host import isolation
from infra.local.emulator.lambdas import execution
from infra.local.emulator.settings import Settings
from infra.local.emulator.states import assign, definitions, engine, expressions, starting, stopping, tokens
from infra.local.emulator.tables import stream_records

GAPS: tuple[Callable[[Settings], None], ...] = (
    isolation.apply,
    execution.apply,
    engine.apply,
    expressions.apply,
    assign.apply,
    starting.apply,
    stopping.apply,
    tokens.apply,
    definitions.apply,
    token_expiry.apply,
    failures.apply,
    stream_records.apply,
)


def apply_all(settings: Settings) -> None:
    for apply in GAPS:
        apply(settings)
