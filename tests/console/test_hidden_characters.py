"""The page, the command line and the library for tools have one notion of a character that is not seen as itself, and
one spelling of a file's name."""

import json
import random
import re
import subprocess
import unicodedata

import pytest

from acta.engine.untrusted.path import spelled
from acta.engine.untrusted.visible import visible
from acta.infra.packaging.console_page import ESBUILD, ROOT, WEB

PROGRAM = """
import { readFileSync } from "node:fs";
import { pathOf } from "NAMES";
import { visible } from "WORDS";
const texts = JSON.parse(readFileSync("TEXTS", "utf8"));
const all = Array.from({ length: 0x110000 }, (_, at) => String.fromCodePoint(at));
console.log(JSON.stringify({
  prose: texts.map((text) => visible(text)),
  data: texts.map((text) => visible(text, true)),
  paths: texts.map((text) => pathOf("", text)),
  hidden: all.flatMap((char, at) => visible(char) === char ? [] : [at]),
  changed: all.flatMap((char, at) => pathOf("", `a${char}b`) === `a${char}b` ? [] : [at]),
  unknown: all.flatMap((char, at) => /\\p{Cn}/u.test(char) ? [at] : []),
}));
"""
ENGLAND = "\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
ALONE = (
    "aZ5# /~$%.é日葛ไخمیہهש❤👩👧🏳🌈🏴1*ᠮ\n\u0308\u200b\u200c\u200d\u200e\u200f\u061c\u00a0\u202f\u3000\u00ad\u202e"
    "\ufe0e\ufe0f\u20e3\U0001f3fd\U000e0067\U000e0100\U000e0101\u180b\u180e\u2800\u06dd١"
)
PIECES = [*ALONE, "ක්", "ខ្", ENGLAND]


def by_number(text: str, *, exact: bool) -> str:
    """What the command line shows, with hidden characters written as the page writes them."""
    shown = visible(text, exact=exact)
    return re.sub(r"\\(?:x..|u.{4}|U.{8})", lambda found: f"⟨U+{int(found[0][2:], 16):04X}⟩", shown)


@pytest.fixture(scope="module")
def texts() -> list[str]:
    drawn = random.Random(36)
    return ["".join(drawn.choices(PIECES, k=drawn.randint(1, 12))) for _ in range(5_000)]


@pytest.fixture(scope="module")
def said(texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    folder = tmp_path_factory.mktemp("page")
    source, made = folder / "all.ts", folder / "all.mjs"
    (folder / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
    program = PROGRAM.replace("TEXTS", str(folder / "texts.json"))
    program = program.replace("NAMES", str(WEB / "api" / "file-names"))
    source.write_text(program.replace("WORDS", str(WEB / "parts" / "words")), encoding="utf-8")
    options = ("--bundle", "--platform=node", "--format=esm", "--jsx=automatic", "--jsx-import-source=preact")
    bundle = [str(ESBUILD), str(source), *options, f"--outfile={made}", "--log-level=warning"]
    subprocess.run(bundle, cwd=ROOT, check=True, env={"NODE_PATH": str(ROOT / "node_modules")})
    found: dict[str, list[str]] = json.loads(
        subprocess.run(["node", made], stdout=subprocess.PIPE, check=True).stdout
    )
    return found


def test_page_and_command_line_agree_about_every_code_point(said: dict[str, list[str]]) -> None:
    """Each of the two also hides what it does not know, and they may know different versions of Unicode. The page keeps
    lines and columns of a text.
    """
    on_page, unknown_there = set(map(int, said["hidden"])), set(map(int, said["unknown"]))
    characters = list(map(chr, range(0x110000)))
    here = {at for at, char in enumerate(characters) if visible(char) != char}
    unknown_here = {at for at, char in enumerate(characters) if unicodedata.category(char) == "Cn"}
    assert (here ^ on_page) - {ord("\t")} <= unknown_here ^ unknown_there
    for kind in (
        "\u2800",
        "\U0001d173",
        "\U0001bca0",
        "\U00013430",
        "\U000110bd",
        "\ue000",
        "\u00a0",
        "\u3000",
    ):
        assert ord(kind) in here & on_page
    assert not {ord(char) for char in "aä日🪶 \n"} & (here | on_page)


def test_page_and_command_line_agree_about_what_a_character_stands_beside(
    texts: list[str], said: dict[str, list[str]]
) -> None:
    assert said["prose"] == [by_number(text, exact=False) for text in texts]
    assert said["data"] == [by_number(text, exact=True) for text in texts]
    shown = "".join(said["prose"])
    assert all(char in shown and f"U+{ord(char):04X}" in shown for char in "\u200c\u200d\ufe0f\u00a0\u200f")


def test_page_and_api_agree_about_a_name_s_spelling(texts: list[str], said: dict[str, list[str]]) -> None:
    named = [
        (text, path) for text, path in zip(texts, said["paths"], strict=True) if not text.startswith("/")
    ]
    assert [path for _, path in named] == [spelled(text) for text, _ in named]
    changed = set(map(int, said["changed"]))
    here = {at for at in range(0x110000) if spelled(f"a{chr(at)}b") != f"a{chr(at)}b"}
    assert {at for at in here ^ changed if unicodedata.category(chr(at)) != "Cn"} <= set(
        range(0xD800, 0xE000)
    )
