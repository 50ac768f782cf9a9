"""The README's picture shows a terminal as it was, and nothing of the machine it was made on."""

import re
from pathlib import Path
from xml.etree import ElementTree

from docs.picture import COLOURS, DOTS, FAINT, OUT, screen, shortened, svg

NAMES_A_MACHINE = re.compile(r"127\.0\.0\.1|localhost|eyJ|(?<![\w.])/(home|root|tmp|usr|var|work|Users)/")


def words(output: bytes) -> list[str]:
    return ["".join(run.text for run in line).rstrip() for line in screen(output)]


def test_a_line_that_was_drawn_again_is_shown_as_it_was_last() -> None:
    assert words(b"- working\r\n\x1b[1A\x1b[2K\xe2\x9c\x94 done in 1:02\r\n") == ["✔ done in 1:02"]


def test_colours_bold_and_faint_text_are_kept() -> None:
    ((green, faint, plain),) = screen(b"\x1b[1;32mdone\x1b[0m \x1b[2mlater\x1b[0m \x1b[0mnow\r\n")
    assert (green.text.strip(), green.colour, green.bold) == ("done", COLOURS["green"], True)
    assert (faint.text.strip(), faint.colour) == ("later", FAINT)
    assert plain.text.strip() == "now"


def test_a_long_trace_and_a_long_answer_keep_their_beginnings_and_ends() -> None:
    trace = [f"step {number}" for number in range(30)]
    answer = [f"line {number}" for number in range(30)]
    output = "\r\n".join(["goal", "", "What it thought and did", *trace, "", *answer])
    kept = ["".join(run.text for run in line).rstrip() for line in shortened(screen(output.encode()))]
    assert kept[:3] == ["goal", "", "What it thought and did"]
    assert kept.count(DOTS) == 2
    assert {"step 0", "step 29", "line 0", "line 29"} <= set(kept)
    assert not {"step 15", "line 15"} & set(kept)


def test_what_an_agent_wrote_is_text_in_the_picture_and_no_markup() -> None:
    drawn = ElementTree.fromstring(svg(screen(b"<script>&\r\n")))
    assert [text.text for text in drawn.iter() if text.text and "<script>" in text.text] == ["<script>&"]


def test_the_picture_is_well_formed_and_names_no_machine() -> None:
    picture = Path(OUT).read_text(encoding="utf-8")
    assert ElementTree.fromstring(picture).tag == "{http://www.w3.org/2000/svg}svg"
    assert not NAMES_A_MACHINE.search(picture)
    assert re.findall(r"https?://[^\"<\s]+", picture) == ["http://www.w3.org/2000/svg"]
