"""Schedules as files."""

from acta.client.api import Client
from tests.acta.cli.apply.conftest import Files, Run

NIGHTLY = """\
    agent_id: desk
    goal: Report of {{date}}
    cron: 30 2 * * *
    timezone: Europe/Berlin
    start: 2027-03-01T00:00:00+01:00
    limits:
      max_steps: 20
    """


def test_a_schedule_comes_after_the_agent_that_it_names_and_is_read_back_as_it_was_written(
    run: Run, files: Files, api: Client
) -> None:
    files.write("agents/desk.yaml", "name: Desk\n")
    files.write("schedules/nightly.yaml", NIGHTLY)
    shown = run("apply", str(files), "--yes")
    assert shown.code == 0, shown.err
    there = api.schedules.get("nightly")
    assert (there["agent_id"], there["start"], there["limits"]) == (
        "desk",
        "2027-02-28T23:00:00.000Z",
        {"max_steps": 20},
    )
    assert there["applied"] is not None
    assert there["applied"]["set"] == "support"
    assert run("apply", str(files), "--plan").out == "set support: 2 as the files say"
    files.remove("schedules/nightly.yaml")
    assert run("export", str(files)).code == 0
    assert b"cron: 30 2 * * *" in files.all()["schedules/nightly.yaml"]
    assert b"next_at" not in files.all()["schedules/nightly.yaml"]
    assert run("apply", str(files), "--plan").out == "set support: 2 as the files say"


def test_a_pause_by_hand_is_found_and_put_back_only_if_it_shall(run: Run, files: Files, api: Client) -> None:
    files.write("agents/desk.yaml", "name: Desk\n")
    files.write("schedules/nightly.yaml", NIGHTLY)
    run("apply", str(files), "--yes")
    api.schedules.pause("nightly")
    assert "it was changed by hand" in run("apply", str(files), "--yes").out
    assert run("apply", str(files), "--yes", "--overwrite").code == 0
    assert api.schedules.get("nightly")["paused"] is False


def test_an_agent_that_a_schedule_names_stays_and_both_go_together(
    run: Run, files: Files, api: Client
) -> None:
    files.write("agents/desk.yaml", "name: Desk\n")
    files.write("schedules/nightly.yaml", NIGHTLY)
    run("apply", str(files), "--yes")
    files.remove("agents/desk.yaml")
    assert "agents/desk stays" in run("apply", str(files), "--yes").out
    files.remove("schedules/nightly.yaml")
    assert run("apply", str(files), "--yes").code == 0
    assert list(api.schedules.list()) == []


def test_what_is_wrong_in_a_file_is_told_with_its_line(run: Run, files: Files) -> None:
    files.write("schedules/nightly.yaml", "agent_id: desk\ngaol: Report\noverlap: both\n")
    said = run("apply", str(files), "--check").err
    assert "schedules/nightly.yaml:2: gaol: there is no key 'gaol'. Did you mean 'goal'?" in said
    assert 'schedules/nightly.yaml:3: overlap: "both" is none of: skip, queue, cancel, allow' in said
