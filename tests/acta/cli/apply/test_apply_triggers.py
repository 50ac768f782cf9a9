"""Triggers as files."""

import pytest

from acta.client.api import Client
from acta.client.errors import NotFoundError
from tests.acta.cli.apply.conftest import Files, Run

TRIGGER = """\
    webhook:
      scheme: github
      secret: hook
    pattern:
      action:
      - opened
    agent_id: desk
    goal: Look at {{event.issue.title}}.
    key: issue-{{event.issue.number}}
    """


@pytest.fixture
def files(files: Files, api: Client) -> Files:
    api.tool_secrets.write("hook", "a-secret-of-twenty-chars", [])
    files.write("agents/desk.yaml", "name: Desk\n")
    files.write("triggers/issues.yaml", TRIGGER)
    return files


def test_a_trigger_comes_after_its_agent_and_applying_again_changes_nothing(
    run: Run, files: Files, api: Client
) -> None:
    shown = run("apply", str(files), "--yes")
    assert shown.code == 0, shown.err
    made = api.triggers.get("issues")
    assert (made["agent_id"], made["key"]) == ("desk", "issue-{{event.issue.number}}")
    assert run("apply", str(files), "--yes").out == "set support: 2 as the files say"
    written = files.all()
    files.remove("triggers/issues.yaml")
    assert run("export", str(files)).code == 0
    assert files.all() == written


def test_the_agent_of_a_trigger_stays_and_a_trigger_that_is_no_longer_a_file_goes(
    run: Run, files: Files, api: Client
) -> None:
    run("apply", str(files), "--yes")
    url = api.triggers.get("issues")["url"]
    files.remove("triggers/issues.yaml")
    assert run("apply", str(files), "--yes").code == 0
    with pytest.raises(NotFoundError):
        api.triggers.get("issues")
    files.write("triggers/issues.yaml", TRIGGER)
    run("apply", str(files), "--yes")
    assert api.triggers.get("issues")["url"] == url
    files.remove("agents/desk.yaml")
    assert "agents/desk stays though the files no longer have it: in use by triggers/issues" in (
        run("apply", str(files), "--yes").out
    )


def test_a_pause_is_no_change_by_hand_and_stays_when_the_trigger_changes(
    run: Run, files: Files, api: Client
) -> None:
    run("apply", str(files), "--yes")
    api.triggers.pause("issues")
    files.write("triggers/issues.yaml", TRIGGER.replace("Look at", "Read"))
    assert run("apply", str(files), "--yes").code == 0
    there = api.triggers.get("issues")
    assert (there["goal"], there["paused"]) == ("Read {{event.issue.title}}.", True)
    files.write("triggers/issues.yaml", TRIGGER + "paused: false\n")
    assert run("apply", str(files), "--yes").code == 0
    assert api.triggers.get("issues")["paused"] is False


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            TRIGGER.replace("secret: hook", "secret: hok"),
            "there is no secret hok. Did you mean 'hook'? `acta tools secrets set hok --no-host` sets it.",
        ),
        ("source: inbx\ngoal: Look\n", "there is no event source inbx. Did you mean 'inbox'?"),
    ],
)
def test_what_the_deployment_does_not_have_is_told_before_anything_is_written(
    run: Run, files: Files, api: Client, text: str, said: str
) -> None:
    files.write("triggers/issues.yaml", text)
    for way in ("--plan", "--yes"):
        shown = run("apply", str(files), way)
        assert shown.code == 2
        assert f"triggers/issues: {said}" in shown.out
    assert [each["agent_id"] for each in api.agents.list()] == ["default"]


def test_a_file_that_is_no_trigger_is_told_with_its_line(run: Run, files: Files) -> None:
    files.write("triggers/issues.yaml", TRIGGER.replace("agent_id", "agent"))
    refused = run("apply", str(files), "--check")
    assert refused.code == 2
    assert "triggers/issues.yaml:7" in refused.err
