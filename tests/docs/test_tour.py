"""The session that docs/tour.md follows is one that Acta makes: its table is what the log has."""

import re
from pathlib import Path

from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step

TOUR = Path(__file__).parents[2] / "docs" / "tour.md"
ROW = re.compile(r"^\| (\d+) \| `([^`]+)` \| (\w+) \|(.*?)\|(.*?)\|$", re.MULTILINE)


def commits() -> list[tuple[str, str, str, str, str]]:
    """Number, key, state, events and decision of each commit, with the ids as the page writes them."""
    house = House(
        ScriptedModel(
            [
                plans("Read notes.md", "Delete it"),
                says("I read it first.", call("read_file", path="notes.md")),
                says("Now I delete it.", step(1, "completed", "read"), call("delete_file", path="notes.md")),
                says("", step(2, "completed", "gone")),
                completes("notes.md is gone."),
            ]
        )
    )
    house.files.write(TENANT, "notes.md", b"alpha")
    session = house.start("Read notes.md, then delete it").session_id
    house.run()
    house.resolve(session, house.head(session).interventions[0], "approve")
    house.run()
    names: dict[str, str] = {}
    found: list[tuple[str, str, str, str, str]] = []
    for commit in house.repository.commits(TENANT, session, 1):
        for id_ in re.findall(r"(?:run|call|int)_\w+", commit.key):
            kind = {"run": "R", "call": "C", "int": "I"}[id_.partition("_")[0]]
            known = sum(name.startswith(kind) for name in names.values())
            names.setdefault(id_, f"{kind}{known + 1}" if kind == "C" else kind)
        key = re.sub(r"(?:run|call|int)_\w+", lambda id_: names[id_.group()], commit.key)
        key = re.sub(r"(?<=ask-)\w+$|(?:try|msg)_\w+$", "…", key)
        events = ", ".join(f"`{event.type}`" for event in commit.events)
        following = commit.decision.next if commit.decision is not None else ""
        found.append((str(commit.number), key, commit.head.state, events, following))
    return found


def test_the_table_of_the_tour_is_the_log_of_its_session() -> None:
    shown = [tuple(cell.strip() for cell in row) for row in ROW.findall(TOUR.read_text(encoding="utf-8"))]
    assert shown == commits()
