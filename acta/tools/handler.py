"""The Lambda handler of a folder of tools: `tools.py` beside it defines or imports them."""

import os
from functools import cache
from importlib import import_module
from typing import Any

from acta.tools.define import MODULE, tools_in
from acta.tools.files import files_of
from acta.tools.run import answer
from acta.tools.secrets import Secrets

# Loaded while Lambda starts the process, not while a call waits: what is wrong with the folder is told as that.
TOOLS = tools_in(import_module(MODULE))


@cache
def _secrets() -> Secrets:
    return Secrets(os.environ)


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return answer(TOOLS, event, files=files_of(event), read_secret=_secrets().read)
