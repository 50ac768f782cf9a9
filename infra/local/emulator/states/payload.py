"""The payload limit: 262,144 bytes of UTF-8 for a state's input, output, arguments and a task's result.

Source: Step Functions developer guide, "Step Functions service quotas", and the error
`States.DataLimitExceeded`.
"""

from __future__ import annotations

import json

from infra.local.emulator.states import errors

MAX_BYTES = 262_144


def serialised(value: object, what: str) -> str:
    """The value as JSON. Raises `States.DataLimitExceeded`; `what` names the piece in its cause."""
    text = json.dumps(value, ensure_ascii=False)
    if len(text) * 4 > MAX_BYTES and len(text.encode()) > MAX_BYTES:
        raise errors.failed(
            errors.DATA_LIMIT, f"{what} has a size exceeding the maximum number of bytes service limit."
        )
    return text
