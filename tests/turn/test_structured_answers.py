"""A session with an output schema ends with JSON that fits it, or says that it has none (docs/design/turn.md 19,
ADR 69)."""

import json
from typing import Any

import pytest

from acta.engine.agents.agent import AgentDefinition, Models, built_in
from acta.engine.errors import ProviderUnavailable
from acta.engine.log.commit import Decision
from acta.engine.models.model import ModelReply, ModelRequest
from acta.engine.models.offline import OfflineModel
from acta.engine.prompts.prompt import PLANNING
from acta.engine.sessions.answers import session_view
from acta.engine.turn.final_answer import ANSWER_RETRIES, schema_text
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, Turn, call, completes, plans, says, step

SCHEMA = schema_text(
    {
        "type": "object",
        "properties": {"total": {"type": "integer"}, "currency": {"enum": ["EUR", "USD"]}},
        "required": ["total"],
    }
)
LOOKED = says("", step(1, "completed", "seen"))
FITS, VALUE = '{"total": 12, "currency": "EUR"}', {"total": 12, "currency": "EUR"}


def ran(*turns: Turn, fused: bool = False, **limits: Any) -> tuple[House, str]:
    house = House(ScriptedModel([plans("look"), *turns]), **({"turns_per_step": 8} if fused else {}))
    session = house.start("Go", output_schema=SCHEMA, **limits).session_id
    house.run()
    return house, session


def result(house: House, session: str) -> Any:
    return session_view(house.head(session))["result"]


def requests(house: House) -> list[ModelRequest]:
    assert isinstance(house.model, ScriptedModel)
    return house.model.requests


@pytest.mark.parametrize(
    "answer",
    [
        completes(FITS),
        says("", call("update_plan", action="complete", reason=FITS)),
        completes("All is done, the reason has it.", reason=FITS),
        completes(f"```json\n{FITS}\n```"),
    ],
    ids=["as text", "as the reason", "as the reason beside a text", "in a block"],
)
def test_an_answer_that_fits_is_the_result_s_data(answer: ModelReply) -> None:
    house, session = ran(says("", step(1, "completed", "seen"), *answer.calls)._replace(text=answer.text))
    assert house.head(session).state == "completed"
    assert result(house, session)["data"] == VALUE
    assert json.loads(result(house, session)["answer"].strip("`").removeprefix("json")) == VALUE


FOUND = [
    f"<think>{{}} first</think>{FITS}",
    f"I count {{}}.\n</think>\n\n{FITS}",
    f"\ufeff{FITS}",
    f"\xa0{FITS}\u2003",
    f"Here it is:\n```json\n{FITS}\n```",
    f"Here it is:\r\n\r\n```JSON5\r\n{FITS}\r\n```\r\nAnything else?",
    f"~~~\n{FITS}\n~~~",
    f"{FITS}\n\nLet me know if you need [more].",
    f"The total of {{month}} is: {FITS}",
    f"{FITS}\nOnce more: {FITS}",
]


@pytest.mark.parametrize("text", FOUND, ids=ascii)
@pytest.mark.parametrize("closes", [True, False], ids=["with the plan", "as text"])
def test_the_one_value_of_an_answer_is_found_between_words(text: str, closes: bool) -> None:
    house, session = ran(LOOKED, completes(text) if closes else says(f"**GOAL_COMPLETE**\n{text}"))
    assert (house.head(session).state, result(house, session)["data"]) == ("completed", VALUE)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f'{FITS} or {{"total": 13}}', "more than one JSON value"),
        (f'Given {{"x": 1}} it is\n```json\n{FITS}\n```', "more than one JSON value"),
        (f"```\n{FITS}\n```\n```\n12\n```", "more than one JSON value"),
        (f'{{"wrapped": {FITS},}}', "it is not valid JSON"),
        ('Sum: {"total": 12, "total": 13}', "it is not valid JSON"),
        ('{"total": 12,}', "it is not valid JSON"),
        ("{'total': 12}", "it is not valid JSON"),
        ('{"total": NaN}', "it is not valid JSON"),
        ("The total is 12.", "it is not valid JSON"),
    ],
)
def test_what_could_be_meant_in_two_ways_is_not_guessed(text: str, problem: str) -> None:
    house, session = ran(LOOKED, says(f"GOAL_COMPLETE\n{text}"), completes(FITS))
    assert problem in requests(house)[-1].suffix
    assert result(house, session)["data"] == VALUE


def test_a_value_that_prose_speaks_of_is_no_answer() -> None:
    house, session = ran(LOOKED, says(f"Next I will try {FITS} and see."), completes('{"total": 13}'))
    assert result(house, session)["data"] == {"total": 13}


def test_a_value_between_words_is_the_answer_once_the_marker_follows_alone() -> None:
    house, session = ran(LOOKED, says(f"Here it is:\n```json\n{FITS}\n```"), says("GOAL_COMPLETE"))
    assert (house.head(session).state, result(house, session)["data"]) == ("completed", VALUE)


@pytest.mark.parametrize("text", [FITS, f"GOAL_COMPLETE\n{FITS}"], ids=["without the marker", "with it"])
def test_a_text_that_fits_is_the_answer_once_no_step_is_open(text: str) -> None:
    house, session = ran(says(text), LOOKED, says(text))
    assert (house.head(session).state, result(house, session)["data"]) == ("completed", VALUE)
    assert house.head(session).progress.wrong_answers == 0, "an answer that came too early was counted"


def test_the_model_is_told_of_the_schema_in_every_request_and_of_nothing_without_one() -> None:
    house, _ = ran(LOOKED, completes(FITS))
    systems = {request.system for request in requests(house)}
    assert len(systems) == 1, "the prefix changed between turns"
    assert systems.pop().splitlines()[-1] == SCHEMA
    other = House(ScriptedModel([plans("look"), LOOKED, completes("done")]))
    other.start("Go")
    other.run()
    assert {request.system for request in requests(other)} == {built_in().system(PLANNING)}


@pytest.mark.parametrize("fused", [False, True], ids=["one turn a state", "fused"])
@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (says("GOAL_COMPLETE\nTwelve euros."), "it is not valid JSON"),
        (says('GOAL_COMPLETE\n{"total": "12"}'), "total must be of type integer"),
        (says('GOAL_COMPLETE\n{"currency": "GBP"}'), 'currency must be one of "EUR", "USD"'),
        (says("GOAL_COMPLETE"), "there is no text"),
    ],
    ids=["no JSON", "a wrong type", "a wrong value", "nothing"],
)
def test_a_text_that_does_not_fit_is_explained_and_sent_again(
    wrong: ModelReply, problem: str, fused: bool
) -> None:
    house, session = ran(LOOKED, wrong, completes(FITS), fused=fused)
    assert problem in requests(house)[-1].suffix
    assert result(house, session)["data"] == VALUE
    assert house.head(session).progress.wrong_answers == 1


def test_a_plan_is_not_completed_with_an_answer_that_does_not_fit() -> None:
    house, session = ran(LOOKED, completes('{"total": 1.5}'), completes(FITS))
    refused = next(
        entry
        for entry in requests(house)[-1].entries
        if getattr(entry, "name", "") and not entry.ok  # type: ignore[union-attr]
    )
    assert "total must be of type integer" in refused.content.loaded
    rejected = [seen.event for seen in house.poll(session).events if seen.event.type == "plan.rejected"]
    assert [event.data["code"] for event in rejected] == ["ANSWER_INVALID"]
    head = house.head(session)
    assert (head.state, head.plan and head.plan.status) == ("completed", "completed")
    assert result(house, session)["data"] == VALUE


@pytest.mark.parametrize("same", [True, False], ids=["the same each time", "another each time"])
@pytest.mark.parametrize("closes", [True, False], ids=["with the plan", "as text"])
def test_after_its_retries_the_run_fails_with_a_code_of_its_own(closes: bool, same: bool) -> None:
    def wrong(number: int) -> ModelReply:
        text = "no JSON" if same else f"no JSON {number}"
        return completes(text) if closes else says(f"GOAL_COMPLETE\n{text}")

    house, session = ran(LOOKED, *map(wrong, range(ANSWER_RETRIES + 1)))
    head = house.head(session)
    assert (head.state, head.error and head.error.code) == ("failed", "ANSWER_INVALID")
    assert len(requests(house)) == 2 + ANSWER_RETRIES + 1
    assert head.result is None


def test_the_next_run_that_asks_for_data_has_all_its_retries() -> None:
    wrong = [says(f"GOAL_COMPLETE\n{number}?") for number in range(ANSWER_RETRIES + 1)]
    house, session = ran(LOOKED, *wrong, plans("again"), LOOKED, wrong[0], completes(FITS))
    house.say(session, "Once more", SCHEMA)
    house.run()
    assert (house.head(session).state, result(house, session)["data"]) == ("completed", VALUE)


def test_a_message_that_asks_for_no_data_is_answered_in_text() -> None:
    house, session = ran(LOOKED, completes(FITS), says("GOAL_COMPLETE\nYou are welcome."))
    house.say(session, "Thanks")
    house.run()
    told = result(house, session)
    assert (told["answer"], told["data"], told["reason"]) == ("You are welcome.", None, "goal_complete")
    assert SCHEMA not in requests(house)[-1].system


def test_a_message_to_a_run_that_goes_on_may_ask_it_for_data() -> None:
    def asked(request: ModelRequest) -> ModelReply:
        house.say(session, "As JSON, please", SCHEMA)
        return LOOKED

    house = House(ScriptedModel([plans("look"), asked, says("GOAL_COMPLETE\nTwelve."), completes(FITS)]))
    session = house.start("Go").session_id
    house.run()
    assert result(house, session)["data"] == VALUE


def test_a_run_is_not_failed_for_its_answer_over_a_message_that_nobody_has_read() -> None:
    def last_wrong_one(request: ModelRequest) -> ModelReply:
        house.say(session, "In euros, please")
        return says("GOAL_COMPLETE\nwrong once more")

    wrong = [says(f"GOAL_COMPLETE\n{number}?") for number in range(ANSWER_RETRIES)]
    house = House(ScriptedModel([plans("look"), LOOKED, *wrong, last_wrong_one, completes(FITS)]))
    session = house.start("Go", output_schema=SCHEMA).session_id
    house.run()
    assert (house.head(session).state, result(house, session)["data"]) == ("completed", VALUE)


def test_a_run_that_ends_at_its_steps_keeps_what_it_has_and_says_no_more() -> None:
    house, session = ran(LOOKED, says("GOAL_COMPLETE\nTwelve."), max_steps=2)
    told = result(house, session)
    assert (told["goal_met"], told["reason"], told["answer"], told["data"]) == (
        False,
        "max_steps",
        "Twelve.",
        None,
    )


def test_a_worker_that_dies_after_each_commit_counts_each_answer_once() -> None:
    wrong = [says(f"GOAL_COMPLETE\n{number}?") for number in range(ANSWER_RETRIES)]
    house = House(ScriptedModel([plans("look"), LOOKED, *wrong, completes(FITS)]))
    session = house.start("Go", output_schema=SCHEMA).session_id

    def again(decision: Decision) -> None:
        """The turn is made, its worker dies, and the engine makes it once more."""
        if decision.next in ("plan", "think"):
            house.step(decision.next, decision.at)
            house.repository = house.fresh_repository()

    house.run(again)
    head = house.head(session)
    assert (head.state, head.progress.wrong_answers) == ("completed", ANSWER_RETRIES)
    assert result(house, session)["data"] == VALUE


def formats(house: House) -> list[bool]:
    """Which requests ask the provider to hold the reply to the schema."""
    assert {request.answer_schema for request in requests(house)} <= {"", SCHEMA}
    return [bool(request.answer_schema) for request in requests(house)]


@pytest.mark.parametrize("closes", [True, False], ids=["with the plan", "as text"])
def test_only_the_turn_after_an_answer_that_did_not_fit_asks_the_provider_for_the_form(closes: bool) -> None:
    wrong = completes("Twelve.") if closes else says("GOAL_COMPLETE\nTwelve.")
    house, session = ran(LOOKED, wrong, says(FITS))
    assert formats(house) == [False, False, False, True]
    assert (house.head(session).state, result(house, session)["data"]) == ("completed", VALUE)
    first, *others = requests(house)
    assert all((each.system, each.tools) == (first.system, first.tools) for each in others), (
        "the prefix changed"
    )


def test_a_value_in_the_provider_s_form_that_does_not_fit_is_an_answer_and_is_explained() -> None:
    house, session = ran(LOOKED, says("GOAL_COMPLETE\nTwelve."), says('{"total": 1.5}'), says(FITS))
    assert "total must be of type integer" in requests(house)[-1].suffix
    assert formats(house)[-2:] == [True, True]
    assert house.head(session).progress.wrong_answers == 2
    assert result(house, session)["data"] == VALUE


def test_a_turn_that_goes_on_with_work_or_with_a_half_answer_is_free() -> None:
    wrong = says("GOAL_COMPLETE\nTwelve.")
    half = says('{"total": 1')._replace(stop="max_tokens")
    look = says("", call("list_files", path="."))
    house, session = ran(LOOKED, wrong, look, wrong, half, says('2, "currency": "EUR"}'))
    assert formats(house) == [False, False, False, True, False, True, False]
    assert result(house, session)["data"] == VALUE


def test_steps_that_are_open_again_and_a_message_make_a_turn_free() -> None:
    def asked(request: ModelRequest) -> ModelReply:
        house.say(session, "In euros, please")
        return says("GOAL_COMPLETE\nstill wrong")

    wrong = says("GOAL_COMPLETE\nTwelve.")
    turns: list[Turn] = [plans("look"), LOOKED, wrong, asked, plans("look again"), LOOKED, says(FITS)]
    house = House(ScriptedModel(turns))
    session = house.start("Go", output_schema=SCHEMA).session_id
    house.run()
    assert formats(house) == [False, False, False, True, False, False, True]
    assert result(house, session)["data"] == VALUE


def test_another_model_that_writes_the_answer_is_asked_for_the_form_at_once() -> None:
    for final, think, form in (("f", "m", True), ("f", "f", False)):
        house = House(ScriptedModel([plans("look"), LOOKED, says(FITS)]))
        models = Models(final=final, think=think)
        agent = AgentDefinition(agent_id="a", name="A", version=1, model="m", models=models)
        house.definitions.create_agent(TENANT, agent)
        session = house.start("Go", agent_id="a", output_schema=SCHEMA).session_id
        house.run()
        assert formats(house) == [False, False, form]
        assert result(house, session)["data"] == VALUE


def test_a_turn_that_is_tried_again_leaves_the_form_out() -> None:
    wrong = says("GOAL_COMPLETE\nTwelve.")
    house, session = ran(LOOKED, wrong, ProviderUnavailable("no grammar"), says(FITS))
    assert formats(house) == [False, False, False, True, False]
    assert result(house, session)["data"] == VALUE


def test_an_answer_that_is_continued_after_a_cut_off_is_read_as_one() -> None:
    cut = says('GOAL_COMPLETE\n{"total": 1')._replace(stop="max_tokens")
    house, session = ran(LOOKED, cut, says('2, "currency": "EUR"}'))
    assert result(house, session)["data"] == VALUE


def test_a_number_keeps_its_minus() -> None:
    house = House(ScriptedModel([plans("look"), LOOKED, says("GOAL_COMPLETE\n-5")]))
    session = house.start("Go", output_schema='{"type":"integer"}').session_id
    house.run()
    assert result(house, session)["data"] == -5


OF_EVERY_KIND: dict[str, Any] = {
    "type": "object",
    "properties": {
        "summary": {"type": "string", "maxLength": 80},
        "code": {"type": "string", "minLength": 9_000},
        "files": {"type": "array", "items": {"$ref": "#/$defs/file"}, "minItems": 2},
        "open": {"type": "integer", "minimum": 3},
        "share": {"type": ["number", "null"], "exclusiveMinimum": 0},
        "state": {"enum": ["done", "failed"]},
        "sure": {"type": "boolean"},
        "kind": {"const": "report"},
        "either": {"anyOf": [{"type": "null"}, {"type": "string"}]},
        "not needed": {"type": "string"},
    },
    "required": ["summary", "code", "files", "open", "share", "state", "sure", "kind", "either"],
    "additionalProperties": False,
    "$defs": {"file": {"properties": {"path": {"type": "string"}}, "required": ["path"]}},
}


def test_the_stand_in_without_a_model_says_that_it_cannot_answer_in_a_form() -> None:
    house = House(OfflineModel())
    session = house.start("List my files", output_schema=schema_text(OF_EVERY_KIND)).session_id
    house.run()
    head = house.head(session)
    assert head.state == "failed"
    assert head.progress.wrong_answers == 0
