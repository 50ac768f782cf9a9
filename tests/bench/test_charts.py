"""The charts of docs/costs.md are drawn from the figures that are committed, and their lines' names can be read."""

import json
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest

from docs.charts import FIGURES, LINE_OF_TEXT, ROOT, STYLES, charts, chosen, svg

SVG = "{http://www.w3.org/2000/svg}"


def figures_of(value: float, ended_by: str = "") -> dict[str, Any]:
    row = {
        "write_units_by_price": value,
        "usd": value / 1e6,
        "usd_waiting_for_the_model": 6.7e-5,
        "wcu": value,
    }
    return {str(turns): {**row, "turns_done": turns, "ended_by": ended_by} for turns in (5, 20, 100)}


def bench() -> dict[str, Any]:
    """All contenders within a few pixels of one another."""
    sizes = {name: {"2KB": figures_of(10 + n / 100), "40KB": figures_of(20)} for n, name in enumerate(STYLES)}
    beside = {
        "made": {"on": "2026-11-23", "commit": "abc1234"},
        "prices": {"read_on": "2026-11-18"},
        "versions": {"langgraph": "1.2.22"},
        "settings": {"floor": "a bare log"},
        "contenders": sizes,
    }
    return {"beside": beside, "turns": {"much": "else"}}


def texts(drawn: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(drawn).iter(f"{SVG}text"))


def test_names_of_lines_that_end_at_one_place_stand_apart() -> None:
    for chart in charts(chosen(bench())):
        labels = {style.label for style in STYLES.values()}
        named = [
            one
            for one in texts(svg(chart, chosen(bench())))
            if any((one.text or "").startswith(label + " ") for label in labels)
            and float(one.get("x", 0)) < 400
        ]
        heights = sorted(float(one.get("y", 0)) for one in named)
        assert len(heights) == len(STYLES)
        assert min(below - above for above, below in pairwise(heights)) >= LINE_OF_TEXT - 0.11


def test_a_session_that_ended_is_marked_where_it_ended() -> None:
    made = bench()
    made["beside"]["contenders"]["langgraph"]["40KB"] = {
        "8": {**figures_of(300, "ClientError")["5"], "turns_done": 8}
    }
    drawn = [one.text for one in texts(svg(charts(chosen(made))[0], chosen(made)))]
    assert drawn.count("✕") == 1
    assert "LangGraph, ends at turn 8" in drawn


def test_a_chart_says_when_it_was_measured_with_what_and_at_which_prices() -> None:
    drawn = [one.text or "" for one in texts(svg(charts(chosen(bench()))[1], chosen(bench())))]
    (made,) = [text for text in drawn if "make bench" in text]
    assert all(word in made for word in ("2026-11-23", "abc1234", "langgraph 1.2.22", "2026-11-18"))


def test_only_what_is_drawn_is_kept_of_the_figures() -> None:
    assert "wcu" not in json.dumps(chosen(bench()))


@pytest.mark.parametrize("place", [0, 1])
def test_the_charts_are_those_of_the_committed_figures(place: int) -> None:
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    chart = charts(figures)[place]
    assert (ROOT / "docs" / chart.file).read_text(encoding="utf-8") == svg(chart, figures)
