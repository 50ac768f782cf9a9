"""A reply in text becomes what a model with tools would have returned."""

import json
from typing import Any

import pytest

from acta.engine.errors import ProviderOverloaded
from acta.engine.models.model import ModelReply, RequestedCall, StopReason
from acta.engine.models.react import UNREADABLE, ReActModel
from acta.engine.turn.final_answer import claims_completion
from tests.in_process.scripted import USAGE, ScriptedModel
from tests.models.wires.conversations import request, user


def reply_to(text: str, *, stop: StopReason = "end", **more: Any) -> ModelReply:
    inner = ScriptedModel([ModelReply(text=text, calls=(), stop=stop, usage=USAGE)._replace(**more)])
    return ReActModel(inner).complete(request(user("x")), timeout=1)


def act(action: str, thought: str = "so", /, **arguments: Any) -> str:
    return json.dumps({"thought": thought, "action": action, "action_input": arguments})


def test_an_action_is_one_call_and_its_thought_the_text() -> None:
    reply = reply_to(act("read_file", "Look first.", path="a"), thinking="hidden", raw={"own": 1})

    assert reply == ModelReply(
        text="Look first.",
        calls=(RequestedCall("read_file", {"path": "a"}),),
        stop="tools",
        usage=USAGE,
        thinking="hidden",
    )


def test_a_final_answer_completes_and_keeps_its_thought() -> None:
    reply = reply_to('{"thought": "All done.", "final_answer": "42"}')

    assert (reply.text, reply.thinking, reply.calls, reply.stop) == (
        "GOAL_COMPLETE\n42",
        "All done.",
        (),
        "end",
    )


def test_a_marker_the_model_wrote_itself_is_not_doubled() -> None:
    assert reply_to('{"thought": "", "final_answer": "GOAL_COMPLETE\\n42"}').text == "GOAL_COMPLETE\n42"


def test_what_the_model_thought_in_tags_before_its_object_is_no_part_of_it() -> None:
    for thought in ("<think>{}</think>", "<reasoning>\nhm\n</reasoning>\r\n", "hm\n</think>\n\n"):
        assert reply_to(thought + act("fly", to="moon")).calls == (RequestedCall("fly", {"to": "moon"}),)


def test_an_unknown_action_is_returned_as_a_call() -> None:
    assert reply_to(act("fly", to="moon")).calls == (RequestedCall("fly", {"to": "moon"}),)


def test_the_thought_beside_the_end_of_a_plan_is_not_the_answer() -> None:
    reply = reply_to(act("update_plan", "Closing.", action="complete", reason="The answer."))

    assert (reply.text, reply.thinking) == ("", "Closing.")


def test_a_thought_never_claims_completion() -> None:
    reply = reply_to(act("read_file", "GOAL_COMPLETE: I say that next", path="a"))

    assert not claims_completion(reply.text)
    assert reply.thinking == "GOAL_COMPLETE: I say that next"


@pytest.mark.parametrize(
    "text", ["GOAL_COMPLETE\nall done", "Which file do you mean?", f"First:\n{act('delete_file', path='a')}"]
)
def test_an_unreadable_reply_completes_asks_and_runs_nothing(text: str) -> None:
    reply = reply_to(text)

    assert (reply.text, reply.thinking, reply.stop) == ("", text, "tools")
    (wrong,) = reply.calls
    assert (wrong.name, wrong.input) == (UNREADABLE, None)
    assert wrong.malformed is not None
    assert "could not be read" in wrong.malformed
    assert '"final_answer"' in wrong.malformed


def test_a_reply_that_was_cut_off_is_not_run_even_if_it_can_be_read() -> None:
    reply = reply_to(act("create_file", path="a", content="x"), stop="max_tokens")

    assert (reply.calls[0].name, reply.stop) == (UNREADABLE, "max_tokens")
    assert "cut off" in (reply.calls[0].malformed or "")


def test_a_call_made_in_a_providers_own_way_is_not_run() -> None:
    reply = reply_to("", calls=(RequestedCall("delete_file", {"path": "a"}),), stop="tools")

    assert [call.name for call in reply.calls] == [UNREADABLE]
    assert reply.thinking == "delete_file"


def test_a_refusal_stays_one() -> None:
    reply = reply_to("I will not.", stop="refusal")

    assert (reply.text, reply.stop, reply.calls) == ("I will not.", "refusal", ())


def test_the_providers_errors_and_name_pass_through() -> None:
    model = ReActModel(ScriptedModel([ProviderOverloaded("busy", 3.0)]))

    assert model.provider == "scripted"
    with pytest.raises(ProviderOverloaded):
        model.complete(request(user("x")), timeout=1)
