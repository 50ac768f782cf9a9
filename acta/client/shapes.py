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
    from acta_engine.api.deployment_answers import (
        AuditState as AuditState, DeploymentHealth as DeploymentHealth, Health as Health,
        LimitsInForce as LimitsInForce, Me as Me, PageSignIn as PageSignIn, RecoveryScan as RecoveryScan,
        RecoveryState as RecoveryState, SchemaVersions as SchemaVersions
    )
    from acta_engine.audit.answers import (AuditRecord as AuditRecord)
    from acta_engine.files.answers import (
        DeletedFile as DeletedFile, File as File, FileVersion as FileVersion, WrittenFile as WrittenFile
    )
    from acta_engine.memories.answers import (Memory as Memory, MemorySource as MemorySource)
    from acta_engine.models.answers import (
        CheckedKey as CheckedKey, CheckedKeys as CheckedKeys, ConfiguredModel as ConfiguredModel,
        ConfiguredModels as ConfiguredModels, DefaultModel as DefaultModel, LongPrice as LongPrice,
        ModelPrice as ModelPrice, ModelUse as ModelUse, ProviderKey as ProviderKey
    )
    from acta_engine.notifications.answers import (Notifications as Notifications)
    from acta_engine.people.answers import (
        CallInput as CallInput, Context as Context, DecidedOfDeleted as DecidedOfDeleted, FileOfCall as FileOfCall,
        Intervention as Intervention, Outage as Outage, PendingCall as PendingCall, ReviewedCall as ReviewedCall
    )
    from acta_engine.plans.answers import (Plan as Plan, PlanStep as PlanStep)
    from acta_engine.prompts.answers import (Prompt as Prompt, PromptInForce as PromptInForce)
    from acta_engine.sessions.answers import (
        Budget as Budget, CancelledSession as CancelledSession, Cause as Cause, DeletedSession as DeletedSession,
        Event as Event, ForkedFrom as ForkedFrom, ForkedSession as ForkedSession, Held as Held,
        HiddenSession as HiddenSession, Message as Message, MessageCall as MessageCall, NextLimits as NextLimits,
        Partial as Partial, Plans as Plans, Queue as Queue, Result as Result, Run as Run, RunError as RunError,
        Scratchpad as Scratchpad, Session as Session, Snapshot as Snapshot, Step as Step, TextPart as TextPart,
        TraceRow as TraceRow, Usage as Usage, WholeText as WholeText
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
    from acta_engine.usage.answers import (
        AwsCost as AwsCost, AwsPrices as AwsPrices, Cost as Cost, Counts as Counts, EngineCost as EngineCost,
        InterventionCounts as InterventionCounts, LambdaCost as LambdaCost, MessageCounts as MessageCounts,
        ModelCost as ModelCost, ModelPrices as ModelPrices, ModelsCost as ModelsCost, ObjectsCost as ObjectsCost,
        PlanCounts as PlanCounts, PriceLists as PriceLists, Receipt as Receipt, RunCounts as RunCounts,
        SessionCounts as SessionCounts, SessionsNow as SessionsNow, TableCost as TableCost,
        TenantUsage as TenantUsage, Tokens as Tokens, ToolCounts as ToolCounts, UsageCost as UsageCost,
        UsageItem as UsageItem, UsageTotal as UsageTotal, Work as Work
    )

MODULES = {
    **dict.fromkeys((
        "Agent", "AppliedFrom", "AskingPolicy", "FallbackModel", "ModelsByPurpose", "SessionCaps", "SessionLimits"
    ,), "agents.answers"),
    **dict.fromkeys((
        "AuditState", "DeploymentHealth", "Health", "LimitsInForce", "Me", "PageSignIn", "RecoveryScan",
        "RecoveryState", "SchemaVersions"
    ,), "api.deployment_answers"),
    **dict.fromkeys(("AuditRecord",), "audit.answers"),
    **dict.fromkeys(("DeletedFile", "File", "FileVersion", "WrittenFile",), "files.answers"),
    **dict.fromkeys(("Memory", "MemorySource",), "memories.answers"),
    **dict.fromkeys((
        "CheckedKey", "CheckedKeys", "ConfiguredModel", "ConfiguredModels", "DefaultModel", "LongPrice", "ModelPrice",
        "ModelUse", "ProviderKey"
    ,), "models.answers"),
    **dict.fromkeys(("Notifications",), "notifications.answers"),
    **dict.fromkeys((
        "CallInput", "Context", "DecidedOfDeleted", "FileOfCall", "Intervention", "Outage", "PendingCall",
        "ReviewedCall"
    ,), "people.answers"),
    **dict.fromkeys(("Plan", "PlanStep",), "plans.answers"),
    **dict.fromkeys(("Prompt", "PromptInForce",), "prompts.answers"),
    **dict.fromkeys((
        "Budget", "CancelledSession", "Cause", "DeletedSession", "Event", "ForkedFrom", "ForkedSession", "Held",
        "HiddenSession", "Message", "MessageCall", "NextLimits", "Partial", "Plans", "Queue", "Result", "Run",
        "RunError", "Scratchpad", "Session", "Snapshot", "Step", "TextPart", "TraceRow", "Usage", "WholeText"
    ,), "sessions.answers"),
    **dict.fromkeys((
        "HttpToolConfig", "LambdaToolConfig", "SecretReference", "Tool", "ToolCallError", "ToolParameter",
        "ToolSecret", "ToolTrial", "WhoApproves"
    ,), "tools.answers"),
    **dict.fromkeys((
        "ClientCredentials", "ConfirmedMcpTool", "ListedMcpTool", "ListedMcpTools", "McpCredentials", "McpServer"
    ,), "tools.mcp.answers"),
    **dict.fromkeys((
        "AwsCost", "AwsPrices", "Cost", "Counts", "EngineCost", "InterventionCounts", "LambdaCost", "MessageCounts",
        "ModelCost", "ModelPrices", "ModelsCost", "ObjectsCost", "PlanCounts", "PriceLists", "Receipt", "RunCounts",
        "SessionCounts", "SessionsNow", "TableCost", "TenantUsage", "Tokens", "ToolCounts", "UsageCost", "UsageItem",
        "UsageTotal", "Work"
    ,), "usage.answers"),
}


def __getattr__(name: str) -> Any:
    module = MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"acta_engine.{module}"), name)
