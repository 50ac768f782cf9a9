"""The official Python client asks for a decision as its model would: only its person decides, if it can ask one."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from acta.infra.toolchain import ROOT, make_side_environment
from tests.e2e.support.person import Json, Person

pytestmark = pytest.mark.thorough

MOST_SECONDS = 120


@pytest.fixture(scope="module")
def python() -> str:
    make_side_environment("mcp", "Python environment of an MCP client")
    return str(ROOT / ".venv-mcp" / "bin" / "python")


def asked(person: Person) -> Json:
    person.put_file("old.txt", "It can go.")
    one: Json
    (one,) = person.asked(person.start("Delete the file old.txt")).session["interventions"]
    return one


def decide(python: str, person: Person, one: Json, mode: str, answer: str) -> Json:
    """The model asks to approve; the person, if the client has one, chooses `answer`."""
    arguments = {name: one[name] for name in ("session_id", "intervention_id")} | {"option": "approve"}
    given = {
        "MCP_URL": f"{str(person.http.base_url).rstrip('/')}/mcp",
        "MCP_TOKEN": person.token,
        "MCP_MODE": mode,
        "MCP_ANSWER": answer,
        "MCP_ARGUMENTS": json.dumps(arguments),
    }
    done = subprocess.run(
        [python, str(Path(__file__).with_name("decider.py"))],
        env={**os.environ, **given},
        capture_output=True,
        text=True,
        check=False,
        timeout=MOST_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    found: Json = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(("option", "files"), [("approve", set()), ("reject", {"old.txt"})])
def test_the_person_of_a_client_with_forms_decides(
    ann: Person, python: str, option: str, files: set[str]
) -> None:
    one = asked(ann)
    found = decide(python, ann, one, "2026-07-28", option)
    (form,) = found["shown"]
    assert '{"path":"old.txt"}' in form["message"]
    assert json.loads(found["texts"][0].split("\n")[1])["resolution"] == option
    ann.finished(one["session_id"])
    assert ann.files() == files


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
def test_a_client_that_can_ask_nobody_is_told_where_its_person_decides(
    ann: Person, python: str, mode: str
) -> None:
    one = asked(ann)
    found = decide(python, ann, one, mode, "")
    assert (found["shown"], found["is_error"]) == ([], True)
    assert f"/console/inbox/{one['session_id']}/" in found["texts"][0]
    assert ann.snapshot(one["session_id"])["state"] == "waiting_for_user"
