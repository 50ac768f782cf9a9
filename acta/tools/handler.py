"""The Lambda handler of a folder of tools: `tools.py` beside it defines or imports them.

Each execution environment serves one tenant, and the handler refuses what is not for its own. Only where the operator
has chosen shared processes is the variable `ACTA_TOOL_PROCESSES` set to `shared`.
"""

import os
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from acta.tools.define import MODULE, Tool, tools_in
from acta.tools.files import files_of
from acta.tools.log import CallLog
from acta.tools.run import answer, require_own_environment
from acta.tools.secrets import Secrets

LOG = CallLog.install()


@cache
def _tools() -> Mapping[str, Tool]:
    return tools_in(import_module(MODULE))


@cache
def _is_shared() -> bool:
    """Read once: a tool may write into the variables of its process."""
    return os.environ.get("ACTA_TOOL_PROCESSES") == "shared"


@cache
def _secrets() -> Secrets:
    return Secrets(os.environ)


try:
    _tools()  # while Lambda starts the process, not while a call waits
except Exception as error:
    # Each call then imports it again and fails, so that the log of each session has the traceback.
    print(f"{MODULE}.py cannot be imported: {type(error).__name__}")


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    try:
        with LOG.during(event):
            if not _is_shared():
                require_own_environment(event, context.tenant_id)
            return answer(
                _tools(), event, files=files_of(event), read_secret=_secrets().read, tell=LOG.failed
            )
    except BaseException as error:
        # The log has it whole. Lambda could not pass on a text that is no UTF-8, and SystemExit would end the process.
        raise type(type(error).__name__, (Exception,), {})() from None
