"""Acta's client: `acta.Client(acta.Deployment(url, token))`, and `acta.AsyncClient` (see docs/api.md).

And what tools of your own are made with: `@acta.tool(…)`, `acta.Call`, `acta.ToolError`, `acta.later()` (see
docs/own-tools.md).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from acta.client import errors as errors
    from acta.client.api import AsyncClient as AsyncClient
    from acta.client.api import Client as Client
    from acta.client.deployment import Deployment as Deployment
    from acta.client.errors import ApiError as ApiError
    from acta.client.errors import ClientError as ClientError
    from acta.client.following import Update as Update
    from acta.tools.call import Call as Call
    from acta.tools.call import LaterAnswer as LaterAnswer
    from acta.tools.call import ToolError as ToolError
    from acta.tools.call import later as later
    from acta.tools.define import tool as tool

_PLACES = {
    "errors": "acta.client.errors",
    "AsyncClient": "acta.client.api",
    "Client": "acta.client.api",
    "Deployment": "acta.client.deployment",
    "ApiError": "acta.client.errors",
    "ClientError": "acta.client.errors",
    "Update": "acta.client.following",
    "Call": "acta.tools.call",
    "LaterAnswer": "acta.tools.call",
    "ToolError": "acta.tools.call",
    "later": "acta.tools.call",
    "tool": "acta.tools.define",
}
__all__ = ["__version__", *_PLACES]


def __getattr__(name: str) -> Any:
    """Loaded when it is asked for: `acta --help` must not wait for what speaks HTTP."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_PLACES[name])
    return module if name == "errors" else getattr(module, name)
