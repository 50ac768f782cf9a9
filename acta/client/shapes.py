"""The types of what the API answers. Made by `make generate`: change a room's shapes, not this file.

They are there for type checkers. A program that only calls an API never loads them, nor pydantic, which they need; one
that names a type while it runs (`from acta.client.shapes import Session`) loads that type's module.
"""

# fmt: off
# isort: off
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from acta.engine.agents.answers import (
        AgentView as Agent, AppliedFromView as AppliedFrom, AskingPolicyView as AskingPolicy,
        FallbackModelView as FallbackModel, JudgeView as Judge, ModelsByPurposeView as ModelsByPurpose,
        SessionCapsView as SessionCaps, SessionLimitsView as SessionLimits, SubAgentView as SubAgent
    )
    from acta.engine.api.deployment_answers import (
        AuditStateView as AuditState, DeploymentHealthView as DeploymentHealth, HealthView as Health,
        LimitsInForceView as LimitsInForce, MeView as Me, PageSignInView as PageSignIn,
        RecoveryScanView as RecoveryScan, RecoveryStateView as RecoveryState, SchemaVersionsView as SchemaVersions
    )
    from acta.engine.audit.answers import (AuditRecordView as AuditRecord)
    from acta.engine.files.answers import (
        DeletedFileView as DeletedFile, FileView as File, FileVersionView as FileVersion,
        WrittenFileView as WrittenFile
    )
    from acta.engine.memories.answers import (MemoryView as Memory, MemorySourceView as MemorySource)
    from acta.engine.models.answers import (
        CheckedKeyView as CheckedKey, CheckedKeysView as CheckedKeys, ConfiguredModelView as ConfiguredModel,
        ConfiguredModelsView as ConfiguredModels, DefaultModelView as DefaultModel, LongPriceView as LongPrice,
        ModelPriceView as ModelPrice, ModelUseView as ModelUse, ProviderKeyView as ProviderKey
    )
    from acta.engine.notifications.answers import (NotificationsView as Notifications)
    from acta.engine.people.answers import (
        AskerView as Asker, CallInputView as CallInput, ContextView as Context,
        DecidedOfDeletedView as DecidedOfDeleted, FileOfCallView as FileOfCall, InterventionView as Intervention,
        OutageView as Outage, PendingCallView as PendingCall, ReviewedCallView as ReviewedCall
    )
    from acta.engine.plans.answers import (PlanView as Plan, PlanStepView as PlanStep)
    from acta.engine.prompts.answers import (PromptView as Prompt, PromptInForceView as PromptInForce)
    from acta.engine.schedules.answers import (
        NamedLimitsView as NamedLimits, ScheduleView as Schedule, ScheduleCountsView as ScheduleCounts,
        ScheduleRunView as ScheduleRun
    )
    from acta.engine.sessions.answers import (
        BudgetView as Budget, CancelledSessionView as CancelledSession, CauseView as Cause, ChildrenView as Children,
        CostView as Cost, DeletedSessionView as DeletedSession, EventView as Event, ForkedFromView as ForkedFrom,
        ForkedSessionView as ForkedSession, HeldView as Held, HiddenSessionView as HiddenSession,
        MessageView as Message, MessageCallView as MessageCall, NextLimitsView as NextLimits, OriginView as Origin,
        ParentView as Parent, PartialView as Partial, PlansView as Plans, QuestionsOfRoleView as QuestionsOfRole,
        QueueView as Queue, RatingView as Rating, ResultView as Result, RunView as Run, RunErrorView as RunError,
        ScratchpadView as Scratchpad, SessionView as Session, SnapshotView as Snapshot, StepView as Step,
        TextPartView as TextPart, TraceRowView as TraceRow, UsageView as Usage, VerdictView as Verdict,
        WholeTextView as WholeText
    )
    from acta.engine.subagents.answers import (TreeNodeView as TreeNode, TreeQuestionView as TreeQuestion)
    from acta.engine.tools.answers import (
        AnsweredCallView as AnsweredCall, HttpToolConfigView as HttpToolConfig,
        LambdaToolConfigView as LambdaToolConfig, LaterRuleView as LaterRule, SecretReferenceView as SecretReference,
        ToolView as Tool, ToolCallErrorView as ToolCallError, ToolParameterView as ToolParameter,
        ToolSecretView as ToolSecret, ToolTrialView as ToolTrial, WhoApprovesView as WhoApproves
    )
    from acta.engine.tools.mcp.answers import (
        ClientCredentialsView as ClientCredentials, ConfirmedMcpToolView as ConfirmedMcpTool,
        ListedMcpToolView as ListedMcpTool, ListedMcpToolsView as ListedMcpTools,
        McpCredentialsView as McpCredentials, McpServerView as McpServer
    )
    from acta.engine.triggers.answers import (
        DeliveredEventView as DeliveredEvent, EventCountsView as EventCounts, TriggerView as Trigger,
        TriggerEventView as TriggerEvent, TriggerWithCountsView as TriggerWithCounts, WebhookView as Webhook
    )
    from acta.engine.usage.answers import (
        AwsCostView as AwsCost, AwsPricesView as AwsPrices, CountsView as Counts, EngineCostView as EngineCost,
        InterventionCountsView as InterventionCounts, LambdaCostView as LambdaCost,
        MessageCountsView as MessageCounts, ModelCostView as ModelCost, ModelPricesView as ModelPrices,
        ModelsCostView as ModelsCost, ObjectsCostView as ObjectsCost, PlanCountsView as PlanCounts,
        PriceListsView as PriceLists, RatingCountsView as RatingCounts, ReceiptView as Receipt,
        RunCountsView as RunCounts, SessionCountsView as SessionCounts, SessionsNowView as SessionsNow,
        TableCostView as TableCost, TenantUsageView as TenantUsage, TokensView as Tokens,
        ToolCountsView as ToolCounts, TreeCostView as TreeCost, UsageCostView as UsageCost,
        UsageItemView as UsageItem, UsageTotalView as UsageTotal, WorkView as Work
    )

__all__ = (
    "Agent", "AnsweredCall", "AppliedFrom", "Asker", "AskingPolicy", "AuditRecord", "AuditState", "AwsCost",
    "AwsPrices", "Budget", "CallInput", "CancelledSession", "Cause", "CheckedKey", "CheckedKeys", "Children",
    "ClientCredentials", "ConfiguredModel", "ConfiguredModels", "ConfirmedMcpTool", "Context", "Cost", "Counts",
    "DecidedOfDeleted", "DefaultModel", "DeletedFile", "DeletedSession", "DeliveredEvent", "DeploymentHealth",
    "EngineCost", "Event", "EventCounts", "FallbackModel", "File", "FileOfCall", "FileVersion", "ForkedFrom",
    "ForkedSession", "Health", "Held", "HiddenSession", "HttpToolConfig", "Intervention", "InterventionCounts",
    "Judge", "LambdaCost", "LambdaToolConfig", "LaterRule", "LimitsInForce", "ListedMcpTool", "ListedMcpTools",
    "LongPrice", "McpCredentials", "McpServer", "Me", "Memory", "MemorySource", "Message", "MessageCall",
    "MessageCounts", "ModelCost", "ModelPrice", "ModelPrices", "ModelUse", "ModelsByPurpose", "ModelsCost",
    "NamedLimits", "NextLimits", "Notifications", "ObjectsCost", "Origin", "Outage", "PageSignIn", "Parent",
    "Partial", "PendingCall", "Plan", "PlanCounts", "PlanStep", "Plans", "PriceLists", "Prompt", "PromptInForce",
    "ProviderKey", "QuestionsOfRole", "Queue", "Rating", "RatingCounts", "Receipt", "RecoveryScan", "RecoveryState",
    "Result", "ReviewedCall", "Run", "RunCounts", "RunError", "Schedule", "ScheduleCounts", "ScheduleRun",
    "SchemaVersions", "Scratchpad", "SecretReference", "Session", "SessionCaps", "SessionCounts", "SessionLimits",
    "SessionsNow", "Snapshot", "Step", "SubAgent", "TableCost", "TenantUsage", "TextPart", "Tokens", "Tool",
    "ToolCallError", "ToolCounts", "ToolParameter", "ToolSecret", "ToolTrial", "TraceRow", "TreeCost", "TreeNode",
    "TreeQuestion", "Trigger", "TriggerEvent", "TriggerWithCounts", "Usage", "UsageCost", "UsageItem", "UsageTotal",
    "Verdict", "Webhook", "WhoApproves", "WholeText", "Work", "WrittenFile"
)

MODULES = {
    **dict.fromkeys((
        "Agent", "AppliedFrom", "AskingPolicy", "FallbackModel", "Judge", "ModelsByPurpose", "SessionCaps",
        "SessionLimits", "SubAgent"
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
        "Asker", "CallInput", "Context", "DecidedOfDeleted", "FileOfCall", "Intervention", "Outage", "PendingCall",
        "ReviewedCall"
    ,), "people.answers"),
    **dict.fromkeys(("Plan", "PlanStep",), "plans.answers"),
    **dict.fromkeys(("Prompt", "PromptInForce",), "prompts.answers"),
    **dict.fromkeys(("NamedLimits", "Schedule", "ScheduleCounts", "ScheduleRun",), "schedules.answers"),
    **dict.fromkeys((
        "Budget", "CancelledSession", "Cause", "Children", "Cost", "DeletedSession", "Event", "ForkedFrom",
        "ForkedSession", "Held", "HiddenSession", "Message", "MessageCall", "NextLimits", "Origin", "Parent",
        "Partial", "Plans", "QuestionsOfRole", "Queue", "Rating", "Result", "Run", "RunError", "Scratchpad",
        "Session", "Snapshot", "Step", "TextPart", "TraceRow", "Usage", "Verdict", "WholeText"
    ,), "sessions.answers"),
    **dict.fromkeys(("TreeNode", "TreeQuestion",), "subagents.answers"),
    **dict.fromkeys((
        "AnsweredCall", "HttpToolConfig", "LambdaToolConfig", "LaterRule", "SecretReference", "Tool", "ToolCallError",
        "ToolParameter", "ToolSecret", "ToolTrial", "WhoApproves"
    ,), "tools.answers"),
    **dict.fromkeys((
        "ClientCredentials", "ConfirmedMcpTool", "ListedMcpTool", "ListedMcpTools", "McpCredentials", "McpServer"
    ,), "tools.mcp.answers"),
    **dict.fromkeys((
        "DeliveredEvent", "EventCounts", "Trigger", "TriggerEvent", "TriggerWithCounts", "Webhook"
    ,), "triggers.answers"),
    **dict.fromkeys((
        "AwsCost", "AwsPrices", "Counts", "EngineCost", "InterventionCounts", "LambdaCost", "MessageCounts",
        "ModelCost", "ModelPrices", "ModelsCost", "ObjectsCost", "PlanCounts", "PriceLists", "RatingCounts",
        "Receipt", "RunCounts", "SessionCounts", "SessionsNow", "TableCost", "TenantUsage", "Tokens", "ToolCounts",
        "TreeCost", "UsageCost", "UsageItem", "UsageTotal", "Work"
    ,), "usage.answers"),
}


def __getattr__(name: str) -> Any:
    module = MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"acta.engine.{module}"), f"{name}View")
