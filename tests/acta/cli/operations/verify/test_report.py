"""The report can be sent to anybody: it has what the package says, numbers and words of AWS, and nothing else."""

import ast
import json
from dataclasses import replace
from pathlib import Path

import pytest

from acta.cli.exit_codes import CliError
from acta.cli.operations.verify import api, aws, changes, checks
from acta.cli.operations.verify.checks import (
    EVERY_NEED,
    Check,
    CheckAnswer,
    CheckFailed,
    Figures,
    Needs,
    Verified,
    answer,
    word,
)
from acta.cli.operations.verify.command import chosen
from acta.cli.operations.verify.report import JSON_FILE, MARKDOWN_FILE, as_json, head_of, write
from acta.cli.operations.verify.table import CHECKS
from acta.engine.errors import AwsDenied
from acta.infra.environments import LOCAL
from tests.acta.cli.operations.verify.test_reading_checks import ACCOUNT, OUTPUTS, asked, environment, good
from tests.doubles.aws_answers import account_with, refused

CANARIES = (
    "ann@example.com",
    "Read my-secret-file.txt",
    ACCOUNT,
    f"arn:aws:iam::{ACCOUNT}:role/x",
    "ses_01KAQ0000000000000000000A1",
    "tenant one",
)


def deployed() -> Verified:
    return Verified(environment(), account_with(good()), OUTPUTS)


@pytest.mark.parametrize("canary", CANARIES)
def test_nothing_that_an_error_or_an_answer_says_gets_into_it(canary: str, tmp_path: Path) -> None:
    def breaks(_: Verified) -> Figures:
        raise RuntimeError(canary)

    def is_denied(_: Verified) -> Figures:
        raise AwsDenied(f"get_item: AccessDenied {canary}")

    def measures(_: Verified) -> Figures:
        raise CheckFailed("It failed.", code=canary)

    def passes(_: Verified) -> Figures:
        return {"code": canary}

    rows = [Check(run.__name__, run, "It works.", "") for run in (breaks, is_denied, measures, passes)]
    given = deployed()
    answers = [answer(each, given, EVERY_NEED) for each in rows]
    answers.append(asked("definition", {**good(), "stepfunctions.describe_state_machine": refused(canary)}))
    write(head_of(given), answers, tmp_path)
    told = "".join((tmp_path / name).read_text() for name in (JSON_FILE, MARKDOWN_FILE))
    assert canary not in told
    assert [each.state for each in answers] == [
        "not answered",
        "not answered",
        "failed",
        "passed",
        "not answered",
    ]


def test_its_head_names_no_environment_and_no_account() -> None:
    given = replace(deployed(), environment=replace(environment(), name="acme-corp"))
    told = as_json(head_of(given), [])
    assert told["place"] == "AWS"
    assert told["region"] == "eu-west-1"
    assert "acme" not in json.dumps(told)
    assert ACCOUNT not in json.dumps(told)


def test_both_forms_have_every_answer(tmp_path: Path) -> None:
    answers = [
        CheckAnswer(CHECKS[0], "passed", figures={"events": 3}),
        CheckAnswer(CHECKS[1], "failed", "Do this."),
        CheckAnswer(CHECKS[2], "not answered", "Because."),
    ]
    write(head_of(deployed()), answers, tmp_path / "new")
    told = json.loads((tmp_path / "new" / JSON_FILE).read_text())
    assert (told["format"], told["passed"], told["failed"], told["not_answered"]) == (1, 1, 1, 1)
    assert [each["state"] for each in told["checks"]] == ["passed", "failed", "not answered"]
    assert told["checks"][0]["figures"] == {"events": 3}
    text = (tmp_path / "new" / MARKDOWN_FILE).read_text()
    assert f"| {CHECKS[0].name} | passed | events 3 | {CHECKS[0].proves} |" in text
    assert f"| {CHECKS[1].name} | failed |  | Do this. |" in text


def test_a_sentence_is_a_text_of_the_package() -> None:
    """What a check says is written in its source, so no text of a deployment can be in it."""
    made_up = []
    for module in (api, aws, changes, checks):
        for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in (
                "CheckFailed",
                "CheckUnanswered",
                "error",
            ):
                said = node.args[0] if node.args else None
                is_text = isinstance(said, ast.Constant) or (isinstance(said, ast.Name) and said.id == "said")
                if not is_text:
                    made_up.append((module.__name__, node.lineno))
    assert made_up == []


@pytest.mark.parametrize(
    ("text", "is_word"),
    [
        ("AWS::Lambda::Function", True), ("Runtime.ExitError", True), ("eu-west-1", True), ("auth.mfa", True),
        ("AccessDenied", True), (ACCOUNT, False), (f"arn:aws:iam::{ACCOUNT}:role/x", False), ("two words", False),
        ("ann@example.com", False), ("a" * 65, False), ("", False), (f"x-{ACCOUNT}", False),
    ],
)  # fmt: skip
def test_a_word_is_a_name_and_not_an_id(text: str, is_word: bool) -> None:
    assert word(text) == (text if is_word else "other")


@pytest.mark.parametrize("needs", ["a session", "a change"])
def test_what_was_not_asked_for_does_not_run_and_is_not_green(needs: Needs) -> None:
    ran = list[Verified]()

    def run(given: Verified) -> Figures:
        ran.append(given)
        return {}

    found = answer(Check("x", run, "It works.", "", needs), deployed(), frozenset({"read-only"}))
    assert (found.state, found.said != "", ran) == ("not answered", True, [])


def test_what_the_local_aws_cannot_answer_is_not_asked_there() -> None:
    def never(_: Verified) -> Figures:
        raise AssertionError

    local = replace(deployed(), environment=LOCAL)
    found = answer(Check("x", never, "It works.", "", not_here="It has no quotas."), local, EVERY_NEED)
    assert (found.state, found.said) == ("not answered", "It has no quotas.")


def test_every_check_has_a_name_of_its_own_and_sentences() -> None:
    names = [each.name for each in CHECKS]
    assert len(set(names)) == len(names)
    assert all(each.proves.endswith(".") and each.only_aws.endswith(".") for each in CHECKS)


def test_a_name_that_no_check_has_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(CliError, match="there are stacks_never_failed, "):
        chosen(["nothing"])
    assert [each.name for each in chosen(["session", "files"])] == ["files", "session"]


def test_the_page_about_real_accounts_is_the_table() -> None:
    page = (Path(__file__).parents[5] / "docs" / "real-aws.md").read_text()
    table = page.partition("## The checks")[2].partition("## What it costs")[0]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    assert rows == [
        f"| `{each.name}` | {each.proves} | {each.only_aws} | {each.needs} | {'no' if each.not_here else 'yes'} |"
        for each in CHECKS
    ]
