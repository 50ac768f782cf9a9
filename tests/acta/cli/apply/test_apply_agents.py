"""`acta apply`: agents become what their files say, and stay theirs who wrote them."""

import pytest

from acta.client.api import Client
from acta.client.errors import NotFoundError
from tests.acta.cli.apply.conftest import Files, Run

DESK = """\
    # The desk answers customers.
    name: Desk
    goal: Answer customers.
    tools: [list_files, read_file]
    limits:
      max_steps: 20
      cost_budget_usd: 2
    system_prompt: |
      You answer customers.
      You are polite.
    """


TOOL = """\
    description: The state of an order
    kind: http
    config: {url: "https://orders.example.com/status", method: GET}
    input_schema: {type: object, properties: {}}
    effect: read
    """


def test_an_agent_is_made_from_its_file_and_belongs_to_the_set(run: Run, files: Files, api: Client) -> None:
    files.write("agents/desk.yaml", DESK)
    shown = run("apply", str(files), "--yes")
    assert shown.code == 0, shown.err
    assert "+ agents/desk is made" in shown.out
    assert "Applied: 1 change written." in shown.out
    agent = api.agents.get("desk")
    assert agent["system_prompt"] == "You answer customers.\nYou are polite.\n"
    assert agent["limits"] == {"max_steps": 20, "cost_budget_usd": 2.0}
    assert agent["applied"] is not None
    assert agent["applied"]["set"] == "support"


def test_applying_a_second_time_says_that_nothing_changes_and_writes_nothing(
    run: Run, files: Files, api: Client
) -> None:
    files.write("agents/desk.yaml", DESK)
    run("apply", str(files), "--yes")
    shown = run("apply", str(files), "--yes")
    assert (shown.code, shown.out) == (0, "set support: 1 as the files say")
    assert api.agents.get("desk")["version"] == 1


def test_a_tool_that_nobody_has_is_found_by_the_plan_and_said_once(
    run: Run, files: Files, api: Client
) -> None:
    files.write("agents/desk.yaml", DESK.replace("read_file]", "read_fil, order_state]"))
    files.write("tools/order_state.yaml", TOOL)
    for more in ("--plan", "--yes"):
        shown = run("apply", str(files), more)
        assert shown.code == 2
        assert "! agents/desk: there is no tool read_fil. Did you mean 'read_file'?" in shown.out
        assert (shown.out + shown.err).count("no tool") == 1
    with pytest.raises(NotFoundError):
        api.tools.get("order_state")


@pytest.mark.parametrize("said", ["all", "[]"])
def test_the_word_for_all_tools_an_empty_list_and_nothing_are_the_same_definition(
    run: Run, files: Files, api: Client, said: str
) -> None:
    files.write("agents/desk.yaml", f"name: Desk\ntools: {said}\ndeny: []\n")
    assert run("apply", str(files), "--yes").code == 0
    assert api.agents.get("desk")["tools"] == "all"
    files.write("agents/desk.yaml", "name: Desk\n")
    assert run("apply", str(files), "--yes").out == "set support: 1 as the files say"


def test_a_denied_tool_has_to_be_there_when_it_is_written_and_may_go_later(
    run: Run, files: Files, api: Client
) -> None:
    files.write("agents/desk.yaml", "name: Desk\ndeny: [order_state]\n")
    assert "! agents/desk: there is no tool order_state." in run("apply", str(files), "--yes").out
    files.write("tools/order_state.yaml", TOOL)
    assert run("apply", str(files), "--yes").code == 0
    files.remove("tools/order_state.yaml")
    assert run("apply", str(files), "--yes").code == 0
    with pytest.raises(NotFoundError):
        api.tools.get("order_state")
    assert api.agents.get("desk")["deny"] == ["order_state"]


def test_a_plan_shows_the_lines_that_change_writes_nothing_and_has_an_exit_code_of_its_own(
    run: Run, files: Files, api: Client
) -> None:
    files.write("agents/desk.yaml", DESK)
    run("apply", str(files), "--yes")
    assert run("apply", str(files), "--plan").code == 0
    files.write("agents/desk.yaml", DESK.replace("polite", "brief"))
    shown = run("apply", str(files), "--plan")
    assert shown.code == 3
    assert "~ agents/desk is changed" in shown.out
    assert "    -  You are polite." in shown.out
    assert "    +  You are brief." in shown.out
    assert api.agents.get("desk")["version"] == 1


def test_nobody_to_ask_means_that_nothing_is_written(run: Run, files: Files, api: Client) -> None:
    files.write("agents/desk.yaml", DESK)
    shown = run("apply", str(files))
    assert shown.code == 2
    assert "--yes" in shown.err
    with pytest.raises(NotFoundError):
        api.agents.get("desk")


def test_what_a_person_changed_since_is_refused_and_shown_until_overwrite_is_said(
    run: Run, files: Files, api: Client
) -> None:
    files.write("agents/desk.yaml", DESK)
    run("apply", str(files), "--yes")
    api.agents.replace("desk", {"name": "Desk", "goal": "Sell."})
    shown = run("apply", str(files), "--yes")
    assert shown.code == 2
    assert "! agents/desk: it was changed by hand since it was applied" in shown.out
    assert "    -goal: Sell." in shown.out
    assert api.agents.get("desk")["goal"] == "Sell."
    assert run("apply", str(files), "--yes", "--overwrite").code == 0
    assert api.agents.get("desk")["goal"] == "Answer customers."


def test_a_hand_edit_that_says_what_the_file_says_is_taken_over(run: Run, files: Files, api: Client) -> None:
    files.write("agents/desk.yaml", "name: Desk")
    run("apply", str(files), "--yes")
    api.agents.replace("desk", {"name": "Desk", "goal": "Sell."})
    files.write("agents/desk.yaml", "name: Desk\ngoal: Sell.")
    assert "= agents/desk" in run("apply", str(files), "--yes").out
    assert run("apply", str(files), "--yes").out == "set support: 1 as the files say"


def test_what_nobodys_set_owns_is_not_written_without_adopt(run: Run, files: Files, api: Client) -> None:
    api.agents.create({"agent_id": "desk", "name": "By hand"})
    files.write("agents/desk.yaml", DESK)
    shown = run("apply", str(files), "--yes")
    assert shown.code == 2
    assert "no set owns it" in shown.out
    assert api.agents.get("desk")["name"] == "By hand"
    assert run("apply", str(files), "--yes", "--adopt").code == 0
    assert api.agents.get("desk")["name"] == "Desk"


def test_what_another_set_owns_is_neither_written_nor_pruned(run: Run, files: Files, api: Client) -> None:
    files.write("agents/desk.yaml", DESK)
    run("apply", str(files), "--yes", "--set", "others")
    shown = run("apply", str(files), "--yes")
    assert shown.code == 2
    assert "the set others owns it" in shown.out
    files.remove("agents/desk.yaml")
    assert run("apply", str(files), "--yes").out == "set support: 0 as the files say"
    assert api.agents.get("desk")["name"] == "Desk"


def test_an_agent_without_a_file_any_more_is_deleted(run: Run, files: Files, api: Client) -> None:
    files.write("agents/desk.yaml", DESK)
    run("apply", str(files), "--yes")
    files.remove("agents/desk.yaml")
    assert "- agents/desk is deleted" in run("apply", str(files), "--plan").out
    assert api.agents.get("desk")["name"] == "Desk"
    assert run("apply", str(files), "--yes").code == 0
    with pytest.raises(NotFoundError):
        api.agents.get("desk")


def test_the_set_has_the_name_that_the_folder_says(run: Run, files: Files, api: Client) -> None:
    files.write("acta.yaml", "set: desk-team")
    files.write("agents/desk.yaml", DESK)
    run("apply", str(files), "--yes")
    applied = api.agents.get("desk")["applied"]
    assert applied is not None
    assert applied["set"] == "desk-team"


def test_the_built_in_agent_is_replaced_and_comes_back(run: Run, files: Files, api: Client) -> None:
    files.write("agents/default.yaml", "name: Ours")
    assert run("apply", str(files), "--yes").code == 0
    assert api.agents.get("default")["name"] == "Ours"
    files.remove("agents/default.yaml")
    assert run("apply", str(files), "--yes").code == 0
    assert api.agents.get("default")["version"] == 0


LEAD = """\
    name: Lead
    agents:
    - agent: searcher
    - agent: critic
      as: ask_critic
      caps: {max_steps: 5, cost_budget_usd: 1}
      files: given
    high_stakes: [ask_critic]
    limits: {depth: 2, children: 40}
    """
"""It sorts before the agents that it calls."""


def write_tree(files: Files) -> None:
    files.write("agents/a_lead.yaml", LEAD)
    files.write("agents/searcher.yaml", "name: Searcher\nagents: [{agent: critic}]\n")
    files.write("agents/critic.yaml", "name: Critic\n")


def test_agents_come_before_those_that_call_them_and_go_after_them(
    run: Run, files: Files, api: Client
) -> None:
    write_tree(files)
    shown = run("apply", str(files), "--yes", "--json")
    assert [one["name"] for one in shown.json["changes"]] == ["critic", "searcher", "a_lead"]
    entries = api.agents.get("a_lead")["agents"]
    caps = {"max_steps": 5, "cost_budget_usd": 1.0}
    assert entries[1] == {"agent": "critic", "as": "ask_critic", "caps": caps, "files": "given"}
    assert run("apply", str(files), "--yes").out == "set support: 3 as the files say"
    for name in ("a_lead", "searcher", "critic"):
        files.remove(f"agents/{name}.yaml")
    shown = run("apply", str(files), "--yes", "--json")
    assert [one["name"] for one in shown.json["changes"]] == ["a_lead", "searcher", "critic"]
    assert (shown.code, shown.json["not_written"]) == (0, [])


def test_who_calls_whom_may_be_turned_round_at_once(run: Run, files: Files, api: Client) -> None:
    files.write("agents/a.yaml", "name: A\nagents: [{agent: b}]\n")
    files.write("agents/b.yaml", "name: B\n")
    assert run("apply", str(files), "--yes").code == 0
    files.write("agents/a.yaml", "name: A\n")
    files.write("agents/b.yaml", "name: B\nagents: [{agent: a}]\n")
    assert run("apply", str(files), "--yes").code == 0
    assert [each["agent"] for each in api.agents.get("b")["agents"]] == ["a"]


@pytest.mark.parametrize("more", [("--plan",), ("--yes",), ("--check",)])
def test_a_circle_of_agents_is_refused_and_named(
    run: Run, files: Files, api: Client, more: tuple[str, ...]
) -> None:
    write_tree(files)
    files.write("agents/critic.yaml", "name: Critic\nagents: [{agent: a_lead}]\n")
    shown = run("apply", str(files), *more)
    assert shown.code == 2
    said = "the agent would call itself: critic -> a_lead -> critic"
    assert said in shown.out + shown.err
    assert [each["agent_id"] for each in api.agents.list()] == ["default"]


@pytest.mark.parametrize("more", [("--plan",), ("--yes",), ("--check",)])
@pytest.mark.parametrize("tool", ["read_file", "order_state"])
def test_an_agent_that_would_be_called_by_a_tool_s_name_is_refused(
    run: Run, files: Files, api: Client, tool: str, more: tuple[str, ...]
) -> None:
    files.write("tools/order_state.yaml", TOOL)
    files.write("agents/b.yaml", "name: B\n")
    files.write("agents/a.yaml", f"name: A\nagents: [{{agent: b, as: {tool}}}]\n")
    shown = run("apply", str(files), *more)
    assert shown.code == 2
    assert f"there is a tool {tool} already: name the agent with `as`" in shown.out + shown.err
    assert [each["agent_id"] for each in api.agents.list()] == ["default"]


def test_a_tool_whose_python_is_there_and_that_nobody_has_taken_yet_is_told_as_such(
    run: Run, files: Files
) -> None:
    files.write("agents/desk.yaml", "name: Desk\ntools: [ask_bank, ask_banks]\n")
    files.write("environments.py", "")
    files.write("acta.yaml", "set: support\n")
    files.write("tools/bank/tools.py", "def ask_bank(question: str) -> str: ...\n")
    said = run("apply", str(files), "--plan").out
    assert "there is no tool ask_bank." in said
    assert (
        "tools/bank/tools.py defines ask_bank: `acta dev` takes a tool a few seconds after it was written"
        in said
    )
    assert "defines ask_banks" not in said


@pytest.mark.parametrize("more", [(), ("--check",)])
def test_without_a_folder_and_outside_a_repository_the_command_that_works_is_told(
    run: Run, files: Files, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
) -> None:
    files.write("acta.yaml", "set: support\n")
    monkeypatch.chdir(files.folder)
    shown = run("apply", *more)
    assert shown.code == 2
    assert f"such as `{' '.join(('acta apply .', *more))}`" in shown.err


def test_a_circle_over_an_agent_that_no_file_has_is_refused(run: Run, files: Files, api: Client) -> None:
    api.agents.create({"agent_id": "critic", "name": "Critic"})
    api.agents.create({"agent_id": "hand", "name": "By hand", "agents": [{"agent": "critic"}]})
    files.write("agents/critic.yaml", "name: Critic\nagents: [{agent: hand}]\n")
    shown = run("apply", str(files), "--yes", "--adopt")
    assert shown.code == 2
    assert "the agent would call itself: critic -> hand -> critic" in shown.out


def test_an_agent_that_is_called_and_is_not_there_is_found_by_the_plan(
    run: Run, files: Files, api: Client
) -> None:
    files.write("agents/a_lead.yaml", LEAD)
    files.write("agents/searchers.yaml", "name: Searchers\n")
    shown = run("apply", str(files), "--yes")
    assert shown.code == 2
    assert "there is no agent searcher. Did you mean 'searchers'?" in shown.out
    checked = run("apply", str(files), "--check")
    assert checked.code == 0
    assert "agents/a_lead names the agent searcher, which has no file here" in checked.err


def test_an_agent_that_another_one_calls_stays(run: Run, files: Files, api: Client) -> None:
    write_tree(files)
    run("apply", str(files), "--yes")
    api.agents.create({"agent_id": "hand", "name": "By hand", "agents": [{"agent": "critic"}]})
    for name in ("a_lead", "searcher", "critic"):
        files.remove(f"agents/{name}.yaml")
    shown = run("apply", str(files), "--yes")
    assert "agents/critic stays though the files no longer have it: in use by agents/hand" in shown.out
    assert [each["agent_id"] for each in api.agents.list()] == ["critic", "default", "hand"]


def test_a_chain_of_agents_that_is_too_long_is_refused(run: Run, files: Files) -> None:
    for number in range(300):
        entries = f"agents: [{{agent: a{number + 1}}}]\n" if number < 299 else ""
        files.write(f"agents/a{number}.yaml", f"name: A\n{entries}")
    shown = run("apply", str(files), "--check")
    assert shown.code == 2
    assert "agents/a0.yaml: with those that they call the agents that it calls are more than 200" in shown.err
