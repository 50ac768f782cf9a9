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
