"""The types of what the API answers: those of `shared/api/response/shapes`, from which the document is made, too.

They are there for type checkers. A program that only calls an API never loads them, nor pydantic, which they need; one
that names a type while it runs (`from acta.client.shapes import Session`) loads that type's module.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shared.api.response.shapes.definitions import Agent as Agent
    from shared.api.response.shapes.definitions import CheckedKeys as CheckedKeys
    from shared.api.response.shapes.definitions import ConfiguredModels as ConfiguredModels
    from shared.api.response.shapes.definitions import ListedMcpTools as ListedMcpTools
    from shared.api.response.shapes.definitions import McpServer as McpServer
    from shared.api.response.shapes.definitions import Memory as Memory
    from shared.api.response.shapes.definitions import Notifications as Notifications
    from shared.api.response.shapes.definitions import Prompt as Prompt
    from shared.api.response.shapes.definitions import PromptInForce as PromptInForce
    from shared.api.response.shapes.definitions import Tool as Tool
    from shared.api.response.shapes.definitions import ToolSecret as ToolSecret
    from shared.api.response.shapes.definitions import ToolTrial as ToolTrial
    from shared.api.response.shapes.history import Message as Message
    from shared.api.response.shapes.history import Plans as Plans
    from shared.api.response.shapes.history import Scratchpad as Scratchpad
    from shared.api.response.shapes.history import Step as Step
    from shared.api.response.shapes.history import TextPart as TextPart
    from shared.api.response.shapes.history import TraceRow as TraceRow
    from shared.api.response.shapes.interventions import CallInput as CallInput
    from shared.api.response.shapes.interventions import Intervention as Intervention
    from shared.api.response.shapes.plans import Plan as Plan
    from shared.api.response.shapes.receipts import Receipt as Receipt
    from shared.api.response.shapes.records import AuditRecord as AuditRecord
    from shared.api.response.shapes.records import DeletedFile as DeletedFile
    from shared.api.response.shapes.records import DeploymentHealth as DeploymentHealth
    from shared.api.response.shapes.records import File as File
    from shared.api.response.shapes.records import FileVersion as FileVersion
    from shared.api.response.shapes.records import WrittenFile as WrittenFile
    from shared.api.response.shapes.sessions import CancelledSession as CancelledSession
    from shared.api.response.shapes.sessions import Event as Event
    from shared.api.response.shapes.sessions import ForkedSession as ForkedSession
    from shared.api.response.shapes.sessions import Session as Session
    from shared.api.response.shapes.sessions import Snapshot as Snapshot
    from shared.api.response.shapes.usage import TenantUsage as TenantUsage

MODULES = ("sessions", "interventions", "plans", "history", "receipts", "definitions", "records", "usage")


def __getattr__(name: str) -> Any:
    if not name.startswith("_"):
        for each in MODULES:
            module = import_module(f"shared.api.response.shapes.{each}")
            if name in vars(module):
                return vars(module)[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
