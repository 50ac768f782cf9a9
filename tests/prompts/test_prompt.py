"""The planning prompt tells the model what the code reads in its replies (docs/design/turn.md 17)."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import pytest

from acta_engine.plans.plan import UPDATE_PLAN
from acta_engine.plans.update import Action, apply
from acta_engine.prompts.prompt import (
    AGENT_PLANNING_SYSTEM,
    DESCRIPTIONS,
    NEEDED_WORDS,
    PLANNING,
    SEEDS,
    seed,
)
from acta_engine.tools.builtin import builtins
from acta_engine.tools.registry import BuiltinRegistry
from acta_engine.turn.final_answer import GOAL_COMPLETE, claims_completion

ROOT = Path(__file__).parents[2]
NOW = datetime(2026, 5, 1, tzinfo=UTC)


def examples() -> list[dict[str, Any]]:
    """The JSON objects that the prompt shows, in its order."""
    places = [place.start() for place in re.finditer(r'\{"action"', PLANNING)]
    return [json.JSONDecoder().raw_decode(PLANNING, place)[0] for place in places]


def test_the_word_the_prompt_asks_for_is_the_one_that_completes_the_goal() -> None:
    words = re.findall(r"\b[A-Z]+_[A-Z]+\b", PLANNING)
    assert len(words) == 1
    assert claims_completion(f"{words[0]}\nThe answer.")


def test_every_prompt_is_described_and_the_words_it_needs_are_those_that_the_code_reads() -> None:
    assert set(SEEDS) == set(DESCRIPTIONS) == set(NEEDED_WORDS)
    assert set(NEEDED_WORDS[AGENT_PLANNING_SYSTEM]) == {UPDATE_PLAN, GOAL_COMPLETE, "wait_for_user"}
    assert "wait_for_user" in get_args(Action)
    for name, needed in NEEDED_WORDS.items():
        assert seed(name).warnings == ()
        page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
        assert all(f"| `{word}` | {what}" in page for word, what in needed.items())


@pytest.mark.parametrize("example", examples(), ids=lambda example: example["action"])
def test_every_call_the_prompt_shows_is_accepted_by_update_plan(example: dict[str, Any]) -> None:
    live = apply(None, examples()[0], builtins(), NOW, BuiltinRegistry().check).plan
    assert live is not None
    finished = live.model_copy(
        update={"steps": tuple(step.model_copy(update={"status": "skipped"}) for step in live.steps)}
    )
    plan = {"create": None, "complete": finished}.get(example["action"], live)
    assert apply(plan, example, builtins(), NOW, BuiltinRegistry().check).plan is not None


def test_the_prompt_shows_each_action_of_update_plan() -> None:
    actions = {example["action"] for example in examples()}
    schema = builtins()["update_plan"].input_schema
    assert actions == set(schema["properties"]["action"]["enum"])


def test_the_prompt_says_that_nothing_is_announced_that_the_same_reply_does_not_do() -> None:
    assert "Never announce what you do not do in the same reply" in " ".join(PLANNING.split())
