"""The page as it is built: one small file, the same each time, that makes no HTML of text."""

import gzip
import json
import re

import pytest

from acta.infra.packaging.console_page import WEB, hash_of, made

MOST_BYTES = 72 * 1_024
"""Compressed, all in. A bound that nobody raises without noticing (ADR 222)."""


@pytest.fixture(scope="module")
def built() -> dict[str, bytes]:
    return made()


@pytest.fixture(scope="module")
def page(built: dict[str, bytes]) -> str:
    return gzip.decompress(built["page.html.gz"]).decode()


def test_it_is_small(built: dict[str, bytes]) -> None:
    assert len(built["page.html.gz"]) <= MOST_BYTES


def test_it_is_the_same_each_time(built: dict[str, bytes]) -> None:
    assert made() == built


def test_its_policy_allows_the_script_and_the_styles_that_are_in_it(
    built: dict[str, bytes], page: str
) -> None:
    hashes = json.loads(built["hashes.json"])
    ((style, script),) = re.findall(r"<style>(.*?)</style>.*<script>(.*?)</script>", page, re.DOTALL)
    assert (hash_of(style), hash_of(script)) == (hashes["style"], hashes["script"])


def test_it_loads_nothing(page: str) -> None:
    """All it names of the outside are name spaces of XML, which nobody asks for anything."""
    assert set(re.findall(r"https?://[\w.-]+", page)) <= {"http://www.w3.org"}
    assert not re.search(
        r"""<(link|img|iframe|object|embed)\b(?![^>]*href="data:,")""", page.split("<script>")[0]
    )
    assert not re.search(r"@import|url\((?!data:|#)", page)


def test_no_source_makes_html_of_text() -> None:
    forbidden = re.compile(
        r"dangerouslySetInnerHTML|\.innerHTML|\.outerHTML|insertAdjacentHTML|document\.write|eval\("
    )
    sources = [path for path in WEB.rglob("*.ts*") if not path.name.endswith(".test.ts")]
    assert len(sources) > 10
    assert [path.name for path in sources if forbidden.search(path.read_text(encoding="utf-8"))] == []
