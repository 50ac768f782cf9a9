/** What is asked and what each option does, in plain words. Only the page's own words stand here. */

import { write } from "../../api/exact-json";
import type { Intervention } from "../../api/shapes";

type Type = Intervention["type"];

/** Whether a person paused the session, so that nothing is asked. */
export function isPause(one: Intervention): boolean {
  return one.type === "checkpoint_review" && one.context.requested_by !== undefined;
}

/** Whether the server of a tool asks in the middle of a call. */
export function isOfTool(one: Intervention): boolean {
  return one.type === "clarification_needed" && one.tool_call !== null;
}

const TITLES: Record<Type, string> = {
  approval_required: "May the agent do this?",
  clarification_needed: "The agent has a question",
  error_recovery: "The agent is stuck",
  checkpoint_review: "Go on?",
  budget_exceeded: "The budget is used up",
};

export function title(one: Intervention): string {
  if (isPause(one)) return "The session is paused";
  if (isOfTool(one)) return "A tool's server has a question";
  if (one.type === "approval_required" && one.context.reason === "replaces_file") return "May the agent replace a file?";
  if (one.type === "approval_required" && one.tool_call?.question) return one.tool_call.question;
  if (one.type === "error_recovery" && one.tool_call) return "Did this happen?";
  if (one.context.outage) return "The work stands still";
  return TITLES[one.type] ?? "The session waits";
}

/** Why it is asked, where the page can say so itself. */
export function reason(one: Intervention): string | undefined {
  if (isPause(one)) return "Somebody paused it. It goes on when somebody says so.";
  if (isOfTool(one)) {
    return "These are not Acta's words: tell it no secret, and open no address that you do not know.";
  }
  if (one.type === "approval_required") {
    switch (one.context.reason) {
      case "high_stakes":
        return "The agent may not do this alone.";
      case "replaces_file":
        return "Its present text is kept as a version for 30 days.";
      case "plan_step":
        return "This step of the plan asks for permission first.";
    }
    return "The agent waits for permission.";
  }
  if (one.type === "error_recovery" && one.tool_call) {
    return "This was started, and nobody knows whether it happened. Look before you decide.";
  }
  if (one.type === "checkpoint_review") {
    return one.context.calls?.length ? "These calls run next if you agree." : "The agent goes on thinking when you say so.";
  }
  return undefined;
}

/** Whose words the question is in, as a caption. */
export function speaker(one: Intervention): string {
  switch (one.context.asked_by) {
    case "agent":
      return "The agent asks";
    case "person":
      return "A person says";
    default:
      return "Acta says";
  }
}

/** One line on what it is about, for a list. The second part is somebody else's words. */
export function subject(one: Intervention): [own: string, theirs: string] {
  const call = one.tool_call;
  if (isPause(one)) return ["paused by", one.context.requested_by ?? ""];
  if (call) {
    const path = call.input["path"];
    return [call.name, typeof path === "string" ? path : (call.input_text ?? write(call.input))];
  }
  const calls = one.context.calls ?? [];
  if (calls.length) return ["next", calls.map((each) => (typeof each === "string" ? each : each.name)).join(", ")];
  return ["", one.context.question ?? ""];
}

const LABELS: Record<string, string> = {
  approve: "Approve",
  reject: "Reject",
  modify: "Change it",
  answer: "Answer",
  skip: "Go on without it",
  cancel: "Cancel the session",
  retry: "Try again",
  record: "It happened: say how it ended",
  continue: "Continue",
  raise: "Raise the budget",
  finish: "Finish now",
};

export function label(option: string, one: Intervention): string {
  if (option === "retry" && one.tool_call) return "Run it again";
  if (option === "skip" && isOfTool(one)) return "Answer nothing";
  return LABELS[option] ?? option;
}

/** What happens after this option. */
export function consequence(option: string, one: Intervention): string {
  switch (option) {
    case "approve":
      return "Runs exactly what is shown here, once.";
    case "reject":
      return "It does not run. The agent is told so, with your comment; it tries another way or gives up.";
    case "modify":
      return "Runs with your input instead, and the agent is told so.";
    case "answer":
      return isOfTool(one) ? "The server gets your answer and the call goes on." : "The agent reads your answer and goes on.";
    case "skip":
      return isOfTool(one)
        ? "The server is told that nobody answers. The call goes on as far as it can."
        : "The agent is told that nobody knows whether it happened, and goes on.";
    case "record":
      return "It does not run again. The agent takes your words as its result.";
    case "retry":
      if (one.tool_call) return "Runs it once more. If it did happen before, it happens twice.";
      return one.context.outage ? "The session tries once more." : "The agent goes on, another way than before.";
    case "continue":
      if (one.type === "budget_exceeded") return "The session goes on.";
      if (one.context.calls?.length) return "Runs exactly what is shown here, and the agent goes on.";
      return "The session goes on.";
    case "raise":
      return "The session goes on with the higher limits.";
    case "finish":
      return "The session ends with what it has. Nothing more runs.";
    case "cancel":
      return "The whole session ends, and nothing more runs.";
  }
  return "";
}

/** What holds when nobody decides. */
export function byDefault(one: Intervention): string {
  switch (one.default_action) {
    case "reject":
      return "it does not run";
    case "cancel":
      return "the session is cancelled";
    case "finish":
      return "the session finishes with what it has";
    case "continue":
      return "the session goes on";
    case "retry":
      return "it is tried again";
    case "skip":
      return "the agent goes on without it";
  }
  return one.default_action;
}

const DONE: Record<string, string> = {
  approve: "approved this",
  reject: "rejected this",
  modify: "changed the input and approved it",
  answer: "answered",
  skip: "let it go on without this",
  cancel: "cancelled the session",
  retry: "had it tried again",
  record: "said how it ended",
  continue: "let it go on",
  raise: "raised the budget",
  finish: "had it finish",
};

/** What a person did, after their name. */
export function done(option: string | null): string {
  return DONE[option ?? ""] ?? `decided: ${option}`;
}

/** The way by which a request came, where it is not the API itself, as this page uses it. */
export function way(via: Intervention["via"]): string {
  if (via === "mcp_form") return " over MCP, in a form";
  return via === "mcp" ? " over MCP, through a model" : "";
}
