"""A table's stream survives a restart, so that no change is lost between the write and the stream's reader.

Source: DynamoDB developer guide, "Change data capture for DynamoDB Streams": records are kept for 24 hours.
ministack saves how far each reader has read but not the records themselves. After a restart a reader would miss
as many new records as it had read before. Patches: `services.dynamodb.get_state`,
`services.dynamodb.load_persisted_state`.
"""

from __future__ import annotations

import copy
from typing import Any

from acta.local_aws.ministack import module
from acta.local_aws.settings import Settings

_SAVED_TOO = ("_stream_records", "_stream_trimmed")


def keep_streams(settings: Settings) -> None:
    tables = module("services.dynamodb")
    saved, load = tables.get_state, tables.load_persisted_state

    def state_with_streams() -> dict[str, Any]:
        return {**saved(), **{name: copy.deepcopy(getattr(tables, name)) for name in _SAVED_TOO}}

    def load_with_streams(data: Any) -> None:
        load(data)
        for name in _SAVED_TOO:
            if data and name in data:
                getattr(tables, name).update(data[name])

    tables.get_state = state_with_streams
    tables.load_persisted_state = load_with_streams
