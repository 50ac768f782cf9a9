"""A table's stream is still there after a restart, so that nothing between a write and its reader is lost.

Source: DynamoDB developer guide, "Change data capture for DynamoDB Streams": records are kept for 24 hours. ministack
saves how far each mapping has read but not the records: after a restart it would wait for as many new ones as it had
read before. Patches: `services.dynamodb.get_state`, `services.dynamodb.load_persisted_state`.
"""

from __future__ import annotations

import copy
from typing import Any

from infra.local.emulator.settings import Settings
from infra.local.emulator.upstream import module

KEPT = ("_stream_records", "_stream_trimmed")


def apply(settings: Settings) -> None:
    tables = module("services.dynamodb")
    saved, load = tables.get_state, tables.load_persisted_state

    def state_with_streams() -> dict[str, Any]:
        return {**saved(), **{name: copy.deepcopy(getattr(tables, name)) for name in KEPT}}

    def load_with_streams(data: Any) -> None:
        load(data)
        for name in KEPT:
            if data and name in data:
                getattr(tables, name).update(data[name])

    tables.get_state = state_with_streams
    tables.load_persisted_state = load_with_streams
