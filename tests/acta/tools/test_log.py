"""What a call of a tool prints, logs and raises, as lines of the folder's log."""

import io
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from acta.engine.tools.tenant.functions import environment_id
from acta.tools.log import CallLog

EVENT = {"tool": "look", "session_id": "ses_1", "effect_id": "eff_1", "arguments": {"order": "not logged"}}
FOR_ACME = {**EVENT, "tenant": "acme", "user": "u-1", "private": False}


class Out(io.StringIO):
    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.getvalue().splitlines()]


@contextmanager
def installed(out: Out) -> Iterator[CallLog]:
    before = sys.stdout, sys.stderr, logging.getLogger().handlers[:]
    sys.stdout = out
    try:
        yield CallLog.install()
    finally:
        sys.stdout, sys.stderr, logging.getLogger().handlers[:] = before


def test_each_line_that_a_call_prints_or_logs_has_its_session() -> None:
    out = Out()
    with installed(out) as log, log.during(EVENT):
        print("one\ntwo")
        print("no end", end="", file=sys.stderr)
        logging.getLogger("shop").warning("at %s", "work")

    told = [(each["level"], each["message"], each["text"]) for each in out.lines]
    assert told == [
        ("INFO", "tool printed", "one"),
        ("INFO", "tool printed", "two"),
        ("WARNING", "tool logged", "at work"),
        ("ERROR", "tool printed", "no end"),
    ]
    assert {(each["tool"], each["session_id"], each["effect_id"]) for each in out.lines} == {
        ("look", "ses_1", "eff_1")
    }
    assert "not logged" not in out.getvalue()


def test_what_a_call_raises_is_written_with_its_traceback_and_goes_on() -> None:
    out = Out()
    with installed(out) as log, pytest.raises(ZeroDivisionError), log.during(EVENT):
        _ = 1 / 0

    (line,) = out.lines
    assert (line["message"], line["error"]) == ("tool raised", "ZeroDivisionError")
    assert line["text"].splitlines()[-1] == "ZeroDivisionError: division by zero"
    assert "test_log.py" in line["text"]


def test_what_is_printed_between_calls_goes_out_as_it_is() -> None:
    out = Out()
    with installed(out):
        print("loaded caf\udce9.txt")
    assert out.getvalue() == "loaded caf\\udce9.txt\n"


TOOLS = '''
import os
from acta import tool

SHOP = os.environ["SHOP"]

@tool(effect="read")
def look(order: str) -> str:
    """Looks."""
    return order
'''


FAILING = '''
import sys
from acta import tool

@tool(effect="read")
def look(how: str) -> str:
    """Looks."""
    if how == "exit":
        sys.exit(3)
    raise ValueError("caf\\udce9.txt is nobody\'s business")
'''


@pytest.mark.parametrize(("how", "kind"), [("raise", "ValueError"), ("exit", "SystemExit")])
def test_lambda_is_told_the_type_of_what_a_tool_raises_and_no_text_that_it_could_not_pass_on(
    tmp_path: Path, how: str, kind: str
) -> None:
    (tmp_path / "tools.py").write_text(FAILING)
    asked = {**FOR_ACME, "arguments": {"how": how}, "rerun": False, "deadline": "2999-01-01T00:00:00+00:00"}
    code = (
        f"import sys; from types import SimpleNamespace; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from acta.tools.handler import handler\n"
        f"try: handler({asked!r}, SimpleNamespace(tenant_id={environment_id('acme', None)!r}))\n"
        "except Exception as error: print(type(error).__name__, repr(str(error)), error.__context__ is None)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    line, told = ran.stdout.splitlines()
    assert told.startswith(f"{kind} '' ")
    assert json.loads(line)["error"] == kind


def test_tools_that_cannot_be_imported_fail_each_call_and_its_log_says_where(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(TOOLS)
    code = (
        f"import sys; from types import SimpleNamespace; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from acta.tools.handler import handler\n"
        f"try: handler({FOR_ACME!r}, SimpleNamespace(tenant_id={environment_id('acme', None)!r}))\n"
        "except Exception as error: assert type(error).__name__ == 'KeyError'\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    first, line = ran.stdout.splitlines()
    assert first == "tools.py cannot be imported: KeyError"
    said = json.loads(line)
    assert (said["session_id"], said["error"]) == ("ses_1", "KeyError")
    assert 'tools.py", line 5' in said["text"]
    assert "handler.py" not in said["text"]
