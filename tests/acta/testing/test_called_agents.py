"""Agents that call each other in a test of one's own (`acta.testing`)."""

import pytest

from acta.testing import BadAgent, CalledAgent, completes, run, says

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
