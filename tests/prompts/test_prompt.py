"""The planning prompt tells the model what the code reads in its replies (docs/design/turn.md 17)."""

import re
from pathlib import Path
from typing import get_args

from acta.engine.plans.plan import UPDATE_PLAN
from acta.engine.plans.update import Action
from acta.engine.prompts.prompt import (
    AGENT_PLANNING_SYSTEM,
    DESCRIPTIONS,
    NEEDED_WORDS,
    PLANNING,
    SEEDS,
    seed,
)
from acta.engine.tools.builtin import builtins
from acta.engine.turn.final_answer import GOAL_COMPLETE, claims_completion
from acta.engine.untrusted.quoting import quoted

ROOT = Path(__file__).parents[2]


def test_the_word_the_prompt_asks_for_is_the_one_that_completes_the_goal() -> None:
    words = re.findall(r"\b[A-Z]+_[A-Z]+\b", PLANNING)
    assert len(set(words)) == 1
    assert claims_completion(f"{words[0]}\nThe answer.")


def test_every_prompt_is_described_and_the_words_it_needs_are_those_that_the_code_reads() -> None:
    assert set(SEEDS) == set(DESCRIPTIONS) == set(NEEDED_WORDS)
    assert set(NEEDED_WORDS[AGENT_PLANNING_SYSTEM]) == {UPDATE_PLAN, GOAL_COMPLETE, "wait_for_user"}
    assert "wait_for_user" in get_args(Action)
    for name, needed in NEEDED_WORDS.items():
        assert seed(name).warnings == ()
        page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
        assert all(f"| `{word}` | {what}" in page for word, what in needed.items())


def test_the_prompt_names_no_tool_that_an_agent_may_lack() -> None:
    lacking = [name for name, tool in builtins().items() if not tool.always]
    assert [name for name in lacking if re.search(rf"\b{name}\b", PLANNING)] == []


def test_the_mark_that_the_prompt_shows_is_where_quotations_have_it() -> None:
    (mark,) = re.findall(r"#[0-9]{9}", PLANNING)
    opening, closing = (line.rsplit("#")[-1] for line in quoted("file", "a", "", key="k").split("\n"))
    assert (opening, len(f"#{opening.removesuffix(' ---')}")) == (closing, len(mark))
