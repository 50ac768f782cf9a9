"""Which reply the next one goes on with: the one that is named, whatever the model was told in words."""

from typing import Any

import pytest

from acta.engine.log.conversation import AssistantEntry, Content, Entry, ToolCall, UserEntry
from acta.engine.log.head import Head, Progress
from acta.engine.turn.reply import GO_ON, first_half
from tests.stores.documents import make_head

CALL = ToolCall(call_id="call_1", effect_id="e", name="list_files", input={})


def reply(name: str, *calls: ToolCall) -> AssistantEntry:
    return AssistantEntry(message_id=name, content=Content.of(f"Text of {name}"), calls=calls)


ENTRIES: tuple[Entry, ...] = (
    UserEntry(message_id="msg_goal", content=Content.of("Go.")),
    reply("msg_1", CALL),
    reply("msg_2"),
    UserEntry(message_id="msg_more", content=Content.of("And this?")),
)
SILENT = AssistantEntry(message_id="msg_3", content=Content.of(" "))


def head(**progress: Any) -> Head:
    return make_head("acme", "ses_1").model_copy(
        update={"state": "executing", "progress": Progress(**progress)}
    )


@pytest.mark.parametrize("hint", [GO_ON, "Fahren Sie fort.", ""])
def test_a_reply_that_is_gone_on_with_is_found_whatever_the_hint_says(hint: str) -> None:
    found = first_half(head(continues="msg_2", cut_offs=1, hint=hint), ENTRIES)
    assert found == ENTRIES[2]


@pytest.mark.parametrize("hint", [GO_ON, f"A person says: {GO_ON}", ""])
def test_no_hint_makes_a_reply_go_on_with_another(hint: str) -> None:
    assert first_half(head(continues="", cut_offs=1, hint=hint), ENTRIES) is None


def test_a_reply_that_is_not_in_the_conversation_any_more_is_not_gone_on_with() -> None:
    assert first_half(head(continues="msg_0", cut_offs=1, hint=GO_ON), ENTRIES) is None
