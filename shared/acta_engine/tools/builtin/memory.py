"""The tools `remember` and `recall`: an agent's long-term memory (design §7)."""

from collections.abc import Mapping
from typing import Any

from acta_engine.clock import Clock
from acta_engine.errors import ToolFailed
from acta_engine.ids import MEMORY
from acta_engine.memories.memory import MAX_PER_AGENT, MAX_TEXT_CHARS, Memory, Source, as_line, same_text
from acta_engine.memories.store import MemoryFull, MemoryStore
from acta_engine.tools.builtin.specs import RECALL, REMEMBER
from acta_engine.tools.port import CallContext, Toolbox
from acta_engine.tools.tool import ToolSpec
from acta_engine.untrusted.quoting import OutsideText

RECALLED = 10
"""The most memories that one `recall` returns."""
RECALLED_CHARS = 6_000
"""The most characters of their texts together."""


class MemoryTools:
    """A Toolbox. `others`: runs all other tools. Notes for the session alone do not come here: they are in the head."""

    def __init__(self, others: Toolbox, memories: MemoryStore, clock: Clock) -> None:
        self._others = others
        self._memories = memories
        self._clock = clock

    def run(self, spec: ToolSpec, arguments: Mapping[str, Any], context: CallContext) -> str | OutsideText:
        if spec.name == REMEMBER:
            return self._remember(arguments, context)
        if spec.name == RECALL:
            return self._recall(arguments["query"], context)
        return self._others.run(spec, arguments, context)

    def _remember(self, arguments: Mapping[str, Any], context: CallContext) -> str:
        """The memory's id is made from the effect's id, so a call that runs again adds nothing.

        A text that the agent has read may be what made it remember this. So after it has read one, the memory is for
        this user's sessions alone until a person lets everybody have it. What is noted in a private session is for the
        user's private sessions alone until then.
        """
        text = arguments["text"].strip()
        if arguments["scope"] != "agent":
            raise ToolFailed("only notes for later sessions are kept here. Use scope agent.")
        if not text:
            raise ToolFailed("the text is blank.")
        user = context.user if context.read_outside or context.private else None
        memory_id = f"{MEMORY}_{context.effect_id.partition('_')[2]}"
        if self._is_known(text, context, user, memory_id):
            return "That is remembered already."
        now = self._clock.now()
        memory = Memory(
            memory_id=memory_id,
            agent_id=context.agent_id,
            kind=arguments.get("kind", "fact"),
            text=text,
            source=Source(session_id=context.session_id),
            created_at=now,
            updated_at=now,
            origin="after_outside_data" if context.read_outside else "agent",
            only_for=user,
            private=context.private,
        )
        try:
            self._memories.add(context.tenant, memory)
        except MemoryFull:
            raise ToolFailed(
                f"this agent's memory is full ({MAX_PER_AGENT}). Tell the user, who can delete memories."
            ) from None
        whose = " of this user" if memory.only_for is not None else ""
        return f"Remembered as a {memory.kind} for later sessions{whose}."

    def _is_known(self, text: str, context: CallContext, user: str | None, own_id: str) -> bool:
        """Whether those whom the memory would be for have it. `user` None: everybody. `own_id`: what an earlier attempt
        of this call has stored says nothing, so that the result is the same however often the call runs.
        """
        near = self._near(text, context, RECALLED * MAX_TEXT_CHARS)
        return any(
            memory.memory_id != own_id and same_text(memory.text, text) and memory.only_for in (None, user)
            for memory in near
        )

    def _recall(self, query: str, context: CallContext) -> str | OutsideText:
        found = self._near(query, context, RECALLED_CHARS)
        if not found:
            return "Nothing that fits was kept from earlier sessions."
        lines = [f"{memory.created_at:%Y-%m-%d} {as_line(memory)}" for memory in found]
        return OutsideText("memory", query, "\n".join(lines))

    def _near(self, text: str, context: CallContext, chars: int) -> tuple[Memory, ...]:
        tenant, agent, user, private = context.tenant, context.agent_id, context.user, context.private
        return tuple(self._memories.relevant(tenant, agent, user, text, RECALLED, chars, private=private))
