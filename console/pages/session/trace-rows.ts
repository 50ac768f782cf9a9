/** The rows of the trace: what was thought, the calls that came of it, their inputs and observations. */

import { write } from "../../api/exact-json";
import type { Event } from "../../api/shapes";
import { beginning } from "../../parts/words";

export interface Row {
  key: string;
  depth: 0 | 1 | 2;
  kind: "thought" | "call" | "input" | "observation" | "message" | "note";
  at: string;
  /** The page's own word for it; empty where the text says it all. */
  name: string;
  /** Somebody else's words, or a fact. */
  text: string;
  isTheirs: boolean;
  /** `✓`, `✗`, `…` of a call. */
  mark: string;
  event: Event;
  callId?: string;
  /** Of a call, as soon as it has ended. */
  ended?: Event;
  hasChildren: boolean;
}

const FIRST_CHARS = 300;
/** All rows, in order; a parent stands before its children. */
export function rowsOf(events: readonly Event[]): Row[] {
  const rows: Row[] = [];
  const calls = new Map<string, number>();
  let thought: Row | undefined;
  for (const event of events) {
    const { type, data, step_number } = event;
    const callId = text(data["call_id"]);
    if (type === "thought" || type === "message.assistant") {
      thought = made(event, 0, "thought", type === "thought" ? "Thought" : "Reply", said(data), true);
      rows.push(thought);
    } else if (type === "tool.requested") {
      if (!thought || thought.event.step_number !== step_number) {
        thought = made(event, 0, "thought", "Thought", "", false);
        thought.key = `turn ${event.seq}`;
        rows.push(thought);
      }
      thought.hasChildren = true;
      const call = made(event, 1, "call", "Call", brief(data), true);
      calls.set(callId, rows.length);
      rows.push({ ...call, callId, mark: "…", hasChildren: true });
      rows.push({ ...made(event, 2, "input", "Input", json(data["input"]), true), key: `in ${event.seq}`, callId });
      rows.push({ ...made(event, 2, "observation", "Observation", "", false), key: `out ${event.seq}`, callId });
    } else if (type === "tool.finished") {
      const place = calls.get(callId);
      if (place === undefined) continue;
      const took = `${number(data["duration_ms"])} ms, ${number(data["bytes"])} bytes`;
      const call = rows[place]!;
      // A long input is not in the event that asks for the call: what was written says so itself.
      const about = call.event.data["input"] === undefined && data["path"] ? `${call.text} ${text(data["path"])}` : call.text;
      rows[place] = { ...call, text: about, mark: data["ok"] ? "✓" : "✗", ended: event };
      rows[place + 2] = { ...rows[place + 2]!, text: data["ok"] ? took : `failed, ${took}`, ended: event };
    } else if (type === "plan.step" && thought && thought.event.step_number === step_number) {
      thought.hasChildren = true;
      rows.push(note(event, 1));
    } else if (type === "message.user") {
      rows.push(made(event, 0, "message", "Message", said(data), true));
    } else if (event.text !== null) {
      rows.push(note(event, 0));
    }
  }
  return rows;
}

/** Those in sight: rows whose parents are all open. Thoughts are open unless closed, calls closed unless opened. */
export function inSight(rows: readonly Row[], turned: ReadonlySet<string>): Row[] {
  let isShut = false;
  let isCallShut = false;
  return rows.filter((row) => {
    if (row.depth === 0) {
      isShut = turned.has(row.key);
      return true;
    }
    if (row.depth === 1) isCallShut = !turned.has(row.key);
    return !isShut && (row.depth === 1 || !isCallShut);
  });
}

export const isOpen = (row: Row, turned: ReadonlySet<string>): boolean =>
  row.depth === 0 ? !turned.has(row.key) : turned.has(row.key);

/** An event in the API's words. What others wrote stands in quotation marks there. */
function note(event: Event, depth: Row["depth"]): Row {
  const line = event.text ?? "";
  return made(event, depth, "note", "", line.charAt(0).toUpperCase() + line.slice(1), line.includes('"'));
}

function made(event: Event, depth: Row["depth"], kind: Row["kind"], name: string, about: string, isTheirs: boolean): Row {
  const first = beginning(about, FIRST_CHARS).replace(/\s+/g, " ");
  return { key: `${event.seq}`, depth, kind, at: event.at, name, text: first, isTheirs, mark: "", event, hasChildren: false };
}

function said(data: Event["data"]): string {
  return typeof data["content"] === "string" ? data["content"] : `${number(data["bytes"])} bytes`;
}

function brief(data: Event["data"]): string {
  const input = json(data["input"]);
  return input && input !== "{}" ? `${text(data["name"])} ${input}` : text(data["name"]);
}

/** Only the beginning is shown, so only that is made. */
function json(value: unknown): string {
  return value === undefined || value === null ? "" : beginning(write(value), FIRST_CHARS);
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const number = (value: unknown): string => (typeof value === "number" ? value.toLocaleString("en-US") : "?");
