"""The page, the command line and the library for tools have one notion of a character that is not seen as itself."""

import json
import subprocess
import unicodedata
from pathlib import Path

from acta.tools import hidden
from acta_engine.untrusted.visible import BLANK_LETTERS, is_hidden
from acta_infra.packaging.console_page import ESBUILD, ROOT, WEB

PROGRAM = """
import { visible } from "WORDS";
const all = Array.from({ length: 0x110000 }, (_, at) => String.fromCodePoint(at));
console.log(JSON.stringify({
  hidden: all.flatMap((char, at) => visible(char) === char ? [] : [at]),
  unknown: all.flatMap((char, at) => /\\p{Cn}/u.test(char) ? [at] : []),
}));
"""


def test_page_and_command_line_agree_about_every_code_point(tmp_path: Path) -> None:
    """Each of the two also hides what it does not know, and they may know different versions of Unicode. The page keeps
    lines and columns of a text.
    """
    source, made = tmp_path / "all.ts", tmp_path / "all.mjs"
    source.write_text(PROGRAM.replace("WORDS", str(WEB / "parts" / "words")), encoding="utf-8")
    options = ("--bundle", "--platform=node", "--format=esm", "--jsx=automatic", "--jsx-import-source=preact")
    bundle = [str(ESBUILD), str(source), *options, f"--outfile={made}", "--log-level=warning"]
    subprocess.run(bundle, cwd=ROOT, check=True, env={"NODE_PATH": str(ROOT / "node_modules")})
    said = json.loads(subprocess.run(["node", made], stdout=subprocess.PIPE, check=True).stdout)
    on_page, unknown_there = set(said["hidden"]), set(said["unknown"])
    characters = list(map(chr, range(0x110000)))
    here = {at for at, char in enumerate(characters) if is_hidden(char, keep_newlines=True)}
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


def test_tools_have_the_same_letters_that_look_blank() -> None:
    assert hidden.BLANK_LETTERS == BLANK_LETTERS
