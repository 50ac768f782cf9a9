"""What is wrong in a folder of definitions is told with file, line and key, before anything is sent."""

import pytest

from tests.acta.cli.apply.conftest import Files, Run
from tests.acta.real_api import RealApi


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: Desk\ngaol: x\n", "agents/desk.yaml:2: gaol: there is no key 'gaol'. Did you mean 'goal'?"),
        (
            "name: Desk\nlimits:\n  max_step: 3\n",
            "agents/desk.yaml:3: limits.max_step: there is no key 'max_step'. Did you mean 'max_steps'?",
        ),
        ("goal: x\n", "agents/desk.yaml:1: the key 'name' is missing"),
        ("name: [a]\n", "agents/desk.yaml:1: name: this is a text, not a list"),
        (
            "name: Desk\nlimits:\n  max_steps: 0\n",
            "agents/desk.yaml:3: limits.max_steps: 0 is not allowed: it is at least 1",
        ),
        (
            "name: Desk\nbackground: yes\n",
            "agents/desk.yaml:2: background: this is true or false, not a text",
        ),
        (
            "name: Desk\nprotocol: nativ\n",
            'agents/desk.yaml:2: protocol: "nativ" is none of: native, react',
        ),
        ("name: Desk\nname: Other\n", "agents/desk.yaml:2: 'name' is given twice"),
        ("name: &a Desk\ngoal: *a\n", "agents/desk.yaml:2: aliases (*name) are not read"),
        ("name: !!binary aGk=\n", "agents/desk.yaml:1: tags (!name) are not read"),
        ("name: 'Desk\n", "agents/desk.yaml:2: it is no YAML"),
        ("", "agents/desk.yaml:1: this is keys with values, not null"),
        (
            "name: Desk\ninterventions:\n  approval:\n    role: boss\n",
            'agents/desk.yaml:3: interventions.approval: "approval" is none of: approval_required',
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_line_and_its_key(
    run: Run, files: Files, text: str, said: str
) -> None:
    files.write("agents/desk.yaml", text)
    shown = run("apply", str(files), "--yes")
    assert shown.code == 2
    assert said in shown.err


DAILY = "agent_id: default\ngoal: Report\n"
EVENT = "goal: Look\nwebhook: {scheme: github, secret: hook}\n"


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("schedules/a", f"{DAILY}cron: 0 8 * *\n", ':3: cron: "0 8 * *": A cron expression has five fields'),
        ("schedules/a", f"{DAILY}cron: 61 8 * * *\n", ':3: cron: "61 8 * * *": '),
        ("schedules/a", f"{DAILY}every: 15 min\n", ':3: every: "15 min": A rate is a number of minutes'),
        (
            "schedules/a",
            f"{DAILY}cron: 0 8 * * *\ntimezone: Europe/Berln\n",
            ':4: timezone: "Europe/Berln": There is no time zone of that name. Did you mean Europe/Berlin',
        ),
        ("schedules/a", f"{DAILY}every: 1 day\nstart: tomorrow\n", ':4: start: "tomorrow": This is no time'),
        ("schedules/a", DAILY, ":1: cron: Nothing says when it comes: name `cron` or `every`."),
        (
            "schedules/a",
            "agent_id: default\ngoal: |\n  On {{weekdey}}.\ncron: 0 8 * * *\n",
            ":2: goal: There is no {{weekdey}}. Did you mean weekday? There are: date, time, weekday, timezone, last.",
        ),
        (
            "schedules/a",
            "agent_id: default\ngoal: On {{date\ncron: 0 8 * * *\n",
            ':2: goal: "On {{date": A `{{` has no',
        ),
        (
            "triggers/a",
            EVENT.replace("Look", "Look at {{issue.id}}"),
            ':1: goal: "Look at {{issue.id}}": There is no {{issue.id}} here.',
        ),
        ("triggers/a", f"{EVENT}key: order {{\n".replace("{\n", "{{event.id\n"), ":3: key: "),
        ("triggers/a", f"{EVENT}source: inbox\n", "triggers/a.yaml:1: A trigger has either `webhook` or"),
        ("triggers/a", EVENT.replace("github", "hmac"), ":2: webhook: The scheme hmac needs `header`"),
        (
            "triggers/a",
            f"{EVENT}pattern:\n  action: [{{prefx: a}}]\n",
            ":3: pattern: pattern.action[0]: there is no operator prefx here. Did you mean prefix?",
        ),
        (
            "triggers/A",
            EVENT,
            "triggers/A.yaml: a definition is a file NAME.yaml; the NAME of a trigger fits",
        ),
        (
            "agents/a",
            "name: A\ninterventions:\n  approval_required:\n    default_action: approve\n",
            ':4: interventions.approval_required.default_action: "approve": A default never approves',
        ),
        (
            "agents/a",
            "name: A\nagents:\n- agent: b\n- {agent: b, as: x y}\n",
            ":4: agents.1.as: \"x y\": 'x y' is no name of a tool",
        ),
        (
            "agents/a",
            "name: A\nagents: [{agent: b}, {agent: c, as: b}]\n",
            ':2: agents.1.as: "b": Two entries are called b. Name one of them with `as`.',
        ),
        ("agents/a", "name: A\nagents: [{agent: 7up}]\n", ":2: agents.0.as: '7up' is no name of a tool"),
        ("agents/a", "name: A\noutput_schema: {type: objct}\n", ":2: output_schema: /type has to be"),
    ],
)
def test_what_the_api_would_refuse_is_told_before_anything_is_sent(
    run: Run, files: Files, real_api: RealApi, file: str, text: str, said: str
) -> None:
    files.write(f"{file}.yaml", text)
    real_api.away = 100
    for way in ("--check", "--plan", "--yes"):
        shown = run("apply", str(files), way)
        assert shown.code == 2
        assert said in shown.err


def test_everything_that_is_wrong_is_told_at_once_and_nothing_is_asked(
    run: Run, files: Files, real_api: RealApi
) -> None:
    files.write("agents/a.yaml", "nam: A")
    files.write("agents/b.yaml", "name: 3")
    files.write("agent/c.yaml", "name: C")
    files.write("d.yaml", "name: D")
    files.write("agents/e.json", "{}")
    real_api.away = 100
    shown = run("apply", str(files), "--yes")
    assert shown.code == 2
    assert [line.partition(":")[0] for line in shown.err.splitlines()[1:]] == [
        "agent",
        "d.yaml",
        "agents/a.yaml",
        "agents/a.yaml",
        "agents/b.yaml",
        "agents/e.json",
    ]


def test_texts_of_files_cannot_move_the_cursor(run: Run, files: Files) -> None:
    files.write("agents/desk.yaml", 'name: Desk\n"\\e[2Jx": 1\n')
    assert "\x1b" not in run("apply", str(files), "--yes").err
    files.write("agents/desk.yaml", 'name: "Desk\\e[2J"\n')
    assert "\x1b" not in run("apply", str(files), "--plan").out
