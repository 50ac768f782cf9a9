"""Agents that call each other in a test of one's own (`acta.testing`)."""

from pathlib import Path
from runpy import run_path
from textwrap import dedent

import pytest

from acta.testing import BadAgent, CalledAgent, ScriptError, completes, run, says, uses

LEAD = {"agent_id": "lead", "agents": [{"agent": "searcher"}]}
SEARCHER = {"agent_id": "searcher", "name": "Searcher", "goal": "Finds sources.", "tools": ["read_file"]}


def test_the_agent_is_offered_those_that_it_may_call() -> None:
    agent = {**LEAD, "tools": ["read_file"], "planning": "when_needed"}
    session = run("Go", [says("Done.")], agent=agent, agents=[CalledAgent(SEARCHER, [])])
    offered = {tool.name: tool.description for tool in session.requests[0].tools}
    assert offered["searcher"] == "An agent. Searcher: Finds sources."


@pytest.mark.parametrize(
    ("called", "said"),
    [
        ([], "There is no agent searcher. There is no other one yet."),
        ([{**SEARCHER, "agent_id": "searchers"}], "There is no agent searcher. Did you mean searchers"),
        ([{**SEARCHER, "tools": ["read_fil"]}], "There is no tool 'read_fil'"),
        ([{**SEARCHER, "agents": [{"agent": "lead"}]}], "would call itself: lead -> searcher -> lead"),
        ([SEARCHER, {**SEARCHER, "agent_id": "lead"}], "two agents of this test have the id lead"),
    ],
)
def test_agents_that_do_not_fit_together_say_why(called: list[dict[str, object]], said: str) -> None:
    with pytest.raises(BadAgent, match=said):
        run("Go", [completes("Done.")], agent=LEAD, agents=[CalledAgent(each, []) for each in called])


def test_a_whole_tree_works_in_one_process_and_each_session_begins_the_script_of_its_agent() -> None:
    session = run(
        "Sum the invoices up",
        [uses("searcher", goal="Read it.", map=["the first", "the second"]), completes("42 EUR")],
        agent=LEAD,
        agents=[CalledAgent(SEARCHER, [uses("read_file", path="1.txt"), completes("21 EUR")])],
        files={"1.txt": "21 EUR"},
    )
    assert (session.state, session.answer) == ("completed", "42 EUR")
    assert [(child.state, child.answer) for child in session.children] == [("completed", "21 EUR")] * 2
    assert [child.tool_calls[0].result for child in session.children] == ["21 EUR"] * 2
    assert [entry.content.loaded for child in session.children for entry in child.entries[:1]] == [
        f"The agent Agent asks this of you:\n\nRead it.\n\n{which}" for which in ("the first", "the second")
    ]
    assert all(child.children == [] for child in session.children)


def test_a_question_of_a_child_is_decided_there_and_the_tree_works_on() -> None:
    deleter = {**SEARCHER, "tools": ["delete_file"]}
    session = run(
        "Tidy up",
        [uses("searcher", goal="Delete a.txt"), completes("Tidy.")],
        agent=LEAD,
        agents=[CalledAgent(deleter, [uses("delete_file", path="a.txt"), completes("Gone.")])],
        files={"a.txt": "a"},
    )
    (child,) = session.children
    assert (session.state, session.state_reason) == ("waiting_for_tool", "waiting_for_agents")
    assert child.state == "waiting_for_user"
    child.approve()
    assert (session.state, session.answer, session.files) == ("completed", "Tidy.", {})
    assert session.tool_calls[0].result == "Gone."


def test_a_called_agent_whose_script_has_more_to_say_is_named() -> None:
    with pytest.raises(ScriptError, match=r"session of searcher is completed .*, and its script has 1 more"):
        run(
            "Go",
            [uses("searcher", goal="Look"), completes("Done.")],
            agent=LEAD,
            agents=[CalledAgent(SEARCHER, [completes("Found."), completes("Again.")])],
        )


def test_the_example_of_the_page_works_as_it_stands(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "sub-agents.md").read_text(encoding="utf-8")
    code = page.partition("the paths of its files:\n\n")[2].partition("\n`session.children")[0]
    (tmp_path / "test_it.py").write_text(dedent(code), encoding="utf-8")
    run_path(str(tmp_path / "test_it.py"))["test_each_invoice_is_read_by_a_session_of_its_own"]()
