"""Lines that Python tools write are known where they are shown."""

from acta.cli.operations.logs import MESSAGES, RAISED
from acta.tools import log


def test_every_kind_of_line_that_a_tool_writes_is_known() -> None:
    assert MESSAGES == (log.PRINTED, log.LOGGED, log.RAISED, log.REFUSED)
    assert RAISED == log.RAISED
