"""The memories that a run is reminded of, in its system prompt's place for them."""

from collections import OrderedDict
from typing import NamedTuple

from acta_engine.log.head import Head
from acta_engine.memories.memory import as_notes
from acta_engine.memories.store import MemoryStore

MEMORIES = 5
MAX_CHARS = 1_500
RUNS_KEPT = 64


class Notes(NamedTuple):
    """What the agent remembers of earlier sessions, as a model reads it."""

    text: str = ""
    """Empty: the agent remembers nothing that fits."""
    outside: bool = False
    """A text from outside may be behind one of the memories."""


class RelevantMemories:
    """The memories that a run is reminded of. They are looked up once per run and process."""

    def __init__(self, memories: MemoryStore) -> None:
        self._memories = memories
        self._kept: OrderedDict[str, Notes] = OrderedDict()

    def notes(self, head: Head) -> Notes:
        """Memories of the agent, for who started the session, that fit the run's goal."""
        if head.run is None:
            return Notes()
        known = self._kept.get(head.run.run_id)
        if known is None:
            found = self._memories.relevant(
                head.tenant,
                head.agent_id,
                head.created_by,
                head.goal,
                MEMORIES,
                MAX_CHARS,
                private=head.private_to is not None,
            )
            outside = any(memory.is_marked for memory in found)
            known = self._kept[head.run.run_id] = Notes(as_notes(found, head.quotation_key), outside)
            while len(self._kept) > RUNS_KEPT:
                self._kept.popitem(last=False)
        return known
