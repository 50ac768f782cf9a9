"""Results too large to show: their head, a handle, and pages of them for this session only."""

import re

import pytest

from acta.engine.log.conversation import ToolEntry
from acta.engine.models.model import ModelReply, ModelRequest
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, Turn, call, completes, plans, says, step

LARGE = "".join(f"Zeile {n}: süß und größer als jede Grenze 🌍\n\n\n\n\n" for n in range(3_000))
HANDLE = re.compile(r"handle ([0-9a-f]{64}) and offset (\d+)")
ENDS: tuple[Turn, ...] = (says("", step(1, "completed", "ok")), completes("Read."))


def results(model: ScriptedModel) -> list[ToolEntry]:
    """Of the tools that ran, in order."""
    found = [entry for entry in model.requests[-1].entries if isinstance(entry, ToolEntry)]
    return [entry for entry in found if entry.name != "update_plan"]


def pages_on(request: ModelRequest) -> ModelReply:
    """Reads on as the last result says."""
    note = request.entries[-1].content.loaded.rsplit("\n", 1)[1]
    found = HANDLE.search(note)
    assert found is not None
    return says("", call("read_result", handle=found[1], offset=int(found[2])))


def run(*turns: Turn, text: str = LARGE) -> tuple[House, list[ToolEntry]]:
    model = ScriptedModel([plans("read"), says("", call("read_file", path="a.txt")), *turns, *ENDS])
    house = House(model)
    house.files.write(TENANT, "a.txt", text.encode())
    house.start("Read a.txt")
    house.run()
    return house, results(model)


def test_a_large_result_is_shown_in_part_inside_its_fences() -> None:
    _, (result,) = run()
    text = result.content.loaded
    assert result.whole is not None
    assert result.whole.bytes == len(LARGE.encode())
    opening, _ = text.split("\n", 1)
    assert opening.startswith(f"--- file: a.txt ({len(LARGE.encode())} bytes) #")
    assert text.startswith(f"{opening}\nZeile 0")
    quoted, note = text.rsplit("\n", 1)
    assert quoted.endswith(f"\n--- end {opening[-14:]}")
    assert HANDLE.search(note)
    assert len(text.encode()) < 66_000


def test_a_small_result_has_no_handle() -> None:
    _, (result,) = run(text="short")
    assert result.whole is None
    assert "handle" not in result.content.loaded


def test_paging_through_a_result_gives_all_of_it_to_the_letter() -> None:
    shown = 65_536
    needed = -(-(len(LARGE.encode()) - shown) // 16_384)
    _, (first, *pages) = run(*[pages_on] * needed)
    read = first.content.loaded.split("\n", 1)[1].rsplit("\n", 2)[0]
    for page in pages:
        opening, rest = page.content.loaded.split("\n", 1)
        body, closing, _ = rest.rsplit("\n", 2)
        begin, of = (int(number) for number in re.findall(r"from byte (\d+) of (\d+)", opening)[0])
        assert of == len(LARGE.encode())
        assert closing.startswith("--- end #")
        # the line break before a fence may be the text's own or the fence's
        read = f"{read}\n".encode()[:begin].decode() + body
    assert f"{read}\n".encode()[: len(LARGE.encode())].decode() == LARGE
    assert pages[-1].content.loaded.endswith("[this is the end of the result]")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"handle": "f" * 64}, "no result with that handle"),
        ({"handle": "../" * 20 + "beef"}, "handle"),
        ({}, "handle"),
    ],
)
def test_what_is_no_handle_or_no_page_is_explained(arguments: dict[str, object], said: str) -> None:
    _, found = run(says("", call("read_result", **arguments)), text="short")
    assert found[-1].content.loaded.startswith("Error:")
    assert said in found[-1].content.loaded


def test_a_page_never_begins_before_the_result() -> None:
    def asks(request: ModelRequest) -> ModelReply:
        arguments = pages_on(request).calls[0].input or {}
        return says("", call("read_result", **arguments | {"offset": -5}))

    _, found = run(asks)
    opening, rest = found[-1].content.loaded.split("\n", 1)
    assert "from byte 0 of" in opening
    assert rest.startswith(LARGE[:200])


def test_an_integer_with_a_point_is_an_integer() -> None:
    def asks(request: ModelRequest) -> ModelReply:
        reply = pages_on(request)
        arguments = reply.calls[0].input or {}
        return says("", call("read_result", **arguments | {"offset": 5.0}))

    _, found = run(asks)
    assert "from byte 5 of" in found[-1].content.loaded


def test_an_offset_behind_the_end_is_explained() -> None:
    def asks_too_much(request: ModelRequest) -> ModelReply:
        reply = pages_on(request)
        arguments = reply.calls[0].input or {}
        return says("", call("read_result", **arguments | {"offset": 10**9}))

    _, found = run(asks_too_much)
    assert f"has {len(LARGE.encode())} bytes" in found[-1].content.loaded


def test_a_handle_of_another_session_is_unknown() -> None:
    house, (result,) = run()
    assert result.whole is not None
    model = ScriptedModel([plans("read"), says("", call("read_result", handle=result.whole.blob)), *ENDS])
    house.model = model
    house.start("Another session")
    house.run()
    assert "no result with that handle" in results(model)[-1].content.loaded
