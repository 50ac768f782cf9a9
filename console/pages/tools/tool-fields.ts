/** A tool of the tenant's own as its form has it, and as it is sent. */

import { write } from "../../api/exact-json";
import type { Tool } from "./tool";

type Json = Record<string, unknown>;

export interface Fields {
  name: string;
  description: string;
  kind: string;
  /** A URL, or a function's name. */
  target: string;
  method: string;
  effect: string;
  /** Empty: by what the tool does. */
  asks: string;
  schema: string;
  rest: string;
}

export const NEW: Fields = {
  name: "",
  description: "",
  kind: "http",
  target: "",
  method: "GET",
  effect: "read",
  asks: "",
  schema: write({ type: "object", properties: {}, required: [] }, 2),
  rest: write({ headers: {}, timeout_seconds: 60 }, 2),
};

/** Values of headers are shown to nobody, so whoever changes a tool that has some writes them again. */
export function fieldsOf(tool: Tool): Fields {
  const { name, description, kind, effect, risk, repeatable, timeout_seconds, result_limit_bytes, input_schema } = tool;
  const { url, method = "GET", function: called, ...config } = (tool.config ?? {}) as Json;
  const { high_stakes, approver_role, approver_must_differ } = tool.as_defined ?? tool;
  return {
    name,
    description,
    kind,
    target: String(url ?? called ?? ""),
    method: String(method),
    effect,
    asks: high_stakes ? "yes" : "no",
    schema: write(input_schema, 2),
    rest: write({ ...config, risk, approver_role: approver_role ?? undefined, approver_must_differ, timeout_seconds, repeatable, result_limit_bytes }, 2),
  };
}

/** `schema` and `rest` as they were read. */
export function bodyOf({ name, description, kind, target, method, effect, asks }: Fields, schema: Json, rest: Json): Json {
  const { headers, parameters, ...more } = rest;
  return {
    ...more,
    name,
    description,
    input_schema: schema,
    kind,
    config: kind === "http" ? { url: target.trim(), method, headers, parameters } : { function: target.trim() },
    effect,
    ...(asks && { high_stakes: asks === "yes" }),
  };
}
