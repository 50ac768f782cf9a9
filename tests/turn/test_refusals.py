"""A model that declines: another one is asked once, and the session can go on (docs/design/turn.md 6)."""

from collections.abc import Sequence
from typing import Any

import pytest

from acta.engine.errors import ProviderUnavailable
from acta.engine.log.conversation import UserEntry
from acta.engine.models.fallback import with_fallbacks
from acta.engine.models.model import ModelReply, ModelRequest, StreamOptions, TokenUsage
from acta.engine.models.providers import cost_usd
from acta.engine.turn.compaction import DECLINED
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, Turn, call, completes, plans, says, step
from tests.turn.test_cost_budgets import house_with
from tests.turn.test_fallbacks import FIRST, SECOND, THIRD, sums_are_those_of_the_steps

COUNTED = TokenUsage(input=1_000, output=40, cached_input=600)
REFUSAL = ModelReply("", (), "refusal", COUNTED, category="cyber")
SCRIPT: list[Turn] = [plans("do it"), says("", step(1, "completed", "ok")), completes("Done.")]


def events(house: House, session: str, kind: str) -> list[dict[str, object]]:
    return [one.event.data for one in house.poll(session).events if one.event.type == kind]


def run(*turns: Sequence[Turn], **limits: Any) -> tuple[House, str, list[ScriptedModel]]:
    """Anthropic's model, then OpenAI's, then another of Anthropic's; each repeats its last turn."""
    asked = [ScriptedModel(said, forever=True) for said in turns]
    for model, provider in zip(asked, ("anthropic", "openai", "anthropic"), strict=False):
        model.provider = provider
    named = list(zip(asked, (FIRST, SECOND, THIRD), strict=False))
    house = house_with(with_fallbacks(named[0], named[1:])[0], model=FIRST)
    session = house.start("Do it", **limits).session_id
    house.run()
    return house, session, asked


def paid(house: House, session: str) -> list[float]:
    rows = list(house.history(session).steps())
    return [cost for row in rows if (cost := row.estimated_cost_usd or row.cost_usd)]


def test_a_fallback_is_asked_where_the_model_declines_and_both_are_paid_for() -> None:
    house, session, (first, second) = run([REFUSAL, *SCRIPT[1:]], [SCRIPT[0]])
    head = house.head(session)
    assert (head.state, len(second.requests)) == ("completed", 1)
    assert second.requests[0].entries == first.requests[0].entries
    (row,) = [row for row in house.history(session).steps() if row.error]
    assert (row.name, row.error) == (FIRST, "MODEL_REFUSED")
    assert row.estimated_cost_usd == cost_usd("anthropic", FIRST, COUNTED)
    assert 440 < row.estimated_tokens < 1_040, "what was read from the cache counts by its price"
    assert head.budget.charged_usd == pytest.approx(sum(paid(house, session)))
    sums_are_those_of_the_steps(house, session)
    assert events(house, session, "llm.retried") == [
        {
            "code": "MODEL_REFUSED",
            "wait_seconds": 0,
            "model": FIRST,
            "answered_by": SECOND,
            "category": "cyber",
        }
    ]


def test_no_third_model_is_asked_where_two_decline() -> None:
    house, session, asked = run([REFUSAL], [REFUSAL._replace(category="bio")], SCRIPT)
    head = house.head(session)
    assert (head.state, [len(one.requests) for one in asked]) == ("failed", [1, 1, 0])
    assert head.error is not None
    assert (head.error.code, head.error.category) == ("MODEL_REFUSED", "bio")
    sums_are_those_of_the_steps(house, session)
    assert head.usage.input_tokens == COUNTED.input
    assert head.budget.vanished_tokens > 0


@pytest.mark.parametrize("others", [[ProviderUnavailable("away")], []])
def test_a_refusal_stands_where_no_other_model_answers_and_is_bought_once(others: Sequence[Turn]) -> None:
    house, session, (first, *_) = run([REFUSAL], *[[one] for one in others])
    head = house.head(session)
    assert (head.state, house.waits, len(first.requests)) == ("failed", [], 1)
    assert paid(house, session) == [cost_usd("anthropic", FIRST, COUNTED)]
    sums_are_those_of_the_steps(house, session)


def test_a_model_that_is_away_before_the_refusal_changes_nothing() -> None:
    house, session, asked = run([ProviderUnavailable("away"), *SCRIPT[1:]], [REFUSAL], [SCRIPT[0]])
    assert (house.head(session).state, [len(one.requests) for one in asked]) == ("completed", [3, 1, 1])
    assert [row.name for row in house.history(session).steps() if row.error] == [SECOND]
    sums_are_those_of_the_steps(house, session)


def test_a_budget_that_carries_no_second_call_lets_the_refusal_stand() -> None:
    house, session, (_, second) = run([REFUSAL], [SCRIPT[0]], cost_budget_usd=0.01)
    head = house.head(session)
    assert (head.state, len(second.requests), head.usage.input_tokens) == ("failed", 0, 0)
    assert 0 < head.budget.vanished_tokens < 1_040


class Speaking(ScriptedModel):
    """Shows its text as it comes."""

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        reply = super().complete(request, timeout=timeout)
        if request.stream_options.on_text is not None:
            request.stream_options.on_text(reply.text)
        return reply


def test_nobody_is_shown_the_texts_of_two_models_together() -> None:
    first, second = Speaking([REFUSAL._replace(text="I could")]), Speaking([says("Yes.")])
    second.provider = "openai"
    model, _ = with_fallbacks((first, FIRST), [(second, SECOND)])
    shown: list[str] = []
    asked = ModelRequest(FIRST, "", (), (), "Go.", 500, stream_options=StreamOptions(on_text=shown.append))

    assert model.complete(asked, timeout=60).text == "Yes."
    assert shown == ["I could"]


def refused_house(*turns: Turn) -> tuple[House, str, ScriptedModel]:
    model = ScriptedModel(turns)
    house = House(model)
    house.files.write(TENANT, "secret.txt", b"the poison")
    session = house.start("The goal").session_id
    house.run()
    return house, session, model


def test_a_message_after_a_refusal_goes_on_without_what_was_declined() -> None:
    house, session, model = refused_house(
        plans("read it"), says("I read it.", call("read_file", path="secret.txt")), REFUSAL, *SCRIPT
    )
    head = house.head(session)
    assert (head.state, head.error and head.error.category) == ("failed", "cyber")
    assert head.error is not None
    assert "(cyber)" in head.error.message
    assert events(house, session, "run.finished") == [
        {"state": "failed", "code": "MODEL_REFUSED", "category": "cyber"}
    ]
    assert "the poison" in str(model.requests[-1].entries)

    house.say(session, "Do something else")
    house.run()
    assert house.head(session).state == "completed"
    for request in model.requests[3:]:
        shown = str(request.entries)
        assert ("the poison" in shown, DECLINED in shown) == (False, True)
        assert all(text in shown for text in ("The goal", "I read it.", "Do something else"))


def test_a_goal_that_was_declined_is_left_out_and_people_still_see_it() -> None:
    house, session, model = refused_house(REFUSAL, *SCRIPT)
    house.say(session, "Something else")
    house.run()
    assert house.head(session).state == "completed"
    assert all("The goal" not in str(request.entries) for request in model.requests[1:])
    placed, _ = house.history(session).messages(0, 200)
    assert "The goal" in str([one.entry for one in placed])


def test_the_models_own_last_words_are_left_out_where_nothing_else_was_new() -> None:
    house, session, model = refused_house(plans("do it"), says("The poison of mine."), REFUSAL, *SCRIPT)
    assert "of mine" in str(model.requests[-1].entries)
    house.say(session, "Do something else")
    house.run()
    assert house.head(session).state == "completed"
    shown = [str(request.entries) for request in model.requests[3:]]
    assert all("of mine" not in one and "The goal" in one for one in shown)


def test_a_cold_worker_leaves_out_the_same() -> None:
    house, session, _ = refused_house(REFUSAL, *SCRIPT)
    house.say(session, "Something else")
    first = house.workflow.take()
    assert first is not None
    shown = house.fresh_repository().conversation(first.at)
    assert [one.content.loaded for one in shown.pending() if isinstance(one, UserEntry)] == [
        DECLINED,
        "Something else",
    ]


def test_a_message_that_came_while_the_model_declined_is_not_left_out() -> None:
    class Interrupted(ScriptedModel):
        def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
            if not self.requests:
                house.say(session, "And this")
            return super().complete(request, timeout=timeout)

    model = Interrupted([REFUSAL, *SCRIPT])
    house = House(model)
    session = house.start("The goal").session_id
    house.run()
    house.say(session, "Go on")
    house.run()
    shown = str(model.requests[-1].entries)
    assert ("The goal" in shown, "And this" in shown, "Go on" in shown) == (False, True, True)
