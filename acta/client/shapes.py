"""The types of what the API answers. Made by `make generate`: change a room's shapes, not this file.

They are there for type checkers. A program that only calls an API never loads them, nor pydantic, which they need; one
that names a type while it runs (`from acta.client.shapes import Session`) loads that type's module.
"""

# fmt: off
# isort: off
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from acta_engine.agents.answers import (
        Agent as Agent, AppliedFrom as AppliedFrom, AskingPolicy as AskingPolicy, FallbackModel as FallbackModel,
        ModelsByPurpose as ModelsByPurpose, SessionCaps as SessionCaps, SessionLimits as SessionLimits
    )
    from acta_engine.memories.answers import (Memory as Memory, MemorySource as MemorySource)
    from acta_engine.models.answers import (
        CheckedKey as CheckedKey, CheckedKeys as CheckedKeys, ConfiguredModel as ConfiguredModel,
        ConfiguredModels as ConfiguredModels, DefaultModel as DefaultModel, LongPrice as LongPrice,
        ModelPrice as ModelPrice, ModelUse as ModelUse, ProviderKey as ProviderKey
    )
    from acta_engine.notifications.answers import (Notifications as Notifications)
    from acta_engine.people.shapes import (
        CallInput as CallInput, Context as Context, DecidedOfDeleted as DecidedOfDeleted, FileOfCall as FileOfCall,
        Intervention as Intervention, Outage as Outage, PendingCall as PendingCall, ReviewedCall as ReviewedCall
    )
    from acta_engine.plans.shapes import (Plan as Plan, PlanStep as PlanStep)
    from acta_engine.prompts.answers import (Prompt as Prompt, PromptInForce as PromptInForce)
    from acta_engine.sessions.history_shapes import (
        Message as Message, MessageCall as MessageCall, Plans as Plans, Scratchpad as Scratchpad, Step as Step,
        TextPart as TextPart, TraceRow as TraceRow, WholeText as WholeText
    )
    from acta_engine.sessions.record_shapes import (
        AuditRecord as AuditRecord, AuditState as AuditState, DeletedFile as DeletedFile,
        DeploymentHealth as DeploymentHealth, File as File, FileVersion as FileVersion, Health as Health,
        LimitsInForce as LimitsInForce, Me as Me, PageSignIn as PageSignIn, RecoveryScan as RecoveryScan,
        RecoveryState as RecoveryState, SchemaVersions as SchemaVersions, WrittenFile as WrittenFile
    )
    from acta_engine.sessions.shapes import (
        Budget as Budget, CancelledSession as CancelledSession, Cause as Cause, DeletedSession as DeletedSession,
        Event as Event, ForkedFrom as ForkedFrom, ForkedSession as ForkedSession, Held as Held,
        HiddenSession as HiddenSession, NextLimits as NextLimits, Partial as Partial, Queue as Queue,
        Result as Result, Run as Run, RunError as RunError, Session as Session, Snapshot as Snapshot, Usage as Usage
    )
    from acta_engine.tools.answers import (
        HttpToolConfig as HttpToolConfig, LambdaToolConfig as LambdaToolConfig, SecretReference as SecretReference,
        Tool as Tool, ToolCallError as ToolCallError, ToolParameter as ToolParameter, ToolSecret as ToolSecret,
        ToolTrial as ToolTrial, WhoApproves as WhoApproves
    )
    from acta_engine.tools.mcp.answers import (
        ClientCredentials as ClientCredentials, ConfirmedMcpTool as ConfirmedMcpTool, ListedMcpTool as ListedMcpTool,
        ListedMcpTools as ListedMcpTools, McpCredentials as McpCredentials, McpServer as McpServer
    )
    from acta_engine.usage.receipt_shapes import (
        AwsCost as AwsCost, AwsPrices as AwsPrices, Cost as Cost, Counts as Counts, EngineCost as EngineCost,
        LambdaCost as LambdaCost, ModelCost as ModelCost, ModelPrices as ModelPrices, ModelsCost as ModelsCost,
        ObjectsCost as ObjectsCost, PriceLists as PriceLists, Receipt as Receipt, TableCost as TableCost
    )
    from acta_engine.usage.shapes import (
        InterventionCounts as InterventionCounts, MessageCounts as MessageCounts, PlanCounts as PlanCounts,
        RunCounts as RunCounts, SessionCounts as SessionCounts, SessionsNow as SessionsNow,
        TenantUsage as TenantUsage, Tokens as Tokens, ToolCounts as ToolCounts, UsageCost as UsageCost,
        UsageItem as UsageItem, UsageTotal as UsageTotal, Work as Work
    )

MODULES = {
    **dict.fromkeys((
        "Agent", "AppliedFrom", "AskingPolicy", "FallbackModel", "ModelsByPurpose", "SessionCaps", "SessionLimits"
    ,), "agents.answers"),
    **dict.fromkeys(("Memory", "MemorySource",), "memories.answers"),
    **dict.fromkeys((
        "CheckedKey", "CheckedKeys", "ConfiguredModel", "ConfiguredModels", "DefaultModel", "LongPrice", "ModelPrice",
        "ModelUse", "ProviderKey"
    ,), "models.answers"),
    **dict.fromkeys(("Notifications",), "notifications.answers"),
    **dict.fromkeys((
        "CallInput", "Context", "DecidedOfDeleted", "FileOfCall", "Intervention", "Outage", "PendingCall",
        "ReviewedCall"
    ,), "people.shapes"),
    **dict.fromkeys(("Plan", "PlanStep",), "plans.shapes"),
    **dict.fromkeys(("Prompt", "PromptInForce",), "prompts.answers"),
    **dict.fromkeys((
        "Message", "MessageCall", "Plans", "Scratchpad", "Step", "TextPart", "TraceRow", "WholeText"
    ,), "sessions.history_shapes"),
    **dict.fromkeys((
        "AuditRecord", "AuditState", "DeletedFile", "DeploymentHealth", "File", "FileVersion", "Health",
        "LimitsInForce", "Me", "PageSignIn", "RecoveryScan", "RecoveryState", "SchemaVersions", "WrittenFile"
    ,), "sessions.record_shapes"),
    **dict.fromkeys((
        "Budget", "CancelledSession", "Cause", "DeletedSession", "Event", "ForkedFrom", "ForkedSession", "Held",
        "HiddenSession", "NextLimits", "Partial", "Queue", "Result", "Run", "RunError", "Session", "Snapshot", "Usage"
    ,), "sessions.shapes"),
    **dict.fromkeys((
        "HttpToolConfig", "LambdaToolConfig", "SecretReference", "Tool", "ToolCallError", "ToolParameter",
        "ToolSecret", "ToolTrial", "WhoApproves"
    ,), "tools.answers"),
    **dict.fromkeys((
        "ClientCredentials", "ConfirmedMcpTool", "ListedMcpTool", "ListedMcpTools", "McpCredentials", "McpServer"
    ,), "tools.mcp.answers"),
    **dict.fromkeys((
        "AwsCost", "AwsPrices", "Cost", "Counts", "EngineCost", "LambdaCost", "ModelCost", "ModelPrices",
        "ModelsCost", "ObjectsCost", "PriceLists", "Receipt", "TableCost"
    ,), "usage.receipt_shapes"),
    **dict.fromkeys((
        "InterventionCounts", "MessageCounts", "PlanCounts", "RunCounts", "SessionCounts", "SessionsNow",
        "TenantUsage", "Tokens", "ToolCounts", "UsageCost", "UsageItem", "UsageTotal", "Work"
    ,), "usage.shapes"),
}


def __getattr__(name: str) -> Any:
    module = MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"acta_engine.{module}"), name)
