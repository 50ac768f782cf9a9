# ruff: noqa: F403
"""The types of what the API answers: those from which the document of the API is made, too.

They are there for type checkers. A program that only calls an API never loads them, nor pydantic, which they need; one
that names a type while it runs (`from acta.client.shapes import Session`) loads that type's module.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from acta_engine.agents.answers import *
    from acta_engine.memories.answers import *
    from acta_engine.models.answers import *
    from acta_engine.notifications.answers import *
    from acta_engine.people.shapes import *
    from acta_engine.plans.shapes import *
    from acta_engine.prompts.answers import *
    from acta_engine.sessions.history_shapes import *
    from acta_engine.sessions.record_shapes import *
    from acta_engine.sessions.shapes import *
    from acta_engine.tools.answers import *
    from acta_engine.tools.mcp.answers import *
    from acta_engine.usage.receipt_shapes import *
    from acta_engine.usage.shapes import *

MODULES = (
    "sessions.shapes", "people.shapes", "plans.shapes", "sessions.history_shapes", "usage.receipt_shapes",
    "agents.answers", "memories.answers", "models.answers", "notifications.answers", "prompts.answers",
    "tools.answers", "tools.mcp.answers", "sessions.record_shapes", "usage.shapes",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    if not name.startswith("_"):
        for each in MODULES:
            module = import_module(f"acta_engine.{each}")
            if name in vars(module):
                return vars(module)[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
