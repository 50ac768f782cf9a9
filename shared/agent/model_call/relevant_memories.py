"""Which memories of earlier sessions a run is reminded of."""

from collections import OrderedDict

from shared.domain.definitions.memory import as_notes
from shared.domain.session.head import Head
from shared.ports.memories import MemoryStore

MEMORIES = 5
MAX_CHARS = 1_500
RUNS_KEPT = 64


class RelevantMemories:
    """The memories that a run is reminded of. They are looked up once per run and process."""

    def __init__(self, memories: MemoryStore) -> None:
        self._memories = memories
        self._kept: OrderedDict[str, str] = OrderedDict()

    def notes(self, head: Head) -> str:
        """Memories of the agent that fit the run's goal, as data; empty where there are none."""
        if head.run is None:
            return ""
        known = self._kept.get(head.run.run_id)
        if known is None:
            found = self._memories.relevant(head.tenant, head.agent_id, head.goal, MEMORIES, MAX_CHARS)
            known = self._kept[head.run.run_id] = as_notes(found)
            while len(self._kept) > RUNS_KEPT:
                self._kept.popitem(last=False)
        return known
