/** A tool as the API lists it, and the words for its kind, its effect and who approves its calls. */

import type { Shapes } from "../../api/shapes";
import { visible } from "../../parts/words";
import type { Agent } from "../agents/agents";

export type Tool = Shapes["Tool"];

export interface Listed {
  tools: Tool[];
  agents: Agent[];
}

const KINDS: Record<Tool["kind"], string> = {
  builtin: "built in",
  python: "Python of the environment",
  http: "http",
  lambda: "Lambda",
  mcp: "MCP server",
};
export const EFFECTS: Record<Tool["effect"], string> = {
  read: "only reads",
  idempotent: "changes something; twice is as once",
  once: "changes something; never twice by itself",
};

export function kindOf(tool: Tool): string {
  return KINDS[tool.kind];
}

export function approval(tool: Tool): string {
  if (!tool.high_stakes) return tool.file?.replace ? "a person, when it replaces a file" : "nobody";
  const who = tool.approver_role ? `somebody with the role ${visible(tool.approver_role)}` : "a person";
  return tool.approver_must_differ ? `${who}, not who started it` : who;
}
