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


def test_a_pause_is_no_change_by_hand_and_stays_when_the_schedule_changes(
    run: Run, files: Files, api: Client
) -> None:
    files.write("agents/desk.yaml", "name: Desk\n")
    files.write("schedules/nightly.yaml", NIGHTLY)
    run("apply", str(files), "--yes")
    api.schedules.pause("nightly")
    assert run("apply", str(files), "--yes").out == "set support: 2 as the files say"
    for hour, way in ((3, ("--yes",)), (4, ("--yes", "--overwrite"))):
        files.write("schedules/nightly.yaml", NIGHTLY.replace("30 2", f"30 {hour}"))
        shown = run("apply", str(files), *way)
        assert (shown.code, "paused" in shown.out) == (0, False)
        there = api.schedules.get("nightly")
        assert (there["cron"], there["paused"]) == (f"30 {hour} * * *", True)
    files.remove("schedules/nightly.yaml")
    assert run("apply", str(files), "--yes").code == 0
    assert list(api.schedules.list()) == []


def test_what_a_file_newly_says_of_a_pause_is_done_once_and_people_have_the_say_again(
    run: Run, files: Files, api: Client
) -> None:
    def is_paused_after(*, said: str, by_hand: str = "") -> bool:
        if by_hand:
            getattr(api.schedules, by_hand)("nightly")
        files.write("schedules/nightly.yaml", NIGHTLY + said)
        assert run("apply", str(files), "--yes").code == 0
        assert run("apply", str(files), "--plan").out == "set support: 2 as the files say"
        return api.schedules.get("nightly")["paused"]

    files.write("agents/desk.yaml", "name: Desk\n")
    yes, no = "paused: true\n", "paused: false\n"
    assert is_paused_after(said=yes)
    assert not is_paused_after(said=yes, by_hand="resume")
    assert not is_paused_after(said="")
    assert is_paused_after(said=yes)
    assert is_paused_after(said="")
    assert not is_paused_after(said=no)
    assert is_paused_after(said=no, by_hand="pause")
    assert is_paused_after(said=yes)
    assert not is_paused_after(said=no)


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
