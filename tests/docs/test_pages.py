"""What the pages name exists: files, tests, headings, make targets, commands of `acta`, settings."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from acta.cli.main import ACTA
from acta.engine.settings import PREFIX, Settings

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *DOCS.glob("*.md"),
        *(DOCS / "design").glob("*.md"),
        *(DOCS / "reference").glob("*.md"),
        DOCS / "decisions" / "README.md",
        ROOT / "acta" / "engine" / "README.md",
    ]
)
RECORDS = sorted((DOCS / "decisions").rglob("[0-9]*.md"))
FOLDERS = (
    "acta",
    "console",
    "docs",
    "examples",
    "requirements",
    "tests",
    ".ci",
)
FILE = re.compile(rf"(?<![\w/.<{{-])(?:{'|'.join(map(re.escape, FOLDERS))})/[\w./*<>-]*")
CITED = re.compile(r"docs/design/\w+\.md(?: \d+)?(?:, \w+\.md(?: \d+)?)*")
RULE = re.compile(r"(\w+)\.md(?: (\d+))?")
TEST = re.compile(r"(tests/[\w/]+\.py)::(\w+)")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
NOT_SETTINGS = re.compile(
    r"ACTA_(TEST_\w+|API_URL|ISSUER|CLIENT_ID|CLIENT_SECRET|(?:PLAN|DEPLOY)_ROLE|ENVIRONMENTS|TOKEN|STATE|AWS_\w+|LAMBDA_AWS_ENDPOINT_URL|NOTIFY_SECRET"
    r"|TOOLS_DIR|TRACES_HEADERS|RETRY_BASE_SECONDS|PARK_AFTER_SECONDS)"
)
"""Read by the command line, the local stack or the tests."""


@pytest.fixture(params=PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def page(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


def test_every_path_on_a_page_is_there(page: Path) -> None:
    named = {path.rstrip(".,;") for path in FILE.findall(page.read_text(encoding="utf-8")) if "<" not in path}
    assert [path for path in sorted(named) if not list(ROOT.glob(path.rstrip("/")))] == []


def test_every_test_on_a_page_is_there(page: Path) -> None:
    for path, name in TEST.findall(page.read_text(encoding="utf-8")):
        assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), f"{path}::{name}"


def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" in target or target.startswith("mailto:"):
            continue
        path, _, heading = target.partition("#")
        there = (page.parent / path) if path else page
        assert there.exists(), target
        assert not heading or heading in headings(there), target


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.stem)
def test_every_link_of_a_record_leads_somewhere(record: Path) -> None:
    test_every_link_of_a_page_leads_somewhere(record)


def test_the_index_has_every_record_once_with_its_title() -> None:
    index = (DOCS / "decisions" / "README.md").read_text(encoding="utf-8")
    for record in RECORDS:
        number = int(record.stem[:4])
        heading = record.read_text(encoding="utf-8").splitlines()[0]
        title = re.sub(r"^# (ADR )?\d+[.:] ", "", heading)
        line = f"| [{number}]({record.relative_to(DOCS / 'decisions')}) | {title} | "
        assert index.count(line) == 1, line


@pytest.mark.parametrize("rules", sorted((DOCS / "design").glob("*.md")), ids=lambda rules: rules.stem)
def test_the_rules_of_a_page_are_numbered_without_a_gap(rules: Path) -> None:
    numbers = [int(n) for n in re.findall(r"^(\d+)\. ", rules.read_text(encoding="utf-8"), re.MULTILINE)]
    assert numbers == list(range(1, len(numbers) + 1))


def test_every_rule_that_is_cited_is_there() -> None:
    """As `docs/design/log.md 12`, or several of them after a comma."""
    for source in sources():
        text = " ".join(source.read_text(encoding="utf-8").split())
        for page, number in (rule for cited in CITED.findall(text) for rule in RULE.findall(cited)):
            rules = DOCS / "design" / f"{page}.md"
            assert rules.exists(), f"{source}: {page}"
            known = rules.read_text(encoding="utf-8")
            assert not number or f"\n{number}. " in known, f"{source}: {page} {number}"


def test_no_rule_is_cited_by_its_former_section() -> None:
    former = "design " + chr(167)  # the sign that sections had
    assert [str(source) for source in sources() if former in source.read_text(encoding="utf-8")] == []


def test_every_make_target_on_a_page_is_one(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {name for text in code(page) for name in re.findall(r"\bmake ([a-z][a-z-]*)", text)}
    assert named <= targets


def test_every_command_on_a_page_is_one_with_its_options(page: Path) -> None:
    commands = ACTA.commands
    for text in code(page):
        for line in re.findall(r"(?:^|\s|bin/)acta (?!import\b)([a-z]+\b[^#&;|]*)", text):
            words = line.split()
            assert words[0] in commands, text
            options = set(re.findall(r"--[a-z][a-z-]*", line))
            assert options <= options_of(commands[words[0]]), text


def test_every_setting_on_a_page_is_one(page: Path) -> None:
    named = set(re.findall(rf"\b{PREFIX}[A-Z][A-Z_]*[A-Z]\b", page.read_text(encoding="utf-8")))
    settings = {PREFIX + field.upper() for field in Settings.fields}
    assert {name for name in named - settings if not NOT_SETTINGS.fullmatch(name)} == set()


def code(page: Path) -> Iterator[str]:
    """What stands in code on the page: spans, and the lines of blocks."""
    prose, fenced = [], False
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            yield line.strip()
        else:
            prose.append(line)
    yield from (" ".join(span.split()) for span in re.findall(r"`([^`]+)`", "\n".join(prose)))


def headings(page: Path) -> set[str]:
    """As GitHub names them."""
    lines = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in lines}


def options_of(command: click.Command) -> set[str]:
    own = {name for each in command.params if isinstance(each, click.Option) for name in each.opts}
    below = command.commands.values() if isinstance(command, click.Group) else ()
    return own.union(*map(options_of, below))


def sources() -> Iterator[Path]:
    for folder in FOLDERS:
        for end in ("py", "md", "ts", "tsx"):
            for path in (ROOT / folder).rglob(f"*.{end}"):
                if "node_modules" not in path.parts:
                    yield path
