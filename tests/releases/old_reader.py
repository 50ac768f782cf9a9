"""Reads documents as the release before does. Runs with its modules and knows nothing of today's.

Standard input: a JSON array of `[kind, version, body]`, the body in base64. Standard output: an array with, for each,
`null` where it was read, else the name of the error's class.
"""

import base64
import json
import sys
from collections.abc import Callable

from shared.adapters.dynamodb.definition_items import to_agent, to_prompt
from shared.adapters.dynamodb.memories import to_memory
from shared.adapters.dynamodb.running_text import to_partial
from shared.adapters.dynamodb.tools import to_tool
from shared.adapters.storage.documents import to_commit, to_intervention
from shared.agent.session.large_texts import read_compacted

READERS: dict[str, Callable[[int, bytes], object]] = {
    "commit": to_commit, "intervention": to_intervention, "agent": to_agent, "prompt": to_prompt,
    "tool": to_tool, "memory": to_memory, "partial": to_partial,
    "conversation": lambda version, data: read_compacted(data.decode()),
}  # fmt: skip


def read(kind: str, version: int, body: str) -> str | None:
    try:
        READERS[kind](version, base64.b64decode(body))
    except Exception as error:
        return type(error).__name__
    return None


json.dump([read(*each) for each in json.load(sys.stdin)], sys.stdout)
